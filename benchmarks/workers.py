"""How much sooner two workers decide a program than one.

Programs of more than a million states and monitors, searched one location at a time by one worker and by two
in turn. What counts here is the time of the search by the clock, so nothing else should run on the machine;
the processor time of both says what the division of work itself costs. Leaves a table in
`docs/performance.md`.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

import families
import page_block
from msgspec.structs import replace

from fencepost.engine.search import REDUCED, Limits, explore
from fencepost.formats import load
from fencepost.program import Program

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "performance.md"
MEMBERS = {"ticketlock": 9, "peterson-filter": 4}
CHASE_LEV = ROOT / "examples" / "rocker" / "chase-lev-ra.tpl"


class Measured(NamedTuple):
    states: int
    by_clock: float
    of_processor: float


def programs() -> Iterator[tuple[str, Program]]:
    with tempfile.TemporaryDirectory() as directory:
        for family, n in MEMBERS.items():
            file = Path(directory) / f"{family}-{n}.tpl"
            file.write_text(families.FAMILIES[family](n), encoding="utf-8")
            yield f"{family}, {n} threads", load(file)
    # Without exchanges of its thieves it is large enough.
    yield "chase-lev-ra, no reduction but subsumption", load(CHASE_LEV)


def search(program: Program, workers: int, *, reduced: bool) -> Measured:
    tactics = replace(REDUCED, threads=workers, symmetry=reduced, partial_order=reduced)
    processor = time.process_time()
    result = explore(program, "ra", Limits(), "by-location", tactics=tactics)
    return Measured(result.states, result.seconds, time.process_time() - processor)


def report(rounds: int) -> Iterator[str]:
    yield "| program | states and monitors | one worker, s | two workers, s | faster | processor time |"
    yield "|---|--:|--:|--:|--:|--:|"
    for name, program in programs():
        reduced = not name.startswith("chase-lev")
        pairs = [[search(program, n, reduced=reduced) for n in (1, 2)] for _ in range(rounds)]
        one, two = (median(pair[n].by_clock for pair in pairs) for n in (0, 1))
        cost = median(pair[1].of_processor / pair[0].of_processor for pair in pairs)
        cells = [f"{pairs[0][0].states:,}", f"{one:.2f}", f"{two:.2f}", f"{one / two:.2f}", f"{cost:.2f}"]
        yield f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="pairs of searches (default: 5)")
    text = "\n".join(report(parser.parse_args().rounds)) + "\n"
    print(text, end="")
    page_block.write(PAGE, "workers", text)


if __name__ == "__main__":
    main()
