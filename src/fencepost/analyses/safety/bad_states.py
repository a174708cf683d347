"""Which states of a program are bad, as products of places where its threads stand.

The engine's graphs of the threads (native/engine/safety/thread_graph.hpp) say where each can stand; a bad
state is given to it as one set of nodes per thread, an empty one for "anywhere", and for final states the
values that cells end with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import combinations, permutations, product
from math import prod

from fencepost.engine._native import LabelKind, LocalNode, ThreadGraph, ThreadGraphs
from fencepost.errors import InputError
from fencepost.models.threads import ProgramLts, ThreadState
from fencepost.program import BlockingCompareExchange, Program, Thread, Wait
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

FAILED = -2  # the position of a thread that has failed

BadProduct = tuple[list[list[int]], list[tuple[int, int]], tuple[int, int] | None]


def kept_registers(program: Program, wanted: Property) -> dict[str, frozenset[str]]:
    """By thread, the registers that decide whether a state is bad."""
    kept: dict[str, set[str]] = {}
    formulas = [wanted.bad] if wanted.bad is not None else []
    formulas += [end.formula for end in bad_ends(program, wanted)]
    for formula in formulas:
        for atom in atoms(formula):
            if isinstance(atom, RegisterIs):
                kept.setdefault(atom.thread, set()).add(atom.register)
    return {thread: frozenset(registers) for thread, registers in kept.items()}


class BadStates:
    """The bad states of a program marked for a property."""

    def __init__(self, program: Program, wanted: Property, graphs: ThreadGraphs) -> None:
        self._program = program
        self._wanted = wanted
        self._graphs = graphs.threads

    @cached_property
    def products(self) -> list[BadProduct]:
        races = [] if self._wanted.ignore_races else data_races(self._program, self._graphs)
        return [*self._failures(), *self._together(), *races, *self._formula(), *self._final()]

    def _anywhere(self) -> list[list[int]]:
        return [[] for _ in self._graphs]

    def _failures(self) -> Iterator[BadProduct]:
        for t, graph in enumerate(self._graphs):
            failed = [n for n, node in enumerate(graph.nodes) if node.pc == FAILED]
            if failed:
                nodes = self._anywhere()
                nodes[t] = failed
                yield nodes, [], None

    def _together(self) -> Iterator[BadProduct]:
        """Two threads at labels that exclude each other."""
        standing = [
            [n for n, node in enumerate(graph.nodes) if node.pc in _places(thread, self._wanted.mutex)]
            for thread, graph in zip(self._program.threads, self._graphs, strict=True)
        ]
        for t, u in combinations(range(len(standing)), 2):
            if standing[t] and standing[u]:
                nodes = self._anywhere()
                nodes[t], nodes[u] = standing[t], standing[u]
                yield nodes, [], None

    def _formula(self) -> Iterator[BadProduct]:
        if self._wanted.bad is None:
            return
        for case in self._cases(self._wanted.bad, wanted=True):
            named = {literal.atom.thread for literal in case if not isinstance(literal.atom, CellIs)}
            nodes = [
                self._standing(t, case) if thread.name in named else []
                for t, thread in enumerate(self._program.threads)
            ]
            if all(nodes[t] for t, thread in enumerate(self._program.threads) if thread.name in named):
                yield nodes, [], None

    def _final(self) -> Iterator[BadProduct]:
        ends = bad_ends(self._program, self._wanted)
        for case in (case for end in ends for case in self._cases(end.formula, wanted=end.wanted)):
            nodes = [self._ends(t, self._standing(t, case)) for t in range(len(self._graphs))]
            about_memory = [literal for literal in case if isinstance(literal.atom, CellIs)]
            if all(nodes):
                for memory in self._memories(about_memory):
                    yield nodes, list(memory), None

    def _ends(self, t: int, nodes: Sequence[int]) -> list[int]:
        """Those where the thread has ended."""
        end, graph = len(self._program.threads[t].code), self._graphs[t].nodes
        return [n for n in nodes if graph[n].pc == end]

    def _cases(self, formula: Formula, *, wanted: bool) -> Iterator[tuple[Literal, ...]]:
        for number, case in enumerate(cases(formula, wanted=wanted)):
            if number >= MOST_CASES:
                message = f"the condition has more than {MOST_CASES:,} cases to look at"
                raise InputError(message, self._program.file)
            yield case

    def _standing(self, t: int, case: Sequence[Literal]) -> list[int]:
        """The nodes of a thread where all literals about it hold."""
        thread = self._program.threads[t]
        mine = [lit for lit in case if not isinstance(lit.atom, CellIs) and lit.atom.thread == thread.name]
        return [
            n
            for n, node in enumerate(self._graphs[t].nodes)
            if node.pc != FAILED and all(_holds(thread, node, atom) is wanted for atom, wanted in mine)
        ]

    def _memories(self, literals: Sequence[Literal]) -> Iterator[tuple[tuple[int, int], ...]]:
        """The values that the cells named can hold so that all literals do."""
        held: dict[int, list[int]] = {}
        for atom, wanted in literals:
            assert isinstance(atom, CellIs)
            cell = self._program.cells.index(atom.cell)
            values = held.get(cell, sorted(self._values(cell)))
            held[cell] = [v for v in values if ((v == atom.value) == (atom.comparison == "==")) is wanted]
        return product(*([(cell, value) for value in values] for cell, values in held.items()))

    def _values(self, cell: int) -> set[int]:
        return _values(self._program, self._graphs, cell)


def number_of_states(products: Iterable[BadProduct]) -> int:
    """How many places of the threads they are, a thread that may stand anywhere counted once."""
    return sum(prod(max(len(nodes), 1) for nodes in standing) for standing, _, _ in products)


def _values(program: Program, graphs: Sequence[ThreadGraph], cell: int) -> set[int]:
    """What the cell can hold."""
    values = {program.initial_memory[cell]}
    for graph in graphs:
        for edge in graph.edges:
            label = edge.label
            if label.cell == cell and label.kind in (LabelKind.WRITE, LabelKind.READ_MODIFY_WRITE):
                values.add(label.written)
    return values


def deadlocks(program: Program, graphs: Sequence[ThreadGraph]) -> Iterator[BadProduct]:
    """The states in which each thread waits for a value that its cell does not hold, or has ended, and one
    of them waits; in graphs where a thread whose assumption fails has not ended.

    There is a product for each way to choose the cells that threads wait for, and the values in these.
    """
    waits = [_waits(program, t, graph) for t, graph in enumerate(graphs)]
    ends = [
        [n for n, node in enumerate(graph.nodes) if node.pc == len(thread.code)]
        for thread, graph in zip(program.threads, graphs, strict=True)
    ]
    values = {cell: sorted(_values(program, graphs, cell)) for of_thread in waits for cell in of_thread}
    for chosen in product(*([None, *of_thread] for of_thread in waits)):
        cells = sorted({cell for cell in chosen if cell is not None})
        for memory in product(*(values[cell] for cell in cells)) if cells else ():
            held = dict(zip(cells, memory, strict=True))
            standing = [
                ends[t] if cell is None else [n for n, awaited in waits[t][cell] if held[cell] not in awaited]
                for t, cell in enumerate(chosen)
            ]
            if all(standing):
                yield standing, list(held.items()), None


def _waits(program: Program, t: int, graph: ThreadGraph) -> dict[int, list[tuple[int, tuple[int, ...]]]]:
    """By cell, the nodes where the thread waits for a value there, with the values that it waits for."""
    lts = ProgramLts(program).threads[t]
    found: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
    for n, node in enumerate(graph.nodes):
        if not 0 <= node.pc < len(lts.code):
            continue
        if not isinstance(lts.code[node.pc], Wait | BlockingCompareExchange):
            continue
        access = lts.access(ThreadState(node.pc, tuple(node.registers)))
        assert access is not None
        expected = access.operands[:1]  # what a BCAS waits for
        awaited = access.operands if isinstance(access.instruction, Wait) else expected
        found.setdefault(access.cell, []).append((n, awaited))
    return found


def data_races(program: Program, graphs: Sequence[ThreadGraph]) -> list[BadProduct]:
    """The states in which two threads are about to access one non-atomic cell, one of them to write it.

    Each pair of places is in one product: two writers are counted with the thread that comes first.
    """
    writers = [_standing_at(graph, program, (LabelKind.WRITE,)) for graph in graphs]
    readers = [_standing_at(graph, program, (LabelKind.READ, LabelKind.SILENT)) for graph in graphs]
    products: list[BadProduct] = []
    for t, u in permutations(range(len(graphs)), 2):
        for cell, writing in writers[t].items():
            others = readers[u].get(cell, set()) | (writers[u].get(cell, set()) if t < u else set())
            if others:
                standing: list[list[int]] = [[] for _ in graphs]
                standing[t], standing[u] = sorted(writing), sorted(others)
                products.append((standing, [], None))
    return products


def _standing_at(graph: ThreadGraph, program: Program, kinds: Sequence[LabelKind]) -> dict[int, set[int]]:
    """By non-atomic cell, the nodes where the thread is about to access it in one of these ways."""
    atomic, found = program.atomic_cells, dict[int, set[int]]()
    for edge in graph.edges:
        cell = edge.label.cell
        if edge.label.kind in kinds and cell < len(atomic) and not atomic[cell]:
            found.setdefault(cell, set()).add(edge.source)
    return found


def write_races(graphs: ThreadGraphs) -> list[BadProduct]:
    """The states in which a thread is about to do a plain write: is that racy? (design.md, section 6)"""
    threads = graphs.threads
    products: list[BadProduct] = []
    for t, graph in enumerate(threads):
        for cell, nodes in _writers(graph).items():
            standing: list[list[int]] = [[] for _ in threads]
            standing[t] = sorted(nodes)
            products.append((standing, [], (t, cell)))
    return products


def _writers(graph: ThreadGraph) -> dict[int, set[int]]:
    writers: dict[int, set[int]] = {}
    for edge in graph.edges:
        if edge.label.kind == LabelKind.WRITE:
            writers.setdefault(edge.label.cell, set()).add(edge.source)
    return writers


def _places(thread: Thread, labels: tuple[str, ...]) -> set[int]:
    return {thread.labels[label] for label in labels if label in thread.labels}


def _holds(thread: Thread, node: LocalNode, atom: RegisterIs | CellIs | StandsAt) -> bool:
    match atom:
        case RegisterIs(_, register, value, comparison):
            return (node.registers[thread.registers.index(register)] == value) == (comparison == "==")
        case StandsAt(_, label):
            return thread.labels[label] == node.pc
        case _:
            raise AssertionError(f"not about a thread: {atom}")
