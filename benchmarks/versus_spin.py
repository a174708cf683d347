"""fencepost against Spin on the programs of Figure 7 of rocker-2019: verdicts, states, seconds, memory.

Every program of `examples/rocker` is given to both in turn: to Spin as `fencepost show --to promela --monitor
ra` writes it, with `spin -a`, `gcc -O2` and an exact search to the first error, and to `fencepost robust`
from the shell. Spin is tuned first, with runs that are not counted: with or without its partial-order
reduction, whichever takes less, and with a hash table and a stack of the size that this search turned out to
need. Then both take turns in several rounds, of which the least of each number counts. A search that comes to
the limit of processor time counts with that limit. Leaves the tables in `benchmarks/results/versus_spin.md`
and in `docs/performance.md`; exits with 1 if the two give different answers.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from math import exp, log
from pathlib import Path
from typing import NamedTuple

import page_block
import peers

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "versus_spin.md"
PAGE = ROOT / "docs" / "performance.md"

COMMON_FLAGS = ("-DMEMLIM=16000", "-DVECTORSZ=4096")
REDUCTIONS = {"without": ("-DNOREDUCE",), "with": ()}

SLOW = 1.0  # seconds of search by Spin from which on search and memory are compared
LARGE = 100_000  # states from which on rates are compared


class Tuned(NamedTuple):
    """How Spin is asked about a program."""

    flags: tuple[str, ...]
    hash_bits: int
    depth: int
    limited: bool
    """No answer came within the limit."""


class Row(NamedTuple):
    """What one round measured, or the least of several."""

    spin: float
    gcc: float
    pan: float
    pan_mb: float
    quick: float
    """All phases of Spin with a compiler that does not optimise."""
    shell: float
    shell_mb: float
    search: float
    exact: float

    @property
    def spin_shell(self) -> float:
        return self.spin + self.gcc + self.pan


class Measured(NamedTuple):
    program: str
    verdicts: tuple[str, str]
    spin_states: int
    states: int
    exact_states: int
    limited: bool
    row: Row


def tune(text: str, directory: Path, limit: float) -> Tuned:
    tried = []
    for name, reduction in REDUCTIONS.items():
        built = peers.build(text, directory / name, ("-O2", *reduction, *COMMON_FLAGS))
        try:
            found = peers.search(built, "-w22", seconds=limit)
        except peers.LimitReachedError:
            tried.append((limit, Tuned(reduction, 24, 1_000_000, limited=True)))
        else:
            bits = max(found.states.bit_length(), 10)
            tuned = Tuned(reduction, bits, found.depth + 10, limited=False)
            tried.append((built.gcc_seconds + found.seconds, tuned))
    return min(tried)[1]


def measure(file: Path, directory: Path, rounds: int, limit: float) -> Measured:
    text = peers.promela(file)
    tuned = tune(text, directory, limit)
    peers.ask(file)  # not counted either, so that Python has all its modules compiled
    measured = [one_round(file, text, directory, tuned, limit) for _ in range(rounds)]
    least = Row(*map(min, zip(*(each.row for each in measured), strict=True)))
    return measured[0]._replace(row=least)


def one_round(file: Path, text: str, directory: Path, tuned: Tuned, limit: float) -> Measured:
    built = peers.build(text, directory / "round", ("-O2", *tuned.flags, *COMMON_FLAGS))
    pan = search(built, tuned, limit)
    answer = peers.ask(file)
    quick = peers.build(text, directory / "quick", ("-O0", *tuned.flags, *COMMON_FLAGS))
    quick_pan = search(quick, tuned, limit)
    reduced = peers.search_alone(file)
    exact = peers.search_alone(file, every_state=True)
    row = Row(
        built.spin_seconds,
        built.gcc_seconds,
        pan.seconds,
        pan.peak_mb,
        quick.spin_seconds + quick.gcc_seconds + quick_pan.seconds,
        answer.seconds,
        answer.peak_mb,
        reduced.seconds,
        exact.seconds,
    )
    verdicts = (pan.verdict, answer.verdict)
    return Measured(file.stem, verdicts, pan.states, answer.states, exact.states, tuned.limited, row)


def search(built: peers.Built, tuned: Tuned, limit: float) -> peers.Searched:
    if tuned.limited:
        return peers.Searched("limit", 0, 0, limit, 0)
    return peers.search(built, f"-w{tuned.hash_bits}", depth=tuned.depth)


# Tables.


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(headings)} |"
    yield f"|---|{'--:|' * (len(headings) - 1)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""


def mean(ratios: Iterable[float]) -> float:
    logarithms = [log(ratio) for ratio in ratios]
    return exp(sum(logarithms) / len(logarithms)) if logarithms else float("nan")


def times(ratio: float) -> str:
    return f"{ratio:.1f}"


def report(measured: Sequence[Measured], rounds: int) -> Iterator[str]:
    counted = f"the least of {rounds} rounds" if rounds > 1 else "of one round"
    yield f"Processor seconds, user and system, {counted}; memory is the largest of the process. Ratios say"
    yield "how many times more Spin takes."
    yield ""
    yield from _from_the_shell(measured)
    yield from _searches([m for m in measured if m.row.pan > SLOW])
    yield from _rates([m for m in measured if m.exact_states >= LARGE and m.verdicts == ("robust", "robust")])


def _from_the_shell(measured: Sequence[Measured]) -> Iterator[str]:
    headings = ["program", "verdict", "states of Spin", "states of fencepost"]
    headings += ["`spin -a`", "`gcc`", "`pan`", "Spin, all", "fencepost, all", "ratio"]
    rows = []
    for m in measured:
        row = m.row
        more = "> " if m.limited else ""
        seconds = [row.spin, row.gcc, row.pan, row.spin_shell, row.shell]
        verdict = m.verdicts[1] if agree(m) else " / ".join(m.verdicts)
        states = ["limit" if m.limited else f"{m.spin_states:,}", f"{m.states:,}"]
        cells = [m.program, verdict, *states, *(f"{s:.2f}" for s in seconds)]
        rows.append([*cells, more + times(row.spin_shell / row.shell)])
    yield from table(headings, rows)
    ratios = [m.row.spin_shell / m.row.shell for m in measured]
    quick = [m.row.quick / m.row.shell for m in measured]
    yield f"From the shell, everything counted: **{times(mean(ratios))}** in the geometric mean of"
    yield f"{len(ratios)} programs, {times(min(ratios))} at least. With `gcc -O0` instead of `-O2` for Spin:"
    yield f"{times(mean(quick))}, and {times(min(quick))} at least."
    yield ""


def _searches(measured: Sequence[Measured]) -> Iterator[str]:
    headings = ("program", "`pan`, s", "fencepost, s", "ratio", "`pan`, MB", "fencepost, MB", "ratio")
    rows = []
    for m in measured:
        row = m.row
        seconds = [f"{row.pan:.2f}", f"{row.search:.2f}", times(row.pan / row.search)]
        memory = [f"{row.pan_mb:.0f}", f"{row.shell_mb:.0f}", times(row.pan_mb / row.shell_mb)]
        rows.append([m.program, *seconds, *memory])
    yield f"The search alone, for programs on which `pan` takes more than {SLOW:g} s:"
    yield ""
    yield from table(headings, rows)
    faster = mean(m.row.pan / m.row.search for m in measured)
    smaller = mean(m.row.pan_mb / m.row.shell_mb for m in measured if not m.limited)
    yield f"Geometric means: **{times(faster)}** in time, **{times(smaller)}** in memory."
    yield ""


def _rates(measured: Sequence[Measured]) -> Iterator[str]:
    headings = ("program", "states", "`pan`, states per s", "fencepost, states per s", "ratio")
    rows, ratios = [], []
    for m in measured:
        theirs, ours = m.spin_states / m.row.pan, m.exact_states / m.row.exact
        ratios.append(ours / theirs)
        rows.append(
            [m.program, f"{m.exact_states:,}", f"{theirs:,.0f}", f"{ours:,.0f}", times(ours / theirs)]
        )
    yield f"Without reductions, on robust programs of at least {LARGE:,} states:"
    yield ""
    yield from table(headings, rows)
    yield f"Geometric mean: fencepost visits **{times(mean(ratios))}** times as many states per second."


def agree(measured: Measured) -> bool:
    return measured.limited or measured.verdicts[0] == measured.verdicts[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--limit", type=float, default=120.0, help="processor seconds for a search by Spin")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured")
    parser.add_argument("names", nargs="*", help="only these programs; then no file is written")
    options = parser.parse_args()
    files = sorted((ROOT / "examples" / "rocker").glob("*.tpl"))
    measured = []
    for file in files:
        if not options.names or file.stem in options.names:
            with tempfile.TemporaryDirectory() as directory:
                measured.append(measure(file, Path(directory), options.rounds, options.limit))
            row = measured[-1].row
            print(f"{file.stem}: Spin {row.spin_shell:.2f} s, fencepost {row.shell:.2f} s", file=sys.stderr)
    text = "\n".join(report(measured, options.rounds)) + "\n"
    print(text, end="")
    if not options.names:
        RESULTS.write_text(text, encoding="utf-8")
        page_block.write(PAGE, "versus_spin", text)
    differing = [m.program for m in measured if not agree(m)]
    if differing:
        print(f"different answers: {', '.join(differing)}", file=sys.stderr)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
