"""Readers that are a process of their own: the language server, and the run-time library in a program.

What they must not do is to crash or to hang; there is nobody who could catch an exception. A program reads
its files once, so that each input costs a process; `runtime_readers.cpp` has the same readers in a loop, with
AddressSanitizer and UndefinedBehaviorSanitizer.
"""

from __future__ import annotations

import atexit
import fcntl
import functools
import hashlib
import itertools
import json
import os
import select
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fencepost.errors import InputError
from tests.native.building import ROOT, SANITIZED, build
from tests.sanitizer.building import PROGRAMS, Shell

PATIENCE = 120  # seconds, on a slow machine; what takes so long hangs
_SERVER = (
    "import sys; from fencepost.cli.main import main; "
    "sys.argv = ['fencepost', 'lsp', '--timeout', '1']; main()"
)
URI = "file:///somewhere/program.tpl"


class Server:
    """A language server, which gets messages as bytes and must go on answering."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        atexit.register(self._process.kill)
        self._numbers = itertools.count(1_000_000)
        self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        self.send(message("initialized", {}))
        self.send(opened())

    def send(self, body: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def ask(self, method: str, params: object) -> None:
        """A request, and everything up to its answer."""
        number = next(self._numbers)
        self.send(message(method, params, number))
        while self._next().get("id") != number:
            pass

    def _next(self) -> dict[str, Any]:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self._read(1)
        length = int(head.lower().partition(b"content-length:")[2].split()[0])
        body = b""
        while len(body) < length:
            body += self._read(length - len(body))
        told: dict[str, Any] = json.loads(body)
        return told

    def _read(self, most: int) -> bytes:
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], PATIENCE)
        got = self._process.stdout.read(most) if ready else b""
        if not got:
            self._process.kill()
            server.cache_clear()
            raise AssertionError("the language server has ended" if ready else "it does not answer")
        return got


@functools.cache
def server() -> Server:
    return Server()


def message(method: str, params: object, number: int | None = None) -> bytes:
    head = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(head if number is None else {**head, "id": number}).encode()


def opened() -> bytes:
    text = "global x;\nfn t { local r; x.store(1, rel); r = x.load(); }\n"
    document = {"uri": URI, "languageId": "tpl", "version": 0, "text": text}
    return message("textDocument/didOpen", {"textDocument": document})


def messages() -> list[bytes]:
    here = {"textDocument": {"uri": URI}, "position": {"line": 1, "character": 18}}
    change = {"textDocument": {"uri": URI, "version": 1}, "contentChanges": [{"text": "global x; fn t { }"}]}
    edit = {"range": {"start": {"line": 0, "character": 1}, "end": {"line": 1, "character": 3}}, "text": "x"}
    whole = {"textDocument": {"uri": URI}}
    span = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 9}}
    return [
        opened(),
        message("textDocument/didChange", change),
        message("textDocument/didChange", {**change, "contentChanges": [edit]}),
        *(
            message(f"textDocument/{what}", here, 1)
            for what in ("completion", "hover", "definition", "signatureHelp", "references")
        ),
        *(
            message(f"textDocument/{what}", whole, 2)
            for what in ("documentSymbol", "codeLens", "semanticTokens/full")
        ),
        message("textDocument/codeAction", {**whole, "range": span, "context": {"diagnostics": []}}, 3),
        message("workspace/executeCommand", {"command": "fencepost.report", "arguments": [URI, "ra"]}, 4),
        message("textDocument/didClose", whole),
    ]


def tell_server(data: bytes) -> None:
    server().send(data)
    server().ask("fencepost/areYouThere", None)  # there is no such thing, and it says so


# The run-time library.


@functools.cache
def _shell(folder: Path) -> Shell:
    shell = Shell(folder)
    shell.ok("fencepost-cc", "-g", PROGRAMS / "check" / "store_buffering.c", "-o", "program")
    return shell


def program_with(folder: Callable[[], Path], options: str) -> Callable[[bytes], object]:
    """The program, whose library reads FILE or, without one in the options, them."""

    def read(data: bytes) -> None:
        shell = _shell(folder())
        (shell.directory / "input").write_bytes(data)
        words = data.replace(b"\0", b"").decode("utf-8", "surrogateescape")
        done = subprocess.run(
            [shell.directory / "program"],
            cwd=shell.directory,
            env={**shell.environment, "FENCEPOST_OPTIONS": options or words},
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode >= 0, f"signal {-done.returncode}: {done.stderr[-500:]!r}"
        if done.returncode == 2 or b"FENCEPOST_OPTIONS" in done.stderr:
            raise InputError("refused")

    return read


class Loop:
    """A reader of the run-time library that takes one input after the other."""

    def __init__(self, reader: str, folder: Path) -> None:
        file = folder / f"{reader}-{os.getpid()}"
        self._said = Path(f"{file}.said")
        self._process = subprocess.Popen(
            [loop_program(), reader, file],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"},
        )
        atexit.register(self._process.kill)

    def read(self, data: bytes) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(struct.pack("=I", len(data)) + data)
        ready, _, _ = select.select([self._process.stdout], [], [], PATIENCE)
        answer = self._process.stdout.read(1) if ready else b""
        if not answer:
            with self._process as process:
                process.kill()
            loop.cache_clear()
            said = self._said.read_text(errors="replace")[:2000]
            raise AssertionError(f"it has ended: {said}" if ready else "it does not answer")
        if answer == b"0":
            raise InputError("refused")


@functools.cache
def loop_program() -> Path:
    """Built once of these sources; FENCEPOST_READERS is one that was built elsewhere."""
    if there := os.environ.get("FENCEPOST_READERS"):
        return Path(there)
    source = ROOT / "tests" / "fuzz" / "runtime_readers.cpp"
    read = [source, *sorted((ROOT / "native" / "sanitizer").rglob("*.[ch]pp"))]
    key = hashlib.sha256(b"".join(path.read_bytes() for path in read)).hexdigest()[:16]
    place = ROOT / "build" / "fuzz" / f"readers-{key}"
    place.mkdir(parents=True, exist_ok=True)
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests that run beside this one wait for it
        if not (place / "built").exists():
            build(source, place, "-O1", "-w", "-rdynamic", *SANITIZED)
            (place / "built").touch()
    return place / source.stem


@functools.cache
def loop(reader: str, folder: Path) -> Loop:
    return Loop(reader, folder)


def in_a_loop(folder: Callable[[], Path], reader: str) -> Callable[[bytes], object]:
    return lambda data: loop(reader, folder()).read(data)


def an_exploration() -> bytes:
    return subprocess.run([loop_program(), "write-exploration"], capture_output=True, check=True).stdout


SITE_CHANGES = b"""# changes
store_buffering.c:12 store order=seq_cst
store_buffering.c:13:11 load order=seq_cst before=seq_cst
store_buffering.c:17 store order=release
"""
OPTIONS = b"schedule=random:seed=3:depth=2:steps=1000:weak=1:weak_from=2:exitcode=5:quiet=0:stall=1"
DECISIONS = b"fencepost decisions 1\nseed 1\n0 4\n1 3\n2 5\n1 1\n"


def saved(folder: Callable[[], Path]) -> bytes:
    """The state of an exploration that was ended."""
    shell = _shell(folder())
    # As many letters as where it is read: the addresses of arguments are part of what is compared.
    shell.run(shell.directory / "program", FENCEPOST_OPTIONS="schedule=explore:resume=saved:executions=2")
    return (shell.directory / "saved").read_bytes()
