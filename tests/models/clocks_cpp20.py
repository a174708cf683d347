"""The rules of C++20 over clocks: for a graph of sequential consistency, what each thread may do next.

A clock says for each cell up to which place in its modification order writes are known.
"""

from __future__ import annotations

import random

from fencepost.models.cpp20 import is_sc
from fencepost.models.graphs import NOTHING, Graph
from fencepost.models.rc20 import ACQUIRES, RELEASES
from fencepost.models.rules import Cpp20Message, Cpp20Views
from fencepost.models.threads import Label

Clock = tuple[int, ...]


def join(one: Clock, other: Clock) -> Clock:
    return tuple(map(max, one, other))


class Clocks:
    """After the events of the graph, in some order that sequential consistency allows."""

    def __init__(self, graph: Graph, source: random.Random) -> None:
        self._graph = graph
        cells = len(graph.cells.initial)
        self.views = Cpp20Views[Clock]((0,) * cells, join)
        self._messages: dict[int, Cpp20Message[Clock]] = dict.fromkeys(range(cells), self.views.no_message)
        for number in _in_sc_order(graph, source):
            self._take(number)

    def allows(self, thread: int, label: Label, w: int) -> bool:
        """Whether the access may come with predecessor `w`."""
        order = self._graph.mo_lists[label.cell]
        place = order.index(w)
        if label.writes and place + 1 < len(order) and self._graph.label(order[place + 1]).kind == "RMW":
            return False
        return place >= self.views.bound(thread, sc=is_sc(label))[label.cell]

    def _take(self, number: int) -> None:
        graph, label = self._graph, self._graph.label(number)
        place, thread = divmod(number - len(graph.cells.initial), graph.cells.threads)
        acquire, release = label.load_mode in ACQUIRES, label.store_mode in RELEASES
        if label.kind == "F":
            self.views.fence(thread, acquire=acquire, release=release, sc=is_sc(label))
            return
        if not graph.cells.atomic[label.cell]:
            return
        w = graph.rf_lists[thread][place]
        newest = number if label.writes else w
        known = [0] * len(graph.cells.initial)
        known[label.cell] = graph.mo_lists[label.cell].index(newest)
        sent = self.views.access(
            thread,
            label.cell,
            tuple(known),
            acquire=acquire,
            release=release,
            sc=is_sc(label),
            read=None if w == NOTHING else self._messages[w],
            writes=label.writes,
        )
        if sent is not None:
            self._messages[number] = sent


def _in_sc_order(graph: Graph, source: random.Random) -> list[int]:
    before = graph._neighbours_before()
    done, order = (1 << len(graph.cells.initial)) - 1, []
    while before:
        event = source.choice([event for event, events in before.items() if not events & ~done])
        done |= 1 << event
        order.append(event)
        del before[event]
    return order
