"""The shell sessions that the pages show: running them, and comparing what is printed with what is shown.

A fenced block of the language `console` holds commands, each after `$ `, and below a command what it prints.
A command ends with `# exit code N` if it does not exit with 0. A block `output` shows a part of what the last
command before it prints. Everything that is shown is compared, except for

    measurements              numbers before `s` and `MB`, the last column of a table with `seconds`,
                              and the JSON fields for time and memory; numbers of states are compared
    …                         stands for any text within its line
    …                         alone in a line stands for any number of lines
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import SequenceMatcher
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import fencepost
from tests.docs.pages import ROOT, Block, blocks

# These set the user's machine up or show him something; a test must not.
NOT_RUN = ("make", "pip", "git", "xdg-open", "dask")
# Where pages that start one have their cluster.
CLUSTER = "tcp://127.0.0.1:8786"

WIDTH = 100

_EXIT_CODE = re.compile(r"\s*# exit code (\d+)$")
_MEASURE = re.compile(r"\b\d[\d,]*(\.\d+)?(?= (s|MB)\b)")
_JSON_MEASURE = re.compile(r'("(?:seconds|states_per_second|peak_memory_mb)": ?)[-+.\de]+')
_TABLE_SECONDS = re.compile(r"(?<=\d)\s+\d[\d,]*\.\d+\s*$")
_TABLE_HEAD = re.compile(r".*\bstates\b.*\bseconds")
_TABLE_RULE = re.compile(r"\s*─+\s*")


class Command(NamedTuple):
    text: str
    exit_code: int
    shown: list[str]
    line: int  # of the page
    parts: list[Block]  # shown later

    @property
    def is_run(self) -> bool:
        return self.text.split()[0] not in NOT_RUN

    def output_lines(self) -> slice:
        """Where what it prints stands in the page, counted from 0."""
        return slice(self.line, self.line + len(self.shown))


def session(page: Path) -> list[Command]:
    """The commands of a page, from top to bottom."""
    result: list[Command] = []
    for block in blocks(page):
        if block.info == "console":
            result += _commands(block)
        elif block.info == "output":
            result[-1].parts.append(block)
    return result


def _commands(block: Block) -> Iterator[Command]:
    starts = [i for i, line in enumerate(block.lines) if line.startswith("$ ")]
    assert starts, f"the console block at line {block.first_line} has no command"
    for start, end in zip(starts, [*starts[1:], len(block.lines)], strict=True):
        text = block.lines[start].removeprefix("$ ")
        code = _EXIT_CODE.search(text)
        shown = block.lines[start + 1 : end]
        exit_code = int(code[1]) if code else 0
        yield Command(_EXIT_CODE.sub("", text), exit_code, shown, block.first_line + start, [])


class Shell:
    """A copy of the examples in a directory of its own, where `fencepost` is the package under test."""

    def __init__(self, directory: Path, cluster: str = CLUSTER) -> None:
        self._cluster = cluster
        self.directory = directory / "fencepost"
        self.directory.mkdir()
        shutil.copytree(ROOT / "examples", self.directory / "examples")
        programs = directory / "bin"
        programs.mkdir()
        _script(programs / "python", f'exec "{sys.executable}" "$@"')
        start = "import sys; sys.argv[0] = 'fencepost'; from fencepost.cli.start import main; main()"
        _script(programs / "fencepost", f'exec "{sys.executable}" -c "{start}" "$@"')
        for wrapper, function in (("fencepost-cc", "cc"), ("fencepost-c++", "cxx")):
            start = f"from fencepost.sanitizer.build.compiler import {function}; {function}()"
            _script(programs / wrapper, f'exec "{sys.executable}" -c "{start}" "$@"')
        self._environment = {
            **os.environ,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(Path(fencepost.__file__).parents[1]),
            "COLUMNS": str(WIDTH),
            "NO_COLOR": "1",
        }

    def run(self, command: Command) -> tuple[int, list[str]]:
        """The exit code, and the lines printed."""
        done = subprocess.run(
            ["/bin/sh", "-c", command.text.replace(CLUSTER, self._cluster)],
            cwd=self.directory,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        return done.returncode, [line.rstrip() for line in done.stdout.rstrip("\n").split("\n")]


@contextmanager
def cluster_for(commands: Sequence[Command]) -> Iterator[str]:
    """The address of a cluster, if a command starts one."""
    if not any(command.text.startswith("dask ") for command in commands):
        yield CLUSTER
        return
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster.scheduler_address


def _script(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    path.chmod(0o755)


def matches(shown: Sequence[str], printed: Sequence[str]) -> bool:
    """Whether `printed` is what the page shows."""
    pattern = "".join(_pattern(line) for line in _without_last_blanks(shown))
    text = "".join(f"{_masked(line)}\n" for line in _without_last_blanks(printed))
    return re.fullmatch(pattern, text) is not None


def renewed(shown: Sequence[str], printed: Sequence[str]) -> list[str]:
    """What the page should show now: `printed`, with what `shown` leaves out (`…`) left out again.

    Lines that still match stay as they are. If the text has changed too much to find the gaps, so does all.
    """
    lines = [next((line for line in shown if _stays(line, new)), new) for new in printed]
    result: list[str] = []
    start = 0
    texts = [list(group) for gap, group in groupby(["", *shown, ""], key=_is_gap) if not gap]
    texts[0].pop(0), texts[-1].pop()
    for number, text in enumerate(texts):
        found = SequenceMatcher(None, text, lines[start:], autojunk=False).get_matching_blocks()
        if text and len(found) == 1:  # no line of it
            return list(shown)
        first, last = found[0], found[max(len(found) - 2, 0)]
        begin = start + (max(first.b - first.a, 0) if number > 0 else 0)
        end = start + last.b + len(text) - last.a if number < len(texts) - 1 else len(lines)
        result += [*(["…"] if number > 0 else []), *(lines[begin:end] if text else [])]
        start = end if text else start
    return result if matches(result, printed) else list(shown)


def _stays(line: str, new: str) -> bool:
    return not _is_gap(line) and ("…" in line or len(line) == len(new)) and matches([line], [new])


def _is_gap(line: str) -> bool:
    return line.strip() == "…"


def _pattern(line: str) -> str:
    if _is_gap(line):
        return r"(?:.*\n)*?"
    return ".+".join(map(re.escape, _masked(line).split("…"))) + r"\n"


def _masked(line: str) -> str:
    """The line with `#` for each measurement; where that changes the widths, spaces do not count."""
    masked = _JSON_MEASURE.sub(r"\1#", _MEASURE.sub("#", line.rstrip()))
    table = _TABLE_SECONDS.sub(" #", masked)
    if table != masked or _TABLE_HEAD.fullmatch(masked):
        return re.sub(r"\s+", " ", table)
    return "─" if _TABLE_RULE.fullmatch(masked) else masked


def _without_last_blanks(lines: Sequence[str]) -> list[str]:
    kept = list(lines)
    while kept and not kept[-1].strip():
        kept.pop()
    return kept
