"""A run for a terminal: one row per access, in the order of the run, threads side by side.

Where the threads have no room beside each other, one column names the thread of each row. Which accesses are
worth showing, and which are marked, is decided by the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

import msgspec

from fencepost.report.cycle import happenings
from fencepost.report.labels import arrival, outcome, source, thread_name
from fencepost.report.printable import clip, columns, pad, printable
from fencepost.report.text.page import INDENT, Page
from fencepost.verdicts import Delay, Event, Run

NARROWEST_COLUMN = 12


class _Row(msgspec.Struct, frozen=True):
    """An access, or the arrival in memory of one that has waited in a store buffer, with the same id."""

    id: int
    thread: int
    name: str  # of the thread
    line: int
    text: str


def render(
    page: Page, run: Run, *, marks: Mapping[int, str], shown: Set[int] | None, delayed: Sequence[Delay] = ()
) -> str:
    """The initial values, a heading, and the accesses in `shown`, or all of them.

    `marks` are put before the rows of some events. `delayed` says which writes wait in store buffers.
    """
    return "\n".join([*_initially(page, run.events), *_table(page, _rows(page, run, delayed), marks, shown)])


def entry(page: Page, event: Event, *, buffered: bool = False) -> str:
    """The statement and what it did."""
    mode = f"[{printable(event.mode)}]" if page.verbose and event.mode else ""
    return " ".join(part for part in (source(event), outcome(event, buffered=buffered), mode) if part)


def _initially(page: Page, events: Sequence[Event]) -> Iterator[str]:
    used = {event.cell for event in events if event.thread is not None and event.kind != "F"}
    initial = [f"{printable(e.cell)} = {e.written}" for e in events if e.thread is None and e.cell in used]
    if initial:
        yield page.wrapped(f"initially {', '.join(initial)}")


def _rows(page: Page, run: Run, delayed: Sequence[Delay]) -> list[_Row]:
    waiting = {delay.write for delay in delayed}
    rows = []
    for event, arrives in happenings(run.events, delayed):
        assert event.thread is not None
        text = arrival(event) if arrives else entry(page, event, buffered=event.id in waiting)
        line = 0 if arrives else event.line
        rows.append(_Row(event.id, event.thread, thread_name(run.threads, event), line, text))
    return rows


def _table(
    page: Page, rows: Sequence[_Row], marks: Mapping[int, str], shown: Set[int] | None
) -> Iterator[str]:
    if not rows:
        return
    gutter = max(len("line"), *(len(str(row.line)) for row in rows))
    heading, place = _placing(page, rows, page.width - len(f"{INDENT}▶ ") - gutter - 2)
    yield f"{INDENT}  {page.paint(pad('line', gutter), 'dim')}  {heading}"
    for row, skipped in _visible(rows, shown):
        if row is None:
            yield page.paint(f"{INDENT}  {'⋯':>{gutter}}  {skipped} more", "dim")
            continue
        mark = page.paint(marks[row.id], "bad") if row.id in marks else " "
        line = page.paint(f"{row.line or '':>{gutter}}", "dim")
        yield f"{INDENT}{mark} {line}  {place(row)}".rstrip()


def _placing(page: Page, rows: Sequence[_Row], room: int) -> tuple[str, Callable[[_Row], str]]:
    """The heading of the run and the text of each row: side by side if that fits, else one list."""
    rooms: dict[str, int] = {}
    for row in sorted(rows, key=lambda row: row.thread):
        rooms[row.name] = max(rooms.get(row.name, columns(row.name)), columns(row.text))
    starts = _starts(rooms, room)
    if starts is None:
        return _one_list(page, rooms, room)
    heading = ""
    for name, start in starts.items():
        heading = pad(heading, start) + name
    return page.paint(heading, "thread"), lambda row: " " * starts[row.name] + row.text


def _starts(rooms: dict[str, int], room: int) -> dict[str, int] | None:
    """Where the column of each thread starts, None if there is no room for that.

    There is one access in a row, so where room is short it may reach below the next thread's heading.
    """
    gap = 3
    starts = {name: sum(list(rooms.values())[:i]) + gap * i for i, name in enumerate(rooms)}
    if sum(rooms.values()) + gap * (len(rooms) - 1) <= room:
        return starts
    step = (room - max(rooms.values())) // max(len(rooms) - 1, 1)
    if step < max(NARROWEST_COLUMN, gap + max(map(columns, rooms))):
        return None
    return {name: step * i for i, name in enumerate(rooms)}


def _one_list(page: Page, names: Iterable[str], room: int) -> tuple[str, Callable[[_Row], str]]:
    """As `_placing`, with a column that names the thread of each row."""
    name_room = min(max(len("thread"), *map(columns, names)), room // 3)

    def place(row: _Row) -> str:
        name = pad(clip(row.name, name_room), name_room)
        return f"{page.paint(name, 'thread')}  {clip(row.text, room - name_room - 2)}"

    return page.paint(f"{pad('thread', name_room)}  access", "dim"), place


def _visible(rows: Iterable[_Row], shown: Set[int] | None) -> Iterator[tuple[_Row | None, int]]:
    """The rows to show; for each stretch left out, None and its length."""
    skipped = 0
    for row in rows:
        if shown is not None and row.id not in shown:
            skipped += 1
            continue
        if skipped:
            yield None, skipped
        skipped = 0
        yield row, 0
    if skipped:
        yield None, skipped
