"""How many executions a second `fencepost check` runs, by how they begin.

Store buffering with two threads, and a client of a Michael-Scott queue in which each of two threads enqueues
and dequeues once. Both begin with choices that change nothing, so that there are enough to measure.
Beside `check`, as it is and with a fork for each execution, stand a process for each run, as `fencepost run`
makes with a time limit, and a bare fork with its wait. What counts is processor time, of all processes
together.

Runs by chance begin again in the same way: `fencepost run` makes a thousand of `examples/c/dekker.c`.

Then `-j`: the work that several processes share, measured by the processor time of the one that has most of
it. So it does not matter what else the machine does, or how many cores it has.

Writes `benchmarks/results/check.md` and tables in `docs/check.md`. With `--jobs`, only that of `-j`,
with `--executions` all but that.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import page_block

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "check.md"
RESULTS = ROOT / "benchmarks" / "results" / "check.md"
PROGRAMS = {"store buffering": "check_store_buffering.c", "Michael-Scott queue": "check_queue.cpp"}
DEKKER = ROOT / "examples" / "c" / "dekker.c"
RUNS = 1000
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


def seconds_of_runs() -> tuple[float, float]:
    """Of many runs by chance, with all of `fencepost run`: by the clock, and of the processor; the least."""
    with tempfile.TemporaryDirectory() as name:
        program = Path(name) / "dekker"
        subprocess.run(["fencepost-cc", "-std=gnu11", "-O1", DEKKER, "-o", program], check=True)
        command = ["fencepost", "run", "-q", "--schedule", "random", "--runs", str(RUNS), program]

        def once() -> tuple[float, float]:
            start = time.monotonic()
            processor = seconds_of(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))
            return time.monotonic() - start, processor

        clock, processor = zip(*(once() for _ in range(5)), strict=True)
        return min(clock), min(processor)


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


def shared(program: Path, walks: int) -> tuple[float, float]:
    """Seconds of the processor: of all processes together, and of the one that took most of them."""
    events = program.with_suffix(".json")
    options = f"schedule=explore:walks={walks}:quiet=1:exitcode=0:json={events}"
    running = subprocess.Popen([program], env={**os.environ, "FENCEPOST_OPTIONS": options})
    ticks: dict[int, int] = {}
    while running.poll() is None:
        for pid in _children(running.pid):
            ticks[pid] = max(ticks.get(pid, 0), _ticks(pid))
        time.sleep(0.005)
    a_second = os.sysconf("SC_CLK_TCK")
    return sum(ticks.values()) / a_second, max(ticks.values()) / a_second


def _children(pid: int) -> list[int]:
    try:
        return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))
    except OSError:
        return []


def _ticks(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return int(fields[11]) + int(fields[12])


def built(directory: Path) -> Iterator[tuple[str, Path]]:
    for title, source in PROGRAMS.items():
        program = directory / title.split()[0]
        compiler = "fencepost-c++" if source.endswith("pp") else "fencepost-cc"
        subprocess.run([compiler, "-O2", ROOT / "benchmarks" / source, "-o", program], check=True)
        yield title, program


def table_of_jobs() -> Iterator[str]:
    yield "| program | processes | processor time in all | of the busiest process | faster by |"
    yield "|---|--:|--:|--:|--:|"
    with tempfile.TemporaryDirectory() as name:
        for title, program in built(Path(name)):
            alone = min(shared(program, 1)[1] for _ in range(3))
            yield f"| {title} | 1 | {alone:.2f} s | {alone:.2f} s | 1 |"
            for walks in (2, 4):
                all_of_them, busiest = min(shared(program, walks) for _ in range(3))
                yield (
                    f"| {title} | {walks} | {all_of_them:.2f} s | {busiest:.2f} s | {alone / busiest:.1f} |"
                )


def rows(repeats: int) -> Iterator[tuple[str, float, float, float]]:
    with tempfile.TemporaryDirectory() as name:
        for title, program in built(Path(name)):
            rates = [
                max(executions_per_second(program, way) for _ in range(repeats)) for way in ("memory", "fork")
            ]
            yield title, rates[0], rates[1], runs_per_second(program)


def table(repeats: int) -> Iterator[str]:
    yield "| program | `check` | a fork for each | a process for each |"
    yield "|---|--:|--:|--:|"
    for title, *rates in rows(repeats):
        yield f"| {title} | {' | '.join(f'{rate:,.0f}' for rate in rates)} |"


def write(block: str, title: str, text: str) -> None:
    """In the page, and in the file of results under that title."""
    file = RESULTS if block == "check" else RESULTS.with_stem("check_jobs")
    file.write_text(
        f"# {title}\n\n{text}\nMeasured by `benchmarks/check.py` on {platform.machine()}, "
        f"Linux {platform.release()}.\n",
        encoding="utf-8",
    )
    page_block.write(PAGE, block, text)
    print(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", action="store_true")
    parser.add_argument("--executions", action="store_true")
    parser.add_argument("--repeats", type=int, default=3, help="of each measurement; the best one counts")
    options = parser.parse_args()
    if not options.executions:
        write("check_jobs", "Processes that share the work", "\n".join(table_of_jobs()) + "\n")
    if options.jobs:
        return
    lines = "\n".join(table(options.repeats))
    forks = f"A bare fork of a small process can be made {forks_per_second():,.0f} times a second."
    clock, processor = seconds_of_runs()
    runs = (
        f"`fencepost run --schedule random --runs {RUNS}` of `examples/c/dekker.c`, which has 100 rounds: "
        f"{clock:.2f} s by the clock, {processor:.2f} s of processor time."
    )
    text = f"Executions per second of processor time:\n\n{lines}\n\n{forks}\n\n{runs}\n"
    write("check", "Executions per second", text)


if __name__ == "__main__":
    main()
