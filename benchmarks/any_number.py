"""How long does it take to decide a program for every number of threads, and for one number at a time?

Each program of `examples/any-number`, against RC20 and against TSO: the k and the views that decided it, and
beside it the exact search with 2, 4, 6 and 8 copies of each template. Seconds are processor seconds, the best
of three unless one takes longer than a second. Leaves two tables in `docs/performance.md`.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec
import page_block

from fencepost.analyses.robustness import robust
from fencepost.engine.search import Limits
from fencepost.formats import load
from fencepost.program import MOST_THREADS, Program
from fencepost.verdicts import RobustnessAnswer, Unknown

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "performance.md"
COPIES = (2, 4, 6, 8)
BLOCKS = {"rc20": "any-number", "tso": "any-number-tso"}

T = TypeVar("T")


def timed(action: Callable[[], T]) -> tuple[T, float]:
    best = math.inf
    for _ in range(3):
        start = time.process_time()
        found = action()
        best = min(best, time.process_time() - start)
        if best > 1:
            break
    return found, best


def exact(program: Program, model: str, copies: int, seconds: float) -> str:
    """Seconds; in brackets those after which the search was given up."""
    if sum(map(len, program.instance_numbers(copies))) > MOST_THREADS:
        return "–"
    instances = program.with_instances(copies)
    answer, taken = timed(lambda: robust(instances, model, limits=Limits(seconds=seconds)))
    return f"({taken:.1f})" if isinstance(answer, Unknown) else f"{taken:.2f}"


def verdict(answer: RobustnessAnswer) -> str:
    assert answer.any_number is not msgspec.UNSET
    if isinstance(answer, Unknown):
        return "unknown"
    if answer.holds:
        return "robust" if answer.race is None else "robust, race"
    return f"not with {min(answer.any_number.copies.values())}"


def report(model: str, seconds: float) -> Iterator[str]:
    numbers = " | ".join(f"n = {copies}" for copies in COPIES)
    yield f"| program | every n | k | views | seconds | {numbers} |"
    yield "|---|---|--:|--:|--:|" + "--:|" * len(COPIES)
    for file in sorted((ROOT / "examples" / "any-number").glob("*.tpl")):
        program = load(file)
        answer, taken = timed(partial(robust, program, model))
        many = answer.any_number
        assert many is not msgspec.UNSET
        row = [file.stem, verdict(answer), str(many.k), f"{many.views:,}", f"{taken:.2f}"]
        row += [exact(program, model, copies, seconds) for copies in COPIES]
        yield f"| {' | '.join(row)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--timeout", type=float, default=60, help="seconds for each exact search")
    seconds = parser.parse_args().timeout
    for model, block in BLOCKS.items():
        page_block.write(PAGE, block, "\n".join(report(model, seconds)))


if __name__ == "__main__":
    main()
