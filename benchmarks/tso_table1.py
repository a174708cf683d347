"""Table 1 of persist-2015 with fencepost: how many fences, and how long to find them.

Asks for the fewest fences that make each program of `examples/tso` persistent, then for the fewest that make
it robust, and proves that the repaired program is; reading the file is counted as well. The programs are our
own versions of those in the paper, so its seconds (Core2, 2.4 GHz, Spin) are for orientation. Leaves the
table in `benchmarks/results/tso_table1.md`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import fencepost

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "tso_table1.md"


class Paper(NamedTuple):
    """Fences and seconds of Persist without abstraction, for persistence, and of Trencher, for robustness."""

    persist_fences: int
    persist_seconds: int
    trencher_fences: int | None  # None: not within 2400 s
    trencher_seconds: int | None


PAPER = {
    "simdekker": Paper(4, 4, 4, 163),
    "dekker": Paper(8, 14, None, None),
    "peterson": Paper(4, 223, None, None),
    "lambak3": Paper(6, 104, None, None),
    "lambak4": Paper(8, 286, None, None),
    "dijkstra": Paper(8, 30, None, None),
    "dc-lock": Paper(0, 7, 0, 139),
    "spinlock": Paper(0, 1, 0, 1),
    "tspinlock": Paper(0, 1, 0, 1),
    "inlinepgsql": Paper(0, 8, 0, 426),
    "burns": Paper(9, 119, None, None),
    "szymanski2": Paper(8, 3, 8, 642),
    "szymanski4": Paper(16, 88, None, None),
    "lamfast2-2": Paper(8, 6, 4, 48),
    "lamfast2-3": Paper(12, 10, None, None),
    "clhlock": Paper(4, 176, 4, 674),
    "parker": Paper(1, 76, 1, 425),
    "pgsql": Paper(7, 26, 7, 260),
    "alternatingbit": Paper(4, 2, 4, 5),
    "incsequence": Paper(0, 21, 0, 194),
    "taskschedule": Paper(0, 5, 0, 418),
    "nbw-w-wr": Paper(0, 18, 1, 595),
    "nbw-w-5r": Paper(0, 3, 0, 514),
    "seqlock": Paper(0, 63, 0, 364),
    "write+r": Paper(0, 2, 4, 7),
    "r+detour": Paper(0, 1, 3, 3),
    "r+detours": Paper(0, 1, 3, 1),
    "write+r+co": Paper(0, 7, 4, 38),
    "sb+detours": Paper(2, 3, 5, 3),
    "sb+detour+co": Paper(0, 1, 4, 3),
    "cilk-wsq": Paper(2, 3, 2, 107),
    "cl-wsq": Paper(1, 2, 1, 796),
    "fifo-iwsq": Paper(1, 2, 1, 354),
    "lifo-iwsq": Paper(1, 7, 1, 558),
    "anchor-iwsq": Paper(1, 2, 1, 20),
}


class Repair(NamedTuple):
    fences: int | None  # None if no smallest set was found
    states: int  # of the search that proves the repaired program right
    seconds: float


class Measured(NamedTuple):
    program: str
    threads: int
    persistent: Repair
    robust: Repair


def repair(name: str, criterion: str) -> tuple[int, Repair]:
    started = time.perf_counter()
    program = fencepost.load(ROOT / "examples" / "tso" / f"{name}.aut")
    answer = fencepost.fix(program, model="tso", criterion=criterion)
    seconds = time.perf_counter() - started
    fences = len(answer.edits) if answer.holds and answer.edits is not None else None
    return len(program.threads), Repair(fences, (answer.proof or answer.stats).states, seconds)


def measure(name: str) -> Measured:
    threads, persistent = repair(name, "persistent")
    return Measured(name, threads, persistent, repair(name, "robust")[1])


HEADINGS = (
    "program",
    "threads",
    "fences (Persist)",
    "fences to be persistent",
    "states",
    "seconds",
    "seconds (Persist)",
    "fences (Trencher)",
    "fences to be robust",
    "states",
    "seconds",
    "seconds (Trencher)",
)


def table(rows: list[Measured]) -> Iterator[str]:
    yield f"| {' | '.join(HEADINGS)} |"
    yield f"|---|{'--:|' * (len(HEADINGS) - 1)}"
    for row in rows:
        paper = PAPER[row.program]
        cells = [row.program, str(row.threads)]
        cells += [str(paper.persist_fences), *_cells(row.persistent), str(paper.persist_seconds)]
        cells += [_or_limit(paper.trencher_fences), *_cells(row.robust), _or_limit(paper.trencher_seconds)]
        yield f"| {' | '.join(cells)} |"
    totals = ["all", "", str(sum(paper.persist_fences for paper in PAPER.values()))]
    totals += [*_cells(_sum(row.persistent for row in rows))]
    totals += [str(sum(paper.persist_seconds for paper in PAPER.values())), ""]
    totals += [*_cells(_sum(row.robust for row in rows)), ""]
    yield f"| {' | '.join(totals)} |"


def _cells(repair: Repair) -> Iterator[str]:
    yield "unknown" if repair.fences is None else str(repair.fences)
    yield f"{repair.states:,}"
    yield f"{repair.seconds:.2f}"


def _or_limit(number: int | None) -> str:
    return "limit" if number is None else str(number)


def _sum(repairs: Iterable[Repair]) -> Repair:
    fences, states, seconds = zip(*repairs, strict=True)
    return Repair(sum(filter(None, fences)), sum(states), sum(seconds))


def main() -> int:
    rows = []
    for name in PAPER:
        rows.append(measure(name))
        persistent, robust = rows[-1].persistent, rows[-1].robust
        print(
            f"{name}: {persistent.fences} fences, {persistent.seconds:.2f} s; "
            f"robust: {robust.fences} fences, {robust.seconds:.2f} s",
            file=sys.stderr,
        )
    text = "\n".join(table(rows)) + "\n"
    print(text, end="")
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(text, encoding="utf-8")
    differing = [row.program for row in rows if row.persistent.fences != PAPER[row.program].persist_fences]
    if differing:
        print(f"other numbers of fences than Persist's: {', '.join(differing)}", file=sys.stderr)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
