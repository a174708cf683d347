"""Tries changed examples on readers for as long as it is told, and says what it found.

    python -m tests.fuzz.campaign SECONDS [READER …] [--seed N]

A mistake is any exception that is not the reader's answer, ten seconds of processor time for one input, or a
gibibyte of memory. The input is written to `build/fuzz`.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
import traceback

from tests.fuzz.edits import Edit, edited
from tests.fuzz.readers import READERS, ROOT

FOUND = ROOT / "build" / "fuzz"
MOST_SECONDS, MOST_BYTES = 10, 1 << 30


def drawn(source: random.Random) -> list[Edit]:
    return [
        (source.randrange(8), source.randrange(2**20), source.randrange(2**20), source.randrange(2**20))
        for _ in range(source.choice([1, 1, 2, 3, 5, 8]))
    ]


def try_reader(name: str, seconds: float, seed: int) -> tuple[int, int, int]:
    """How many inputs were tried, how many of them were taken, and how many mistakes were found."""
    reader, source = READERS[name], random.Random(f"{name} {seed}")
    examples = reader.examples()
    tried = taken = 0
    found: set[str] = set()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
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
            path = FOUND / f"{name.replace(' ', '-')}-{len(found)}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            print(f"{name}: {wrong} ({path})", flush=True)
    return tried, taken, len(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("seconds", type=float, help="for each reader")
    parser.add_argument("readers", nargs="*")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for name in options.readers or READERS:
        tried, taken, found = try_reader(name, options.seconds, options.seed)
        print(f"{name}: {tried} inputs, {taken} of them taken, {found} kinds of mistakes", flush=True)


if __name__ == "__main__":
    main()
