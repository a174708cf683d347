"""The cycle of a witness for a terminal, one edge per line, and the places where changes would break it.

Each line of a cycle shows where an edge starts and what it is; the next line is where it ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fencepost.report import cycle
from fencepost.report.advice import FENCES, Repair
from fencepost.report.cycle import STEP_WORDS
from fencepost.report.labels import in_turn, quoted, source, thread_name
from fencepost.report.printable import clip, columns, pad
from fencepost.report.text import run as run_text
from fencepost.report.text.page import INDENT, Page
from fencepost.report.total_order import explain_order
from fencepost.verdicts import AnyWitness, Edge, Event, TsoWitness


def render(page: Page, witness: AnyWitness, file: str) -> str:
    """The whole cycle if the page is verbose, else without the stops where nothing changes."""
    return "\n".join(_cycle(page, witness, file))


def render_repairs(page: Page, witness: AnyWitness, repairs: Sequence[Repair], file: str) -> str:
    """What to do, then one line for each place."""
    fences = [repair for repair in repairs if repair.after is not None]
    steps = ["use a stronger memory order"] if len(fences) < len(repairs) else []
    steps += [f"insert {FENCES[isinstance(witness, TsoWitness)]}"] if fences else []
    places = {1: "here", 2: "at both places"}.get(len(repairs), f"at all {len(repairs)} places")
    room = page.width - len(INDENT)
    words = [_repair_words(repair) for repair in repairs]
    rows = _rows(page, witness, [repair.place for repair in repairs], words, file=file, room=room)
    heading = page.wrapped(f"To forbid this run, {in_turn(steps)} {places}:")
    return "\n".join([heading, *(row.rstrip() for row in rows)])


def _repair_words(repair: Repair) -> str:
    statement = quoted(source(repair.place))
    return f"make {statement} {repair.strength}" if repair.after is None else f"before {statement}"


def _cycle(page: Page, witness: AnyWitness, file: str) -> Iterator[str]:
    yield page.wrapped(f"{cycle.CLAIM} {cycle.premise(witness)}These accesses form a cycle:")
    edges = cycle.unrolled(witness) if page.verbose else cycle.condensed(witness)
    events = [witness.events[edge.source] for edge in edges]
    words = [_step_words(witness, edge) for edge in edges]
    room = page.width - len(INDENT) - max(map(columns, words)) - len("  po  ")
    rows = _rows(
        page, witness, events, [run_text.entry(page, event) for event in events], file=file, room=room
    )
    for row, edge, word in zip(rows, edges, words, strict=True):
        yield f"{row}  {page.paint(edge.relation, edge.relation)}  {word}"
    yield rows[0].rstrip()
    order = explain_order(witness)
    if order:
        yield page.wrapped(order)


def _rows(
    page: Page, witness: AnyWitness, events: Sequence[Event], texts: Sequence[str], *, file: str, room: int
) -> list[str]:
    """The place of each event, its thread, and its text, in `room` columns."""
    names = [thread_name(witness.threads, event) for event in events]
    room -= len("    ")
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
        rows.append(f"{INDENT}{where}  {thread}  {pad(clip(text, text_room), text_room)}")
    return rows


def _place(file: str, event: Event) -> str:
    if not event.line:
        return "initially" if event.thread is None else ""
    return f"{file}:{event.line}" if file else f"line {event.line}"


def _step_words(witness: AnyWitness, edge: Edge) -> str:
    between_fences = witness.events[edge.source].kind == witness.events[edge.target].kind == "F"
    return STEP_WORDS["po"] if between_fences else STEP_WORDS[edge.relation]
