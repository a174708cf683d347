"""How a program can end under each memory model: the definition that `analyses/outcomes.py` is held against.

An *end* is a state in which all threads have ended: the values of all registers, thread by thread, and of all
cells. The graphs or machine of each model say which there are:

    sc      `sc.sc_states`                    tso    `tso.tso_plain_states`
    sra     `sra.sra_states`                  ra     `ra.RAG_NA`
    rc20    `rc20.RC20`                       cpp20  `cpp20.CPP20`

A program that has a data race under the model has no meaning, so any end counts (None). Only TSO, a model of
machines, knows no races. Both are for programs without loops.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fencepost.models.data_races import races_on_the_way, standing_races
from fencepost.models.definition import definition, program_lts
from fencepost.models.enumerate import BOTTOM, reachable_graph_states
from fencepost.models.graphs import Graph
from fencepost.models.sc import reachable_states
from fencepost.models.sra import sra_states
from fencepost.models.threads import Threads
from fencepost.models.tso import tso_plain_states
from fencepost.program import Program


class End(NamedTuple):
    registers: tuple[tuple[int, ...], ...]
    memory: tuple[int, ...]


def ends(program: Program, model: str, limit: int | None = None) -> set[End] | None:
    """Every way to end, or None if there is a data race; raises `LimitReachedError` beyond `limit` states."""
    if not all(program.atomic_cells) and has_race(program, model, limit):
        return None
    found = set()
    for threads, memory in _states(program, model, limit):
        if all(at.pc == len(thread.code) for at, thread in zip(threads, program.threads, strict=True)):
            found.add(End(tuple(at.registers for at in threads), memory))
    return found


def has_race(program: Program, model: str, limit: int | None = None) -> bool:
    match model:
        case "tso":
            return False
        case "sc" | "sra":
            return bool(standing_races(program, model, limit))
        case _:
            return races_on_the_way(program, model, limit)


def _states(program: Program, model: str, limit: int | None) -> Iterator[tuple[Threads, tuple[int, ...]]]:
    match model:
        case "sc":
            yield from reachable_states(program, limit)
        case "tso":
            yield from tso_plain_states(program, limit)
        case "sra":
            for threads, graph in sra_states(program, limit):
                yield threads, _memory(program, graph)
        case _:
            lts = program_lts(program, model)
            for threads, reached in reachable_graph_states(lts, definition(model).memory, limit):
                assert reached is not BOTTOM
                yield threads, _memory(program, reached)


def _memory(program: Program, graph: Graph) -> tuple[int, ...]:
    return tuple(graph.written(graph.latest(cell)) for cell in range(len(program.cells)))
