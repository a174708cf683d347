"""How long does it take to list all outcomes? Litmus tests, and rings and counters that grow.

For each model: how many consistent execution graphs there are, how many events were added to build them, and
the processor time of the enumeration (best of three). *Candidates* are the pairs of a reads-from relation and
a modification order that the program has, which a tool must filter if it lists them all first. Leaves the
table in `benchmarks/results/outcomes.md`.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from fencepost.analyses.outcomes import looked_at, why_refused
from fencepost.engine.graphs import enumerate_graphs
from fencepost.engine.search import Limits
from fencepost.formats import load
from fencepost.formats.tpl import read
from fencepost.memory_models import OUTCOME_MODELS
from fencepost.models.tso import on_x86
from fencepost.program import CellAccess, Load, Program, Store, Wait

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "outcomes.md"
LARGEST_RING = 6
MOST_COUNTING = 4
SECONDS = 20.0  # for each enumeration


class Row(NamedTuple):
    what: str
    model: str
    tests: int
    candidates: int
    graphs: int
    events: int
    seconds: float
    complete: bool


def measure(what: str, model: str, programs: Sequence[Program]) -> Row:
    candidates = graphs = events = tests = 0
    seconds, complete = 0.0, True
    for program in programs:
        if why_refused(program, model):
            continue
        taken = on_x86(program) if model == "tso" else program
        best = math.inf
        for _ in range(3):
            start = time.process_time()
            found = enumerate_graphs(taken, model, looked_at(program), Limits(seconds=SECONDS), unroll=1)
            best = min(best, time.process_time() - start)
            if best > 1:
                break
        tests += 1
        candidates += candidates_of(program)
        graphs += found.graphs + found.blocked
        events += found.steps
        seconds += best
        complete = complete and not found.truncated and found.seconds < SECONDS
    return Row(what, model, tests, candidates, graphs, events, seconds, complete)


def candidates_of(program: Program) -> int:
    """The choices of a write for each read, times the orders of the writes to each cell; for programs
    without jumps, which most litmus tests are."""
    reads: Counter[str] = Counter()
    writes: Counter[str] = Counter()
    for access in (i for thread in program.threads for i in thread.code if isinstance(i, CellAccess)):
        if not isinstance(access, Store):
            reads[access.cell.name] += 1
        if not isinstance(access, Load | Wait):
            writes[access.cell.name] += 1
    return math.prod((writes[cell] + 1) ** count for cell, count in reads.items()) * math.prod(
        math.factorial(count) for count in writes.values()
    )


def ring(threads: int) -> Program:
    """Each thread writes its own location twice and the next one's once, and reads that of the one after."""
    cells = [f"x{n}" for n in range(threads)]
    functions = (
        f"fn t{n} {{ local a; x{n}.store(1, rlx); x{(n + 1) % threads}.store(2, rlx); "
        f"a = x{(n + 2) % threads}.load(rlx); }}"
        for n in range(threads)
    )
    return read(f"global {', '.join(cells)};\n" + "\n".join(functions))


def counter(threads: int) -> Program:
    """Each thread increments one counter twice."""
    functions = (f"fn t{n} {{ FADD(x, 1); FADD(x, 1); }}" for n in range(threads))
    return read("global x;\n" + "\n".join(functions))


def rows() -> Iterator[Row]:
    for folder in ("litmus-c", "outcomes"):
        programs = [load(file) for file in sorted((ROOT / "examples" / folder).glob("*.litmus"))]
        for model in OUTCOME_MODELS:
            yield measure(f"examples/{folder}", model, programs)
    for threads in range(3, LARGEST_RING + 1):
        for model in ("sc", "tso", "ra", "rc20"):
            yield measure(f"ring of {threads}", model, [ring(threads)])
    for threads in range(2, MOST_COUNTING + 1):
        for model in ("sc", "tso", "ra", "rc20"):
            yield measure(f"counter of {threads}", model, [counter(threads)])


def table(found: Sequence[Row]) -> str:
    lines = [
        "| programs | model | tests | candidates | graphs | events added | seconds | µs per graph |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in found:
        seconds = f"{row.seconds:.3f}" if row.complete else f"> {row.seconds:.0f}"
        each = 1e6 * row.seconds / max(row.graphs, 1)
        lines.append(
            f"| {row.what} | {row.model} | {row.tests} | {row.candidates:,} | {row.graphs:,} | "
            f"{row.events:,} | {seconds} | {each:.1f} |"
        )
    return "\n".join(lines)


def main() -> None:
    title = "# Listing outcomes\n\nWritten by `benchmarks/outcomes.py`, which says what the columns mean.\n\n"
    text = title + table(list(rows())) + "\n"
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
