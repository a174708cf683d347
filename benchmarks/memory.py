"""How much memory a state takes, in each store and order, and what it costs to take less.

Large programs, searched breadth first with the exact store, with compressed states and with states in files,
and in the other orders with their own stores. All memory that counts against `--max-memory` is divided by the
number of states. With all threads in all states, and states in which equal threads have changed places, the
filter lock has more states than fit anywhere; of it, `--many` are looked at. Leaves tables in
`docs/performance.md`.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import families
import page_block
from msgspec.structs import replace

from fencepost.engine.search import EVERY_STATE, REDUCED, Limits, Tactics, explore
from fencepost.formats import load
from fencepost.program import Program

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "performance.md"
ROCKER = ("chase-lev-ra", "lamport2-3-ra", "rcu-offline", "seqlock")
LOCKS = {"ticketlock": (8, 9, 10)}
FILTER = "peterson-filter", 4
EXACT = replace(REDUCED, subsumption=False, compress=False)
MEGABYTES = 3500


class Measured(NamedTuple):
    states: int
    words: int
    memory: int
    disk: int
    seconds: float

    def each(self, of: int) -> str:
        return f"{of / self.states:.1f}"


def programs() -> Iterator[tuple[str, Program, Tactics]]:
    """Locks with symmetry, without which they are too large; the others with every state."""
    for family, sizes in LOCKS.items():
        for n in sizes:
            yield f"{family}, {n} threads", member(family, n), EXACT
    for name in ROCKER:
        yield name, load(ROOT / "examples" / "rocker" / f"{name}.tpl"), replace(EVERY_STATE, compress=False)


def member(family: str, n: int) -> Program:
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / f"{family}-{n}.tpl"
        file.write_text(families.FAMILIES[family](n), encoding="utf-8")
        return load(file)


def search(program: Program, order: str, tactics: Tactics, states: int | None = None) -> Measured:
    started = time.process_time()
    limits = Limits(states=states, memory_mb=MEGABYTES)
    result = explore(program, "ra", limits, order, tactics=tactics)
    seconds = time.process_time() - started
    return Measured(result.states, result.state_bytes, result.peak_bytes, result.disk_bytes, seconds)


def with_monitors() -> Iterator[str]:
    yield "| program | states | words, bytes | exact | compressed | less | time | in files | on disk | time |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    for name, program, tactics in programs():
        exact = search(program, "breadth-first", tactics)
        compressed = search(program, "breadth-first", replace(tactics, compress=True))
        with tempfile.TemporaryDirectory() as directory:
            filed = search(program, "breadth-first", replace(tactics, directory=directory))
        cells = [
            f"{exact.states:,}",
            f"{exact.words}",
            exact.each(exact.memory),
            compressed.each(compressed.memory),
            f"{exact.memory / compressed.memory:.1f}",
            f"{compressed.seconds / exact.seconds:.1f}",
            filed.each(filed.memory),
            filed.each(filed.disk),
            f"{filed.seconds / exact.seconds:.1f}",
        ]
        yield f"| {name} | {' | '.join(cells)} |"


def many_states(many: int) -> Iterator[str]:
    yield "| program | states | words, bytes | compressed | MB |"
    yield "|---|--:|--:|--:|--:|"
    name, n = FILTER
    tactics = replace(EVERY_STATE, compress=True)
    found = search(member(name, n), "breadth-first", tactics, many)
    cells = [f"{found.states:,}", f"{found.words}", f"{found.each(found.memory)}", f"{found.memory >> 20:,}"]
    yield f"| {name}, {n} threads | {' | '.join(cells)} |"


def otherwise() -> Iterator[str]:
    yield "| program | states and small monitors, by location | bytes each | maximal monitors | bytes each |"
    yield "|---|--:|--:|--:|--:|"
    for name, program, _ in programs():
        found = [search(program, order, REDUCED) for order in ("by-location", "largest-first")]
        cells = [cell for one in found for cell in (f"{one.states:,}", one.each(one.memory))]
        yield f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--many", type=int, default=100_000_000, help="states of the filter lock")
    many = parser.parse_args().many
    blocks = {
        "memory": with_monitors(),
        "memory-otherwise": otherwise(),
        "memory-of-many": many_states(many),
    }
    for block, lines in blocks.items():
        text = "\n".join(lines) + "\n"
        print(text, flush=True)
        page_block.write(PAGE, block, text)


if __name__ == "__main__":
    main()
