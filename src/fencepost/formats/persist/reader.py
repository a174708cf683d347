"""From a program as in Figure 8 of persist-2015 to a `Program`.

Each variable is a location, each process a thread, an automaton whose states are its labels. Syntax is left
to `parser.py`, expressions to `formats/text/scope.py`, since they are those of TPL, and what automata become
to `formats/transitions/program.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from fencepost.errors import InputError
from fencepost.formats.persist.parser import parse
from fencepost.formats.text.scope import Scope
from fencepost.formats.text.source import Source, normal_lines, quoted, suggestion
from fencepost.formats.text.tree import Token, Tree, as_token, as_tree, position
from fencepost.formats.transitions.automaton import Automaton, Transition, is_negative
from fencepost.formats.transitions.program import program_of
from fencepost.formats.transitions.value_ranges import ValueRanges
from fencepost.program import (
    LARGEST_MAX_VALUE,
    Assign,
    Assume,
    BlockingCompareExchange,
    Cell,
    Expression,
    Fence,
    Instruction,
    Load,
    Location,
    Position,
    Program,
    Skip,
    Store,
)


def read(text: str, file: str = "<text>") -> Program:
    """The program that `text` spells; raises `InputError`."""
    source = Source(normal_lines(text), file)
    if not source.text.strip():
        raise InputError("the file is empty; expected a program", file, 1, 1)
    _, declared, *processes = parse(source).children
    variables = _declared(source, as_tree(declared).children, "variable", {})
    locations = {name: Location(name, at=at) for name, at in variables.items()}
    scope = Scope(source, max_value=LARGEST_MAX_VALUE, locations=locations)
    automata = list(_automata(scope, [as_tree(process) for process in processes]))
    return program_of(automata, ValueRanges(automata), tuple(locations.values()), source, format="persist")


def _declared(
    source: Source, tokens: Sequence[Token | Tree], what: str, taken: dict[str, Position]
) -> dict[str, Position]:
    names: dict[str, Position] = {}
    for token in map(as_token, tokens):
        if token in names:
            raise source.error(f"{what} {quoted(token)} is declared twice", position(token))
        if token in taken:
            raise source.error(f"{what} {quoted(token)} has the name of a variable", position(token))
        names[str(token)] = position(token)
    return names


def _automata(scope: Scope, processes: Sequence[Tree]) -> Iterator[Automaton]:
    names: set[str] = set()
    for process in processes:
        name, declared, initial, *instructions = process.children
        if name in names:
            raise scope.error(f"process {quoted(str(name))} is declared twice", name)
        names.add(str(name))
        taken = {location.name: location.at for location in scope.locations.values()}
        registers = _declared(scope.source, as_tree(declared).children, "register", taken)
        inner = replace(scope, function=str(name), registers=tuple(registers))
        transitions = tuple(_transition(inner, as_tree(instruction)) for instruction in instructions)
        labels = {str(transition.source) for transition in transitions}
        if labels and initial not in labels:
            meant = suggestion(str(initial), labels)
            raise scope.error(f"no instruction has the initial label {quoted(str(initial))}{meant}", initial)
        yield Automaton(str(name), str(initial), transitions, None, position(process))


def _transition(scope: Scope, node: Tree) -> Transition:
    label, statement, target = node.children
    step = _instruction(scope, as_tree(statement), position(node))
    return Transition(str(label), str(target), step)


def _instruction(scope: Scope, node: Tree, at: Position) -> Instruction:
    match str(node.data):
        case "assign":
            return _assignment(scope, node, at)
        case "arw":
            cell = _variable(scope, as_token(node.children[0]))
            expected = scope.expression(as_tree(node.children[1]))
            return BlockingCompareExchange(cell, expected, _stored(scope, node.children[2]), at=at)
        case "assume":
            return Assume(scope.expression(_with_equality(as_tree(node.children[0]))), at=at)
        case "fence":
            return Fence(at=at)
    return Skip(at=at)


def _assignment(scope: Scope, node: Tree, at: Position) -> Instruction:
    name, _, value = node.children
    if name in scope.locations:
        return Store(Cell(str(name)), _stored(scope, value), at=at)
    register = scope.register(as_token(name))
    read = _only_name(as_tree(value))
    if read in scope.locations:
        return Load(register, Cell(read), at=at)
    return Assign(register, _stored(scope, value), at=at)


def _variable(scope: Scope, token: Token) -> Cell:
    if token not in scope.locations:
        meant = suggestion(token, scope.locations)
        raise scope.error(f"{quoted(token)} is not a declared variable{meant}", token)
    return Cell(str(token))


def _stored(scope: Scope, node: Token | Tree) -> Expression:
    value = scope.expression(as_tree(node))
    if is_negative(value):
        raise scope.error("negative values cannot be stored: fencepost follows values from 0 on", node)
    return value


def _only_name(expression: Tree) -> str:
    """The name that the expression consists of, or nothing."""
    only = expression.children[0]
    return "" if len(expression.children) > 1 or isinstance(only, str) else str(only.children[0])


def _with_equality(expression: Tree) -> Tree:
    """The expression with `==` for `=`."""
    for number, item in enumerate(expression.children):
        if isinstance(item, str) and item.type == "EQUAL":
            expression.children[number] = Token("==", "OPERATOR", item.start_pos, item.line, item.column)
    return expression
