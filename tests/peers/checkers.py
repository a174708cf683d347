"""Programs of others that say whether an assertion can fail: each takes what `fencepost show` writes.

`CHECKERS` has one row for each: the commands that it needs, the models of ours that it knows, and how to ask.
Spin and CBMC have been run here; the others could not be had, so their rows are from their manuals alone.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from fencepost.formats import write
from fencepost.program import Program
from fencepost.sanitizer.build.instrumentation import INCLUDE

SECONDS = 300
ROUNDS = "3"  # of loops; the programs that are asked about have none

# They look for `assert`; the program tells of failures by its exit code.
_HEAD = """\
#include <assert.h>
#define pthread_setname_np(thread, name) ((void)0)
#define main fp_program
"""
_TAIL = """
#undef main
int main(void) {
    assert(fp_program() == 0);
    return 0;
}
"""


class Checker(NamedTuple):
    """`can_fail` answers for a program, one of the models, and a folder to work in."""

    name: str
    needs: tuple[str, ...]
    models: tuple[str, ...]
    can_fail: Callable[[Program, str, Path], bool]

    @property
    def missing(self) -> str:
        """Why it cannot be asked; empty if it can."""
        return ", ".join(command for command in self.needs if shutil.which(command) is None)


def run(folder: Path, *command: str | Path, codes: tuple[int, ...] = (0,)) -> str:
    """What the command prints; it must end with one of these exit codes."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    told = done.stdout + done.stderr
    assert done.returncode in codes, f"{command} ended with {done.returncode}:\n{told}"
    return told


def one_of(told: str, yes: str, no: str) -> bool:
    """Which of the two was printed; exactly one must be."""
    assert (yes in told) != (no in told), told
    return yes in told


def in_c(program: Program, folder: Path) -> Path:
    path = folder / "program.c"
    path.write_text(_HEAD + write(program, "c") + _TAIL, encoding="utf-8")
    return path


def spin(program: Program, model: str, folder: Path) -> bool:
    (folder / "program.pml").write_text(write(program, "promela"), encoding="utf-8")
    run(folder, "spin", "-a", "program.pml")
    run(folder, "gcc", "-w", "-DSAFETY", "-o", "pan", "pan.c")
    told = run(folder, "./pan", "-m1000000", "-w18")
    assert "max search depth too small" not in told
    found = re.search(r"errors: (\d+)", told)
    assert found is not None, told
    return found[1] != "0"


def for_cbmc(program: Program, folder: Path) -> Path:
    """Its threads as CBMC starts them, with what `cbmc.h` makes of their accesses."""
    text = write(program, "c")
    before, _, rest = text.partition("static void fp_start(")
    main, _, functions = rest.partition("    return failed != 0;\n}\n")
    before = re.sub("#include .*", "", before)
    threads = re.findall(r"fp_start\(&threads\[\d+\], (\w+), (\d+)", main)
    starts = "".join(
        f"__CPROVER_ASYNC_{n}: {name}((void *){tid});\n" for n, (name, tid) in enumerate(threads)
    )
    path = folder / "program.c"
    path.write_text(
        f'#include "cbmc.h"\n{before}{functions}int main(void) {{\n{starts}}}\n', encoding="utf-8"
    )
    return path


def cbmc(program: Program, model: str, folder: Path) -> bool:
    options = ("--mm", model, "--unwind", ROUNDS, "-I", Path(__file__).parent)
    told = run(folder, "cbmc", *options, for_cbmc(program, folder), codes=(0, 10))
    return one_of(told, "VERIFICATION FAILED", "VERIFICATION SUCCESSFUL")


def nidhugg(program: Program, model: str, folder: Path) -> bool:
    options = ("-I", INCLUDE, "--", f"--{model}", f"--unroll={ROUNDS}")
    told = run(folder, "nidhuggc", *options, in_c(program, folder), codes=(0, 42))
    return one_of(told, "Error detected", "No errors were detected")


def genmc(program: Program, model: str, folder: Path) -> bool:
    option = {"cpp20": "--rc11", "sc": "--sc", "tso": "--tso", "ra": "--ra"}[model]
    told = run(folder, "genmc", option, "--", f"-I{INCLUDE}", in_c(program, folder), codes=(0, 42))
    return one_of(told, "Error:", "No errors were detected")


def dartagnan(program: Program, model: str, folder: Path) -> bool:
    """Dat3M; DAT3M_HOME has its jar and its models."""
    home = Path(os.environ["DAT3M_HOME"])
    cat = {"cpp20": "rc11.cat", "sc": "sc.cat", "tso": "tso.cat"}[model]
    jar = home / "dartagnan" / "target" / "dartagnan.jar"
    options = (home / "cat" / cat, f"--bound={ROUNDS}", "--property=program_spec")
    told = run(folder, "java", "-jar", jar, *options, in_c(program, folder), codes=(0, 1))
    return one_of(told, "FAIL", "PASS")


CHECKERS = (
    Checker("spin", ("spin", "gcc"), ("sc",), spin),
    Checker("cbmc", ("cbmc",), ("sc", "tso"), cbmc),
    Checker("nidhugg", ("nidhuggc",), ("sc", "tso"), nidhugg),
    Checker("genmc", ("genmc",), ("sc", "tso", "cpp20"), genmc),
    Checker("dat3m", ("java", "dartagnan"), ("sc", "tso", "cpp20"), dartagnan),
)
