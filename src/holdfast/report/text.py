"""An answer for a terminal: the verdict, then each finding with its sentence, its run and its cycle.

Lines stay within `width` columns as far as the user's own names allow; the first line alone may be longer,
so that the path in it can be clicked. What the findings mean is said in `explain`; this module places it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from holdfast.report import cycle, explain
from holdfast.report.advice import advice
from holdfast.report.labels import outcome, source, thread_name
from holdfast.report.printable import clip, columns, pad, paragraph, printable
from holdfast.verdicts import Answer, Assertion, Edge, Event, Race, Run, Stats, Unknown, Witness

NARROWEST = 60
NARROWEST_COLUMN = 12
LONGEST_FULL_RUN = 40  # accesses; of a longer run only what matters is shown, unless asked for all
_INDENT = "  "
_MARK = "▶"

_COLORS = {
    "bold": "1",
    "dim": "2",
    "good": "1;32",
    "bad": "1;31",
    "open": "1;33",
    "thread": "36",
    "po": "2",
    "rf": "32",
    "mo": "33",
    "fr": "31",
}
_STEP_WORDS = {
    "po": "comes before",
    "rf": "is read by",
    "mo": "is overwritten by",
    "fr": "does not see",
}
_FENCE_WORDS = "comes before"
_FAILURES = {
    "assertion": "a failing assertion",
    "division-by-zero": "a division by zero",
    "index-out-of-range": "an index out of range",
}


def render(answer: Answer, *, color: bool, width: int, verbose: bool = False) -> str:
    """The whole answer; `verbose` shows long runs and cycles in full, and the access modes."""
    page = _Page(width=max(width, NARROWEST), color=color, verbose=verbose)
    blocks = [_verdict_line(page, answer)]
    if isinstance(answer, Unknown):
        blocks.append(page.wrapped(f"Not decided: {printable(answer.why)}"))
    if answer.witness is not None:
        blocks += _witness(page, answer.witness, printable(answer.file))
    if answer.race is not None:
        blocks += _race(page, answer.race)
    if answer.assertion is not None:
        blocks += _assertion(page, answer.assertion)
    blocks += [page.wrapped(f"warning: {printable(warning)}") for warning in answer.warnings]
    blocks.append("\n".join(_footer(page, answer)))
    return "\n\n".join(blocks) + "\n"


@dataclass(frozen=True)
class _Page:
    width: int
    color: bool
    verbose: bool

    def paint(self, text: str, style: str) -> str:
        return f"\x1b[{_COLORS[style]}m{text}\x1b[0m" if self.color and text else text

    def wrapped(self, text: str) -> str:
        return "\n".join(_INDENT + line for line in paragraph(text, self.width - len(_INDENT)))


def _verdict_line(page: _Page, answer: Answer) -> str:
    style = {True: "good", False: "bad", None: "open"}[answer.holds]
    verdict = page.paint(answer.verdict.replace("-", " "), style)
    found = ["a data race"] if answer.race is not None else []
    if answer.assertion is not None:
        found.append(_FAILURES[answer.assertion.kind])
    findings = f", {page.paint('with ' + ' and '.join(found), 'bad')}" if found else ""
    return f"{printable(answer.file)}: {verdict} under {printable(answer.model)}{findings}"


def _witness(page: _Page, witness: Witness, file: str) -> Iterator[str]:
    yield page.wrapped(explain.claim(witness))
    shown = None
    if not page.verbose and sum(e.thread is not None for e in witness.events) > LONGEST_FULL_RUN:
        shown = cycle.worth_showing(witness)
    yield "\n".join(_run(page, witness.threads, witness.events, {witness.access.id}, shown))
    yield "\n".join(_cycle(page, witness, file))
    for sentence in advice(witness):
        yield page.wrapped(sentence)


def _race(page: _Page, race: Race) -> Iterator[str]:
    yield page.wrapped(f"Data race. {explain.explain_race(race)}")
    racing = {race.first, race.second}
    yield "\n".join(_run(page, race.run.threads, race.run.events, racing, _end_of(page, race.run)))


def _assertion(page: _Page, assertion: Assertion) -> Iterator[str]:
    yield page.wrapped(explain.explain_assertion(assertion))
    run = assertion.run
    yield "\n".join(_run(page, run.threads, run.events, set(), _end_of(page, run)))


def _end_of(page: _Page, run: Run) -> set[int] | None:
    """The last accesses of a run that is too long to show in full."""
    accesses = [event.id for event in run.events if event.thread is not None]
    return None if page.verbose or len(accesses) <= LONGEST_FULL_RUN else set(accesses[-LONGEST_FULL_RUN:])


# The run: one row per access, in the order of the run, threads side by side.


def _run(
    page: _Page, threads: Sequence[str], events: Sequence[Event], marked: set[int], shown: set[int] | None
) -> Iterator[str]:
    """The initial values, a heading, and the accesses in `shown`, or all of them."""
    accesses = [event for event in events if event.thread is not None]
    used = {event.cell for event in accesses if event.kind != "F"}
    initial = [f"{printable(e.cell)} = {e.written}" for e in events if e.thread is None and e.cell in used]
    if initial:
        yield page.wrapped(f"initially {', '.join(initial)}")
    if not accesses:
        return
    gutter = max(len("line"), *(len(str(event.line)) for event in accesses))
    texts = {event.id: _entry(page, event) for event in accesses}
    room = page.width - len(_INDENT) - len(_MARK) - 1 - gutter - 2
    heading, place = _placing(page, threads, accesses, texts, room)
    yield f"{_INDENT}  {page.paint(pad('line', gutter), 'dim')}  {heading}"
    for event, skipped in _rows(accesses, shown):
        if event is None:
            yield page.paint(f"{_INDENT}  {'⋯':>{gutter}}  {skipped} more", "dim")
            continue
        mark = page.paint(_MARK, "bad") if event.id in marked else " "
        line = page.paint(f"{event.line or '':>{gutter}}", "dim")
        yield f"{_INDENT}{mark} {line}  {place(event)}".rstrip()


def _placing(
    page: _Page, threads: Sequence[str], accesses: Sequence[Event], texts: dict[int, str], room: int
) -> tuple[str, Callable[[Event], str]]:
    """The heading of the run and the text of each row: side by side if that fits, else one list."""
    rooms: dict[str, int] = {}
    for event in sorted(accesses, key=lambda e: e.thread or 0):
        name = thread_name(threads, event)
        rooms[name] = max(rooms.get(name, columns(name)), columns(texts[event.id]))
    starts = _starts(rooms, room)
    if starts is None:
        return _one_list(page, threads, rooms, texts, room)
    heading = ""
    for name, start in starts.items():
        heading = pad(heading, start) + name
    return page.paint(heading, "thread"), lambda e: " " * starts[thread_name(threads, e)] + texts[e.id]


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


def _one_list(
    page: _Page, threads: Sequence[str], names: Iterable[str], texts: dict[int, str], room: int
) -> tuple[str, Callable[[Event], str]]:
    """As `_placing`, with a column that names the thread of each row."""
    name_room = min(max(len("thread"), *map(columns, names)), room // 3)

    def place(event: Event) -> str:
        name = pad(clip(thread_name(threads, event), name_room), name_room)
        return f"{page.paint(name, 'thread')}  {clip(texts[event.id], room - name_room - 2)}"

    return page.paint(f"{pad('thread', name_room)}  access", "dim"), place


def _entry(page: _Page, event: Event) -> str:
    mode = f"[{printable(event.mode)}]" if page.verbose and event.mode else ""
    return " ".join(part for part in (source(event), outcome(event), mode) if part)


def _rows(accesses: Iterable[Event], shown: set[int] | None) -> Iterator[tuple[Event | None, int]]:
    """The accesses to show; for each stretch left out, None and its length."""
    skipped = 0
    for event in accesses:
        if shown is not None and event.id not in shown:
            skipped += 1
            continue
        if skipped:
            yield None, skipped
        skipped = 0
        yield event, 0
    if skipped:
        yield None, skipped


# The cycle: one edge per line, as the end of its source; the next line is its target.


def _cycle(page: _Page, witness: Witness, file: str) -> Iterator[str]:
    yield page.wrapped(
        "No interleaving of the threads does this: each line comes before the next, and the last is the "
        "first again."
    )
    edges = cycle.unrolled(witness) if page.verbose else cycle.told(witness)
    events = [witness.events[edge.source] for edge in edges]
    texts = [_entry(page, event) for event in events]
    names = [thread_name(witness.threads, event) for event in events]
    words = [_step_words(witness, edge) for edge in edges]
    room = page.width - len(_INDENT) - max(map(columns, words)) - len("  po  ") - len("    ")
    text_room, name_room = max(map(columns, texts)), max(map(columns, names))
    for shortened in (file, file.rpartition("/")[2], ""):
        places = [_place(shortened, event) for event in events]
        place_room = max(map(columns, places))
        if place_room + name_room + text_room <= room:
            break
    name_room = min(name_room, max((room - place_room) // 3, 6))
    text_room = min(text_room, max(room - place_room - name_room, 8))
    rows = []
    for place, name, text in zip(places, names, texts, strict=True):
        thread = page.paint(pad(clip(name, name_room), name_room), "thread")
        where = page.paint(pad(place, place_room), "dim")
        rows.append(f"{_INDENT}{where}  {thread}  {pad(clip(text, text_room), text_room)}")
    for row, edge, word in zip(rows, edges, words, strict=True):
        yield f"{row}  {page.paint(edge.relation, edge.relation)}  {word}"
    yield rows[0].rstrip()


def _place(file: str, event: Event) -> str:
    if not event.line:
        return "initially" if event.thread is None else ""
    return f"{file}:{event.line}" if file else f"line {event.line}"


def _step_words(witness: Witness, edge: Edge) -> str:
    between_fences = witness.events[edge.source].kind == witness.events[edge.target].kind == "F"
    return _FENCE_WORDS if between_fences else _STEP_WORDS[edge.relation]


def _footer(page: _Page, answer: Answer) -> Iterator[str]:
    if answer.race is None and answer.assertion is None and not isinstance(answer, Unknown):
        yield page.wrapped(
            "No data race, no failing assertion."
            if answer.exhaustive
            else "The search stopped here; it may not have come to data races and failing assertions."
        )
    yield page.paint(page.wrapped(stats_line(answer.stats)), "dim")


def stats_line(stats: Stats) -> str:
    """What the search took."""
    parts = [_count(stats.states, "state"), _count(stats.transitions, "transition"), f"{stats.seconds:.2f} s"]
    if stats.peak_memory_mb:
        parts.append(f"{stats.peak_memory_mb:.0f} MB")
    return ", ".join(parts)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
