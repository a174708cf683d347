"""What a parser makes of a text: tokens, and trees of them."""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.program import Position


class Token(str):
    """A word of the text, what kind of word it is, and where it starts; no token has a line break in it."""

    __slots__ = ("column", "line", "start_pos", "type")

    type: str
    start_pos: int
    line: int
    column: int

    def __new__(cls, word: str, type: str, start_pos: int, line: int, column: int) -> Token:
        token = super().__new__(cls, word)
        token.type = type
        token.start_pos = start_pos
        token.line = line
        token.column = column
        return token

    @property
    def end_pos(self) -> int:
        return self.start_pos + len(self)

    @property
    def end_column(self) -> int:
        return self.column + len(self)


class Tree:
    """What one rule of a grammar covers: the words from `first` to `last`, neither of which is there if it
    covers none. `children` are the parts that matter, `data` is the name of the rule.
    """

    __slots__ = ("children", "data", "first", "last")

    def __init__(
        self, data: str, children: list[Token | Tree], first: Token | None, last: Token | None
    ) -> None:
        self.data = data
        self.children = children
        self.first = first
        self.last = last

    @property
    def line(self) -> int:
        return 1 if self.first is None else self.first.line

    @property
    def column(self) -> int:
        return 1 if self.first is None else self.first.column

    @property
    def start_pos(self) -> int:
        return 0 if self.first is None else self.first.start_pos

    @property
    def end_pos(self) -> int:
        return 0 if self.last is None else self.last.end_pos

    def subtrees(self) -> Iterator[Tree]:
        """The tree and all trees in it; they may be nested deeper than Python can recurse."""
        waiting = [self]
        while waiting:
            tree = waiting.pop()
            yield tree
            waiting += [child for child in tree.children if isinstance(child, Tree)]

    def tokens(self) -> Iterator[Token]:
        """The tokens that are kept in the tree, from left to right."""
        waiting: list[Token | Tree] = [self]
        while waiting:
            node = waiting.pop()
            if isinstance(node, Tree):
                waiting += reversed(node.children)
            else:
                yield node


def position(node: Token | Tree) -> Position:
    """Where the first token of `node` stands."""
    return Position(node.line, node.column)


def as_tree(node: Token | Tree) -> Tree:
    assert not isinstance(node, str)
    return node


def as_token(node: Token | Tree) -> Token:
    assert isinstance(node, str)
    return node


def trees(node: Tree, kind: str) -> list[Tree]:
    """The children of `node` that are trees of that kind."""
    return [child for child in node.children if not isinstance(child, str) and child.data == kind]


def tokens(node: Tree, kind: str) -> list[Token]:
    """The children of `node` that are tokens of that kind."""
    return [child for child in node.children if isinstance(child, str) and child.type == kind]
