"""A bar on the terminal that shows how many runs are over, and goes away at the end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Show = Callable[[int, int], None]


@contextmanager
def progress_of(runs: int) -> Iterator[Show]:
    """Gives a function that shows the number of runs made and of different things seen.

    Nothing is shown for a single run, whose terminal is the program's, and where there is no terminal.
    """
    if runs <= 1 or not sys.stderr.isatty():
        yield lambda done, seen: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("runs"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[seen]} seen"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task("runs", total=runs, seen=0)
        yield lambda done, seen: bar.update(task, completed=done, seen=seen)
