"""Which states are bad, for the check: the same question as that of the search, asked in another way.

A formula is taken apart into cases, each of which says of every thread on its own where it may stand and what
its registers may hold. The search looks which nodes of its graphs these are; here they are predicates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, islice, permutations, product

from fencepost.certificates.bad import Bad, NodePredicate
from fencepost.certificates.local_graphs import FAILED
from fencepost.errors import InputError
from fencepost.program import Load, Program, Store, Thread, evaluate
from fencepost.program.conditions import (
    MOST_CASES,
    CellIs,
    Formula,
    Literal,
    RegisterIs,
    StandsAt,
    atoms,
    cases,
)
from fencepost.program.properties import Property, bad_ends


def bad_states(program: Program, wanted: Property) -> list[Bad]:
    """What counts as bad in a program that is marked for `wanted`."""
    return [
        *_failures(program),
        *_together(program, wanted),
        *_races(program, wanted),
        *_formula(program, wanted),
        *_final(program, wanted),
    ]


def registers_asked_for(program: Program, wanted: Property) -> list[frozenset[str]]:
    """Per thread, the registers that decide whether a state is bad."""
    formulas = [wanted.bad] if wanted.bad is not None else []
    formulas += [end.formula for end in bad_ends(program, wanted)]
    asked = [a for f in formulas for a in atoms(f) if isinstance(a, RegisterIs)]
    return [
        frozenset(atom.register for atom in asked if atom.thread == thread.name) for thread in program.threads
    ]


def _failures(program: Program) -> Iterator[Bad]:
    for t in range(len(program.threads)):
        yield _bad(program, {t: lambda pc, _: pc == FAILED})


def _together(program: Program, wanted: Property) -> Iterator[Bad]:
    for t, u in combinations(range(len(program.threads)), 2):
        yield _bad(program, {n: _at_one_of(program.threads[n], wanted.mutex) for n in (t, u)})


def _races(program: Program, wanted: Property) -> Iterator[Bad]:
    """Of two threads one is about to write a non-atomic cell, and the other one to read or write it."""
    if wanted.ignore_races:
        return
    threads = program.threads
    for cell, atomic in enumerate(program.atomic_cells):
        for t, u in permutations(range(len(threads)), 2) if not atomic else ():
            writes = _at_access(program, threads[t], cell, (Store,))
            accesses = _at_access(program, threads[u], cell, (Load, Store))
            yield _bad(program, {t: writes, u: accesses})


def _formula(program: Program, wanted: Property) -> Iterator[Bad]:
    if wanted.bad is None:
        return
    for case in _cases(program, wanted.bad, wanted=True):
        predicates = {}
        for t, thread in enumerate(program.threads):
            mine = [
                one for one in case if not isinstance(one.atom, CellIs) and one.atom.thread == thread.name
            ]
            if mine:
                predicates[t] = _all_of(thread, mine, _stands)
        yield _bad(program, predicates)


def _final(program: Program, asked: Property) -> Iterator[Bad]:
    ends = bad_ends(program, asked)
    for case in (case for end in ends for case in _cases(program, end.formula, wanted=end.wanted)):
        predicates = {}
        for t, thread in enumerate(program.threads):
            mine = [
                one for one in case if isinstance(one.atom, RegisterIs) and one.atom.thread == thread.name
            ]
            predicates[t] = _all_of(thread, mine, _ended)
        for memory in _memories(program, [one for one in case if isinstance(one.atom, CellIs)]):
            yield _bad(program, predicates, memory)


def _bad(
    program: Program, predicates: dict[int, NodePredicate], memory: tuple[tuple[int, int], ...] = ()
) -> Bad:
    return Bad(tuple(predicates.get(t) for t in range(len(program.threads))), memory)


def _at_one_of(thread: Thread, labels: Sequence[str]) -> NodePredicate:
    places = {thread.labels[label] for label in labels if label in thread.labels}
    return lambda pc, _: pc in places


def _at_access(
    program: Program, thread: Thread, cell: int, kinds: tuple[type[Load | Store], ...]
) -> NodePredicate:
    """Whether the thread is about to access this cell so."""

    def accesses(pc: int, registers: tuple[int, ...]) -> bool:
        access = thread.code[pc] if 0 <= pc < len(thread.code) else None
        if not isinstance(access, kinds):
            return False
        index = access.cell.index
        held = dict(zip(thread.registers, registers, strict=True))
        offset = 0 if index is None else evaluate(index, held, thread.tid)
        return program.first_cell[access.cell.name] + offset == cell

    return accesses


def _stands(_: Thread, pc: int) -> bool:
    return pc != FAILED


def _ended(thread: Thread, pc: int) -> bool:
    return pc == len(thread.code)


def _all_of(
    thread: Thread, literals: Sequence[Literal], allowed: Callable[[Thread, int], bool]
) -> NodePredicate:
    slots = {name: slot for slot, name in enumerate(thread.registers)}

    def holds(pc: int, registers: tuple[int, ...]) -> bool:
        def is_true(atom: RegisterIs | CellIs | StandsAt) -> bool:
            if isinstance(atom, StandsAt):
                return thread.labels[atom.label] == pc
            assert isinstance(atom, RegisterIs)
            return (registers[slots[atom.register]] == atom.value) == (atom.comparison == "==")

        return allowed(thread, pc) and all(is_true(atom) is wanted for atom, wanted in literals)

    return holds


def _memories(program: Program, literals: Sequence[Literal]) -> Iterator[tuple[tuple[int, int], ...]]:
    """The values of the cells named with which all the literals are true."""
    cells = sorted({atom.cell for atom, _ in literals if isinstance(atom, CellIs)})
    if len(cells) * program.modulus > MOST_CASES:
        raise InputError("the final condition has too many cases for the check", program.file)
    choices = []
    for name in cells:
        mine = [(atom, wanted) for atom, wanted in literals if isinstance(atom, CellIs) and atom.cell == name]
        choices.append(
            [
                (program.cells.index(name), value)
                for value in range(program.modulus)
                if all(((value == a.value) == (a.comparison == "==")) is wanted for a, wanted in mine)
            ]
        )
    return product(*choices)


def _cases(program: Program, formula: Formula, *, wanted: bool) -> list[tuple[Literal, ...]]:
    found = list(islice(cases(formula, wanted=wanted), MOST_CASES + 1))
    if len(found) > MOST_CASES:
        raise InputError("the formula has too many cases for the check", program.file)
    return found
