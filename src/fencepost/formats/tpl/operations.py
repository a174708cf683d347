"""The TPL statements that are one instruction each and do not jump.

Says which calls and accesses exist and what they take: how many values, which modes, what kind of location.
Names and expressions are `scope.py`'s.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from fencepost.formats.text.scope import Scope
from fencepost.formats.text.source import one_of, quoted, suggestion
from fencepost.formats.text.tree import Token, Tree, as_token, as_tree, position
from fencepost.program import (
    Assert,
    Assume,
    BlockingCompareExchange,
    Cell,
    CompareExchange,
    Constant,
    Exchange,
    Expression,
    Fence,
    FetchAdd,
    Instruction,
    Load,
    Mode,
    Position,
    Skip,
    Store,
    Unary,
    Verify,
    Wait,
)
from fencepost.program.instructions import FENCE_MODES, FETCH_OPERATORS, LOAD_MODES, STORE_MODES


class Usage(msgspec.Struct, frozen=True):
    """What a call takes after its location (`values` None: one or more), and whether it gives a value."""

    form: str
    values: int | None
    modes: tuple[tuple[Mode, ...], ...] = ()
    result: bool = False
    atomic: bool = True


_READ_AND_WRITE = (LOAD_MODES, STORE_MODES)
_COMPARE_EXCHANGE = (*_READ_AND_WRITE, LOAD_MODES)  # success, and the read of failure
CALLS = {
    "FADD": Usage("FADD(x, e)", 1, _READ_AND_WRITE, result=True),
    "exchange": Usage("exchange(x, e)", 1, _READ_AND_WRITE, result=True),
    "XCHG": Usage("XCHG(x, e)", 1, _READ_AND_WRITE, result=True),
    "CAS": Usage("CAS(x, e1, e2)", 2, _COMPARE_EXCHANGE, result=True),
    "BCAS": Usage("BCAS(x, e1, e2)", 2, _READ_AND_WRITE),
    "wait": Usage("wait(x, e)", None, (LOAD_MODES,), result=True),
    "lock": Usage("lock(x)", 0),
    "unlock": Usage("unlock(x)", 0),
}
# Other words for calls, and those that only exist as methods.
METHODS = {
    "fetch_add": ("FADD", Usage("x.fetch_add(e)", 1, _READ_AND_WRITE, result=True)),
    "fetch_sub": ("fetch_sub", Usage("x.fetch_sub(e)", 1, _READ_AND_WRITE, result=True)),
    "fetch_and": ("fetch_and", Usage("x.fetch_and(e)", 1, _READ_AND_WRITE, result=True)),
    "fetch_or": ("fetch_or", Usage("x.fetch_or(e)", 1, _READ_AND_WRITE, result=True)),
    "fetch_xor": ("fetch_xor", Usage("x.fetch_xor(e)", 1, _READ_AND_WRITE, result=True)),
    "exchange": ("exchange", Usage("x.exchange(e)", 1, _READ_AND_WRITE, result=True)),
    "compare_exchange": ("CAS", Usage("x.compare_exchange(e1, e2)", 2, _COMPARE_EXCHANGE, result=True)),
}
_OPERATORS = {name: operator for operator, name in FETCH_OPERATORS.items()}
ACCESSES = {
    "load": Usage("r = x.load()", 0, (LOAD_MODES,), result=True),
    "store": Usage("x.store(e)", 1, (STORE_MODES,)),
    "naload": Usage("r = x.naload()", 0, result=True, atomic=False),
    "nastore": Usage("x.nastore(e)", 1, atomic=False),
}
_ALL_METHODS = (*ACCESSES, *METHODS)
# What to write for methods of std::atomic and the like that do not exist here.
_INSTEAD = {
    **dict.fromkeys(
        ("compare_exchange_strong", "compare_exchange_weak"),
        "`r = x.compare_exchange(e1, e2)`, which gives the old value and succeeded if that is `e1`",
    ),
    "lock": "`lock(x)`",
    "unlock": "`unlock(x)`",
    "wait": "`wait(x, e)`, which waits until x holds e",
    "test_and_set": "`r = x.exchange(1)`",
    "clear": "`x.store(0)`",
    **dict.fromkeys(("notify_one", "notify_all"), "nothing: `wait` needs no notification"),
}
# Other words for modes, which are names where there is a local of that name.
LONG_MODES = {
    **{"relaxed": "rlx", "acquire": "acq", "release": "rel"},
    **{f"memory_order_{order}": order for order in ("acq_rel", "seq_cst")},
    **{"memory_order_relaxed": "rlx", "memory_order_acquire": "acq", "memory_order_release": "rel"},
    "memory_order_consume": "acq",
    "sc": "seq_cst",
}
# Modes that speak of the read and the write of an access.
FOR_BOTH_PARTS = {"acq_rel": ("acq", "rel"), "seq_cst": ("seq_cst", "seq_cst")}
_UPDATE = "upd"  # Rocker's word for the mode of an SC fence


class Operations:
    """The statements that are one instruction each and do not jump."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def instruction(self, node: Tree) -> Instruction:
        at, children = position(node), node.children
        match str(node.data):
            case "check":
                condition = self._scope.expression(as_tree(children[1]))
                return (Assert if children[0] == "assert" else Assume)(condition, at=at)
            case "fence":
                return self._fence(children, at)
            case _:
                return Skip(at=at)

    def _fence(self, children: Sequence[Token | Tree], at: Position) -> Fence:
        if not children:
            return Fence(at=at)
        word = as_token(children[0])
        if word == _UPDATE:
            return Fence(at=at)
        if word.type == "NAME" and word not in LONG_MODES:
            modes = one_of(quoted(mode.value) for mode in FENCE_MODES)
            raise self._scope.error(f"expected a mode ({modes}), found {quoted(word)}", word)
        return Fence(self._mode(self._short(word), FENCE_MODES, "a fence"), at=at)

    def check_location(self, use: Tree) -> None:
        """Reject a call whose location is itself an access."""
        first = use.children[0]
        operand = _only(use.children[1]) if isinstance(first, str) and len(use.children) > 1 else None
        if isinstance(operand, Tree) and operand.data == "use" and first != "verify":
            form = CALLS[as_token(first)].form
            raise self._scope.error(f"expected a location first, as in `{form}`", operand)

    def access(self, use: Tree, result: Token | None, at: Position) -> Instruction:
        """The instruction of an access or a call; the local `result`, if there is one, gets the value."""
        if isinstance(use.children[0], str):
            return self._call(use, result, at)
        return self._access(use, result, at)

    def warn_of_truth(self, use: Tree) -> None:
        """A compare-exchange as a condition: in other languages that is whether it succeeded."""
        word = next(child for child in use.children if isinstance(child, str))
        if word in ("CAS", "compare_exchange") and self._scope.noticed is not None:
            said = f"{quoted(word)} gives the old value, so this condition is whether that is not 0"
            how = "to ask whether it succeeded, compare it with the expected value"
            self._scope.noticed.append((position(word), f"{said}; {how}"))

    def _access(self, node: Tree, result: Token | None, at: Position) -> Instruction:
        cell, method = self._scope.cell(as_tree(node.children[0])), as_token(node.children[1])
        arguments = node.children[2:]
        if method in METHODS:
            return self._method(cell, method, arguments, result, at)
        usage = ACCESSES.get(method)
        if usage is None:
            raise self._scope.error(f"there is no access {quoted(method)}; {_instead(method)}", method)
        self._check_atomic(cell, usage, method, method)
        values, modes = self._arguments(usage, method, arguments)
        mode = modes[0] if usage.atomic else Mode.NA
        if values:
            self._no_result(result, method)
            return Store(cell, values[0], mode, at=at)
        if result is None:
            raise self._scope.error(f"expected a local for the value, as in `{usage.form}`", method)
        return Load(self._scope.register(result), cell, mode, at=at)

    def _method(
        self,
        cell: Cell,
        method: Token,
        arguments: Sequence[Token | Tree],
        result: Token | None,
        at: Position,
    ) -> Instruction:
        self._scope.extension(f"`{method}` is", method)
        word, usage = METHODS[method]
        self._check_atomic(cell, usage, method, method)
        values, modes = self._arguments(usage, method, arguments)
        register = None if result is None else self._scope.register(result)
        return _Call(word, register, cell, values, modes, at).instruction()

    def _call(self, node: Tree, result: Token | None, at: Position) -> Instruction:
        word, arguments = as_token(node.children[0]), node.children[1:]
        if word == "XCHG":
            self._scope.extension("`XCHG` is", word)
        if word == "verify":
            self._no_result(result, word)
            return Verify(self._verified(word, arguments), at=at)
        usage = CALLS[word]
        cell = self._location(usage, word, arguments)
        self._check_atomic(cell, usage, word, arguments[0])
        values, modes = self._arguments(usage, word, arguments[1:])
        if not usage.result:
            self._no_result(result, word)
        register = None if result is None else self._scope.register(result)
        return _Call(str(word), register, cell, values, modes, at).instruction()

    def _location(self, usage: Usage, word: Token, arguments: Sequence[Token | Tree]) -> Cell:
        operand = _only(arguments[0]) if arguments else None
        if operand is None or isinstance(operand, str):
            place = arguments[0] if arguments else word
            raise self._scope.error(f"expected a location first, as in `{usage.form}`", place)
        return self._scope.cell(operand)

    def _verified(self, word: Token, arguments: Sequence[Token | Tree]) -> str:
        operand = _only(arguments[0]) if len(arguments) == 1 else None
        if operand is None or isinstance(operand, str) or len(operand.children) > 1:
            raise self._scope.error(
                "expected one local, as in `verify(r)`", arguments[0] if arguments else word
            )
        name = as_token(operand.children[0])
        if name in self._scope.locations:
            raise self._scope.error(f"{quoted(name)} is a location; load it into a local first", name)
        return self._scope.register(name)

    def _arguments(
        self, usage: Usage, word: Token, arguments: Sequence[Token | Tree]
    ) -> tuple[tuple[Expression, ...], tuple[Mode, ...]]:
        """The values and the modes."""
        arguments = [self._long_mode(argument) or argument for argument in arguments]
        count = next((i for i, argument in enumerate(arguments) if isinstance(argument, str)), len(arguments))
        values, modes = arguments[:count], arguments[count:]
        misplaced = next((mode for mode in modes if not isinstance(mode, str)), None)
        if misplaced is not None:
            raise self._scope.error(f"the values of {quoted(word)} come before its modes", misplaced)
        if len(values) != usage.values and (usage.values is not None or not values):
            surplus = usage.values is not None and len(values) > usage.values
            place = values[usage.values or 0] if surplus else word
            many = "too many" if surplus else "too few"
            raise self._scope.error(f"{many} values for {quoted(word)}; it is used as `{usage.form}`", place)
        return tuple(self._scope.expression(as_tree(v)) for v in values), self._modes(usage, word, modes)

    def _modes(self, usage: Usage, word: Token, tokens: Sequence[Token | Tree]) -> tuple[Mode, ...]:
        """Relaxed where none is given; a compare-exchange that fails reads as one that succeeds."""
        modes = [as_token(token) for token in tokens]
        for strong in filter(FOR_BOTH_PARTS.get, modes):
            self._scope.extension(f"{quoted(strong)} on an access is", strong)
        if len(usage.modes) > 1 and modes and modes[0] in FOR_BOTH_PARTS:
            both = modes[0]
            modes[:1] = [_same_place(both, mode) for mode in FOR_BOTH_PARTS[both]]
        if len(modes) > len(usage.modes):
            limit = ("no mode", "one mode", "two modes", "three modes")[len(usage.modes)]
            raise self._scope.error(f"{quoted(word)} takes {limit}", modes[len(usage.modes)])
        what = quoted(word)
        if len(usage.modes) > 1 and len(modes) == 1:
            mode = self._mode(modes[0], (*LOAD_MODES, Mode.REL), what)
            given = [Mode.RLX, mode] if mode is Mode.REL else [mode]
        else:
            parts = [f"the read of {what}", f"the write of {what}", f"the read of a {what} that fails"]
            if len(usage.modes) == 1:
                parts = [f"a {word}"]
            given = [self._mode(m, a, p) for m, a, p in zip(modes, usage.modes, parts, strict=False)]
        given += [Mode.RLX] * (len(usage.modes[:2]) - len(given))
        return tuple(given if len(usage.modes) == len(given) else [*given, given[0]])

    def _long_mode(self, argument: Token | Tree) -> Token | None:
        """The mode that the argument is, if that is spelled as a name."""
        word = mode_word(argument)
        return None if word is None or word in self._scope.registers else self._short(word)

    def _short(self, word: Token) -> Token:
        """A mode as TPL spells it."""
        if word.type == "MODE":
            return word
        self._scope.extension(f"{quoted(word)} is", word)
        return _same_place(word, LONG_MODES[word])

    def _mode(self, token: Token, allowed: Sequence[Mode], what: str) -> Mode:
        mode = Mode(str(token))
        if mode not in allowed:
            choice = one_of(quoted(mode.value) for mode in allowed)
            raise self._scope.error(f"{what} cannot be {quoted(token)}; expected {choice}", token)
        return mode

    def _check_atomic(self, cell: Cell, usage: Usage, word: Token, at: Token | Tree) -> None:
        atomic = self._scope.locations[cell.name].atomic
        if atomic == usage.atomic:
            return
        if atomic:
            other = f"use `{word[2:]}`"
        elif f"na{word}" in ACCESSES:
            other = f"use `na{word}`"
        else:
            other = f"{quoted(word)} needs a location declared with `global`"
        kind = "atomic" if atomic else "non-atomic"
        raise self._scope.error(f"{quoted(cell.name)} is {kind}; {other}", at)

    def _no_result(self, result: Token | None, word: Token) -> None:
        if result is not None:
            raise self._scope.error(f"{quoted(word)} gives no value to assign", result)


class _Call(msgspec.Struct, frozen=True):
    """A call whose arguments have been checked against its usage."""

    word: str
    register: str | None
    cell: Cell
    values: tuple[Expression, ...]
    modes: tuple[Mode, ...]
    at: Position

    def instruction(self) -> Instruction:
        register, cell, at = self.register, self.cell, self.at
        match self.word, self.values, self.modes:
            case "FADD", (value,), (load, store):
                return FetchAdd(register, cell, value, load, store, at=at)
            case "fetch_sub", (value,), (load, store):
                return FetchAdd(register, cell, Unary("-", value), load, store, at=at)
            case "fetch_and" | "fetch_or" | "fetch_xor", (value,), (load, store):
                return FetchAdd(register, cell, value, load, store, _OPERATORS[self.word], at=at)
            case "exchange" | "XCHG", (value,), (load, store):
                return Exchange(register, cell, value, load, store, at=at)
            case "CAS", (expected, desired), (load, store, failure):
                return CompareExchange(register, cell, expected, desired, load, store, failure, at=at)
            case "BCAS", (expected, desired), (load, store):
                return BlockingCompareExchange(cell, expected, desired, load, store, at=at)
            case "wait", values, (mode,):
                return Wait(register, cell, values, mode, at=at)
            case "lock", (), ():
                return BlockingCompareExchange(cell, Constant(0), Constant(1), Mode.ACQ, Mode.RLX, at=at)
            case "unlock", (), ():
                return Store(cell, Constant(0), Mode.REL, at=at)
        raise AssertionError(self.word)


def _same_place(word: Token, mode: str) -> Token:
    """A mode where `word` stands."""
    return Token(mode, "MODE", word.start_pos, word.line, word.column)


def mode_word(argument: Token | Tree) -> Token | None:
    """The name that the argument is, if it can be a mode."""
    operand = _only(argument)
    if not isinstance(operand, Tree) or operand.data != "cell" or len(operand.children) > 1:
        return None
    word = as_token(operand.children[0])
    return word if word in LONG_MODES else None


def _instead(method: Token) -> str:
    """What to write for a method that does not exist."""
    if method in _INSTEAD:
        return f"write {_INSTEAD[method]}"
    return f"expected {one_of(map(quoted, _ALL_METHODS))}{suggestion(method, _ALL_METHODS)}"


def _only(argument: Token | Tree) -> Token | Tree | None:
    """The one operand that an argument consists of, None if there is more to it."""
    if isinstance(argument, str) or len(argument.children) != 1:
        return None
    return argument.children[0]
