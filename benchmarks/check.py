"""How many executions a second `fencepost check` runs, by how they begin.

Store buffering with two threads, and a client of a Michael-Scott queue in which each of two threads enqueues
and dequeues once. Both begin with choices that change nothing, so that there are enough to measure.
Beside `check`, as it is and with a fork for each execution, stand a process for each run, as `fencepost run`
makes with a time limit, and a bare fork with its wait. What counts is processor time, of all processes
together. Writes `benchmarks/results/check.md` and a table in `docs/check.md`.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import page_block

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "check.md"
RESULTS = ROOT / "benchmarks" / "results" / "check.md"
PROGRAMS = {"store buffering": "check_store_buffering.c", "Michael-Scott queue": "check_queue.cpp"}
PROCESSES = 50
FORKS = 2000


def seconds_of(work: Callable[[], object]) -> float:
    """Of the processor, in this process and its children."""

    def used() -> float:
        times = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(time.ru_utime + time.ru_stime for time in times)

    before = used()
    work()
    return used() - before


def explored(program: Path, restart: str) -> int:
    """The number of executions."""
    events = program.with_suffix(".json")
    options = f"schedule=explore:restart={restart}:quiet=1:exitcode=0:json={events}"
    subprocess.run([program], env={**os.environ, "FENCEPOST_OPTIONS": options}, check=True)
    end = json.loads(events.read_text(encoding="utf-8").splitlines()[-1])
    assert end["at_end"], end
    assert not end["why"], end
    return int(end["executions"])


def executions_per_second(program: Path, restart: str) -> float:
    counts: list[int] = []
    seconds = seconds_of(lambda: counts.append(explored(program, restart)))
    return counts[0] / seconds


def runs_per_second(program: Path) -> float:
    options = "schedule=random:quiet=1:exitcode=0"
    environment = {**os.environ, "FENCEPOST_OPTIONS": options}

    def run() -> None:
        for _ in range(PROCESSES):
            subprocess.run([program], env=environment, check=True)

    return PROCESSES / seconds_of(run)


def forks_per_second() -> float:
    """Of a small process."""
    fork = (
        "import os\n"
        f"for _ in range({FORKS}):\n"
        "    child = os.fork()\n"
        "    if child == 0:\n        os._exit(0)\n"
        "    os.waitpid(child, 0)\n"
    )
    return FORKS / seconds_of(lambda: subprocess.run(["python3", "-S", "-c", fork], check=True))


def rows() -> Iterator[tuple[str, float, float, float]]:
    with tempfile.TemporaryDirectory() as name:
        for title, source in PROGRAMS.items():
            program = Path(name) / title.split()[0]
            compiler = "fencepost-c++" if source.endswith("pp") else "fencepost-cc"
            subprocess.run([compiler, "-O2", ROOT / "benchmarks" / source, "-o", program], check=True)
            rates = [max(executions_per_second(program, way) for _ in range(3)) for way in ("memory", "fork")]
            yield title, rates[0], rates[1], runs_per_second(program)


def table() -> Iterator[str]:
    yield "| program | `check` | a fork for each | a process for each |"
    yield "|---|--:|--:|--:|"
    for title, *rates in rows():
        yield f"| {title} | {' | '.join(f'{rate:,.0f}' for rate in rates)} |"


def main() -> None:
    lines = "\n".join(table())
    forks = f"A bare fork of a small process can be made {forks_per_second():,.0f} times a second."
    text = f"Executions per second of processor time:\n\n{lines}\n\n{forks}\n"
    RESULTS.write_text(
        f"# Executions per second\n\n{text}\nMeasured by `benchmarks/check.py` on {platform.machine()}, "
        f"Linux {platform.release()}.\n",
        encoding="utf-8",
    )
    page_block.write(PAGE, "check", text)
    print(text)


if __name__ == "__main__":
    main()
