"""Which criterion of TSO needs fewer fences: persistence, robustness, or either of them?

Asks for the fewest fences that make each program of three corpora persistent, robust, and either of the two.
Leaves the table of all programs in `benchmarks/results/tso_criteria.md` and the sums in `docs/tso.md`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import page_block

import fencepost

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "tso_criteria.md"
PAGE = ROOT / "docs" / "tso.md"
CORPORA = ("tso", "rocker", "litmus")
CRITERIA = ("persistent", "robust", "either")
SECONDS = 60.0  # for each repair


class Row(NamedTuple):
    """The fences that a program needs for each criterion, None where no smallest set was found."""

    corpus: str
    program: str
    persistent: int | None
    robust: int | None
    either: int | None

    @property
    def is_decided(self) -> bool:
        return None not in self[2:]


def measure(path: Path) -> Row:
    program = fencepost.load(path)
    limits = fencepost.Limits(seconds=SECONDS)
    fences = []
    for criterion in CRITERIA:
        answer = fencepost.fix(program, model="tso", criterion=criterion, ignore_races=True, limits=limits)
        fences.append(len(answer.edits) if answer.holds and answer.edits is not None else None)
    return Row(path.parent.name, path.name, *fences)


def table(rows: Sequence[Row]) -> Iterator[str]:
    yield "| corpus | program | fences to be persistent | fences to be robust | fences to be either |"
    yield "|---|---|--:|--:|--:|"
    for row in rows:
        yield f"| {row.corpus} | {row.program} | {' | '.join(map(_cell, row[2:]))} |"


def sums(rows: Sequence[Row]) -> Iterator[str]:
    headings = ("corpus", "programs", *(f"fences to be {criterion}" for criterion in CRITERIA))
    yield f"| {' | '.join([*headings, 'fewer to be persistent', 'fewer to be robust'])} |"
    yield f"|---|{'--:|' * 6}"
    for corpus in CORPORA:
        decided = [row for row in rows if row.corpus == corpus and row.is_decided]
        numbers = [len(decided), *(sum(row[2 + n] or 0 for row in decided) for n in range(len(CRITERIA)))]
        numbers.append(sum((row.persistent or 0) < (row.robust or 0) for row in decided))
        numbers.append(sum((row.persistent or 0) > (row.robust or 0) for row in decided))
        yield f"| [`examples/{corpus}`](../examples/{corpus}) | {' | '.join(map(str, numbers))} |"
    undecided = [f"`{row.program}`" for row in rows if not row.is_decided]
    if undecided:
        yield f"\nNot decided within {SECONDS:g} seconds, and not counted: {', '.join(undecided)}."


def _cell(fences: object) -> str:
    return "unknown" if fences is None else str(fences)


def main() -> int:
    rows = []
    for corpus in CORPORA:
        folder = ROOT / "examples" / corpus
        for path in sorted([*folder.glob("*.tpl"), *folder.glob("*.aut")]):
            rows.append(measure(path))
            print(*rows[-1], file=sys.stderr)
    RESULTS.write_text("\n".join(table(rows)) + "\n", encoding="utf-8")
    text = "\n".join(sums(rows))
    page_block.write(PAGE, "tso_criteria", text)
    print(text)
    wrong = [row for row in rows if row.is_decided and row.either != min(row[2:4])]
    for row in wrong:
        print(f"{row.program}: not the smaller of the two", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
