"""One line on the terminal that shows how far the work is, and goes away when it is over.

Searches, repairs, batches of files and runs of programs all have this line; `search_words` and `repair_words`
say in words how far a search or a repair is.
"""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING, TextIO

from fencepost.report.printable import clip

if TYPE_CHECKING:
    from fencepost.analyses.repair.checks import FixProgress
    from fencepost.engine.search import Progress

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
        self._show(search_words(progress))

    def repairing(self, progress: FixProgress) -> bool:
        """As a watcher of a repair, which it never stops."""
        self._show(repair_words(progress))
        return False

    def finished(self, done: int, so_far: str = "") -> None:
        self._done = done
        if self._count > 1:
            self._show(so_far)

    def saying(self, text: str) -> None:
        """How far it is, in words alone."""
        self._count = 1
        self._show(text)

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


def search_words(progress: Progress) -> str:
    rate = progress.states / progress.seconds if progress.seconds > 0 else 0.0
    return (
        f"{progress.states:,} states, {rate / 1e6:.2f} M/s, {progress.waiting:,} waiting, "
        f"{progress.memory_mb:,.0f} MB, {progress.seconds:.0f} s"
    )


def repair_words(progress: FixProgress) -> str:
    best = "none yet" if progress.best is None else f"{progress.best:g}"
    words = f"{progress.checks:,} sets tried, lower bound {progress.lower_bound:g}, best so far {best}"
    if progress.checking is not None:
        words += f"; checking one, {progress.checking.states:,} states"
    return f"{words}, {progress.seconds:.0f} s"
