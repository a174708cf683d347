"""One line on the terminal that shows how far a long search is, and goes away when it is over."""

from __future__ import annotations

import shutil
import time
from typing import TextIO

from fencepost.engine.search import Progress
from fencepost.report.printable import clip

_QUIET_SECONDS = 1.0


class ProgressLine:
    """Nothing is shown during the first second: most answers come sooner."""

    def __init__(self, stream: TextIO, count: int, what: str = "files") -> None:
        self._stream = stream
        self._count = count
        self._what = what
        self._started = time.monotonic()
        self._done = 0
        self._shown = False

    def searching(self, progress: Progress) -> None:
        rate = progress.states / progress.seconds if progress.seconds > 0 else 0.0
        self._show(
            f"{progress.states:,} states, {rate / 1e6:.2f} M/s, {progress.waiting:,} waiting, "
            f"{progress.memory_mb:,.0f} MB, {progress.seconds:.0f} s"
        )

    def finished(self, done: int) -> None:
        self._done = done
        if self._count > 1:
            self._show("")

    def close(self) -> None:
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._shown = False

    def _show(self, text: str) -> None:
        if time.monotonic() - self._started < _QUIET_SECONDS:
            return
        done = f"{self._done}/{self._count} {self._what}  " if self._count > 1 else ""
        room = shutil.get_terminal_size((100, 24)).columns - 1  # a line that wraps could not be taken back
        self._stream.write(f"\r\x1b[K{clip(done + text, room)}")
        self._stream.flush()
        self._shown = True
