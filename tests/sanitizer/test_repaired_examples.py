"""Each example in C and C++ that is not robust is repaired in its sources, at the least cost there is.

A client is asked about, mostly two threads that do once what the program is about. `fix --write` changes a
copy of the sources. They must compile without warnings with each compiler, and the program must then be
robust: in all executions, or in a thousand runs of each schedule if there are too many. Where the program has
a TPL version, the static engine must find that no less will do.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fencepost.analyses.repair.fix import fix as static_fix
from fencepost.formats import tpl
from tests.sanitizer.building import INSTALLED, Shell
from tests.sanitizer.test_examples import FOLDER, NOT_ROBUST

pytest.importorskip("clang.cindex", reason="libclang is not installed")

_STRICT = ("-O1", "-Wall", "-Wextra", "-Werror")

# The client of each program, where it is not two threads and one round.
_CLIENTS = {
    "chase-lev": ("-DTHREADS=2", "-DROUNDS=2"),
    "lamport-fast-three": ("-DROUNDS=1",),
    "mpmc-ring": ("-DTHREADS=4", "-DROUNDS=5"),  # two that put in, two that take out, more than it holds
    "ms-queue-acq-rel": ("-DTHREADS=2", "-DROUNDS=2"),
    "rcu-relaxed": ("-DTHREADS=2", "-DROUNDS=1", "-DREADS=1"),
}
_USUAL_CLIENT = ("-DTHREADS=2", "-DROUNDS=1")
# It has too many executions, and a hundred runs of each schedule show too little of it.
_RUNS = {"mpmc-ring": ("--runs", "1000")}


class Version(NamedTuple):
    """The TPL version of a program, by what changes in the file of this name; or the whole text."""

    name: str
    edits: tuple[tuple[str, str], ...] = ()
    text: str = ""


_ONCE = ((r"while \(1\) \{", "if (1) {"), (r"round < 2", "round < 1"), (r"(fn \w+)\[3\]", r"\1[2]"))
_NO_FENCES = (r"fence.*;", "skip;")
_SB = """max_value 1; global x[2];
fn thread[2] { local r; x[tid].store(1, ORDER); r = x[1 - tid].load(sc); }"""
_IRIW = """max_value 1; global x[2];
fn writer[2] { x[tid].store(1, sc); }
fn reader[2] { local r; r = x[tid].load(acq); r = x[1 - tid].load(sc); }"""
# Two pushes, a take, and takes until nothing is left; two steals. The statements are those of chase-lev.tpl.
_CHASE_LEV = """max_value 7; global top, bottom, array[4];
fn owner {
    local b, t, r, pushes, takes;
    push:
    b = bottom.load();
    t = top.load(acq);
    array[b].store(pushes + 1);
    fence(rel);
    bottom.store(b + 1);
    pushes = pushes + 1;
    if (pushes < 2) goto push;
    take:
    b = bottom.load();
    b = b - 1;
    bottom.store(b);
    fence(seq_cst);
    t = top.load();
    r = 0;
    if (t <= b) { r = array[b].load(); }
    if (t == b) {
        t = CAS(top, t, t + 1, acq, rel);
        if (t != b) { r = 0; }
    }
    if (t >= b) { bottom.store(b + 1); }
    takes = takes + 1;
    if (r != 0 || takes == 1) goto take;
}
fn thief {
    local b, t, r, round;
    while (round < 2) {
        t = top.load(acq);
        fence(seq_cst);
        b = bottom.load(acq);
        if (t < b) {
            r = array[t].load();
            r = CAS(top, t, t + 1, acq, rel);
        }
        round = round + 1;
    }
}"""
# The reader of a sequence lock goes round until it has read between two writes; one writer.
_ONE_WRITER = (r"writer\[2\]", "writer[1]")
_READER = (
    (r"(fn reader .*\n.*\n)    while \(1\) \{((.*\n)*?)    \}", r"\1    again:\2"),
    (r"(t = seq.load\(.*\);)", r"\1 if (s % 2 != 0 || s != t) goto again;"),
)
_RELAXED_DATA = ((r"([ab]\.store\(.*), rel\)", r"\1)"), (r"([ab]\.load\()acq", r"\1"))

_VERSIONS = {
    "bakery-acq-rel": Version("bakery", (_NO_FENCES,)),
    "chase-lev": Version("", text=_CHASE_LEV),
    "dekker-acq-rel": Version("dekker", (_NO_FENCES,)),
    "dekker-sc-loads": Version(
        "dekker",
        (_NO_FENCES, (r"(flag\[tid\].store\(\d)\)", r"\1, rel)"), (r"(flag\[1 - tid\].*)acq", r"\1sc")),
    ),
    "futex-mutex-relaxed": Version("futex-mutex", ((r"0, rel\)", "0)"),)),
    "hazard-pointers-no-fences": Version("hazard-pointers", (_NO_FENCES,)),
    "iriw-acq-sc": Version("", text=_IRIW),
    "mcs-lock-relaxed": Version("mcs-lock", ((r"blocked\[r\].store\(0, rel\)", "blocked[r].store(0)"),)),
    "once-relaxed": Version("once", ((r"ready.store\(1, rel\)", "ready.store(1)"),)),
    "peterson-one-fence": Version("peterson", ((r"(?s)fence.*?;(.*)", r"skip;\1"),)),
    "rcu-relaxed": Version(
        "rcu",
        (
            (r"(current|period)(.*), rel\)", r"\1\2)"),
            (r"wait\(seen\[1\], g, acq\);", ""),
            (r"reader\[2\]", "reader[1]"),
            # It has read once. It still tells the writer, who waits for it.
            (
                r"seen\[tid\].store\(g, rel\);",
                "seen[tid].store(g, rel); if (g == 0) { wait(period, 1, acq); seen[tid].store(1, rel); }",
            ),
        ),
    ),
    "reference-count-relaxed": Version("reference-count", ((r"-1, rel\)", "-1)"),)),
    "sb-rel-sc": Version("", text=_SB.replace("ORDER", "rel")),
    "sb-rlx-sc": Version("", text=_SB.replace("ORDER", "rlx")),
    "seqlock-broken": Version("seqlock", (_ONE_WRITER, *_RELAXED_DATA, *_READER)),
    "seqlock-fences": Version(
        "seqlock",
        (
            _ONE_WRITER,
            *_RELAXED_DATA,
            (r"(a\.store)", r"fence(rel); \1"),
            (r"t = seq.load\(acq\)", "fence(acq); t = seq.load()"),
            *_READER,
        ),
    ),
    "spinlock-relaxed": Version("spinlock", ((r"0, rel\)", "0)"),)),
    "ticket-lock-relaxed": Version("ticket-lock", ((r"t \+ 1, rel\)", "t + 1)"),)),
    "treiber-stack-relaxed": Version("treiber-stack", ((r"(, acq, rel|acq)\)", ")"),)),
}


def _least_cost(version: Version) -> float | None:
    text = version.text
    if not text:
        text = (FOLDER / f"{version.name}.tpl").read_text(encoding="utf-8")
        for pattern, replacement in version.edits:
            text, count = re.subn(pattern, replacement, text)
            assert count, pattern
        for pattern, replacement in _ONCE:
            text = re.sub(pattern, replacement, text)
    return static_fix(tpl.read(text), "cpp20", without=("exchange",)).cost


def _compiled(shell: Shell, wrapper: Sequence[str | Path], source: str) -> None:
    standard = "-std=gnu11" if source.endswith(".c") else "-std=c++20"
    client = _CLIENTS.get(Path(source).stem, _USUAL_CLIENT)
    include = shell.ok("fencepost", "flags", "--include").split()
    shell.ok(*wrapper, standard, *_STRICT, *client, *include, "-pthread", f"c/{source}", "-o", "program")


def _watched(shell: Shell, source: str) -> None:
    _compiled(shell, ["fencepost-cc" if source.endswith(".c") else "fencepost-c++"], source)


def _asked(shell: Shell, *command: str) -> dict[str, Any]:
    done = shell.run("fencepost", *command, "--json", "./program")
    assert done.stdout, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def _is_robust(shell: Shell) -> None:
    told = _asked(shell, "check", "--timeout", "60")
    if told["verdict"] == "unknown":
        for schedule in ("random", "pct", "os"):
            told = _asked(shell, "run", "--schedule", schedule, "--runs", "1000")
            assert (told["verdict"], told["deadlocks"]) == ("not-seen", []), schedule
    else:
        assert (told["verdict"], told["deadlocks"], told["failures"]) == ("robust", [], [])


def _repaired(shell: Shell, source: Path) -> None:
    shutil.copytree(FOLDER, shell.directory / "c", ignore=shutil.ignore_patterns("build", "seq-cst"))
    _watched(shell, source.name)
    told = _asked(shell, "fix", "--timeout", "250", *_RUNS.get(source.stem, ()), "--write", "--yes")
    assert told["verdict"] in ("robust", "not-seen"), told
    assert told["cost"] > 0
    assert told["diff"], told
    for toolchain in INSTALLED:
        _compiled(shell, [toolchain.cc if source.suffix == ".c" else toolchain.cxx], source.name)
    _watched(shell, source.name)
    _is_robust(shell)
    if source.stem in _VERSIONS:
        least = _least_cost(_VERSIONS[source.stem])
        assert (told["verdict"], told["cost"], told["lower_bound"]) == ("robust", least, least)


@pytest.mark.parametrize("name", ["sb-rel-sc.c", "ticket-lock-relaxed.c"])
def test_an_example_is_repaired_in_its_sources(tmp_path: Path, name: str) -> None:
    _repaired(Shell(tmp_path), FOLDER / name)


@pytest.mark.slow
@pytest.mark.parametrize("source", NOT_ROBUST, ids=lambda path: path.stem)
def test_every_example_that_is_not_robust_is_repaired(tmp_path: Path, source: Path) -> None:
    _repaired(Shell(tmp_path), source)
