"""Calls of atomic operations by their names, taken apart by tokens."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from fencepost.sanitizer.sources.orders import OrderArgument, failure_of, read_order
from fencepost.sanitizer.sources.units import Token
from fencepost.verdicts.sites import SiteOperation, SiteOrder

Style = Literal["member", "function", "builtin", "sync", "annotation"]

_ARITHMETIC = ("add", "sub", "and", "or", "xor")
_COMPARE = ("compare_exchange_strong", "compare_exchange_weak")
# What comes before the order, or the two orders of a compare-exchange.
_MEMBERS: Mapping[str, tuple[SiteOperation, int]] = {
    "load": ("load", 0),
    "store": ("store", 1),
    "exchange": ("exchange", 1),
    **{f"fetch_{name}": ("fetch", 1) for name in (*_ARITHMETIC, "max", "min")},
    **dict.fromkeys(_COMPARE, ("compare_exchange", 2)),
    "test_and_set": ("exchange", 0),
    "clear": ("store", 0),
    "test": ("load", 0),
    "wait": ("load", 1),
}
_FUNCTIONS: Mapping[str, tuple[SiteOperation, int]] = {
    "atomic_load": ("load", 1),
    "atomic_store": ("store", 2),
    "atomic_exchange": ("exchange", 2),
    **{f"atomic_fetch_{name}": ("fetch", 2) for name in (*_ARITHMETIC, "max", "min")},
    **{f"atomic_{name}": ("compare_exchange", 3) for name in _COMPARE},
    "atomic_flag_test_and_set": ("exchange", 1),
    "atomic_flag_clear": ("store", 1),
    "atomic_flag_test": ("load", 1),
    "atomic_wait": ("load", 2),
}
_BUILTINS: Mapping[str, tuple[SiteOperation, int]] = {
    "__atomic_load_n": ("load", 1),
    "__atomic_load": ("load", 2),
    "__atomic_store_n": ("store", 2),
    "__atomic_store": ("store", 2),
    "__atomic_exchange_n": ("exchange", 2),
    "__atomic_exchange": ("exchange", 3),
    "__atomic_compare_exchange_n": ("compare_exchange", 4),
    "__atomic_compare_exchange": ("compare_exchange", 4),
    **{f"__atomic_fetch_{name}": ("fetch", 2) for name in (*_ARITHMETIC, "nand")},
    **{f"__atomic_{name}_fetch": ("fetch", 2) for name in (*_ARITHMETIC, "nand")},
    "__atomic_test_and_set": ("exchange", 1),
    "__atomic_clear": ("store", 1),
    "__atomic_thread_fence": ("fence", 0),
}
# Of <fencepost.h>; they have one order, which cannot be left out.
_ANNOTATIONS: Mapping[str, tuple[SiteOperation, int]] = {
    "fp_wait": ("load", 2),
    "fp_wait_any": ("load", 1),  # with the values behind the order
    "fp_bcas": ("compare_exchange", 3),
}
_EXPLICIT = "_explicit"

MEMBERS = frozenset(_MEMBERS)
FUNCTIONS = frozenset(
    (*_FUNCTIONS, *(name + _EXPLICIT for name in _FUNCTIONS), *_ANNOTATIONS, "atomic_thread_fence")
)
BUILTINS = frozenset((*_BUILTINS, "__sync_synchronize"))


class Call(NamedTuple):
    """A call as it is written. `orders` are the arguments that can be orders, None where one is no constant.

    `wanted` orders can be named, or are to be named if any is.
    """

    operation: SiteOperation
    style: Style
    name: Token
    start: int  # where the name begins, with what qualifies it
    open: Token
    close: Token
    operands: tuple[tuple[int, int], ...]
    arguments: tuple[tuple[int, int], ...]  # the orders
    orders: tuple[OrderArgument | None, ...]

    @property
    def order(self) -> SiteOrder | None:
        """None for a variable."""
        if not self.orders:
            return "seq_cst"
        return self.orders[0].order if self.orders[0] else None

    @property
    def failure_order(self) -> SiteOrder | None:
        if self.operation != "compare_exchange":
            return None
        if len(self.orders) == 2:
            return self.orders[1].order if self.orders[1] else None
        return failure_of(self.order) if self.order else None

    @property
    def must_name_both(self) -> bool:
        return self.operation == "compare_exchange" and self.style != "member"

    @property
    def explicit_name(self) -> str:
        """The name of the function that takes an order."""
        needs = self.style == "function" and not self.name.text.endswith(_EXPLICIT)
        return self.name.text + (_EXPLICIT if needs and self.operation != "fence" else "")


def call_at(tokens: Sequence[Token], start: int, macros: Mapping[str, SiteOrder]) -> Call | None:
    """The call whose name is at this offset; None if it is none of an atomic operation."""
    place = bisect_left(tokens, start, key=lambda token: token.start)
    if place + 1 >= len(tokens) or tokens[place].start != start or tokens[place + 1].text != "(":
        return None
    name = tokens[place]
    known = _known(name.text, member=place > 0 and tokens[place - 1].text in (".", "->"))
    parts = _arguments(tokens, place + 1)
    if known is None or parts is None:
        return None
    style, operation, count = known
    groups, close = parts
    extents = tuple((group[0].start, group[-1].end) for group in groups)
    if name.text == "fp_wait_any":
        groups, extents = groups[:2], extents[:2]
    most = 0 if style == "sync" else 2 if operation == "compare_exchange" else 1
    if not count <= len(groups) <= count + most:
        return None
    orders = tuple(read_order(group, macros) for group in groups[count:])
    first = _qualified_from(tokens, place)
    return Call(
        operation, style, name, first, tokens[place + 1], close, extents[:count], extents[count:], orders
    )


def _known(name: str, *, member: bool) -> tuple[Style, SiteOperation, int] | None:
    if member:
        return ("member", *_MEMBERS[name]) if name in _MEMBERS else None
    if name == "__sync_synchronize":
        return "sync", "fence", 0
    if name == "atomic_thread_fence":
        return "function", "fence", 0
    if name in _BUILTINS:
        return ("builtin", *_BUILTINS[name])
    if name in _ANNOTATIONS:
        return ("annotation", *_ANNOTATIONS[name])
    plain = name.removesuffix(_EXPLICIT)
    return ("function", *_FUNCTIONS[plain]) if plain in _FUNCTIONS else None


def _arguments(tokens: Sequence[Token], opening: int) -> tuple[list[list[Token]], Token] | None:
    """What stands between commas, and the closing parenthesis."""
    groups: list[list[Token]] = [[]]
    depth = 0
    for token in tokens[opening:]:
        if token.text in ("(", "[", "{"):
            depth += 1
        elif token.text in (")", "]", "}"):
            depth -= 1
        if depth == 0:
            if groups == [[]]:
                groups = []
            return (groups, token) if all(groups) else None
        if depth == 1 and token.text == ",":
            groups.append([])
        elif token is not tokens[opening]:
            groups[-1].append(token)
    return None


def _qualified_from(tokens: Sequence[Token], place: int) -> int:
    while place > 0 and tokens[place - 1].text == "::":
        place -= 1
        if place > 0 and tokens[place - 1].kind == "IDENTIFIER":
            place -= 1
    return tokens[place].start
