"""Writes the automata of this folder and of `tso-mutex`: `python examples/tso/generate.py`.

They are our versions of the programs of Table 1 of persist-2015, with its numbers of threads. The modules
beside this one describe them, a function each; its docstring becomes the head of the files. In `tso-mutex` is
what excludes each other with reads and writes alone, for fewer threads, with its fences and without.

    generate.py                    write all files
    generate.py --check            name the files that are not as this script writes them; exit code 1 if any
    generate.py NAME N             print the program NAME, such as dekker, for N threads
    generate.py NAME N --fenced    the same with the fences that it needs under TSO
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import detours
import locks
import mutual_exclusion
import protocols
import queues
from automaton import Program

HERE = Path(__file__).parent
MUTEX = HERE.parent / "tso-mutex"

FAMILIES: dict[str, Callable[[int], Program]] = {
    "simdekker": mutual_exclusion.simdekker,
    "dekker": mutual_exclusion.dekker,
    "peterson": mutual_exclusion.peterson,
    "lambak": mutual_exclusion.lambak,
    "dijkstra": mutual_exclusion.dijkstra,
    "dc-lock": locks.dclock,
    "spinlock": locks.spinlock,
    "tspinlock": locks.tspinlock,
    "inlinepgsql": protocols.inlinepgsql,
    "burns": mutual_exclusion.burns,
    "szymanski": mutual_exclusion.szymanski,
    "lamfast2": mutual_exclusion.lamfast2,
    "clhlock": locks.clhlock,
    "parker": protocols.parker,
    "pgsql": protocols.pgsql,
    "incsequence": protocols.incsequence,
    "taskschedule": protocols.taskschedule,
    "nbw-w-readers": locks.nbw_w_readers,
    "seqlock": locks.seqlock,
    "write+r": detours.write_r,
    "r+detour": detours.r_detour,
    "r+detours": detours.r_detours,
    "write+r+co": detours.write_r_co,
    "sb+detours": detours.sb_detours,
    "sb+detour+co": detours.sb_detour_co,
}
# Programs of two threads.
PAIRS: dict[str, Callable[[], Program]] = {
    "alternatingbit": protocols.alternatingbit,
    "nbw-w-wr": locks.nbw_w_wr,
    "cilk-wsq": queues.cilk_wsq,
    "cl-wsq": queues.cl_wsq,
    "fifo-iwsq": queues.fifo_iwsq,
    "lifo-iwsq": queues.lifo_iwsq,
    "anchor-iwsq": queues.anchor_iwsq,
}


# Mutual exclusion with reads and writes alone.
MUTEXES = ("simdekker", "dekker", "peterson", "lambak", "dijkstra", "burns", "szymanski", "lamfast2")
MUTEX_THREADS = (2, 3, 4)


class Row(NamedTuple):
    name: str
    threads: int
    robust: bool
    """Whether the program is robust against TSO; persistent it is if it needs no fence."""


TABLE_1 = {
    "SimDekker": Row("simdekker", 4, robust=False),
    "Dekker": Row("dekker", 4, robust=False),
    "Peterson": Row("peterson", 4, robust=False),
    "LamBak3": Row("lambak", 3, robust=False),
    "LamBak4": Row("lambak", 4, robust=False),
    "Dijkstra": Row("dijkstra", 4, robust=False),
    "Dc-Lock": Row("dc-lock", 6, robust=True),
    "SpinLock": Row("spinlock", 2, robust=True),
    "TSpinLock": Row("tspinlock", 2, robust=True),
    "InlinePgsql": Row("inlinepgsql", 8, robust=True),
    "Burns": Row("burns", 5, robust=False),
    "Szymanski2": Row("szymanski", 2, robust=False),
    "Szymanski4": Row("szymanski", 4, robust=False),
    "LamFast2-2": Row("lamfast2", 2, robust=False),
    "LamFast2-3": Row("lamfast2", 3, robust=False),
    "CLHLock": Row("clhlock", 4, robust=False),
    "Parker": Row("parker", 6, robust=False),
    "Pgsql": Row("pgsql", 6, robust=False),
    "AlternatingBit": Row("alternatingbit", 2, robust=False),
    "IncSequence": Row("incsequence", 6, robust=True),
    "TaskSchedule": Row("taskschedule", 10, robust=True),
    "NBW-W-WR": Row("nbw-w-wr", 2, robust=True),
    "NBW-W-5R": Row("nbw-w-readers", 6, robust=True),
    "SeqLock": Row("seqlock", 4, robust=True),
    "write+r": Row("write+r", 5, robust=False),
    "r+detour": Row("r+detour", 5, robust=False),
    "r+detours": Row("r+detours", 5, robust=False),
    "write+r+co": Row("write+r+co", 6, robust=False),
    "sb+detours": Row("sb+detours", 6, robust=False),
    "sb+detour+co": Row("sb+detour+co", 6, robust=False),
    "Cilk-WSQ": Row("cilk-wsq", 2, robust=False),
    "CL-WSQ": Row("cl-wsq", 2, robust=False),
    "FIFO-iWSQ": Row("fifo-iwsq", 2, robust=False),
    "LIFO-iWSQ": Row("lifo-iwsq", 2, robust=False),
    "Anchor-iWSQ": Row("anchor-iwsq", 2, robust=False),
}


def program_of(name: str, threads: int) -> Program:
    if threads >= 2:
        program = PAIRS[name]() if name in PAIRS else FAMILIES[name](threads)
        if sum(thread.copies for thread in program.threads) == threads:
            return program
    raise ValueError(f"{name} is not a program for {threads} threads")


def text_of(name: str, program: Program, *, remarks: Sequence[str] = (), fenced: bool = False) -> str:
    describe = PAIRS.get(name) or FAMILIES[name]
    what = " ".join((describe.__doc__ or "").split())
    head = [*textwrap.wrap(what, 108), *remarks]
    return "".join(f"# {line}\n" for line in head) + "\n" + program.text(fenced)


def files() -> dict[Path, str]:
    """The text of each file."""
    texts = {}
    for title, (name, threads, robust) in TABLE_1.items():
        program = program_of(name, threads)
        fences = program.fences()
        remarks = [
            f"Table 1 of Abdulla, Atig and Ngo 2015: {title}, {threads} threads.",
            f"expect: persistent tso={'no' if fences else 'yes'}",
            f"expect: robust tso={'yes' if robust else 'no'}",
            f"fences: {fences}",
        ]
        texts[HERE / f"{title.lower()}.aut"] = text_of(name, program, remarks=remarks)
    for name, threads, fenced in product(MUTEXES, MUTEX_THREADS, (False, True)):
        text = text_of(name, program_of(name, threads), remarks=mutex_remarks(fenced), fenced=fenced)
        texts[MUTEX / f"{name}-{threads}{'-fences' if fenced else ''}.aut"] = text
    return texts


def mutex_remarks(fenced: bool) -> list[str]:
    return ["mutex: cs", f"expect: verify sc=yes tso={'yes' if fenced else 'no'}"]


def differing() -> list[str]:
    texts = files()
    there = {
        path: path.read_text(encoding="utf-8") for folder in (HERE, MUTEX) for path in folder.glob("*.aut")
    }
    return sorted(path.name for path in texts.keys() | there.keys() if texts.get(path) != there.get(path))


def main(arguments: list[str]) -> int:
    names = [*FAMILIES, *PAIRS]
    match arguments:
        case []:
            for file, text in files().items():
                file.write_text(text, encoding="utf-8")
        case ["--check"]:
            changed = differing()
            for file in changed:
                print(f"{file} is not as generate.py writes it")
            return 1 if changed else 0
        case [name, threads, *rest] if name in names and threads.isdecimal() and rest in ([], ["--fenced"]):
            try:
                print(text_of(name, program_of(name, int(threads)), fenced=bool(rest)), end="")
            except ValueError as error:
                print(error, file=sys.stderr)
                return 2
        case _:
            print(
                f"usage: generate.py [--check | NAME N [--fenced]], NAME one of {', '.join(names)}",
                file=sys.stderr,
            )
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
