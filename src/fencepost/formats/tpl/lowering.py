"""The body of a TPL function as the flat code of a thread.

    if (e) goto l;        Branch(e, l)
    if (e) {A} else {B}   Branch(!e, else); A; Goto(end); else: B; end:       without `else`, no Goto
    while (e) {A}         top: Branch(!e, end); A; Goto(top); end:
    oneof({A}{B});        Choose(a, b); a: A; Goto(end); b: B; end:
    oneof({goto l;}{B});  Choose(l, b); b: B                                  a lone goto is a target
    lock(x);  unlock(x);  BCAS(x, 0, 1, acq, rlx);  x.store(0, rel);

Every `else if` is an `if` inside an `else`. `writer.py` recognises these shapes again. Names, numbers and
expressions are `scope.py`'s, declarations `reader.py`'s.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import msgspec

from fencepost.formats.text.scope import Scope
from fencepost.formats.text.source import quoted, suggestion
from fencepost.formats.text.tree import Token, Tree, as_token, as_tree, position
from fencepost.formats.tpl.operations import Operations
from fencepost.program import (
    Branch,
    Choose,
    Expression,
    Goto,
    Instruction,
    Position,
    Unary,
)

# The writer's own labels. They are not kept in `Thread.labels`, so writing and reading adds none.
WRITTEN_LABEL = re.compile(r"__[0-9]+")


def lower(scope: Scope, statements: Sequence[Token | Tree]) -> tuple[tuple[Instruction, ...], dict[str, int]]:
    """The code of a function body and its labels; raises `InputError`."""
    lowering = _Lowering(scope)
    lowering.statements(statements)
    return lowering.code(), lowering.labels()


def skipping(condition: Expression) -> Expression:
    """The condition of the branch that jumps over a block guarded by `condition`."""
    match condition:
        case Unary("!", operand):
            return operand
        case _:
            return Unary("!", condition)


def guarding(condition: Expression) -> Expression:
    """The guard of the block that a branch with `condition` jumps over: `skipping(guarding(c)) == c`."""
    match condition:
        case Unary("!", operand) if not (isinstance(operand, Unary) and operand.operator == "!"):
            return operand
        case _:
            return Unary("!", condition)


class _Place:
    """A place in the code that a jump may name before its index is known."""

    index = -1


class _Jump(msgspec.Struct, frozen=True):
    places: tuple[_Place, ...]
    instruction: Callable[[tuple[int, ...]], Instruction]


class _Lowering:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._operations = Operations(scope)
        self._code: list[Instruction | _Jump] = []
        self._labels: dict[str, _Place] = {}
        self._gotos: list[Token] = []

    def code(self) -> tuple[Instruction, ...]:
        for label in self._gotos:
            if self._labels[label].index < 0:
                defined = [name for name, place in self._labels.items() if place.index >= 0]
                where = f"there is no label {quoted(label)} in {quoted(self._scope.function)}"
                raise self._scope.error(where + suggestion(label, defined), label)
        return tuple(
            item.instruction(tuple(place.index for place in item.places)) if isinstance(item, _Jump) else item
            for item in self._code
        )

    def labels(self) -> dict[str, int]:
        return {n: place.index for n, place in self._labels.items() if not WRITTEN_LABEL.fullmatch(n)}

    def statements(self, nodes: Sequence[Token | Tree]) -> None:
        for node in nodes:
            self._statement(as_tree(node))
        if nodes and as_tree(nodes[-1]).data == "label":
            self._scope.extension("a label without a statement is", nodes[-1])

    def _statement(self, node: Tree) -> None:
        at, children = position(node), node.children
        match str(node.data):
            case "label":
                self._define(as_token(children[0]))
            case "goto":
                self._goto(self._label(as_token(children[0])), at)
            case "if_goto":
                condition = self._scope.expression(as_tree(children[1]))
                self._branch(condition, self._label(as_token(children[2])), at)
            case "if":
                self._if(node)
            case "while":
                self._while(as_tree(children[0]), as_tree(children[1]), at)
            case "oneof":
                self._oneof([as_tree(block) for block in children], at)
            case _:
                self._code.append(self._operations.instruction(node))

    def _if(self, node: Tree) -> None:
        first, condition, block, *others = node.children
        arms: list[Sequence[Token | Tree]] = [(first, condition, block)]
        arms += [as_tree(other).children for other in others if as_tree(other).data == "else_if"]
        default = [as_tree(other) for other in others if as_tree(other).data == "else"]
        for else_if in others[: len(arms) - 1]:
            self._scope.extension("`else if` is", else_if)
        end = _Place()
        for number, (keyword, guard, body) in enumerate(arms, start=1):
            at, otherwise = position(keyword), _Place()
            self._branch(skipping(self._scope.expression(as_tree(guard))), otherwise, at)
            self.statements(as_tree(body).children)
            if number < len(arms) or default:
                self._goto(end, at)
            self._here(otherwise)
        for other in default:
            self.statements(as_tree(other.children[0]).children)
        self._here(end)

    def _while(self, condition: Tree, block: Tree, at: Position) -> None:
        top, end = _Place(), _Place()
        self._here(top)
        self._branch(skipping(self._scope.expression(condition)), end, at)
        self.statements(block.children)
        self._goto(top, at)
        self._here(end)

    def _oneof(self, blocks: list[Tree], at: Position) -> None:
        bodies: list[tuple[_Place, Tree]] = []
        places: list[_Place] = []
        for block in blocks:
            if len(block.children) == 1 and as_tree(block.children[0]).data == "goto":
                places.append(self._label(as_token(as_tree(block.children[0]).children[0])))
            else:
                places.append(_Place())
                bodies.append((places[-1], block))
        self._code.append(_Jump(tuple(places), lambda targets: Choose(targets, at=at)))
        end = _Place()
        for number, (place, block) in enumerate(bodies, start=1):
            self._here(place)
            self.statements(block.children)
            if number < len(bodies):
                self._goto(end, at)
        self._here(end)

    def _define(self, label: Token) -> None:
        place = self._labels.setdefault(str(label), _Place())
        if place.index >= 0:
            where = f"label {quoted(label)} is defined twice in {quoted(self._scope.function)}"
            raise self._scope.error(where, label)
        self._here(place)

    def _label(self, token: Token) -> _Place:
        self._gotos.append(token)
        return self._labels.setdefault(str(token), _Place())

    def _here(self, place: _Place) -> None:
        place.index = len(self._code)

    def _goto(self, place: _Place, at: Position) -> None:
        self._code.append(_Jump((place,), lambda targets: Goto(targets[0], at=at)))

    def _branch(self, condition: Expression, place: _Place, at: Position) -> None:
        self._code.append(_Jump((place,), lambda targets: Branch(condition, targets[0], at=at)))
