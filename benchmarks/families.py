"""How far Spin and fencepost come with growing numbers of threads: ticket lock, spin lock, Peterson's filter.

Each family is robust against release/acquire, so that all states have to be seen. The first two are those of
`examples/rocker`. The filter lock (Peterson 1981) has n - 1 levels for n threads; its writes on the way in
are exchanges and its reads are `FADD(., 0)`, since with loads, or with fences, three threads are not robust.
n grows from 2 to `--most`, for each checker until it does not decide within the processor time (`spin -a` and
`gcc` count) or the memory. Leaves a table and a plot in `benchmarks/results/families.md` and `.svg`, and the
table in `docs/performance.md`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import page_block
import peers
from log_plot import Point, svg

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "performance.md"
SPIN_FLAGS = ("-O2", "-DNOREDUCE", "-DAUTO_RESIZE", "-DVECTORSZ=4096")


# The programs.


def ticketlock(n: int) -> str:
    body = """\
        ticket = FADD(next_ticket, 1);
        r = now_serving.load();
        while (r != ticket) { r = now_serving.load(); }
        cs.nastore(tid);
        r = cs.naload();
        assert(r == tid);
        now_serving.store(ticket + 1);"""
    head = f"max_value {2 * n - 1};\nglobal next_ticket, now_serving;"
    return f"{head}\nna cs;\n{_worker(f'worker[{n}]', 'ticket, r', body)}"


def spinlock(n: int) -> str:
    body = """\
        spin:
        r = lck.load();
        if (r != 0) goto spin;
        r = CAS(lck, 0, 1);
        if (r != 0) goto spin;
        cs.nastore(tid);
        r = cs.naload();
        assert(r == tid);
        lck.store(0);"""
    return f"max_value {n - 1};\nglobal lck;\nna cs;\n{_worker(f'worker[{n}]', 'r', body)}"


def peterson_filter(n: int) -> str:
    cells = [f"level{i}" for i in range(n)] + [f"victim{level}" for level in range(1, n)]
    workers = [_worker(f"p{i}", "r", "\n".join(_filter_steps(i, n))) for i in range(n)]
    return f"max_value {n - 1};\nglobal {', '.join(cells)};\nna cs;\n{''.join(workers)}"


def _filter_steps(i: int, n: int) -> Iterator[str]:
    for level in range(1, n):
        yield f"r = exchange(level{i}, {level});"
        yield f"r = exchange(victim{level}, {i});"
        yield f"again{level}:"
        for other in [*range(i), *range(i + 1, n)]:
            yield f"r = FADD(level{other}, 0);"
            yield f"if (r >= {level}) {{"
            yield f"    r = FADD(victim{level}, 0);"
            yield f"    if (r == {i}) goto again{level};"
            yield f"    goto next{level};"
            yield "}"
        yield f"next{level}: skip;"
    yield f"cs.nastore({i});"
    yield "r = cs.naload();"
    yield f"assert(r == {i});"
    yield f"level{i}.store(0);"


def _worker(name: str, registers: str, body: str) -> str:
    return f"fn {name} {{\n    local {registers};\n    while (1) {{\n{body}\n    }}\n}}\n"


FAMILIES: dict[str, Callable[[int], str]] = {
    "ticketlock": ticketlock,
    "spinlock": spinlock,
    "peterson-filter": peterson_filter,
}


# What the checkers make of them.


class Limits(NamedTuple):
    seconds: float
    memory_mb: int


class Decided(NamedTuple):
    states: int
    seconds: float
    peak_mb: float


def by_spin(file: Path, limits: Limits) -> Decided:
    text = peers.promela(file)
    with tempfile.TemporaryDirectory() as directory:
        built = peers.build(text, Path(directory), (*SPIN_FLAGS, f"-DMEMLIM={limits.memory_mb}"))
        before = built.spin_seconds + built.gcc_seconds
        found = peers.search(built, "-w20", seconds=limits.seconds - before)
    assert found.verdict == "robust", f"Spin finds {file.stem} {found.verdict}"
    return Decided(found.states, before + found.seconds, found.peak_mb)


def by_fencepost(file: Path, limits: Limits) -> Decided:
    found = peers.ask(file, "--max-memory", str(limits.memory_mb), seconds=limits.seconds)
    assert found.verdict == "robust", f"fencepost finds {file.stem} {found.verdict}"
    return Decided(found.states, found.seconds, found.peak_mb)


CHECKERS = {"Spin": by_spin, "fencepost": by_fencepost}

# By checker, then by n; None is the first that was not decided.
Measured = dict[str, dict[int, Decided | None]]


def measure(family: str, directory: Path, limits: Limits, most: int) -> Measured:
    measured: Measured = {checker: {} for checker in CHECKERS}
    running = set(CHECKERS)
    for n in range(2, most + 1):
        file = directory / f"{family}-{n}.tpl"
        file.write_text(FAMILIES[family](n), encoding="utf-8")
        for checker in sorted(running):
            measured[checker][n] = found = decide(checker, file, limits)
            if found is None:
                running.remove(checker)
            print(f"{file.stem}, {checker}: {found or 'limit'}", file=sys.stderr)
    return measured


def decide(checker: str, file: Path, limits: Limits) -> Decided | None:
    try:
        return CHECKERS[checker](file, limits)
    except peers.LimitReachedError:
        return None


# The table and the plot.


def report(measured: dict[str, Measured], limits: Limits) -> Iterator[str]:
    yield f"The largest number of threads decided in {limits.seconds:g} processor seconds and"
    yield f"{limits.memory_mb:,} MB:"
    yield ""
    yield f"| family | {' | '.join(CHECKERS)} |"
    yield f"|---|{'--:|' * len(CHECKERS)}"
    for family, found in measured.items():
        yield f"| {family} | {' | '.join(_largest(found[checker]) for checker in CHECKERS)} |"
    yield ""
    yield "What each member took:"
    yield ""
    headings = [f"{checker}, {what}" for checker in CHECKERS for what in ("states", "s", "MB")]
    yield f"| family | threads | {' | '.join(headings)} |"
    yield f"|---|{'--:|' * (len(headings) + 1)}"
    for family, found in measured.items():
        for n in range(2, max(max(line) for line in found.values()) + 1):
            cells = [cell for checker in CHECKERS for cell in _cells(found[checker], n)]
            yield f"| {family} | {n} | {' | '.join(cells)} |"


def _largest(line: dict[int, Decided | None]) -> str:
    largest = max((n for n, decided in line.items() if decided is not None), default=0)
    return str(largest) if None in line.values() else f"{largest} or more"


def _cells(line: dict[int, Decided | None], n: int) -> list[str]:
    if n not in line:
        return ["", "", ""]
    decided = line[n]
    if decided is None:
        return ["limit", "", ""]
    return [f"{decided.states:,}", f"{decided.seconds:.2f}", f"{decided.peak_mb:.0f}"]


def plot(measured: dict[str, Measured], limits: Limits) -> str:
    panels = {
        family: {
            checker: [Point(n, decided and decided.seconds) for n, decided in found[checker].items()]
            for checker in CHECKERS
        }
        for family, found in measured.items()
    }
    return svg(panels, "Time to prove robustness, from the shell", "threads", limits.seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--limit", type=float, default=60.0, help="processor seconds for each member")
    parser.add_argument("--memory", type=int, default=4096, help="MB for each member")
    parser.add_argument("--most", type=int, default=20, help="the largest number of threads")
    options = parser.parse_args()
    limits = Limits(options.limit, options.memory)
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        measured = {family: measure(family, folder, limits, options.most) for family in FAMILIES}
    text = "\n".join(report(measured, limits)) + "\n"
    print(text, end="")
    (RESULTS / "families.md").write_text(text, encoding="utf-8")
    (RESULTS / "families.svg").write_text(plot(measured, limits), encoding="utf-8")
    page_block.write(PAGE, "families", text)


if __name__ == "__main__":
    main()
