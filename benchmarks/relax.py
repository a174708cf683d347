"""How fast twelve algorithms are before and after `fencepost relax`.

The programs are those of `examples/c/seq-cst`: every access is seq_cst. `fencepost relax --write` changes a
copy of each, as a user would. Both are then compiled without fencepost, with -O2, and measured in turn by
`relax_driver.c`: a client is the two threads of the program, once. The median of many batches counts, so that
it does not matter if others use the machine now and then.

`alone` runs one thread of the client after the other in the same thread: what the instructions cost.
`together` runs them at the same time: what the algorithm costs with the other thread in its way.

Writes `benchmarks/results/relax.md` and the table in `docs/relax.md`.
"""

from __future__ import annotations

import argparse
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import page_block

ROOT = Path(__file__).parents[1]
HERE = ROOT / "benchmarks"
PAGE = ROOT / "docs" / "relax.md"
RESULTS = HERE / "results" / "relax.md"
PROGRAMS = ROOT / "examples" / "c" / "seq-cst"
ALGORITHMS = {
    "spin-lock": "spin lock",
    "ticket-lock": "ticket lock",
    "mcs-lock": "MCS lock",
    "treiber-stack": "Treiber's stack",
    "ms-queue": "Michael and Scott's queue",
    "spsc-ring": "SPSC ring",
    "mpmc-ring": "MPMC ring (Vyukov)",
    "chase-lev": "Chase–Lev deque",
    "seqlock": "sequence lock",
    "rcu": "publication (RCU)",
    "peterson": "Peterson's lock",
    "once": "once",
}
NEEDS_BOTH = ("spsc-ring",)  # one thread waits for the other
CLIENTS = 32  # as in relax_driver.c
ROUNDS = 9  # of each program, before and after in turn
FIRST = ("nice", "-n", "-15")  # before other programs, if that is allowed: both threads must run at once


def relaxed(name: str, directory: Path) -> tuple[Path, Path]:
    """The program as it is, and with the orders that it needs."""
    before, after = directory / "before", directory / "after"
    for folder in (before, after):
        folder.mkdir(exist_ok=True)
        shutil.copy(PROGRAMS / "two.h", folder)
        shutil.copy(PROGRAMS / f"{name}.c", folder)
    subprocess.run(["fencepost-cc", "-O1", f"{name}.c", "-o", name], cwd=after, check=True)
    command = ["fencepost", "relax", "-q", "--write", "--yes", f"./{name}"]
    subprocess.run(command, cwd=after, check=True)
    return before / f"{name}.c", after / f"{name}.c"


def native(source: Path, program: Path) -> Path:
    """So many copies of the client, and what drives them."""
    shutil.copy(HERE / "relax_two.h", source.parent / "two.h")
    one = program.with_suffix(".o")
    subprocess.run(["gcc", "-O2", "-w", "-pthread", "-Dmain=client", "-c", source, "-o", one], check=True)
    objects = [program.with_name(f"{program.name}-{number}.o") for number in range(CLIENTS)]
    for number, made in enumerate(objects):
        renamed = f"--redefine-sym=client=client_{number}"
        subprocess.run(["objcopy", renamed, one, made], check=True)
    link = ["gcc", "-O2", "-pthread", HERE / "relax_driver.c", *objects, "-o", program]
    subprocess.run(link, check=True)
    return program


def nanoseconds(programs: tuple[Path, Path], how: str, seconds: float) -> tuple[float, float]:
    """Of a client, before and after."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for program, taken in zip(programs, times, strict=True):
            told = subprocess.run(
                [*FIRST, program, how, str(seconds)], check=True, stdout=subprocess.PIPE, encoding="utf-8"
            ).stdout
            taken.append(float(told))
    return median(times[0]), median(times[1])


def rows(names: list[str], seconds: float) -> Iterator[str]:
    yield "| algorithm | alone, before | after | faster by | two threads, before | after | faster by |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for name in names:
        with tempfile.TemporaryDirectory() as directory:
            sources = relaxed(name, Path(directory))
            programs = tuple(
                native(source, Path(directory) / f"{name}-{number}") for number, source in enumerate(sources)
            )
            cells = []
            for how in ("alone", "together"):
                if how == "alone" and name in NEEDS_BOTH:
                    cells += ["", "", ""]
                    continue
                before, after = nanoseconds((programs[0], programs[1]), how, seconds)
                cells += [f"{before:.1f} ns", f"{after:.1f} ns", f"{before / after:.2f}"]
        row = f"| {ALGORITHMS[name]} | {' | '.join(cells)} |"
        print(row, flush=True)
        yield row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.25, help="for each measurement")
    parser.add_argument("programs", nargs="*", choices=[*ALGORITHMS, []], metavar="PROGRAM")
    options = parser.parse_args()
    table = "\n".join(rows(options.programs or list(ALGORITHMS), options.seconds))
    if options.programs:
        return
    RESULTS.write_text(
        f"# Before and after `fencepost relax`\n\nNanoseconds for one client:\n\n{table}\n\n"
        f"Measured by `benchmarks/relax.py` on {platform.machine()}, Linux {platform.release()}.\n",
        encoding="utf-8",
    )
    page_block.write(PAGE, "relax", table)


if __name__ == "__main__":
    main()
