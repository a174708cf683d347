"""How much sooner several workers decide a program than one, in every order that they search together.

Programs of some million states and monitors, searched by one worker and by more in turn. What counts is the
time of the search by the clock, so nothing else should run on the machine; the processor time of all workers
says what the division of work itself costs. Leaves a table in `docs/performance.md`, and a plot in
`benchmarks/results/workers.svg`.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import families
import page_block
from log_plot import Point, svg
from msgspec.structs import replace

from fencepost.engine.search import EVERY_STATE, REDUCED, Limits, Tactics, explore
from fencepost.formats import load
from fencepost.program import Program

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "performance.md"
PLOT = ROOT / "benchmarks" / "results" / "workers.svg"
CHASE_LEV = ROOT / "examples" / "rocker" / "chase-lev-ra.tpl"
# The programs have to be large, so some reductions are left out.
UNMERGED = replace(REDUCED, merging=False, rotation=False)
UNSYMMETRIC = replace(UNMERGED, symmetry=False)
EXACT = replace(EVERY_STATE, local=True)


class Search(NamedTuple):
    name: str
    program: Program
    order: str
    tactics: Tactics


class Measured(NamedTuple):
    states: int
    bytes_per_state: float
    by_clock: float
    of_processor: float


def searches() -> Iterator[Search]:
    with tempfile.TemporaryDirectory() as directory:

        def member(family: str, n: int) -> Program:
            file = Path(directory) / f"{family}-{n}.tpl"
            file.write_text(families.FAMILIES[family](n), encoding="utf-8")
            return load(file)

        yield Search("ticketlock, 10 threads", member("ticketlock", 10), "by-location", UNMERGED)
        yield Search("spinlock, 10 threads", member("spinlock", 10), "by-location", UNSYMMETRIC)
        yield Search("ticketlock, 9 threads", member("ticketlock", 9), "largest-first", UNMERGED)
    for order in ("breadth-first", "depth-first"):
        yield Search("chase-lev-ra, no reduction", load(CHASE_LEV), order, EXACT)


def measure(search: Search, workers: int) -> Measured:
    tactics = replace(search.tactics, threads=workers)
    processor = time.process_time()
    result = explore(search.program, "ra", Limits(), search.order, tactics=tactics)
    spent = time.process_time() - processor
    return Measured(result.states, result.peak_bytes / result.states, result.seconds, spent)


def measure_all(search: Search, counts: Sequence[int], rounds: int) -> dict[int, Measured]:
    """The medians of several rounds, by number of workers; the states are those of the last round."""
    found = [{workers: measure(search, workers) for workers in counts} for _ in range(rounds)]
    return {
        workers: Measured(
            found[-1][workers].states,
            found[-1][workers].bytes_per_state,
            median(one[workers].by_clock for one in found),
            median(one[workers].of_processor for one in found),
        )
        for workers in counts
    }


def row(search: Search, found: Mapping[int, Measured]) -> str:
    alone, *others = found.values()
    most = others[-1] if others else alone
    cells = [
        search.name,
        search.order,
        f"{alone.states:,}",
        f"{alone.by_clock:.2f}",
        *(f"{other.by_clock:.2f} ({alone.by_clock / other.by_clock:.1f})" for other in others),
        f"{most.of_processor / alone.of_processor:.2f}",
        f"{most.bytes_per_state / alone.bytes_per_state:.2f}",
    ]
    return f"| {' | '.join(cells)} |"


def plot(found: Mapping[str, Mapping[int, Measured]]) -> str:
    panels = {
        name: {
            "measured": [Point(workers, one.by_clock) for workers, one in by_workers.items()],
            "time of one worker, divided": [
                Point(workers, by_workers[1].by_clock / workers) for workers in by_workers
            ],
        }
        for name, by_workers in found.items()
    }
    return svg(panels, "Time of the search", "workers")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    cores = len(os.sched_getaffinity(0))
    powers = [2**n for n in range(1, cores.bit_length())]
    parser.add_argument("workers", type=int, nargs="*", default=powers, help=f"besides 1 (default: {powers})")
    parser.add_argument("--rounds", type=int, default=5, help="of searches (default: 5)")
    options = parser.parse_args()
    counts = sorted({1, *options.workers})
    more = [f"{n} workers, s" for n in counts[1:]]
    header = [
        "program",
        "order",
        "states and monitors",
        "one worker, s",
        *more,
        "processor time",
        "memory per state",
    ]
    lines = [f"| {' | '.join(header)} |", f"|---|---|{'--:|' * (len(header) - 2)}"]
    print("\n".join(lines))
    measured = {}
    for search in searches():
        found = measure_all(search, counts, options.rounds)
        measured[f"{search.name.split(',')[0]}, {search.order}"] = found
        lines.append(row(search, found))
        print(lines[-1], flush=True)
    page_block.write(PAGE, "workers", "\n".join(lines))
    PLOT.write_text(plot(measured), encoding="utf-8")


if __name__ == "__main__":
    main()
