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
from collections.abc import Sequence

from fencepost.formats.text.scope import Scope
from fencepost.formats.text.source import quoted, suggestion
from fencepost.formats.text.tree import Token, Tree, as_token, as_tree, position
from fencepost.formats.tpl.operations import Operations
from fencepost.program import Instruction, Position
from fencepost.program.assembler import Assembler, Label, skipping

# The writer's own labels. They are not kept in `Thread.labels`, so writing and reading adds none.
WRITTEN_LABEL = re.compile(r"__[0-9]+")


def lower(scope: Scope, statements: Sequence[Token | Tree]) -> tuple[tuple[Instruction, ...], dict[str, int]]:
    """The code of a function body and its labels; raises `InputError`."""
    lowering = _Lowering(scope)
    lowering.statements(statements)
    return lowering.code(), lowering.labels()


class _Lowering:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._operations = Operations(scope)
        self._code = Assembler()
        self._labels: dict[str, Label] = {}
        self._gotos: list[Token] = []

    def code(self) -> tuple[Instruction, ...]:
        for label in self._gotos:
            if self._code.place(self._labels[label]) < 0:
                defined = [name for name, known in self._labels.items() if self._code.place(known) >= 0]
                where = f"there is no label {quoted(label)} in {quoted(self._scope.function)}"
                raise self._scope.error(where + suggestion(label, defined), label)
        return self._code.code()

    def labels(self) -> dict[str, int]:
        own = (name for name in self._labels if not WRITTEN_LABEL.fullmatch(name))
        return {name: self._code.place(self._labels[name]) for name in own}

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
                self._code.goto(self._label(as_token(children[0])), at)
            case "if_goto":
                condition = self._scope.expression(as_tree(children[1]))
                self._code.branch(condition, self._label(as_token(children[2])), at)
            case "if":
                self._if(node)
            case "while":
                self._while(as_tree(children[0]), as_tree(children[1]), at)
            case "oneof":
                self._oneof([as_tree(block) for block in children], at)
            case _:
                self._code.add(self._operations.instruction(node))

    def _if(self, node: Tree) -> None:
        first, condition, block, *others = node.children
        arms: list[Sequence[Token | Tree]] = [(first, condition, block)]
        arms += [as_tree(other).children for other in others if as_tree(other).data == "else_if"]
        default = [as_tree(other) for other in others if as_tree(other).data == "else"]
        for else_if in others[: len(arms) - 1]:
            self._scope.extension("`else if` is", else_if)
        end = self._code.label()
        for number, (keyword, guard, body) in enumerate(arms, start=1):
            at, otherwise = position(keyword), self._code.label()
            self._code.branch(skipping(self._scope.expression(as_tree(guard))), otherwise, at)
            self.statements(as_tree(body).children)
            if number < len(arms) or default:
                self._code.goto(end, at)
            self._code.here(otherwise)
        for other in default:
            self.statements(as_tree(other.children[0]).children)
        self._code.here(end)

    def _while(self, condition: Tree, block: Tree, at: Position) -> None:
        top, end = self._code.label(), self._code.label()
        self._code.here(top)
        self._code.branch(skipping(self._scope.expression(condition)), end, at)
        self.statements(block.children)
        self._code.goto(top, at)
        self._code.here(end)

    def _oneof(self, blocks: list[Tree], at: Position) -> None:
        bodies: list[tuple[Label, Tree]] = []
        labels: list[Label] = []
        for block in blocks:
            if len(block.children) == 1 and as_tree(block.children[0]).data == "goto":
                labels.append(self._label(as_token(as_tree(block.children[0]).children[0])))
            else:
                labels.append(self._code.label())
                bodies.append((labels[-1], block))
        self._code.choose(tuple(labels), at)
        end = self._code.label()
        for number, (label, block) in enumerate(bodies, start=1):
            self._code.here(label)
            self.statements(block.children)
            if number < len(bodies):
                self._code.goto(end, at)
        self._code.here(end)

    def _define(self, name: Token) -> None:
        label = self._known(name)
        if self._code.place(label) >= 0:
            where = f"label {quoted(name)} is defined twice in {quoted(self._scope.function)}"
            raise self._scope.error(where, name)
        self._code.here(label)

    def _label(self, name: Token) -> Label:
        """The label to which a jump leads."""
        self._gotos.append(name)
        return self._known(name)

    def _known(self, name: Token) -> Label:
        if name not in self._labels:
            self._labels[str(name)] = self._code.label()
        return self._labels[name]
