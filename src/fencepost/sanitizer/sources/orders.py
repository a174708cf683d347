"""Memory orders as sources spell them, read from tokens and written in the manner of the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fencepost.sanitizer.build.toolchain import Language
from fencepost.sanitizer.sources.units import Token
from fencepost.verdicts.sites import SiteOperation, SiteOrder

ORDERS: tuple[SiteOrder, ...] = ("relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst")
_BY_NAME: Mapping[str, SiteOrder] = {
    **{f"memory_order_{order}": order for order in ORDERS},
    **{f"__ATOMIC_{order.upper()}": order for order in ORDERS},
}
_LOADS: tuple[SiteOrder, ...] = ("relaxed", "consume", "acquire", "seq_cst")
_ALLOWED: Mapping[SiteOperation, tuple[SiteOrder, ...]] = {
    "load": _LOADS,
    "store": ("relaxed", "release", "seq_cst"),
    "fence": ("acquire", "release", "acq_rel", "seq_cst"),
}
_STRENGTH: Mapping[SiteOrder, frozenset[str]] = {
    "relaxed": frozenset(),
    "consume": frozenset("c"),
    "acquire": frozenset("ca"),
    "release": frozenset("r"),
    "acq_rel": frozenset("car"),
    "seq_cst": frozenset("cars"),
}


def is_allowed(operation: SiteOperation, order: SiteOrder) -> bool:
    return order in _ALLOWED.get(operation, ORDERS)


def is_allowed_failure(order: SiteOrder) -> bool:
    return order in _LOADS


def failure_of(order: SiteOrder) -> SiteOrder:
    """What a compare-exchange with one order has where it fails."""
    weaker: Mapping[SiteOrder, SiteOrder] = {"release": "relaxed", "acq_rel": "acquire"}
    return weaker.get(order, order)


def strong_enough(success: SiteOrder, failure: SiteOrder) -> SiteOrder:
    """The order of success that is legal beside that of failure, also before C++17: not a weaker one."""
    both = _STRENGTH[success] | _STRENGTH[failure]
    return next(order for order in ORDERS if _STRENGTH[order] >= both)


class OrderArgument(NamedTuple):
    """An argument that is an order: a constant, of which the last token names it."""

    order: SiteOrder
    name: Token


def read_order(tokens: Sequence[Token], macros: Mapping[str, SiteOrder]) -> OrderArgument | None:
    """The order that an argument is; None for a variable."""
    while len(tokens) > 2 and (tokens[0].text, tokens[-1].text) == ("(", ")"):
        tokens = tokens[1:-1]
    if not tokens:
        return None
    *path, name = tokens
    of_class = path[-1:] and path[-1].text == "::"
    order = _BY_NAME.get(name.text)
    if order is None and of_class and len(path) > 1 and name.text in ORDERS:
        order = next(one for one in ORDERS if one == name.text)
    if order is None and not path:
        order = macros.get(name.text)
        if order is None and name.text in "012345" and len(name.text) == 1:  # as the builtins take them
            order = ORDERS[int(name.text)]
    if order is None or any(token.text != "::" and not token.text.isidentifier() for token in path):
        return None
    return OrderArgument(order, name)


class Spelling:
    """How a file spells memory orders and fences."""

    def __init__(self, tokens: Sequence[Token], language: Language) -> None:
        texts = [token.text for token in tokens]
        counts: Counter[str] = Counter()
        imports = False
        for place, text in enumerate(texts):
            before = texts[max(place - 4, 0) : place]
            if text in _BY_NAME and text.startswith("memory_order_"):
                counts["std::memory_order_" if before[-2:] == ["std", "::"] else "memory_order_"] += 1
            elif text in ORDERS and before[-2:] == ["memory_order", "::"]:
                qualified = before == ["std", "::", "memory_order", "::"]
                counts["std::memory_order::" if qualified else "memory_order::"] += 1
            imports |= before[-2:] == ["using", "namespace"] and text == "std"
        if language == "c++":
            # A name may have been imported alone; with `std::` it is right in any case.
            for short in ("memory_order_", "memory_order::"):
                if not imports:
                    counts[f"std::{short}"] += counts.pop(short, 0)
        self._builtins = not +counts and any(text.startswith("__atomic_") for text in texts)
        default = "std::memory_order_" if language == "c++" else "memory_order_"
        self._prefix = max(counts, key=lambda prefix: counts[prefix], default=default)

    def order(self, order: SiteOrder) -> str:
        return self._prefix + order

    def fence(self, order: SiteOrder, *, builtins: bool = False) -> str:
        """A call of a fence; `builtins`: where neither <atomic> nor <stdatomic.h> is included."""
        if builtins or self._builtins:
            return f"__atomic_thread_fence({builtin_order(order)})"
        std = "std::" if self._prefix.startswith("std::") else ""
        return f"{std}atomic_thread_fence({self.order(order)})"


def builtin_order(order: SiteOrder) -> str:
    return f"__ATOMIC_{order.upper()}"


def respelled(text: str, found: OrderArgument, order: SiteOrder, spelling: Spelling) -> str:
    """The argument `text` with another order, spelled as it was."""
    last = found.name.text
    if last == found.order:  # std::memory_order::acquire
        return text[: text.rindex(last)] + order
    if last.startswith("__ATOMIC_") or last.isdigit():
        return text[: text.rindex(last)] + builtin_order(order) + text[text.rindex(last) + len(last) :]
    if last.startswith("memory_order_") and "::" in text:
        return text[: text.rindex(last)] + f"memory_order_{order}" + text[text.rindex(last) + len(last) :]
    return spelling.order(order)
