"""From the text of automata to a `Program`.

Memory is one array of as many cells as `memory_size` says, or as there are addresses. Syntax is left to
`parser.py`, the words of transitions to `words.py`, and what automata become to
`formats/transitions/program.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fencepost.errors import InputError
from fencepost.formats.automata.instructions import MEMORY, Words, is_number, number
from fencepost.formats.automata.parser import parse
from fencepost.formats.text.source import Source, normal_lines, quoted, suggestion
from fencepost.formats.text.tree import Token, Tree, as_token, as_tree, position
from fencepost.formats.transitions.automaton import Automaton, Transition
from fencepost.formats.transitions.program import Notice, program_of
from fencepost.formats.transitions.value_ranges import ValueRanges
from fencepost.program import LARGEST_MAX_VALUE, MOST_CELLS, MOST_THREADS, Location, Program


def read(text: str, file: str = "<text>") -> Program:
    """The program that `text` spells; raises `InputError`."""
    source = Source(normal_lines(text), file)
    if not source.text.strip():
        raise InputError("the file is empty; expected a program", file, 1, 1)
    items = [as_tree(item) for item in parse(source).children]
    memory = MEMORY
    while any(word == memory for item in items for word in item.tokens()):
        memory += "_"  # a register, which cannot have the name of a location
    automata = list(_automata(source, memory, items))
    ranges = ValueRanges(automata)
    size, warnings = _memory_size(source, items, ranges)
    location = Location(memory, (0,) * size, is_array=True)
    return program_of(automata, ranges, (location,), source, format="automata", warnings=warnings)


def _memory_size(source: Source, items: Sequence[Tree], ranges: ValueRanges) -> tuple[int, list[Notice]]:
    declared: int | None = None
    for item in items:
        if item.data == "memory_size":
            if declared is not None:
                raise source.error("`memory_size` is declared twice", position(item))
            declared = _count(source, as_token(item.children[0]), LARGEST_MAX_VALUE, "cells")
    if declared is not None and declared <= MOST_CELLS:
        return declared, []
    addresses = list(ranges.addresses())
    needed = 1 + max((found.high for found, _ in addresses if found.high < MOST_CELLS), default=0)
    warnings = []
    for found, at in addresses:
        if found.low >= MOST_CELLS:
            limit = f"at most {MOST_CELLS} memory cells are supported"
            raise source.error(f"the address is {found.low} or larger; {limit}", at)
        if found.high >= MOST_CELLS:
            warnings.append(
                (at, f"no bound below {MOST_CELLS} was found for this address; memory has {needed} cells")
            )
    return needed, warnings


def _automata(source: Source, memory: str, items: Sequence[Tree]) -> Iterator[Automaton]:
    names: set[str] = set()
    for item in items:
        if item.data == "thread":
            name = as_token(item.children[0])
            if name in names:
                raise source.error(f"thread {quoted(name)} is declared twice", position(name))
            names.add(str(name))
            yield _automaton(source, memory, item)


def _automaton(source: Source, memory: str, node: Tree) -> Automaton:
    name, *parts = node.children
    copies = None
    if parts and isinstance(parts[0], str):
        copies = _count(source, as_token(parts.pop(0)), MOST_THREADS, "copies")
    transitions: list[Transition] = []
    initial: list[Token] = []
    for part in map(as_tree, parts):
        words = [as_token(word) for word in part.children]
        if part.data == "initial":
            initial += words
        else:
            step = Words(source, memory, words[2:]).step(position(part))
            transitions.append(Transition(str(words[0]), str(words[1]), step))
    start = _only(source, initial, node)
    states = {str(transition.source) for transition in transitions}
    if states and start not in states:
        message = f"no transition leaves the initial state {quoted(start)}{suggestion(start, states)}"
        raise source.error(message, position(start))
    return Automaton(str(name), str(start), tuple(transitions), copies, position(node))


def _only(source: Source, initial: Sequence[Token], node: Tree) -> Token:
    name = quoted(as_token(node.children[0]))
    if not initial:
        raise source.error(f"thread {name} has no initial state; expected `initial`", position(node))
    if len(initial) > 1:
        raise source.error(f"thread {name} has two initial states", position(initial[1]))
    return initial[0]


def _count(source: Source, token: Token, most: int, what: str) -> int:
    count = number(source, token) if is_number(token) else 0
    if not 1 <= count <= most:
        raise source.error(f"expected between 1 and {most} {what}, found {quoted(token)}", position(token))
    return count
