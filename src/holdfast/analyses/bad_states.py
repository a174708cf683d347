"""Which states of a program are bad, as products of places where its threads stand.

The engine's graphs of the threads (native/engine/thread_graph.hpp) say where each can stand; a bad state is
given to it as one set of nodes per thread, an empty one for "anywhere", and for final states the values that
cells end with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import combinations, product
from typing import NamedTuple

from holdfast.engine._native import LabelKind, ThreadGraph, ThreadGraphs
from holdfast.errors import InputError
from holdfast.program import Program, Thread
from holdfast.program.conditions import (
    And,
    CellIs,
    Formula,
    Not,
    Or,
    RegisterIs,
    StandsAt,
    atoms,
    is_bad,
    standings,
    threads_named,
)
from holdfast.program.properties import Property

FAILED = -2  # the position of a thread that has failed
MOST_PRODUCTS = 100_000

BadProduct = tuple[list[list[int]], list[tuple[int, int]], tuple[int, int] | None]


class _Group(NamedTuple):
    """Nodes of a thread that a formula cannot tell apart: the labels they stand at, their registers."""

    labels: frozenset[str]
    registers: Mapping[str, int]
    nodes: list[int]


def kept_registers(program: Program, wanted: Property) -> dict[str, frozenset[str]]:
    """By thread, the registers that decide whether a state is bad."""
    kept: dict[str, set[str]] = {}
    formulas = [wanted.bad] if wanted.bad is not None else []
    if program.condition is not None:
        formulas.append(program.condition.formula)
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
        return [*self._failures(), *self._together(), *self._formula(), *self._final()]

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
        formula = self._wanted.bad
        if formula is None:
            return
        named = threads_named(formula)
        numbers = [t for t, thread in enumerate(self._program.threads) if thread.name in named]
        groups = [self._groups(t, formula) for t in numbers]
        for chosen in self._chosen(groups):
            by_name = {self._program.threads[t].name: group for t, group in zip(numbers, chosen, strict=True)}
            if _holds(formula, by_name):
                nodes = self._anywhere()
                for t, group in zip(numbers, chosen, strict=True):
                    nodes[t] = group.nodes
                yield nodes, [], None

    def _final(self) -> Iterator[BadProduct]:
        condition = self._program.condition
        if condition is None:
            return
        formula = condition.formula
        ends = []
        for t, (thread, graph) in enumerate(zip(self._program.threads, self._graphs, strict=True)):
            ended = {n for n, node in enumerate(graph.nodes) if node.pc == len(thread.code)}
            groups = self._groups(t, condition.formula)
            ends.append(
                [g._replace(nodes=here) for g in groups if (here := [n for n in g.nodes if n in ended])]
            )
        names = {atom.cell for atom in atoms(formula) if isinstance(atom, CellIs)}
        cells = [(name, self._program.cells.index(name)) for name in sorted(names)]
        values = [sorted(self._values(number)) for _, number in cells]
        for chosen in self._chosen(ends):
            registers = {
                thread.name: group.registers
                for thread, group in zip(self._program.threads, chosen, strict=True)
            }
            for memory in product(*values):
                held = {name: value for (name, _), value in zip(cells, memory, strict=True)}
                if is_bad(condition, registers, held):
                    numbers = [number for _, number in cells]
                    yield [g.nodes for g in chosen], list(zip(numbers, memory, strict=True)), None

    def _groups(self, t: int, formula: Formula) -> list[_Group]:
        """The nodes of a thread, those together that the formula does not tell apart."""
        thread, graph = self._program.threads[t], self._graphs[t]
        mine = [a for a in atoms(formula) if isinstance(a, RegisterIs) and a.thread == thread.name]
        registers = sorted({atom.register for atom in mine})
        standing = [at.label for at in standings(formula) if at.thread == thread.name]
        labels = {label: thread.labels[label] for label in standing}
        slots = [thread.registers.index(register) for register in registers]
        groups: dict[tuple[frozenset[str], tuple[int, ...]], list[int]] = {}
        for n, node in enumerate(graph.nodes):
            if node.pc != FAILED:
                here = frozenset(label for label, pc in labels.items() if pc == node.pc)
                held = node.registers
                groups.setdefault((here, tuple(held[slot] for slot in slots)), []).append(n)
        return [
            _Group(here, dict(zip(registers, held, strict=True)), nodes)
            for (here, held), nodes in groups.items()
        ]

    def _chosen(self, groups: list[list[_Group]]) -> Iterator[tuple[_Group, ...]]:
        count = 1
        for choices in groups:
            count *= len(choices)
        if count > MOST_PRODUCTS:
            message = f"the condition has {count:,} cases to look at; at most {MOST_PRODUCTS:,} are supported"
            raise InputError(message, self._program.file)
        return product(*groups)

    def _values(self, cell: int) -> set[int]:
        """What the cell can hold."""
        values = {self._program.initial_memory[cell]}
        for graph in self._graphs:
            for edge in graph.edges:
                label = edge.label
                if label.cell == cell and label.kind in (LabelKind.WRITE, LabelKind.READ_MODIFY_WRITE):
                    values.add(label.written)
        return values


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


def _holds(formula: Formula, groups: Mapping[str, _Group]) -> bool:
    match formula:
        case RegisterIs(thread, register, value, comparison):
            return (groups[thread].registers[register] == value) == (comparison == "==")
        case StandsAt(thread, label):
            return label in groups[thread].labels
        case Not(part):
            return not _holds(part, groups)
        case And(parts):
            return all(_holds(part, groups) for part in parts)
        case Or(parts):
            return any(_holds(part, groups) for part in parts)
        case _:
            raise AssertionError(f"not in a formula about threads: {formula}")
