"""Tries changed examples on readers, and says what it found.

    python -m tests.fuzz.campaign SECONDS [READER …] [--inputs N] [--seed N] [--jobs N] [--counts FILE]
      [--before FILE …]

The readers take turns until the time is over, or each has had N inputs, those among them that the counts of
earlier campaigns name. What was tried of each is written to FILE after each turn.

A mistake is any exception that is not the reader's answer, ten seconds of processor time for one input, or a
gibibyte of memory. The input is written to `build/fuzz`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import re
import resource
import sys
import time
import traceback
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import NamedTuple

from tests.fuzz.edits import Edit, edited
from tests.fuzz.readers import READERS, ROOT

FOUND = ROOT / "build" / "fuzz"
SECONDS_A_TURN = 12
MOST_SECONDS, MOST_BYTES = 10, 1 << 30


class Turn(NamedTuple):
    reader: str
    seconds: float
    inputs: int  # at most
    seed: int


class Tried(NamedTuple):
    reader: str
    inputs: int
    taken: int
    mistakes: int
    seconds: float


def drawn(source: random.Random) -> list[Edit]:
    return [
        (source.randrange(8), source.randrange(2**20), source.randrange(2**20), source.randrange(2**20))
        for _ in range(source.choice([1, 1, 2, 3, 5, 8]))
    ]


def try_reader(turn: Turn) -> Tried:
    reader, source = READERS[turn.reader], random.Random(f"{turn.reader} {turn.seed}")
    examples = reader.examples()
    tried = taken = 0
    found: set[str] = set()
    started = time.monotonic()
    while tried < turn.inputs and time.monotonic() - started < turn.seconds:
        data = edited(source.choice(examples), drawn(source))
        begun, wrong = time.process_time(), ""
        try:
            taken += reader.try_on(data)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            wrong = f"{type(error).__name__} in {last.filename.rpartition('/')[2]}:{last.lineno}: {error}"[
                :200
            ]
        tried += 1
        if time.process_time() - begun > MOST_SECONDS:
            wrong = f"more than {MOST_SECONDS} s"
        if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 > MOST_BYTES:
            wrong = "more than a gibibyte"
        kind = wrong.partition(": ")[0]
        if wrong and kind not in found:
            found.add(kind)
            path = FOUND / f"{turn.reader.replace(' ', '-')}-{turn.seed}-{len(found)}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            print(f"{turn.reader}: {wrong} ({path})", flush=True)
    return Tried(turn.reader, tried, taken, len(found), time.monotonic() - started)


class Counts:
    """What was tried, by reader."""

    def __init__(self, readers: list[str], inputs: int, first_seed: int, before: str = "") -> None:
        """`before`: the tables of earlier campaigns."""
        self.of: dict[str, Counter[str]] = {name: Counter() for name in readers}
        self._inputs, self._next_seed = inputs, first_seed
        for name, count in re.findall(r"^(.+?): ([\d,]+) inputs", before, re.MULTILINE):
            if name in self.of:
                self.of[name]["before"] += int(count.replace(",", ""))

    def next_turn(self, end: float) -> Turn | None:
        """For the reader that has had the fewest turns."""
        left = {name: self._inputs - of["before"] - of["inputs"] for name, of in self.of.items()}
        open_for = [name for name, inputs in left.items() if inputs > 0]
        seconds = min(SECONDS_A_TURN, end - time.monotonic())
        if not open_for or seconds <= 0:
            return None
        name = min(open_for, key=lambda name: self.of[name]["turns"])
        self.of[name]["turns"] += 1
        self._next_seed += 1
        return Turn(name, seconds, left[name], self._next_seed)

    def add(self, tried: Tried) -> None:
        milliseconds = round(1000 * tried.seconds)
        self.of[tried.reader].update(
            inputs=tried.inputs, taken=tried.taken, mistakes=tried.mistakes, milliseconds=milliseconds
        )

    def table(self) -> str:
        lines = [
            f"{name}: {of['before'] + of['inputs']:,} inputs, {of['inputs']:,} of them now, of which "
            f"{of['taken']:,} were taken, {of['mistakes']} mistakes, "
            f"{of['milliseconds'] / max(of['inputs'], 1):.2f} ms each"
            for name, of in self.of.items()
        ]
        inputs = sum(of["before"] + of["inputs"] for of in self.of.values())
        return "\n".join([*lines, f"all: {inputs:,} inputs", ""])


def campaign(counts: Counts, seconds: float, jobs: int, file: Path | None) -> None:
    end = time.monotonic() + seconds
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.fuzz.readers"])
    while turns := _in_a_pool(counts, end, ProcessPoolExecutor(jobs, context, max_tasks_per_child=1), file):
        names = ", ".join(f"{turn.reader} (seed {turn.seed})" for turn in turns)
        print(f"a process died in one of these turns: {names}", flush=True)


def _in_a_pool(counts: Counts, end: float, pool: ProcessPoolExecutor, file: Path | None) -> list[Turn]:
    """The turns among which is one whose process died, if there is one."""
    running: dict[Future[Tried], Turn] = {}
    with pool:
        while True:
            while len(running) < pool._max_workers and (turn := counts.next_turn(end)):
                running[pool.submit(try_reader, turn)] = turn
            if not running:
                return []
            for ended in wait(running, return_when=FIRST_COMPLETED).done:
                if isinstance(ended.exception(), BrokenProcessPool):
                    return list(running.values())
                del running[ended]
                counts.add(ended.result())
            if file is not None:
                file.write_text(counts.table(), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("seconds", type=float, help="in all")
    parser.add_argument("readers", nargs="*", metavar="READER", help="all, if none is named")
    parser.add_argument("--inputs", type=int, default=sys.maxsize, help="for each reader, about, at most")
    parser.add_argument("--seed", type=int, default=1, help="of the first turn; the next ones are after it")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--before", type=Path, action="append", default=[], help="counts that were kept")
    parser.add_argument("--counts", type=Path, help="where the table of counts goes as well")
    options = parser.parse_args()
    before = "\n".join(file.read_text(encoding="utf-8") for file in options.before)
    counts = Counts(options.readers or list(READERS), options.inputs, options.seed, before)
    campaign(counts, options.seconds, options.jobs, options.counts)
    print(counts.table(), end="")


if __name__ == "__main__":
    main()
