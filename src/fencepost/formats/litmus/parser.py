"""Is this text a C litmus test, how is it nested, and how do its expressions bind?

`parse` turns a text without header and comments into a tree by the grammar in `litmus.lark`, in which an
expression is a flat list of operators and operands. `syntax` puts those together by C's precedence. What to
say about a text without a tree is left to `wording.py`, what a text means to `reader.py`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from fencepost.errors import InputError
from fencepost.formats.text.grammar import Grammar, WordError, nested
from fencepost.formats.text.lalr import UnexpectedError
from fencepost.formats.text.source import Source, quoted
from fencepost.formats.text.tree import Token, Tree, as_token, as_tree, position
from fencepost.program import BINDS, Position

KEYWORDS = {
    "if": "IF",
    "else": "_ELSE",
    "while": "_WHILE",
    "do": "_DO",
    "for": "_FOR",
    "break": "JUMP",
    "continue": "JUMP",
    "_Atomic": "ATOMIC",
}
# Words of the final clauses; inside braces they are names like any other.
FINAL_WORDS = {
    "exists": "EXISTS",
    "forall": "FORALL",
    "locations": "_LOCATIONS",
    "filter": "_FILTER",
    "true": "TRUTH",
    "false": "TRUTH",
    "not": "NOT_WORD",
}
TYPE = re.compile(
    r"int|long|short|char|unsigned|signed|void|bool|_Bool|float|double|volatile|const|static|register|auto"
    r"|u?int(8|16|32|64|ptr|max)_t|s?size_t|ptrdiff_t"
    r"|atomic_(bool|s?char|uchar|u?short|u?int|u?long|u?llong|u?int(_least|_fast)?(8|16|32|64)_t"
    r"|u?intptr_t|u?intmax_t|size_t|ptrdiff_t)"
)
_UNSUPPORTED = re.compile(
    "return|goto|switch|case|default|struct|union|enum|typedef|sizeof|extern|inline|restrict"
)

MOST_NESTED_STATEMENTS = 60
MOST_NESTED_PARENTHESES = 120


def parse(source: Source, bare_text: str) -> Tree:
    """The tree of `bare_text`, which is `source` without header and comments; raises `InputError`."""

    def failed(error: UnexpectedError) -> InputError:
        from fencepost.formats.litmus.wording import LitmusFailure

        return LitmusFailure(source, error, bare_text).error()

    return _GRAMMAR.parse(source, failed, bare_text)


def is_reserved(name: str) -> bool:
    """Whether C takes the word for itself."""
    return name in KEYWORDS or any(words.fullmatch(name) for words in (TYPE, _UNSUPPORTED))


def _kind_of(word: Token, blocks: int) -> str:
    if _UNSUPPORTED.fullmatch(word):
        raise WordError(f"`{word}` is not supported in C litmus tests", word)
    if TYPE.fullmatch(word):
        return "TYPE"
    if not blocks and word in FINAL_WORDS:
        return FINAL_WORDS[word]
    return KEYWORDS.get(word, "NAME")


_GRAMMAR = Grammar(
    __file__,
    "litmus",
    nested(_kind_of, blocks=MOST_NESTED_STATEMENTS, parentheses=MOST_NESTED_PARENTHESES),
)


# --- expressions

# Walks over expressions recurse; this keeps them away from Python's recursion limit. A call takes more of the
# stack than an operator does.
MOST_NESTED_OPERATORS = 100
_NESTING_OF_CALL = 5

_BINDS_OF_SHIFT = 7.5
_ASSIGNING = ("ASSIGN", "COMPOUND")
_PREFIXES = ("NOT", "TILDE", "SIGN", "STAR", "AMP", "STEP")


class Operation(NamedTuple):
    """An operator with its one or two operands; `r++` and `++r` look the same."""

    operator: Token
    operands: tuple[Syntax, ...]

    @property
    def assigns(self) -> bool:
        return self.operator.type in (*_ASSIGNING, "STEP")


class Call(NamedTuple):
    name: Token
    arguments: tuple[Syntax, ...]


Syntax = Token | Operation | Call


def syntax(source: Source, node: Tree) -> Syntax:
    """The tree that an `expression` of the grammar spells; raises `InputError`."""
    return _Builder(source).expression(node)[0]


def has_effects(node: Syntax) -> bool:
    """Whether evaluating `node` takes more than an expression over registers."""
    match node:
        case Call():
            return True
        case Operation(operator, operands):
            dereferences = operator == "*" and len(operands) == 1
            return dereferences or node.assigns or any(has_effects(operand) for operand in operands)
        case _:
            return False


def place_of(node: Syntax) -> Position:
    """Where the leftmost token of `node` stands, or the operator in front of it."""
    match node:
        case Call(name):
            return position(name)
        case Operation(operator, operands):
            return min(position(operator), place_of(operands[0]), key=lambda at: (at.line, at.column))
        case _:
            return position(node)


_Deep = tuple[Syntax, int]  # with how deep it is


class _Builder:
    def __init__(self, source: Source) -> None:
        self._source = source

    def expression(self, node: Tree) -> _Deep:
        operands: list[_Deep] = []
        operators: list[tuple[Token, int]] = []  # with how many operands it takes
        after_operand = False
        for item in node.children:
            if not isinstance(item, str) and item.data == "cast":
                self._check_cast(item)
            elif not isinstance(item, str) or item.type in ("NUMBER", "NAME"):
                operands.append(self._operand(item))
                after_operand = True
            elif not after_operand:
                assert item.type in _PREFIXES
                operators.append((item, 1))
            elif item.type == "STEP":
                self._apply(operands, (item, 1))
            else:
                while operators and _binds_first(operators[-1], item):
                    self._apply(operands, operators.pop())
                operators.append((item, 2))
                after_operand = False
        while operators:
            self._apply(operands, operators.pop())
        ((result, depth),) = operands
        return result, depth

    def _operand(self, item: Token | Tree) -> _Deep:
        if isinstance(item, str):
            return item, 0
        if item.data == "inner":
            return self.expression(as_tree(item.children[0]))
        name, *arguments = item.children
        built = [self.expression(as_tree(argument)) for argument in arguments]
        depth = max((depth for _, depth in built), default=0) + _NESTING_OF_CALL
        call = Call(as_token(name), tuple(argument for argument, _ in built))
        return self._checked(call, depth), depth

    def _apply(self, operands: list[_Deep], operator: tuple[Token, int]) -> None:
        token, arity = operator
        taken = operands[-arity:]
        del operands[-arity:]
        depth = max(depth for _, depth in taken) + 1
        # One `!` more is free, since the writer may need it to turn a jump into a block, and its assignment.
        free = 2 if token.type == "ASSIGN" else int(token == "!")
        operation = Operation(token, tuple(operand for operand, _ in taken))
        operands.append((self._checked(operation, depth - free), depth))

    def _checked(self, node: Syntax, depth: int) -> Syntax:
        if depth > MOST_NESTED_OPERATORS:
            message = "the expression is nested too deeply; assign a part of it first"
            raise self._source.error(message, place_of(node))
        return node

    def _check_cast(self, cast: Tree) -> None:
        """Casts between whole numbers change nothing."""
        words = [str(word) for word in as_tree(cast.children[0]).children]
        for word in (*words, *(["*"] if len(cast.children) > 1 else [])):
            if word in ("*", "float", "double"):
                message = (
                    f"a cast to {quoted(' '.join(words) + ('*' if word == '*' else ''))} is not supported"
                )
                raise self._source.error(message, position(cast))


def _binds_first(before: tuple[Token, int], after: Token) -> bool:
    """Whether the operator `before` is to be applied before the binary operator `after` to its right."""
    token, arity = before
    if arity == 1:
        return True
    if after.type in _ASSIGNING:
        return token.type not in _ASSIGNING
    if token.type in _ASSIGNING:
        return False
    return _binds(token) >= _binds(after)


def _binds(token: Token) -> float:
    return _BINDS_OF_SHIFT if token in ("<<", ">>") else BINDS.get(token, -1)
