"""Forks that are looked after, and how many there may be at a time."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

MOST_BYTES = 12 << 30


def dies_with_its_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Jobs:
    """As many tokens as things may be done at a time, for this process and its forks."""

    def __init__(self, count: int) -> None:
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.write(self._write, b"." * count)

    def take(self) -> bool:
        with suppress(BlockingIOError):
            return os.read(self._read, 1) == b"."
        return False

    def give(self) -> None:
        os.write(self._write, b".")

    @contextmanager
    def one(self) -> Iterator[None]:
        while not self.take():
            time.sleep(0.05)
        try:
            yield
        finally:
            self.give()


class Fork:
    """An action in a fork, with limits on processor time and memory."""

    def __init__(self, action: Callable[[], str], seconds: float) -> None:
        self._told, write = os.pipe()
        self._deadline = time.monotonic() + 20 * seconds + 600
        self._pid = os.fork()
        if self._pid == 0:
            os.setsid()
            dies_with_its_parent()
            os.close(self._told)
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
            resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            try:
                told = action()
            except BaseException as error:
                told = f"error: {error!r}"[:3000]
            os.write(write, told.encode())
            os._exit(0)
        os.close(write)

    def ended(self) -> str | None:
        """What the action returned, or why it did not; None as long as it goes on."""
        done, status = os.waitpid(self._pid, os.WNOHANG)
        if not done and time.monotonic() < self._deadline:
            return None
        self.kill()  # and programs that it started
        if not done:
            os.waitpid(self._pid, 0)
            return "does not end"
        os.set_blocking(self._told, False)
        said = os.read(self._told, 65536) if os.WIFEXITED(status) else b""
        os.close(self._told)
        if os.WIFSIGNALED(status):
            name = signal.Signals(os.WTERMSIG(status)).name
            return "does not end" if name in ("SIGXCPU", "SIGKILL") else f"crash: {name}"
        return said.decode()

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)

    def result(self) -> str:
        while (told := self.ended()) is None:
            time.sleep(0.02)
        return told
