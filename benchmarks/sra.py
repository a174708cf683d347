"""The corpus of `examples/sra`: what is decided under SRA, by whom, at what cost; what prunings are worth.

Asks `fencepost verify --model sra` about every program, then the backward search alone, then again without
each of its prunings. Seconds are of the processor; a search that comes to the limit of time or memory is
shown as such. Leaves both tables in `benchmarks/results/sra.md` and the first in `docs/sra.md`. Ends with 1
if an answer is not the one that the file expects.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import page_block
from msgspec.structs import replace

import fencepost
from fencepost.analyses.safety.portfolio import Engine
from fencepost.formats.headers import expectations
from fencepost.formats.properties import stated_property
from fencepost.memory_models import PRUNINGS

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "examples" / "sra"
RESULTS = ROOT / "benchmarks" / "results" / "sra.md"
PAGE = ROOT / "docs" / "sra.md"


class Cost(NamedTuple):
    """What one way to ask took; `holds` is None if a limit was reached."""

    holds: bool | None
    engine: str
    basis: int | None
    steps: int
    seconds: float
    megabytes: float


class Measured(NamedTuple):
    program: str
    threads: int
    expected: bool | None
    portfolio: Cost
    backward: Cost
    without: tuple[Cost, ...]  # per pruning; empty where that would take too long


def asked(
    program: fencepost.Program, model: str, limits: fencepost.Limits, engine: Engine, *without: str
) -> Cost:
    started = time.process_time()
    wanted = stated_property(program)
    answer = fencepost.verify(program, model, wanted=wanted, engine=engine, limits=limits, without=without)
    seconds = time.process_time() - started
    decided = not isinstance(answer, fencepost.Unknown)
    return Cost(
        answer.holds if decided else None,
        getattr(answer, "engine", ""),
        getattr(answer, "basis", None),
        answer.stats.transitions,
        seconds,
        answer.stats.peak_memory_mb,
    )


def measure(file: Path, model: str, limits: fencepost.Limits, seconds_without: float = 0) -> Measured:
    program = fencepost.load(file)
    portfolio, backward = (asked(program, model, limits, engine) for engine in ("portfolio", "backward"))
    # What is too much with all prunings is so without one.
    easy = backward.holds is not None and backward.seconds < seconds_without
    limits = replace(limits, seconds=seconds_without)
    without = [asked(program, model, limits, "backward", name) for name in PRUNINGS] if easy else []
    expected = expectations(file.read_text(encoding="utf-8"), str(file)).get(("verify", model))
    measured = Measured(file.stem, len(program.threads), expected, portfolio, backward, tuple(without))
    print(
        f"{file.stem}: {_answer(portfolio)} by {portfolio.engine or 'nobody'}, {portfolio.seconds:.2f} s; "
        f"backward: {_answer(backward)}, {backward.steps:,} steps, {backward.seconds:.2f} s",
        file=sys.stderr,
    )
    return measured


# The tables.


def decided(rows: Sequence[Measured]) -> Iterator[str]:
    yield "| program | threads | answer | given by | seconds | basis | steps | seconds | MB |"
    yield "|---|--:|---|---|--:|--:|--:|--:|--:|"
    for row in rows:
        cells = [f"`{row.program}`", str(row.threads), _answer(row.portfolio), row.portfolio.engine]
        cells += [f"{row.portfolio.seconds:.2f}", *_backward(row.backward)]
        yield f"| {' | '.join(cells)} |"


def prunings(rows: Sequence[Measured]) -> Iterator[str]:
    yield f"| program | all | {' | '.join(f'without {name}' for name in PRUNINGS)} |"
    yield f"|---|{'--:|' * (len(PRUNINGS) + 1)}"
    rows = [row for row in rows if row.without]
    for row in rows:
        yield f"| `{row.program}` | {' | '.join(map(_steps, (row.backward, *row.without)))} |"
    columns = list(zip(*((row.backward, *row.without) for row in rows), strict=True))
    for name, total in (("decided", _count_decided), ("seconds", _sum_seconds)):
        yield f"| {name} | {' | '.join(map(total, columns))} |"


def _answer(cost: Cost) -> str:
    return {True: "safe", False: "unsafe", None: "unknown"}[cost.holds]


def _steps(cost: Cost) -> str:
    return f"{cost.steps:,}" if cost.holds is not None else f"> {cost.steps:,}"


def _backward(cost: Cost) -> Iterator[str]:
    """A basis is what a proof of safety ends with."""
    yield "limit" if cost.holds is None else f"{cost.basis:,}" if cost.basis is not None else ""
    yield _steps(cost)
    yield f"{cost.seconds:.2f}"
    yield f"{cost.megabytes:.1f}"


def _count_decided(costs: Sequence[Cost]) -> str:
    return f"{sum(cost.holds is not None for cost in costs)} of {len(costs)}"


def _sum_seconds(costs: Sequence[Cost]) -> str:
    return f"{sum(cost.seconds for cost in costs):.0f}"


def main() -> int:
    arguments = _arguments()
    limits = fencepost.Limits(seconds=arguments.seconds, memory_mb=arguments.megabytes)
    names = arguments.programs or sorted(file.stem for file in CORPUS.glob("*.tpl"))
    rows = [measure(CORPUS / f"{name}.tpl", "sra", limits, arguments.seconds_without) for name in names]
    first = "\n".join([head(limits), "", *decided(rows)])
    said = f"Steps of the backward search without prunings, in at most {arguments.seconds_without:g} seconds."
    second = "\n".join([said, "", *prunings(rows)])
    print(f"{first}\n\n{second}")
    if not arguments.programs:
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        RESULTS.write_text(f"{first}\n\n{second}\n", encoding="utf-8")
        page_block.write(PAGE, "sra", first)
    return exit_code(rows)


def head(limits: fencepost.Limits) -> str:
    most = f"at most {limits.seconds:g} seconds and {limits.memory_mb:g} MB"
    return f"Each search had {most}. From *basis* on, the backward search alone."


def exit_code(rows: Sequence[Measured]) -> int:
    wrong = [row.program for row in rows if _contradicts(row)]
    if wrong:
        print(f"other answers than expected: {', '.join(wrong)}", file=sys.stderr)
    return 1 if wrong else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="what is decided under SRA, and what each pruning is worth")
    parser.add_argument("programs", nargs="*", help="names without .tpl; by default the whole corpus")
    parser.add_argument("--seconds", type=float, default=60, help="for each search (default: 60)")
    parser.add_argument("--megabytes", type=float, default=2048, help="for each search (default: 2048)")
    parser.add_argument(
        "--seconds-without", type=float, default=5, help="for each search without a pruning (default: 5)"
    )
    return parser.parse_args()


def _contradicts(row: Measured) -> bool:
    """Whether two answers differ, or one of them from what the file expects."""
    costs = (row.portfolio, row.backward, *row.without)
    return len({row.expected, *(cost.holds for cost in costs)} - {None}) > 1


if __name__ == "__main__":
    sys.exit(main())
