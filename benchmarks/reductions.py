"""What each reduction saves, on every program of Figure 7 of rocker-2019.

Counts the states and monitors that are stored and the steps that are taken: with all reductions, without each
of them, and without any. Counts do not depend on the machine. Where a program is not robust the search ends
when it meets the first violation, and how many states it has stored by then is chance; such programs are
shown, but left out of the mean. `make bench` runs this and leaves the table in
`benchmarks/results/reductions.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from fencepost.engine._native import Outcome
from fencepost.engine.search import EVERY_STATE, REDUCED, Limits, Tactics, explore
from fencepost.formats import load

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "reductions.md"

WAYS: dict[str, tuple[str, Tactics]] = {
    "all": ("by-location", REDUCED),
    "full monitors": ("largest-first", REDUCED),
    "no subsumption": ("by-location", replace(REDUCED, subsumption=False)),
    "no partial order": ("by-location", replace(REDUCED, partial_order=False)),
    "no symmetry": ("by-location", replace(REDUCED, symmetry=False)),
    "no rotation": ("by-location", replace(REDUCED, rotation=False)),
    "no local": ("by-location", replace(REDUCED, local=False)),
    "no merging": ("by-location", replace(REDUCED, merging=False)),
    "no lookahead": ("by-location", replace(REDUCED, lookahead=False)),
    "none": ("breadth-first", EVERY_STATE),
}


class Counts(NamedTuple):
    states: int
    steps: int

    def __str__(self) -> str:
        return f"{self.states:,} / {self.steps:,}"


@dataclass(frozen=True, slots=True)
class Row:
    """The counts of one program, by way."""

    program: str
    robust: bool
    counts: tuple[Counts, ...]


def measure(path: Path) -> Row:
    program = load(path)
    results = [explore(program, "ra", Limits(), order, tactics=tactics) for order, tactics in WAYS.values()]
    counts = tuple(Counts(result.states, result.transitions) for result in results)
    return Row(path.stem, results[0].outcome == Outcome.COMPLETE, counts)


def mean_factors(rows: Sequence[Row], way: int) -> str:
    """The geometric means, over the programs, of the counts in some way to those with all reductions."""
    ratios = [
        [counted / reduced for counted, reduced in zip(row.counts[way], row.counts[0], strict=True)]
        for row in rows
        if row.robust
    ]
    return " / ".join(f"{prod(column) ** (1 / len(ratios)):.2f}" for column in zip(*ratios, strict=True))


def table(rows: Sequence[Row]) -> str:
    lines = [
        "# What each reduction saves",
        "",
        "States and monitors stored / steps taken, release/acquire, one location at a time but for the",
        "columns *full monitors* (largest first) and *none* (breadth first); written by",
        "`benchmarks/reductions.py`.",
        "The last line has, for the robust programs, the geometric mean of the factors by which counts are",
        "larger than with all reductions.",
        "",
        "| program | " + " | ".join(WAYS) + " |",
        "|---|" + "---:|" * len(WAYS),
    ]
    for row in rows:
        name = row.program if row.robust else f"{row.program} (not robust)"
        lines.append(f"| {name} | " + " | ".join(map(str, row.counts)) + " |")
    means = [mean_factors(rows, way) for way in range(len(WAYS))]
    lines.append("| **mean factor** | " + " | ".join(means) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    text = table([measure(path) for path in sorted((ROOT / "examples" / "rocker").glob("*.tpl"))])
    print(text)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(text)
    print(f"written to {RESULTS.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
