"""The two checkers that are compared, Spin and fencepost: how each is asked, and what it uses of the machine.

Spin is given what `fencepost show --to promela --monitor ra` writes and searches exactly. The phases are
those of a user's shell: `spin -a`, `gcc`, `./pan`; writing the file is not counted. What is measured is the
processor time of a process with its children, user and system, and its largest resident memory. A process
starts with the memory of the one it was forked from, so this module imports nothing of fencepost and searches
nothing itself.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

# Where Spin's search starts to look for a depth that suffices.
_DEPTH = 1_000_000

_FENCEPOST = (
    sys.executable,
    "-c",
    "import sys; sys.argv[0] = 'fencepost'; from fencepost.cli.start import main; main()",
)

# Python may keep its modules compiled, as it does for whoever installs fencepost.
_ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

# The search alone, after the file was read.
_SEARCH = """
import json, sys, time
from fencepost import load, robust
from fencepost.engine.search import EVERY_STATE
program, every_state = load(sys.argv[1]), sys.argv[2] == "every state"
started = time.process_time()
answer = robust(program, order="breadth-first", tactics=EVERY_STATE) if every_state else robust(program)
seconds = time.process_time() - started
print(json.dumps([answer.stats.states, answer.stats.transitions, seconds, answer.stats.peak_memory_mb]))
"""


class LimitReachedError(Exception):
    """A checker came to no answer within its processor time or memory."""


class Ended(NamedTuple):
    code: int
    output: str
    seconds: float
    peak_mb: float


class Built(NamedTuple):
    """A verifier that Spin and gcc have made, and the seconds that took."""

    directory: Path
    spin_seconds: float
    gcc_seconds: float


class Searched(NamedTuple):
    """An exact search by `pan`."""

    verdict: str
    states: int
    depth: int
    seconds: float
    peak_mb: float


class Answered(NamedTuple):
    """An answer of `fencepost robust`, from the shell."""

    verdict: str
    states: int
    seconds: float
    peak_mb: float


class Explored(NamedTuple):
    """A search by `fencepost.robust`, without start-up and reading, and the memory for its states."""

    states: int
    transitions: int
    seconds: float
    memory_mb: float


def run(command: Sequence[str], directory: Path | None = None, seconds: float | None = None) -> Ended:
    """Runs the command; one that uses more processor time than `seconds` ends with `LimitReachedError`."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, cwd=directory, env=_ENVIRONMENT, stdout=output)
        if seconds is not None:
            whole = max(1, int(seconds) + 1)
            resource.prlimit(process.pid, resource.RLIMIT_CPU, (whole, whole + 5))
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    taken = used.ru_utime + used.ru_stime
    if seconds is not None and (process.returncode == -signal.SIGXCPU or taken > seconds):
        raise LimitReachedError(f"{command[0]}: {taken:.1f} s")
    return Ended(process.returncode, text, taken, used.ru_maxrss / 1024)


def succeeding(command: Sequence[str], directory: Path | None = None) -> Ended:
    """Runs a command without which the benchmark cannot go on."""
    ended = run(command, directory)
    if ended.code != 0:
        sys.exit(f"{' '.join(command)}: exit code {ended.code}\n{ended.output}")
    return ended


# Spin.


def promela(file: Path) -> str:
    """The program and the monitor for release/acquire, for Spin."""
    return succeeding([*_FENCEPOST, "show", str(file), "--to", "promela", "--monitor", "ra"]).output


def build(text: str, directory: Path, flags: Sequence[str]) -> Built:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "program.pml").write_text(text, encoding="utf-8")
    spin = succeeding(["spin", "-a", "program.pml"], directory)
    gcc = succeeding(["gcc", "-w", "-DSAFETY", *flags, "-o", "pan", "pan.c"], directory)
    return Built(directory, spin.seconds, gcc.seconds)


def search(built: Built, *options: str, depth: int = _DEPTH, seconds: float | None = None) -> Searched:
    """Searches until the first error; with a stack for ten times as many steps if the depth is too small."""
    ended = run(["./pan", f"-m{depth}", *options], built.directory, seconds)
    if "max search depth too small" in ended.output:
        return search(built, *options, depth=depth * 10, seconds=seconds)
    found = re.search(r"depth reached (\d+), errors: (\d+)\s+([\d.e+]+) states, stored", ended.output)
    if found is None:
        sys.exit(f"pan: exit code {ended.code}\n{ended.output}")
    if "Search not completed" in ended.output and found[2] == "0":
        raise LimitReachedError("pan: out of memory")
    verdict, states = _verdict(ended.output), int(float(found[3]))  # many are told as 1.2345678e+08
    return Searched(verdict, states, int(found[1]), ended.seconds, ended.peak_mb)


def _verdict(output: str) -> str:
    """What the first error says, in the words of fencepost."""
    error = re.search(r"^pan:1: (?:assertion violated )?(.*) \(at depth", output, re.MULTILINE)
    if error is None:
        return "robust"
    return {"robust": "not-robust", "race_free": "race"}.get(error[1], "assertion")


# fencepost.


def ask(file: Path, *options: str, seconds: float | None = None) -> Answered:
    """`fencepost robust`, from the shell."""
    ended = run([*_FENCEPOST, "robust", str(file), "--json", *options], None, seconds)
    if not ended.output.startswith("{"):
        sys.exit(f"fencepost robust {file}: exit code {ended.code}\n{ended.output}")
    answer = json.loads(ended.output)
    if answer["verdict"] == "unknown":
        raise LimitReachedError(answer["why"])
    findings = [name for name in ("race", "assertion") if answer[name] is not None]
    verdict = (findings or ["robust"])[0] if answer["verdict"] == "robust" else answer["verdict"]
    return Answered(verdict, answer["stats"]["states"], ended.seconds, ended.peak_mb)


def search_alone(file: Path, *, every_state: bool = False) -> Explored:
    """`fencepost.robust`; for every state, breadth first and without anything that leaves states out."""
    extent = "every state" if every_state else "reduced"
    ended = succeeding([sys.executable, "-c", _SEARCH, str(file), extent])
    return Explored(*json.loads(ended.output))
