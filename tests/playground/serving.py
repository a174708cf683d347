"""A playground in a process of its own, as `fencepost serve` starts it, and requests to it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import fencepost

SB = """global x, y;
fn left { local r; x.store(1); r = y.load(); }
fn right { local r; y.store(1); r = x.load(); }
"""
# Weak memory lets both threads in; interleaving does not.
BOTH_IN = """// mutex: cs
global x, y, z;
fn left { local r; x.store(1); r = y.load(); if (r == 0) { cs: z.store(1); } }
fn right { local r; y.store(1); r = x.load(); if (r == 0) { cs: z.store(2); } }
"""
# Decided by nobody: 256 to the power of 8 states. Neighbours share a counter and count by their own steps.
ENDLESS = "".join(
    [
        "global a, b, c, d, e, f, g, h;",
        *(
            f"fn t{n} {{ local r; "
            f"while (1) {{ r = FADD({x}, {n}); if (r != 9) {{ FADD({y}, {n + 8}); }} }} }}"
            for n, (x, y) in enumerate(["ab", "bc", "cd", "de", "ef", "fg", "gh", "ha"])
        ),
    ]
)
_JSON = {"Content-Type": "application/json"}


class Playground:
    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process = process
        self.port = port
        self.url = f"http://127.0.0.1:{port}/"

    def answers(self) -> bool:
        """Whether it listens already."""
        try:
            return self.get("/api/start")[0].status == 200
        except OSError:
            return False

    def connect(self) -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self.port, timeout=60)

    def request(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[HTTPResponse, bytes]:
        connection = self.connect()
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return response, response.read()
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> tuple[HTTPResponse, bytes]:
        return self.request("GET", path, headers=headers)

    def post(self, wanted: Any, headers: dict[str, str] | None = None) -> tuple[HTTPResponse, bytes]:
        body = wanted if isinstance(wanted, bytes) else json.dumps(wanted).encode()
        return self.request("POST", "/api/search", body, _JSON | (headers or {}))

    def search(self, text: str, **more: str) -> list[dict[str, Any]]:
        """Everything that a search says."""
        response, body = self.post({"task": "ask", "text": text, **more})
        assert response.status == 200, body
        return [json.loads(line) for line in body.splitlines()]

    def answer(self, text: str, **more: str) -> dict[str, Any]:
        last = self.search(text, **more)[-1]
        assert "answer" in last, last
        return last["answer"]

    @contextmanager
    def started(self, text: str) -> Iterator[HTTPConnection]:
        """A connection over which a search runs."""
        connection = self.connect()
        body = json.dumps({"task": "ask", "text": text})
        connection.request("POST", "/api/search", body, _JSON)
        try:
            yield connection
        finally:
            connection.close()

    def searches(self) -> list[int]:
        """The processes of searches that run now."""
        return [
            int(pid)
            for pid in os.listdir("/proc")
            if pid.isdigit() and _is_child(pid, self.process.pid) and _is_search(pid)
        ]

    def memory_mb(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(re.search(r"VmRSS:\s*(\d+)", status)[1]) / 1024

    def open_files(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for what must come; the limit is only for tests that would not end otherwise."""
    for _ in range(600):
        if holds():
            return
        time.sleep(0.1)
    raise AssertionError("this does not come true")


@contextmanager
def playground(*options: str) -> Iterator[Playground]:
    start = "import sys; sys.argv[0] = 'fencepost'; from fencepost.cli.main import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", start, "serve", "--port", "0", *options],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(fencepost.__file__).parents[1])},
    )
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        port = re.search(r"http://127\.0\.0\.1:(\d+)/", said)
        assert port is not None, said
        serving = Playground(process, int(port[1]))
        wait_until(serving.answers)
        yield serving
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)
        process.stdout.close()


def _is_child(pid: str, parent: int) -> bool:
    try:
        return (
            int(Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[1]) == parent
        )
    except OSError:
        return False


def _is_search(pid: str) -> bool:
    try:
        return b"fencepost.playground.search" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
