"""Questions about a program as bad states, each with what opSRA answers: by all graphs, or the first ones."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice, product
from typing import NamedTuple, TypeVar

from fencepost.certificates import FAILED, Bad
from fencepost.models import op_sra
from fencepost.models.op_sra import FinalState
from fencepost.models.sra import SraLts
from fencepost.models.threads import DIVERGED, Threads, ThreadState
from fencepost.program import Program, Store

T = TypeVar("T")


class Question(NamedTuple):
    bad: list[Bad]
    reachable: bool
    kept: list[frozenset[str]] | None = None


def program_states(
    program: Program, source: random.Random, most: int, graphs: int | None = None
) -> Iterator[Question]:
    """States of the program, with all registers; their threads can get there, if not together."""
    states = _reached(program, graphs)
    kept = [frozenset(thread.registers) for thread in program.threads]
    for threads in _some(_mixed(states), source, most):
        yield Question([Bad(tuple(partial(_is_at, at) for at in threads))], threads in states, kept)


def positions(
    program: Program, source: random.Random, most: int, graphs: int | None = None
) -> Iterator[Question]:
    """Where the threads stand, whatever their registers."""
    states = {tuple(at.pc for at in threads) for threads in _reached(program, graphs)}
    for pcs in _some(_mixed(states), source, most):
        yield Question([Bad(tuple(partial(_has_pc, (pc,)) for pc in pcs))], pcs in states)


def failures(program: Program) -> Iterator[Question]:
    """Whether a thread fails, wherever the others are."""
    found = {finding.thread for finding in op_sra.findings(program)}
    for thread in _threads(program):
        nodes = [partial(_has_pc, (FAILED,)) if t == thread else None for t in _threads(program)]
        yield Question([Bad(tuple(nodes))], thread in found)


def final_memories(program: Program, source: random.Random, most: int) -> Iterator[Question]:
    """What one or two cells hold when all threads have ended."""
    finals = op_sra.final_states(program)
    cells = range(len(program.cells))
    sizes = [(a,) for a in cells] + [(a, b) for a in cells for b in cells if a < b]
    every = (
        tuple(zip(some, values, strict=True))
        for some in sizes
        for values in product(range(program.modulus), repeat=len(some))
    )
    ended = tuple(partial(_has_pc, (len(thread.code), DIVERGED)) for thread in program.threads)
    for memory in _some(every, source, most):
        yield Question([Bad(ended, memory)], any(_holds(final, memory) for final in finals))


def write_write_races(program: Program) -> Question:
    lts = SraLts(program)
    bad = []
    for thread, cell in product(_threads(program), range(len(program.cells))):
        nodes = [
            partial(_about_to_write, lts, thread, cell) if t == thread else None for t in _threads(program)
        ]
        bad.append(Bad(tuple(nodes), race=(thread, cell)))
    return Question(bad, op_sra.write_write_race(program) is not None)


def _reached(program: Program, graphs: int | None) -> set[Threads]:
    """The states of the program in the first so many graphs, or in all."""
    return {state.threads for state in islice(op_sra.op_sra_states(program), graphs)}


def _threads(program: Program) -> range:
    return range(len(program.threads))


def _mixed(states: set[tuple[T, ...]]) -> Iterator[tuple[T, ...]]:
    """For each thread what it does in one of `states`, in any combination."""
    return product(*(sorted(set(column)) for column in zip(*states, strict=True)))


def _some(questions: Iterable[T], source: random.Random, most: int) -> list[T]:
    every = list(questions)
    return source.sample(every, min(most, len(every)))


def _holds(final: FinalState, memory: tuple[tuple[int, int], ...]) -> bool:
    return all(final.memory[cell] == value for cell, value in memory)


def _is_at(at: ThreadState, pc: int, registers: tuple[int, ...]) -> bool:
    return at == (pc, registers)


def _has_pc(pcs: tuple[int, ...], pc: int, _: tuple[int, ...]) -> bool:
    return pc in pcs


def _about_to_write(lts: SraLts, thread: int, cell: int, pc: int, registers: tuple[int, ...]) -> bool:
    code = lts.threads[thread].code
    if not 0 <= pc < len(code) or not isinstance(code[pc], Store):
        return False
    access = lts.threads[thread].access(ThreadState(pc, registers))
    return access is not None and access.cell == cell
