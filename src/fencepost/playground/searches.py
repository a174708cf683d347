"""The searches that run now: each in a process of its own, with limits, ended when nobody waits any more.

`Searches.run` gives the lines of one search as they come. Whoever stops iterating ends the process, and so
does the time limit; a search that should end by itself and does not is killed.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

import fencepost
from fencepost.playground.search import Order, Request

_GRACE_SECONDS = 5  # for reading the program and writing the answer
_LONGEST_LINE = 1 << 26
_LAST = (b'{"answer"', b'{"mistake"', b'{"unasked"', b'{"failure"')


class Allowed(NamedTuple):
    """What visitors may use: searches at once, and for each one its size, time and memory."""

    running: int = 4
    program_bytes: int = 1 << 18
    seconds: float = 60
    memory_mb: float = 2048


class BusyError(Exception):
    """As many searches are running as are allowed."""


class Searches:
    def __init__(self, allowed: Allowed) -> None:
        self.allowed = allowed
        self.running = 0

    async def run(self, request: Request) -> AsyncGenerator[bytes]:
        """The lines of the search; raises `BusyError` before the first one."""
        if self.running >= self.allowed.running:
            raise BusyError
        self.running += 1
        try:
            process = await _process()
            try:
                await _tell(process, Order(request, self.allowed.seconds, self.allowed.memory_mb))
                async with aclosing(self._lines(process)) as lines:
                    async for line in lines:
                        yield line
            finally:
                await _end(process)
        finally:
            self.running -= 1

    async def _lines(self, process: asyncio.subprocess.Process) -> AsyncGenerator[bytes]:
        """What the process says; the last line is an answer, a mistake, or why there is neither."""
        assert process.stdout is not None
        deadline = asyncio.get_running_loop().time() + self.allowed.seconds + _GRACE_SECONDS
        line = b""
        while not line.startswith(_LAST):
            try:
                async with asyncio.timeout_at(deadline):
                    line = await process.stdout.readline()
                if not line.endswith(b"\n"):
                    line = _failure("the search ended without an answer; it may have needed too much memory")
            except TimeoutError:
                line = _failure(f"the search was ended after {self.allowed.seconds:g} s")
            except ValueError:
                line = _failure("the answer is too long for the playground")
            yield line


def _failure(why: str) -> bytes:
    return msgspec.json.encode({"failure": why}) + b"\n"


async def _process() -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "fencepost.playground.search"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd="/",
        env={**os.environ, "PYTHONPATH": str(Path(fencepost.__file__).parents[1])},
        limit=_LONGEST_LINE,
        start_new_session=True,
    )


async def _tell(process: asyncio.subprocess.Process, order: Order) -> None:
    assert process.stdin is not None
    with suppress(BrokenPipeError, ConnectionResetError):  # it has ended, as its output will show
        process.stdin.write(msgspec.json.encode(order))
        await process.stdin.drain()
    process.stdin.close()


async def _end(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await asyncio.shield(process.wait())
