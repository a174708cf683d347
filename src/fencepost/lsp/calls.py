"""The calls and accesses of TPL and of C litmus tests: their parameters, and which one is being typed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from fencepost.formats.litmus.calls import FUNCTIONS, ORDER
from fencepost.formats.tpl.operations import ACCESSES, CALLS, FOR_BOTH_PARTS, METHODS, Usage
from fencepost.lsp.symbols import Word
from fencepost.program.instructions import FENCE_MODES

_PARTS_OF_TPL = ("order of the read", "order of the write", "order if it fails")
_PARTS_OF_C = ("order", "order if it fails")


class Parameter(NamedTuple):
    """What stands there; `orders` are those that it can be, if it is a memory order."""

    name: str
    kind: Literal["location", "value", "order"]
    orders: tuple[str, ...] = ()
    repeated: bool = False


class Signature(NamedTuple):
    """A call, or an access after a location and a dot; `is_atomic` says what kind of location it takes."""

    name: str
    parameters: tuple[Parameter, ...]
    gives_value: bool
    is_method: bool = False
    is_atomic: bool = True

    @property
    def label(self) -> str:
        return f"{self.name}({', '.join(parameter.name for parameter in self.parameters)})"

    def parameter(self, number: int) -> tuple[Parameter, ...]:
        """What can stand there: a parameter that can be repeated, and all after it, from its place on."""
        for place, parameter in enumerate(self.parameters[: number + 1]):
            if parameter.repeated:
                return self.parameters[place:]
        return self.parameters[number : number + 1]

    def after_order(self, order: str, number: int) -> tuple[Parameter, ...]:
        """The same where the argument before is this word, which may be an order for two parameters."""
        both = order in FOR_BOTH_PARTS and bool(number) and self.parameters[number - 1].kind == "order"
        return self.parameter(number + both)


def _of_tpl(name: str, usage: Usage, *, is_method: bool) -> Signature:
    inside = re.findall(r"\w+", usage.form.partition("(")[2])
    values = inside if is_method else inside[1:]
    parameters = [] if is_method else [Parameter("x", "location")]
    parameters += [Parameter(value, "value", repeated=usage.values is None) for value in values]
    for place, modes in enumerate(usage.modes):
        orders = tuple(mode.value for mode in modes)
        if place == 0 and len(usage.modes) > 1:  # one order can speak of both parts, or of the write alone
            orders = (*orders, "rel", "acq_rel")
        elif place == 1:  # seq_cst is for both parts
            orders = tuple(order for order in orders if order not in FOR_BOTH_PARTS)
        name_of_part = _PARTS_OF_TPL[place] if len(usage.modes) > 1 else "order"
        parameters.append(Parameter(name_of_part, "order", orders))
    return Signature(name, tuple(parameters), usage.result, is_method, usage.atomic)


def _of_litmus() -> Iterator[Signature]:
    for name, function in FUNCTIONS.items():
        parameters = [
            Parameter(value, "location" if value == "x" else "value")
            for value in filter(None, function.arguments.split(", "))
        ]
        if name.endswith("_explicit") or not function.location:
            parameters += [
                Parameter(part, "order", tuple(f"{ORDER}{order}" for order in orders))
                for part, orders in zip(_PARTS_OF_C, function.orders, strict=False)
            ]
        yield Signature(name, tuple(parameters), function.result)


_FENCE = Signature(
    "fence", (Parameter("order", "order", tuple(mode.value for mode in FENCE_MODES)),), gives_value=False
)
_CHECKS = [
    Signature(name, (Parameter("e", "value"),), gives_value=False) for name in ("assert", "assume", "verify")
]

TPL_CALLS = {
    **{name: _of_tpl(name, usage, is_method=False) for name, usage in CALLS.items()},
    **{signature.name: signature for signature in (_FENCE, *_CHECKS)},
}
TPL_METHODS = {
    **{name: _of_tpl(name, usage, is_method=True) for name, usage in ACCESSES.items()},
    **{name: _of_tpl(name, usage, is_method=True) for name, (_, usage) in METHODS.items()},
}
LITMUS_CALLS = {signature.name: signature for signature in _of_litmus()}


class Call(NamedTuple):
    """A call that is open at the cursor: its name, and how many commas came since."""

    name: Word
    after_dot: bool
    argument: int


def open_call(words: Sequence[Word]) -> Call | None:
    """The innermost call whose parenthesis is still open after these words of a text."""
    depth, commas = 0, 0
    for at in range(len(words) - 1, -1, -1):
        text = words[at].text
        if text in (";", "{", "}") and depth == 0:
            return None
        if text in (")", "]"):
            depth += 1
        elif text in ("(", "[") and depth:
            depth -= 1
        elif text == "(" and at and words[at - 1].is_name:
            return Call(words[at - 1], at > 1 and words[at - 2].text == ".", commas)
        elif text in ("(", "["):
            commas = 0
        elif text == "," and depth == 0:
            commas += 1
    return None
