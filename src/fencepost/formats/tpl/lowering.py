"""The body of a TPL function as the flat code of a thread.

    if (e) goto l;        Branch(e, l)
    if (e) {A} else {B}   Branch(!e, else); A; Goto(end); else: B; end:       without `else`, no Goto
    while (e) {A}         top: Branch(!e, end); A; Goto(top); end:
    oneof({A}{B});        Choose(a, b); a: A; Goto(end); b: B; end:
    oneof({goto l;}{B});  Choose(l, b); b: B                                  a lone goto is a target
    do {A} while (e);     top: A; next: Branch(e, top); end:
    for (I; e; S) {A}     I; top: Branch(!e, end); A; next: S; Goto(top); end:
    break;  continue;     Goto(end);  Goto(next), which in a `while` is top
    r += e;               r = r + e;
    if (x.load()) …       t = x.load(); if (t) …                              any expression with one access
    lock(x);  unlock(x);  BCAS(x, 0, 1, acq, rlx);  x.store(0, rel);

Every `else if` is an `if` inside an `else`. `writer.py` recognises the first of these shapes again. An access
on the right of `&&` or `||` is made only if the left side does not decide. Names, numbers and expressions are
`scope.py`'s, declarations `reader.py`'s.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count

import msgspec
from msgspec.structs import replace

from fencepost.formats.text.scope import Scope
from fencepost.formats.text.source import quoted, suggestion
from fencepost.formats.text.tree import Token, Tree, as_token, as_tree, position
from fencepost.formats.tpl.operations import Operations
from fencepost.program import Assign, Binary, Expression, Instruction, Position, Register, Unary, registers_in
from fencepost.program.assembler import Assembler, Label, skipping

# The writer's own labels. They are not kept in `Thread.labels`, so writing and reading adds none.
WRITTEN_LABEL = re.compile(r"__[0-9]+")


class Lowered(msgspec.Struct, frozen=True):
    """The code of a function body, its labels, and its locals: one more if some value has none of its own."""

    code: tuple[Instruction, ...]
    labels: dict[str, int]
    registers: tuple[str, ...]


class _Loop(msgspec.Struct, frozen=True):
    """Where `continue` and `break` lead."""

    next: Label
    end: Label


def lower(scope: Scope, statements: Sequence[Token | Tree]) -> Lowered:
    """What a function body becomes; raises `InputError`."""
    lowering = _Lowering(scope)
    lowering.statements(statements)
    return Lowered(lowering.code(), lowering.labels(), lowering.registers)


class _Lowering:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._operations = Operations(scope)
        self._code = Assembler()
        self._labels: dict[str, Label] = {}
        self._gotos: list[Token] = []
        self._loops: list[_Loop] = []
        self._unnamed: str | None = None  # the local of values that have none

    @property
    def registers(self) -> tuple[str, ...]:
        return self._scope.registers

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
                self._code.branch(self._condition(children[1]), self._label(as_token(children[2])), at)
            case "if":
                self._if(node)
            case "while":
                self._while(children[0], as_tree(children[1]), at)
            case "do_while":
                self._do_while(node)
            case "for":
                self._for(node)
            case "jump":
                self._jump(node)
            case "oneof":
                self._oneof([as_tree(block) for block in children], at)
            case "assign":
                self._assign(node)
            case "access":
                self._access(as_tree(children[0]), None, at)
            case _:
                self._hoist(node, condition=str(node.data) == "check")
                self._code.add(self._operations.instruction(node))

    def _assign(self, node: Tree) -> None:
        """`r = e;` or `r += e;`; if `e` is one access, that gets `r` for its value."""
        name, expression, at = as_token(node.children[0]), as_tree(node.children[-1]), position(node)
        if len(node.children) > 2:
            operator = as_token(node.children[1])
            self._scope.extension(f"`{operator}` is", operator)
            if name in self._scope.locations:
                raise self._scope.error(_updating(name, operator), name)
            register = self._scope.register(name)
            value = Binary(operator[:-1], Register(register), self._value(expression))
            self._code.add(Assign(register, value, at=at))
            return
        only = expression.children[0] if len(expression.children) == 1 else None
        if isinstance(only, Tree) and only.data == "use":
            self._access(only, name, at)
        else:
            register = self._scope.register(name)
            self._code.add(Assign(register, self._value(expression), at=at))

    def _access(self, use: Tree, result: Token | None, at: Position) -> None:
        self._operations.check_location(use)
        self._hoist(use)
        self._code.add(self._operations.access(use, result, at))

    def _condition(self, node: Token | Tree) -> Expression:
        return self._value(as_tree(node), condition=True)

    def _value(self, node: Tree, *, condition: bool = False) -> Expression:
        self._hoist(node, condition=condition)
        return self._scope.expression(node)

    def _hoist(self, node: Tree, *, condition: bool = False) -> None:
        """Make the access among the values of `node`, and have the local that gets its value in its place."""
        found = [
            (expression, place)
            for expression in node.subtrees()
            if expression.data == "expression"
            for place, part in enumerate(expression.children)
            if isinstance(part, Tree) and part.data == "use"
        ]
        if not found:
            return
        found.sort(key=lambda each: each[0].children[each[1]].start_pos)
        expression, place = found[0]
        use = as_tree(expression.children[place])
        self._scope.extension("an access inside an expression is", use)
        if len(found) > 1:
            second, other = found[1]
            message = "there can be one access among the values of a statement"
            raise self._scope.error(f"{message}; assign this one to a local first", second.children[other])
        if condition and all(part is use or part == "!" for part in expression.children):
            self._operations.warn_of_truth(use)
        name = self._local_without_name(use)
        instruction = self._operations.access(use, name, position(use))
        expression.children[place] = Tree("cell", [name], use.first, use.last)
        skipped = self._code.label()
        for guard in _guards(self._scope.expression(expression), str(name)):
            self._code.branch(skipping(guard), skipped, position(use))
        self._code.add(instruction)
        self._code.here(skipped)

    def _local_without_name(self, at: Tree) -> Token:
        if self._unnamed is None:
            taken = {*self._scope.registers, *self._scope.locations}
            self._unnamed = next(name for name in map("_{}".format, count(1)) if name not in taken)
            self._scope = replace(self._scope, registers=(*self._scope.registers, self._unnamed))
            self._operations = Operations(self._scope)
        return Token(self._unnamed, "NAME", at.start_pos, at.line, at.column)

    def _jump(self, node: Tree) -> None:
        word, at = as_token(node.children[0]), position(node)
        if word not in ("break", "continue"):
            from fencepost.formats.tpl.wording import lone_word

            raise self._scope.error(*lone_word(word, node.last or word))
        self._scope.extension(f"`{word}` is", word)
        if not self._loops:
            raise self._scope.error(f"`{word}` stands in no loop", word)
        self._code.goto(self._loops[-1].end if word == "break" else self._loops[-1].next, at)

    def _body(self, block: Tree, loop: _Loop) -> None:
        self._loops.append(loop)
        self.statements(block.children)
        self._loops.pop()

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
            self._code.branch(skipping(self._condition(guard)), otherwise, at)
            self.statements(as_tree(body).children)
            if number < len(arms) or default:
                self._code.goto(end, at)
            self._code.here(otherwise)
        for other in default:
            self.statements(as_tree(other.children[0]).children)
        self._code.here(end)

    def _while(self, condition: Token | Tree, block: Tree, at: Position) -> None:
        top, end = self._code.label(), self._code.label()
        self._code.here(top)
        self._code.branch(skipping(self._condition(condition)), end, at)
        self._body(block, _Loop(top, end))
        self._code.goto(top, at)
        self._code.here(end)

    def _do_while(self, node: Tree) -> None:
        self._scope.extension("`do` is", node)
        block, condition = node.children
        top, following, end = self._code.label(), self._code.label(), self._code.label()
        self._code.here(top)
        self._body(as_tree(block), _Loop(following, end))
        self._code.here(following)
        self._code.branch(self._condition(condition), top, position(node))
        self._code.here(end)

    def _for(self, node: Tree) -> None:
        self._scope.extension("`for` is", node)
        *head, block = (as_tree(child) for child in node.children)
        parts = {str(part.data): part for part in head}
        top, following, end = self._code.label(), self._code.label(), self._code.label()
        if "first" in parts:
            self._assign(parts["first"])
        self._code.here(top)
        if "expression" in parts:
            self._code.branch(skipping(self._condition(parts["expression"])), end, position(node))
        self._body(block, _Loop(following, end))
        self._code.here(following)
        if "next" in parts:
            self._assign(parts["next"])
        self._code.goto(top, position(node))
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


def _guards(expression: Expression, register: str) -> Iterator[Expression]:
    """What must hold for the evaluation of the expression to come to the register, which it mentions once."""
    match expression:
        case Unary(_, operand):
            yield from _guards(operand, register)
        case Binary(operator, left, right) if register in registers_in(right):
            if operator == "&&":
                yield left
            elif operator == "||":
                yield Unary("!", left)
            yield from _guards(right, register)
        case Binary(_, left, _):
            yield from _guards(left, register)


def _updating(location: Token, operator: Token) -> str:
    """How to do to a location what `operator` does to a local."""
    methods = {"+": "fetch_add", "-": "fetch_sub", "&": "fetch_and", "|": "fetch_or", "^": "fetch_xor"}
    if operator[:-1] in methods:
        return f"{quoted(location)} is a location; write `{location}.{methods[operator[:-1]]}(…)`"
    return f"{quoted(location)} is a location; load it into a local first"
