"""The body of a process of a C litmus test as the flat code of a thread.

    if (e) A else B       e; Branch(!e, else); A; Goto(end); else: B; end:    without code in `else`, no Goto
    if (e) break;         e; Branch(e, end of the loop)                       the same for `continue`
    while (e) A           top: e; Branch(!e, end); A; Goto(top); end:
    do A while (e);       top: A; e; Branch(!e, end); Goto(top); end:
    for (I; e; S) A       I; top: e; Branch(!e, end); A; S; Goto(top); end:

A condition that is a number other than 0 takes no branch. `e;` stands for the accesses inside `e`. `continue`
does what comes between the body and the next round (S in `for`, the test in `do`) before it jumps, so every
jump in a loop leads to its top or to its end. `blocks.py` recognises these shapes again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from fencepost.formats.litmus.clauses import check_number_type, is_atomic_type
from fencepost.formats.litmus.expressions import Evaluation
from fencepost.formats.litmus.parser import MOST_NESTED_STATEMENTS, Syntax, syntax
from fencepost.formats.litmus.scope import Scope
from fencepost.formats.text.source import quoted
from fencepost.formats.text.tree import Token, Tree, as_token, as_tree, position, tokens, trees
from fencepost.program import Constant, Expression, Position
from fencepost.program.assembler import Label, skipping


def lower(scope: Scope, block: Tree) -> None:
    """Add the code of a process body to that of `scope`; raises `InputError`."""
    _Lowering(scope).statements(block.children)


class _Loop(NamedTuple):
    """Where the jumps out of a loop's body lead, and what `continue` does before its own."""

    top: Label
    end: Label
    next_round: Callable[[], None]


class _Lowering:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._code = scope.code
        self._evaluation = Evaluation(scope)
        self._loops: list[_Loop] = []
        self._depth = 0

    def statements(self, nodes: Sequence[Token | Tree]) -> None:
        for node in nodes:
            self._statement(as_tree(node))

    def _statement(self, node: Tree) -> None:
        self._depth += 1
        if self._depth > MOST_NESTED_STATEMENTS:
            limit = f"statements may be nested {MOST_NESTED_STATEMENTS} deep; this one is deeper"
            raise self._scope.error(limit, node)
        self._code.next_statement()
        match str(node.data):
            case "block":
                self.statements(node.children)
            case "declaration":
                self._declaration(node)
            case "evaluate":
                self._evaluation.effects(self._syntax(node.children[0]))
            case "if":
                self._if(node)
            case "while":
                self._while(node)
            case "do":
                self._do(node)
            case "for":
                self._for(node)
            case _:
                self._jump(as_token(node.children[0]))
        self._depth -= 1

    def _body(self, body: Tree) -> None:
        for statement in body.children:
            inner = as_tree(statement)
            if inner.data == "block":
                self.statements(inner.children)
            else:
                self._statement(inner)

    def _declaration(self, node: Tree) -> None:
        kind, *declarators = (as_tree(child) for child in node.children)
        for declarator in declarators:
            (name,) = tokens(declarator, "NAME")
            self._check_type(kind, declarator, name)
            register = self._scope.declare(name)
            for value in trees(declarator, "expression"):
                self._evaluation.into(register, self._syntax(value), position(name))

    def _check_type(self, kind: Tree, declarator: Tree, name: Token) -> None:
        if tokens(declarator, "STAR"):
            raise self._scope.error(f"{quoted(name)} is a pointer; only parameters can be pointers", name)
        if trees(declarator, "dimension"):
            raise self._scope.error(f"{quoted(name)} is an array; arrays are not supported", name)
        if is_atomic_type(kind):
            raise self._scope.error(f"{quoted(name)} is local; only parameters can be atomic", kind)
        check_number_type(self._scope.source, kind, "a register")

    # Conditions.

    def _syntax(self, node: Token | Tree) -> Syntax:
        return syntax(self._scope.source, as_tree(node))

    def _test(self, condition: Expression, end: Label, at: Position) -> None:
        """Leave for `end` if the condition is false."""
        if not (isinstance(condition, Constant) and condition.value != 0):
            self._code.branch(skipping(condition), end, at)

    # Statements that jump.

    def _if(self, node: Tree) -> None:
        """An `if` with all its `else if`s."""
        end, jumps_to_end = self._code.label(), False
        while True:
            at, otherwise = position(node), self._code.label()
            _, condition, body, *rest = node.children
            value = self._evaluation.value(self._syntax(condition))
            jump = None if rest else self._lone_jump(as_tree(body))
            if jump is not None:
                self._code.branch(value, jump, at)
                break
            self._code.branch(skipping(value), otherwise, at)
            self._body(as_tree(body))
            if not rest:
                self._code.here(otherwise)
                break
            self._code.goto(end, at)
            before = len(self._code)
            self._code.here(otherwise)
            (inner,) = (as_tree(child) for child in as_tree(rest[0]).children)
            nested = _only_statement(inner)
            if nested is not None and nested.data == "if":
                jumps_to_end = True
                node = nested
                self._code.next_statement()
                continue
            self._body(inner)
            if len(self._code) == before:
                self._code.remove_last()
                self._code.here(otherwise)
            else:
                jumps_to_end = True
            break
        if jumps_to_end:
            self._code.here(end)

    def _lone_jump(self, body: Tree) -> Label | None:
        """Where a body that is `break;` or a mere jump to the top leads; None for all others."""
        statement = _only_statement(body)
        if statement is None or statement.data != "jump" or not self._loops:
            return None
        loop = self._loops[-1]
        if statement.children[0] == "break":
            return loop.end
        return loop.top if loop.next_round is _nothing else None

    def _while(self, node: Tree) -> None:
        condition, body = node.children
        self._loop(lambda: self._evaluation.value(self._syntax(condition)), as_tree(body), _nothing, node)

    def _for(self, node: Tree) -> None:
        start, test, step, body = (as_tree(child) for child in node.children)
        for part in start.children:
            if as_tree(part).data == "declaration":
                self._declaration(as_tree(part))
            else:
                self._evaluation.effects(self._syntax(part))

        def condition() -> Expression:
            for part in test.children:
                return self._evaluation.value(self._syntax(part))
            return Constant(1)

        def next_round() -> None:
            for part in step.children:
                self._code.next_statement()
                self._evaluation.effects(self._syntax(part))

        self._loop(condition, body, next_round if step.children else _nothing, node)

    def _loop(
        self,
        condition: Callable[[], Expression],
        body: Tree,
        next_round: Callable[[], None],
        node: Tree,
    ) -> None:
        top, end, at = self._code.label(), self._code.label(), position(node)
        self._code.here(top)
        self._code.next_statement()
        self._test(condition(), end, at)
        self._loops.append(_Loop(top, end, next_round))
        self._body(body)
        self._loops.pop()
        next_round()
        self._code.goto(top, at)
        self._code.here(end)

    def _do(self, node: Tree) -> None:
        body, condition = (as_tree(child) for child in node.children)
        top, end, at = self._code.label(), self._code.label(), position(node)

        def test() -> None:
            self._code.next_statement()
            self._test(self._evaluation.value(self._syntax(condition)), end, at)

        self._code.here(top)
        self._loops.append(_Loop(top, end, test))
        self._body(body)
        self._loops.pop()
        test()
        self._code.goto(top, at)
        self._code.here(end)

    def _jump(self, word: Token) -> None:
        if not self._loops:
            raise self._scope.error(f"{quoted(word)} outside of a loop", word)
        loop, at = self._loops[-1], position(word)
        if word == "break":
            self._code.goto(loop.end, at)
        else:
            loop.next_round()
            self._code.goto(loop.top, at)


def _nothing() -> None:
    """What `continue` does in a `while` loop before it jumps."""


def _only_statement(body: Tree) -> Tree | None:
    """The one statement of a body, in braces or not; None if there are more or fewer."""
    node = body
    while node.data in ("body", "block"):
        if len(node.children) != 1:
            return None
        node = as_tree(node.children[0])
    return node
