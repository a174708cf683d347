"""Everything that reads what others wrote: with examples to change, and the exceptions that are its answer.

A reader gets bytes and may do two things: take them, or raise one of its exceptions. Whatever else it does is
a mistake of ours.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from fencepost.analyses.safety.portfolio import certify
from fencepost.analyses.view_certificates import certified
from fencepost.certificates import certificate as certificates
from fencepost.certificates.any_number import encode_views
from fencepost.cli.commands import check_certificate
from fencepost.cli.options import GivenProperty
from fencepost.engine.search import Limits
from fencepost.errors import InputError
from fencepost.formats import Reading, automata, headers, litmus, persist, tpl
from fencepost.formats.properties import given_property
from fencepost.formats.registry import text_of
from fencepost.lsp import hover, problems, symbols
from fencepost.playground import app, search
from fencepost.playground.questions import QUESTION_NAMED
from fencepost.program import Program
from fencepost.report.export import baseline
from fencepost.sanitizer.answer import dwarf_data, elf_data, suppressions
from fencepost.sanitizer.answer import symbols as symbolizer
from fencepost.sanitizer.answer.elf_file import UNREADABLE
from fencepost.sanitizer.run import events, replay
from tests.engine.test_malformed_bytecode import try_seed
from tests.fuzz import running

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


@dataclass(frozen=True)
class Reader:
    read: Callable[[bytes], object]
    examples: Callable[[], list[bytes]]
    answers: tuple[type[Exception], ...] = (InputError,)
    inputs: int = 1000  # in the test

    def try_on(self, data: bytes) -> bool:
        """Whether it takes them; raises what is a mistake of ours."""
        try:
            self.read(data)
        except self.answers:
            return False
        return True


def _small(*patterns: str, most: int = 1500) -> Callable[[], list[bytes]]:
    """The examples with these names that are not too large to be read a thousand times."""

    def found() -> list[bytes]:
        contents = [path.read_bytes() for pattern in patterns for path in sorted(EXAMPLES.glob(pattern))]
        return [content for content in contents if len(content) <= most]

    return found


@functools.cache
def _folder() -> Path:
    memory = "/dev/shm"  # what is read there was never on a disk
    return Path(
        tempfile.mkdtemp(prefix="fencepost-fuzz-", dir=memory if os.access(memory, os.W_OK) else None)
    )


def _file(data: bytes) -> str:
    path = _folder() / "input"
    path.write_bytes(data)
    return str(path)


def _as_file(read: Callable[[str], object]) -> Callable[[bytes], object]:
    return lambda data: read(_file(data))


def _as_program(read: Callable[[str, str], Program]) -> Callable[[bytes], object]:
    return lambda data: read(text_of(_file(data)), "input")


# Certificates, with their check.

LOCK = """max_value 1; global l; na d;
fn t[2] { local r; BCAS(l, 0, 1); r = d.naload(); d.nastore(r + 1); here: l.store(0); }
"""


@functools.cache
def _program_file(text: str) -> str:
    path = _folder() / f"{hashlib.sha256(text.encode()).hexdigest()}.tpl"
    path.write_text(text)
    return str(path)


@functools.cache
def _locked() -> Program:
    return tpl.read(LOCK, "lock.tpl")


def _certificate(data: bytes, text: str, mutex: tuple[str, ...]) -> object:
    given = GivenProperty(mutex, (), (), (), ignore_races=False)
    return check_certificate._checked(_program_file(text), _file(data), given, Reading())


def _certificates() -> list[bytes]:
    wanted = given_property(_locked(), ("here",))
    made = [certify(_locked(), model, wanted=wanted)[1] for model in ("sra", "tso")]
    return [certificates.encode(one) for one in made if one is not None]


ANY_NUMBER = LOCK.replace("t[2]", "t[*]")


def _view_certificates() -> list[bytes]:
    _, made = certified(tpl.read(ANY_NUMBER, "lock.tpl"), "rc20", limits=Limits(), watcher=None)
    assert made is not None
    return [encode_views(made)]


# Answers as JSON: baselines, and reports with schedules.


# An answer of `run` with a finding that can be replayed.
REPORT = """{"verdict":"not-robust","question":"run","schema":2,"command":["./x"],"runs":1,"model":\
"rc20","file":"x",\
"program":"./x","schedule":{"kind":"random","seed":1},"stats":{"states":0,"transitions":0,"seconds":0.1,\
"peak_memory_mb":1.0},"findings":[{"id":"ab","kind":"robustness","access":{"thread":1,"order":"relaxed",\
"what":"load","stack":[{"function":"f","file":"a.c","line":3,"column":1,"module":"x","offset":"0x1"}]},\
"missed":null,"value":0,"could":1,"chain":[],"repair":[],"runs":1,"address":"0x1","size":4,"location":\
{"kind":"global"},"schedule":{"kind":"random","seed":1,"decisions":"eJwzMDA0MDQEAAP9ASQ="}}]}"""


@functools.cache
def _answers() -> list[bytes]:
    """Those of the snapshots that are not large; of runs with decisions of their schedule."""
    text = (ROOT / "tests" / "report" / "snapshots" / "export" / "answers.json").read_text()
    answers = [json.dumps(answer).encode() for answer in json.loads(text).values()]
    return [*(answer for answer in answers if len(answer) < 2100), REPORT.encode()]


# What programs say.


def _from_symbolizer(data: bytes) -> object:
    lines = data.decode("utf-8", "replace").splitlines()
    return symbolizer._llvm_answers("m", lines), symbolizer._gnu_answers("m", lines)


def _symbolizer_output() -> list[bytes]:
    llvm = [
        {
            "Address": "0x1139",
            "ModuleName": "a.out",
            "Symbol": [{"FunctionName": "f", "FileName": "./a.c", "Line": 3, "Column": 7}],
        },
        {"Address": "0x1140", "ModuleName": "a.out", "Symbol": []},
    ]
    gnu = "0x0000000000001139\nf\n/a/./b.c:3 (discriminator 2)\nmain\n??:?\n0x1140\n??\n??:0\n"
    return ["\n".join(map(json.dumps, llvm)).encode(), gnu.encode()]


def _events(data: bytes) -> object:
    return [*map(repr, events.read_events(data))]


def _event_lines() -> list[bytes]:
    place = {"module": "/bin/x", "offset": "0x10"}
    access = {"thread": 1, "order": "relaxed", "what": "load", "stack": [place]}
    finding = {
        "event": "finding",
        "kind": "robustness",
        "id": "1",
        "access": access,
        "value": "12",
        "chain": [access],
    }
    deadlock = {"event": "deadlock", "threads": [{"thread": 1, "blocked_on": "mutex", "stack": [place]}]}
    waits = {"event": "await", "at": place, "ended_by": [1]}
    return ["\n".join(map(json.dumps, [finding, deadlock, waits, {"event": "end", "steps": 3}])).encode()]


def _suppressions(data: bytes) -> object:
    known = suppressions.read_suppressions(_file(data))
    names = ["std::atomic<int>::load", "/usr/include/c++/12/bits/atomic_base.h", "a" * 60]
    return [suppressions.is_suppressed(kind, names, known) for kind in suppressions.KINDS]


_LIBRARY = """struct part { int first; struct { char inner[2]; } second[3]; } table[2] = {{1}};
static long counter = 3; long *where(void) { return &counter; }
"""


@functools.cache
def _library() -> tuple[bytes, int]:
    """A small one with debug information, and where a variable is in it."""
    path = _folder() / "table.so"
    command = ["gcc", "-shared", "-nostdlib", "-fPIC", "-g", "-x", "c", "-", "-o", path]
    options = ["-Wl,--build-id=none", "-Wl,-z,noseparate-code"]
    subprocess.run([*command, *options], input=_LIBRARY.encode(), check=True)
    variables = elf_data._variables(str(path), embedded=False)
    return path.read_bytes(), next(one.start for one in variables if one.name == "table")


def _elf(data: bytes) -> object:
    _, table = _library()
    path = _file(data)
    kept = (elf_data.read_elf, elf_data._variables, dwarf_data._path, dwarf_data._sections)
    for one in (*kept, dwarf_data._abbreviations):
        one.cache_clear()
    elf_data.variable_at(path, table)
    dwarf_data.path_inside(path, table, 6)
    return elf_data.read_elf(path)


# Faces.


def _bytecode(data: bytes) -> object:
    """A program that the bytes choose, given to the engine's Python module."""
    return try_seed(int.from_bytes(hashlib.sha256(data).digest()[:7]))


def _request(data: bytes) -> object:
    from starlette.requests import Request

    scope = {"type": "http", "headers": [(b"content-type", b"application/json")]}
    return app._decoded(Request(scope), data)


def _requests() -> list[bytes]:
    return [json.dumps({"task": "ask", "text": LOCK, "format": "tpl", "question": "robust-ra"}).encode()]


def _searched(data: bytes) -> object:
    """What the process that the playground starts for a request does, with what may be set."""
    _request(data)
    wanted = msgspec.json.decode(data, type=search.Request)
    return search._result(search.Order(wanted, 0.5, 64))


def _settings() -> list[bytes]:
    """One of each kind of question."""
    settings = {"seconds": 0.5, "memory_mb": 64, "states": 300, "unroll": 2, "costs": {"sc-fence": 2.5}}
    wanted = {"text": LOCK, "format": "tpl", "name": "lock", "settings": settings}
    asked = [("ask", name) for name in QUESTION_NAMED] + [("repair", "robust-ra"), ("read", "robust-ra")]
    return [json.dumps({**wanted, "task": task, "question": name}).encode() for task, name in asked]


def _language_message(data: bytes) -> object:
    """One message to the language server, without its process: a text, and a place in it."""
    text = data.decode("utf-8", "replace")
    lines = text.split("\n")
    found = symbols.Symbols(text)
    for line in range(1, min(len(lines), 5) + 1):
        for column in range(1, min(len(lines[line - 1]), 40) + 2, 3):
            word = found.word_at(line, column)
            if word is not None:
                hover.meaning(word.text, found.definition(word), lines[line - 1])
    found.functions()
    return problems.mistakes(lines)


READERS: dict[str, Reader] = {
    "tpl": Reader(_as_program(tpl.read), _small("tutorial/*.tpl", "litmus/*.tpl", "rc20/*.tpl", most=600)),
    "litmus": Reader(_as_program(litmus.read), _small("litmus-c/*.litmus", most=700)),
    "automata": Reader(_as_program(automata.read), _small("tso/*.aut", most=900)),
    "persist": Reader(
        _as_program(persist.read),
        lambda: [
            persist.write(automata.read(text.decode(), "a.aut")).encode()
            for text in _small("tso/*.aut", most=900)()[:6]
        ],
    ),
    "formulas": Reader(
        lambda data: given_property(_locked(), bad=[data.decode("utf-8", "replace")]),
        lambda: [b"t[0]@here && t[1].r == 2", b"!(t[1]@here || t[0].r != 1) && t[1].r == 0"],
    ),
    "certificates": Reader(lambda data: _certificate(data, LOCK, ("here",)), _certificates),
    "view certificates": Reader(
        lambda data: _certificate(data, ANY_NUMBER, ()), _view_certificates, inputs=300
    ),
    "headers": Reader(
        lambda data: headers.expectations(data.decode("utf-8", "replace")),
        lambda: [
            b"// ROBUSTNESS egr: robust: ra. not: rlx. wegr: robust: ra,rlx.\n"
            b"// expect: robust ra=yes tso=no\n"
        ],
    ),
    "baselines": Reader(_as_file(lambda path: baseline.read(Path(path))), _answers),
    "schedules": Reader(_as_file(replay.read_report), _answers),
    "suppressions": Reader(
        _suppressions, lambda: [b"# known\nrobustness:std::*\nrace:^a*b*c$\ndeadlock:main\n"]
    ),
    "symbolizer": Reader(_from_symbolizer, _symbolizer_output),
    "events": Reader(_events, _event_lines),
    "elf": Reader(_elf, lambda: [_library()[0]], (InputError, *UNREADABLE)),
    "bytecode": Reader(_bytecode, lambda: [b"1 2 3 4 5 6 7 8"], inputs=100),
    "playground": Reader(_request, _requests, (InputError, app._RefusedError)),
    "playground searches": Reader(_searched, _settings, (InputError, app._RefusedError, ValueError), 200),
    "language server": Reader(_language_message, _small("tutorial/*.tpl", most=500)),
    "messages to the language server": Reader(running.tell_server, running.messages),
    # The run-time library's, many inputs to a process.
    "sites": Reader(
        running.in_a_loop(_folder, "sites"),
        lambda: [
            running.SITE_CHANGES,
            b"a.c:3 store order=release\n/tmp/program+0x1004 load order=acquire\na.c:3:5 fence remove\n",
        ],
    ),
    "suppressions at run time": Reader(
        running.in_a_loop(_folder, "suppressions"),
        lambda: [
            b"# known\nrobustness:std::*\nrobustness:^m*in$\nrobustness:*.c\nrace:*library\n",
            b"robustness:main\n",
        ],
    ),
    "schedules at run time": Reader(
        running.in_a_loop(_folder, "schedules"),
        lambda: [
            running.DECISIONS,
            b"fencepost decisions 1\nseed 7\nfailing 1\nthreads 2\nchoices 0 1 0\n0 4\n1",
        ],
    ),
    "explorations": Reader(running.in_a_loop(_folder, "states"), lambda: [running.an_exploration()]),
    "options": Reader(
        running.in_a_loop(_folder, "options"), lambda: [running.OPTIONS, b"json=%p-%r.json:switch=futex"]
    ),
    "symbolizer at run time": Reader(
        running.in_a_loop(_folder, "symbolizer"),
        lambda: [b"f(int)\n./a/../b.c:3:7\nmain\n/usr/lib/c.c:12 (discriminator 2)\n\n??\n??:0\n\n"],
    ),
    # The same in a program: a process for each input.
    "sites, native": Reader(
        running.program_with(_folder, "sites=input"), lambda: [running.SITE_CHANGES], inputs=5
    ),
    "suppressions, native": Reader(
        running.program_with(_folder, "suppressions=input:schedule=random"),
        lambda: [b"# known\nrobustness:std::*\nrobustness:^t*wo$\nrobustness:*.c\n"],
        inputs=5,
    ),
    "schedules, native": Reader(
        running.program_with(_folder, "schedule=random:replay=input"),
        lambda: [running.DECISIONS],
        inputs=5,
    ),
    "states, native": Reader(
        running.program_with(_folder, "schedule=explore:resume=input:executions=9"),
        lambda: [running.saved(_folder)],
        inputs=5,
    ),
    "options, native": Reader(running.program_with(_folder, ""), lambda: [running.OPTIONS], inputs=5),
}
