"""What memory would allow the explorer, next to what it does.

`random_lines.c` measures how long a read of 64 bytes from a random place takes, with many such reads under
way at once. A lookup of a state needs at least two: the slot of the hash table, and the state itself. The
rate that follows from this is compared with that of a search without reductions. Leaves a few lines in
`docs/performance.md`.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import page_block
import peers

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "performance.md"
PROGRAM = ROOT / "examples" / "rocker" / "lamport2-3-ra.tpl"
SIZES_MB = (1, 32, 1024)
LINES_PER_LOOKUP = 2


def nanoseconds_per_read(sizes: Iterable[int]) -> dict[int, tuple[float, float]]:
    """By the size of the memory: one read after the other, and many at once."""
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory) / "random_lines"
        peers.succeeding(["gcc", "-O2", "-o", str(program), str(ROOT / "benchmarks" / "random_lines.c")])
        result = {}
        for size in sizes:
            told = peers.succeeding([str(program), str(size)]).output
            alone, together = re.findall(r"([\d.]+) ns", told)
            result[size] = float(alone), float(together)
    return result


def report() -> Iterator[str]:
    found = peers.search_alone(PROGRAM, every_state=True)
    size = round(found.memory_mb)
    reads = nanoseconds_per_read(sorted({*SIZES_MB, size}))
    yield "| memory, MB | a random read after the other, ns | many at once, ns |"
    yield "|--:|--:|--:|"
    yield from (f"| {mb:,} | {alone:.1f} | {together:.1f} |" for mb, (alone, together) in reads.items())
    yield ""
    lookups = found.transitions / found.states
    limit = 1e9 / (lookups * LINES_PER_LOOKUP * reads[size][1])
    size_of_state = found.memory_mb * 2**20 / found.states
    yield f"`{PROGRAM.stem}` without reductions has {found.states:,} states of {size_of_state:.0f} bytes,"
    yield f"everything counted, and {lookups:.2f} lookups per state. Reads at random places in {size} MB"
    yield f"would allow {limit / 1e6:.1f} million states per second; the explorer reaches"
    yield f"{found.states / found.seconds / 1e6:.1f} million."


def main() -> None:
    text = "\n".join(report()) + "\n"
    print(text, end="")
    page_block.write(PAGE, "hardware", text)


if __name__ == "__main__":
    main()
