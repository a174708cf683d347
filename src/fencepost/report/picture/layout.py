"""Where the boxes of a witness stand in its picture, and which arrows lead between them.

One lane per thread, initial writes in a row above the lanes. Rows follow the relations, so every arrow points
down but those out of the access that leaves sequential consistency, and those into writes that wait in a
store buffer: the way back up is the contradiction.
Of a long run only what the cycle is about is placed. How arrows run is left to `routes`, drawing to `svg`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from fencepost.report import cycle
from fencepost.report.cycle import roles
from fencepost.report.labels import label, source, thread_name
from fencepost.report.printable import clip, columns
from fencepost.verdicts import AnyWitness, Event, Witness
from fencepost.verdicts.graph import FENCE_CELL

LONGEST_FULL_RUN = 20  # accesses; of a longer run only what the cycle is about is placed

LABEL_CHAR = 7.9  # the width of a character of a label, and of the line below it
DETAIL_CHAR = 6.7
LONGEST_LABEL = 28
LONGEST_DETAIL = 30

MARGIN = 28.0
NARROWEST = 660.0
LANE_GAP = 104.0
LANE_PADDING = 22.0
LANE_HEAD = 34.0
BOX_HEIGHT = 42.0
GAP_HEIGHT = 18.0
ROW_GAP = 32.0
INIT_HEIGHT = 26.0
INIT_GAP = 24.0


@dataclass(frozen=True)
class Box:
    """A rectangle by its centre."""

    x: float
    y: float
    width: float
    height: float

    @property
    def left(self) -> float:
        return self.x - self.width / 2

    @property
    def right(self) -> float:
        return self.x + self.width / 2

    @property
    def top(self) -> float:
        return self.y - self.height / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height / 2


@dataclass(frozen=True)
class Gap:
    """A stretch of a thread that is left out; `after` is the access before it, None at the start."""

    after: int | None
    count: int


Stop = int | Gap  # a place in a lane: an event id, or a stretch left out


@dataclass(frozen=True)
class Lane:
    """A thread: its name, its stops from top to bottom, and its background."""

    name: str
    stops: tuple[Stop, ...]
    box: Box


@dataclass(frozen=True)
class Arrow:
    """An edge to draw between two stops; rf and mo between the same two accesses are one arrow."""

    source: Stop
    target: Stop
    relations: tuple[str, ...]
    on_cycle: bool


@dataclass(frozen=True)
class Layout:
    """The picture without its texts. `height` is that of the lanes and what stands above them."""

    boxes: dict[Stop, Box]
    lanes: tuple[Lane, ...]
    arrows: tuple[Arrow, ...]
    width: float
    top: float
    height: float


def detail(event: Event) -> str:
    """The second line of a box: the line number and the statement."""
    statement = source(event) if event.text else ""
    number = f"{event.line}: " if event.line and statement else f"line {event.line}" if event.line else ""
    return clip(number + statement, LONGEST_DETAIL)


def heading(event: Event) -> str:
    """The first line of a box."""
    words = label(event) if event.thread is not None else f"init {label(event).removeprefix('W ')}"
    return clip(words, LONGEST_LABEL)


def arrange(
    witness: AnyWitness,
    *,
    most: int | None = LONGEST_FULL_RUN,
    top: float = 0.0,
    narrowest: float = NARROWEST,
) -> Layout:
    """Place everything below `top`; of a run of more than `most` accesses only what the cycle is about."""
    shown = _shown(witness, most)
    threads = _stops(witness, shown)
    arrows = [*_po_arrows(witness, threads), *_other_arrows(witness, shown)]
    drawn = {end for arrow in arrows for end in (arrow.source, arrow.target)} | roles(witness).keys()
    initial = [e for e in witness.events if e.thread is None and e.id in drawn]
    rows = _rows(threads, arrows)
    widths = [_lane_width(witness, stops) for stops in threads.values()]
    needed = sum(widths) + LANE_GAP * (len(widths) - 1) + 2 * MARGIN
    width = max(narrowest, needed)
    centres = _centres(widths, (width - needed) / 2 + MARGIN)
    lane_of = {stop: i for i, stops in enumerate(threads.values()) for stop in stops}
    wanted = _above_targets(initial, arrows, {stop: centres[lane] for stop, lane in lane_of.items()})
    boxes = _initial_boxes(initial, wanted, width, top)
    lanes_top = max((box.bottom + ROW_GAP for box in boxes.values()), default=top)
    heights = _row_tops(rows, lanes_top + LANE_HEAD)
    for stop, lane in lane_of.items():
        y, height = heights[rows[stop]]
        own = GAP_HEIGHT if isinstance(stop, Gap) else BOX_HEIGHT
        boxes[stop] = Box(centres[lane], y + height / 2, widths[lane] - 2 * LANE_PADDING, own)
    bottom = max((box.bottom for box in boxes.values()), default=lanes_top) + LANE_PADDING
    lanes = tuple(
        Lane(
            name=thread_name(witness.threads, _an_event(witness, stops)),
            stops=tuple(stops),
            box=Box(centres[i], (lanes_top + bottom) / 2, widths[i], bottom - lanes_top),
        )
        for i, stops in enumerate(threads.values())
    )
    return Layout(boxes=boxes, lanes=lanes, arrows=tuple(arrows), width=width, top=lanes_top, height=bottom)


# What is shown


def _shown(witness: AnyWitness, most: int | None) -> set[int]:
    accesses = {event.id for event in witness.events if event.thread is not None}
    return accesses if most is None or len(accesses) <= most else cycle.worth_showing(witness)


def _stops(witness: AnyWitness, shown: set[int]) -> dict[int, list[Stop]]:
    """The stops of each thread that has any."""
    result: dict[int, list[Stop]] = {}
    for thread in range(len(witness.threads)):
        stops: list[Stop] = []
        after: int | None = None
        own = [event for event in witness.events if event.thread == thread]
        for visible, group in groupby(own, lambda event: event.id in shown):
            ids = [event.id for event in group]
            stops += ids if visible else [Gap(after, len(ids))]
            after = ids[-1]
        if any(not isinstance(stop, Gap) for stop in stops):
            result[thread] = stops
    return result


def _po_arrows(witness: AnyWitness, threads: dict[int, list[Stop]]) -> Iterator[Arrow]:
    """From stop to stop along each thread."""
    spans = [(e.source, e.target) for e in cycle.condensed(witness) if e.relation == "po"]
    for stops in threads.values():
        for start, end in pairwise(stops):
            before = start.after if isinstance(start, Gap) else start
            on_cycle = before is not None and any(
                s <= before < t and _same_thread(witness, s, before) for s, t in spans
            )
            yield Arrow(start, end, ("po",), on_cycle)


def _same_thread(witness: AnyWitness, one: int, other: int) -> bool:
    return witness.events[one].thread == witness.events[other].thread


def _other_arrows(witness: AnyWitness, shown: set[int]) -> Iterator[Arrow]:
    """rf, mo and fr between shown accesses and from initial writes, the cycle, past hidden ones, and S."""
    visible = shown | {e.id for e in witness.events if e.thread is None and e.cell != FENCE_CELL}
    whole = all(edge.source in visible for edge in witness.cycle)
    on_cycle = [
        edge for edge in (witness.cycle if whole else cycle.condensed(witness)) if edge.relation != "po"
    ]
    bold = {(edge.source, edge.target) for edge in on_cycle}
    relations: dict[tuple[int, int], list[str]] = {}
    for edge in dict.fromkeys((*witness.edges, *on_cycle)):
        if edge.relation != "po" and edge.source in visible and edge.target in shown:
            relations.setdefault((edge.source, edge.target), []).append(edge.relation)
    for edge in witness.order if isinstance(witness, Witness) else ():
        # Within a thread S follows po.
        seen = edge.source in visible and edge.target in shown
        if seen and not _same_thread(witness, edge.source, edge.target):
            relations.setdefault((edge.source, edge.target), []).append(edge.relation)
    for ends, names in relations.items():
        yield Arrow(*ends, tuple(names), ends in bold)


# Where it stands


def _rows(threads: dict[int, list[Stop]], arrows: Sequence[Arrow]) -> dict[Stop, int]:
    """The row of each stop: below all stops that lead to it and come earlier in the run."""
    into: dict[Stop, list[Stop]] = {}
    for arrow in arrows:
        into.setdefault(arrow.target, []).append(arrow.source)
    placed = [stop for stops in threads.values() for stop in stops]
    rows: dict[Stop, int] = {}
    for stop in sorted(placed, key=_run_order):
        earlier = [rows[s] for s in into.get(stop, ()) if s in rows and _run_order(s) < _run_order(stop)]
        rows[stop] = max(earlier, default=-1) + 1
    return rows


def _run_order(stop: Stop) -> float:
    if isinstance(stop, Gap):
        return -1.0 if stop.after is None else stop.after + 0.5
    return float(stop)


def _lane_width(witness: AnyWitness, stops: Sequence[Stop]) -> float:
    events = [witness.events[stop] for stop in stops if not isinstance(stop, Gap)]
    name = thread_name(witness.threads, events[0])
    inner = max(
        max(columns(heading(event) + event.mode) + 3 for event in events) * LABEL_CHAR,
        max(columns(detail(event)) + 3 for event in events) * DETAIL_CHAR,
        min(columns(name), LONGEST_LABEL) * LABEL_CHAR,
        88.0,
    )
    return inner + 2 * LANE_PADDING


def _centres(widths: Sequence[float], left: float) -> list[float]:
    centres = []
    for width in widths:
        centres.append(left + width / 2)
        left += width + LANE_GAP
    return centres


def _row_tops(rows: dict[Stop, int], top: float) -> list[tuple[float, float]]:
    """The top and the height of each row; a row of stretches left out is low."""
    tops = []
    for row in range(max(rows.values(), default=-1) + 1):
        low = all(isinstance(stop, Gap) for stop, at in rows.items() if at == row)
        height = GAP_HEIGHT if low else BOX_HEIGHT
        tops.append((top, height))
        top += height + ROW_GAP
    return tops


def _above_targets(
    initial: Sequence[Event], arrows: Sequence[Arrow], x_of: dict[Stop, float]
) -> dict[int, float]:
    """The x each initial write wants: above the first write to its cell, else amid its readers."""
    wanted = {}
    for event in initial:
        out = [arrow for arrow in arrows if arrow.source == event.id and arrow.target in x_of]
        targets = [x_of[a.target] for a in out if "mo" in a.relations] or [x_of[a.target] for a in out]
        wanted[event.id] = sum(targets) / len(targets) if targets else MARGIN
    return wanted


def _initial_boxes(
    initial: Sequence[Event], wanted: dict[int, float], width: float, top: float
) -> dict[Stop, Box]:
    """The initial writes in as many rows as they need."""
    boxes: dict[Stop, Box] = {}
    row: list[tuple[int, float]] = []
    y = top + INIT_HEIGHT / 2
    for event in sorted(initial, key=lambda event: (wanted[event.id], event.id)):
        size = (columns(heading(event)) + 2) * LABEL_CHAR
        if row and sum(w + INIT_GAP for _, w in row) + size > width - 2 * MARGIN:
            boxes |= _spread(row, wanted, width, y)
            row, y = [], y + INIT_HEIGHT + INIT_GAP
        row.append((event.id, size))
    return boxes | _spread(row, wanted, width, y)


def _spread(
    row: Sequence[tuple[int, float]], wanted: dict[int, float], width: float, y: float
) -> dict[Stop, Box]:
    """One row of boxes, at the x they want as far as they do not overlap and stay inside."""
    xs: list[float] = []
    edge = MARGIN
    for event_id, size in row:
        xs.append(max(wanted[event_id], edge + size / 2))
        edge = xs[-1] + size / 2 + INIT_GAP
    edge = width - MARGIN
    for i in reversed(range(len(row))):
        xs[i] = min(xs[i], edge - row[i][1] / 2)
        edge = xs[i] - row[i][1] / 2 - INIT_GAP
    return {event_id: Box(x, y, size, INIT_HEIGHT) for (event_id, size), x in zip(row, xs, strict=True)}


def _an_event(witness: AnyWitness, stops: Sequence[Stop]) -> Event:
    return next(witness.events[stop] for stop in stops if not isinstance(stop, Gap))
