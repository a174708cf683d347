"""The atomic functions of C11: what each takes, and the instructions it becomes.

    atomic_load(x), atomic_store(x, e), …          one instruction each
    atomic_fetch_sub(x, e)                         FADD(x, -e)
    atomic_thread_fence(memory_order_relaxed)      skip
    r = atomic_compare_exchange_strong(x, &e, d)   r = e; e = CAS(x, e, d); r = e == r
    r = atomic_compare_exchange_weak(x, &e, d)     r = e; oneof({e = CAS(x, e, d); r = e == r;}
                                                                {e = x.load(); r = 0;});
    r = atomic_compare_exchange_…(x, p, d)         e = *p; r = …(x, &e, d); if (!r) *p = e

Where `e` is known to hold a constant, that takes the place of both `e` and `r` in the CAS and its test. A
result that is not used is not computed. All but the fence exist with `_explicit` and orders, and without,
which means seq_cst. `memory_order_consume` is taken for acquire. A CAS that fails, for a reason or weakly for
none, reads with the order for failure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from fencepost.formats.litmus.parser import Call, Operation, Syntax, place_of
from fencepost.formats.litmus.scope import Scope
from fencepost.formats.text.source import one_of, quoted, suggestion
from fencepost.formats.text.tree import Token, position
from fencepost.program import (
    Assign,
    Binary,
    Cell,
    CompareExchange,
    Constant,
    Exchange,
    Expression,
    Fence,
    FetchAdd,
    Load,
    Mode,
    Position,
    Register,
    Skip,
    Store,
    Unary,
    subexpressions,
)
from fencepost.program.instructions import FETCH_OPERATORS

ORDER = "memory_order_"
_ORDERS = ("relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst")
_READ_ORDERS = ("relaxed", "consume", "acquire", "seq_cst")
_WRITE_ORDERS = ("relaxed", "release", "seq_cst")


class Function(NamedTuple):
    """What a function takes after its location, the orders not counted, and the orders of each kind."""

    arguments: str
    orders: tuple[tuple[str, ...], ...]
    result: bool = True
    location: bool = True


_FUNCTIONS = {
    "atomic_load": Function("x", (_READ_ORDERS,)),
    "atomic_store": Function("x, e", (_WRITE_ORDERS,), result=False),
    "atomic_exchange": Function("x, e", (_ORDERS,)),
    "atomic_fetch_add": Function("x, e", (_ORDERS,)),
    "atomic_fetch_sub": Function("x, e", (_ORDERS,)),
    "atomic_fetch_and": Function("x, e", (_ORDERS,)),
    "atomic_fetch_or": Function("x, e", (_ORDERS,)),
    "atomic_fetch_xor": Function("x, e", (_ORDERS,)),
    "atomic_compare_exchange_strong": Function("x, &r, e", (_ORDERS, _READ_ORDERS)),
    "atomic_compare_exchange_weak": Function("x, &r, e", (_ORDERS, _READ_ORDERS)),
}
_FENCE = Function("", (_ORDERS,), result=False, location=False)
FUNCTIONS = {
    **_FUNCTIONS,
    **{f"{name}_explicit": function for name, function in _FUNCTIONS.items()},
    "atomic_thread_fence": _FENCE,
}

_OPERATORS = {f"atomic_{name}": operator for operator, name in FETCH_OPERATORS.items()}
_KERNEL = ("READ_ONCE", "WRITE_ONCE", "smp_", "rcu_", "synchronize_", "spin_", "xchg", "cmpxchg", "srcu_")


_FENCE_MODES = {
    "consume": Mode.ACQ,
    "acquire": Mode.ACQ,
    "release": Mode.REL,
    "acq_rel": Mode.ACQ_REL,
    "seq_cst": Mode.SC,
}


class Calls:
    """Turns calls into instructions; `value` evaluates their arguments."""

    def __init__(self, scope: Scope, value: Callable[[Syntax], Expression]) -> None:
        self._scope = scope
        self._value = value

    def run(self, call: Call, result: str | None) -> None:
        """Do what the call does, with its result in that register if there is one."""
        function = self._function(call)
        if result is not None and not function.result:
            raise self._scope.error(f"{quoted(call.name)} gives no value", call.name)
        values, orders = self._split(call, function)
        at = position(call.name)
        if not function.location:
            mode = _FENCE_MODES.get(orders[0])
            self._scope.code.add(Skip(at=at) if mode is None else Fence(mode, at=at))
            return
        location = self._location(call, values[0])
        if len(values) == 3:
            weak = "weak" in call.name
            _CompareExchange(self._scope, location, orders, weak, at).run(
                values[1], self._value(values[2]), result
            )
            return
        operands = [self._value(value) for value in values[1:]]
        self._access(call.name, location, operands, orders[0], result)

    def _access(
        self,
        function: Token,
        location: Token,
        operands: Sequence[Expression],
        order: str,
        result: str | None,
    ) -> None:
        cell, code, at = self._scope.atomic_cell(location), self._scope.code, position(function)
        self._scope.begin_access((order,), at)
        load, store = self._scope.read_mode(order), self._scope.write_mode(order)
        match function.removesuffix("_explicit"), operands:
            case "atomic_load", []:
                code.add(Load(result or code.fresh_register(), cell, load, at=at))
            case "atomic_store", [value]:
                code.add(Store(cell, value, store, at=at))
            case "atomic_exchange", [value]:
                code.add(Exchange(result, cell, value, load, store, at=at))
            case "atomic_fetch_sub", [value]:
                code.add(FetchAdd(result, cell, Unary("-", value), load, store, at=at))
            case name, [value]:
                code.add(FetchAdd(result, cell, value, load, store, _OPERATORS[name], at=at))

    def _function(self, call: Call) -> Function:
        name = str(call.name)
        if name in FUNCTIONS:
            return FUNCTIONS[name]
        if name.startswith(_KERNEL):
            message = f"{quoted(name)} belongs to the Linux kernel; fencepost reads C11 atomics"
            raise self._scope.error(message, call.name)
        meant = suggestion(name, FUNCTIONS)
        raise self._scope.error(f"there is no function {quoted(name)}{meant}", call.name)

    def _split(self, call: Call, function: Function) -> tuple[Sequence[Syntax], tuple[str, ...]]:
        """The arguments that are values, and the orders."""
        explicit = call.name.endswith("_explicit") or not function.location
        values = len(function.arguments.split(", ")) if function.arguments else 0
        expected = values + len(function.orders) * explicit
        if len(call.arguments) != expected:
            orders = [f"{ORDER}{kind[-2]}" for kind in function.orders] if explicit else []
            form = ", ".join([*filter(None, [function.arguments]), *orders])
            many = "many" if len(call.arguments) > expected else "few"
            message = f"too {many} arguments for {quoted(call.name)}; it is used as `{call.name}({form})`"
            raise self._scope.error(message, call.name)
        if not explicit:
            return call.arguments, ("seq_cst",) * len(function.orders)
        orders = [
            self._order(argument, allowed, call.name)
            for argument, allowed in zip(call.arguments[values:], function.orders, strict=True)
        ]
        return call.arguments[:values], tuple(orders)

    def _order(self, argument: Syntax, allowed: Sequence[str], function: Token) -> str:
        spelled = [ORDER + order for order in allowed]
        if isinstance(argument, str) and argument in spelled:
            return argument.removeprefix(ORDER)
        if isinstance(argument, str) and argument in [ORDER + order for order in _ORDERS]:
            message = f"{quoted(argument)} is no order for this argument of {quoted(function)}"
            raise self._scope.error(f"{message}; expected {one_of(map(quoted, spelled))}", argument)
        meant = suggestion(argument, spelled) if isinstance(argument, str) else ""
        raise self._scope.error(
            f"expected a memory order, as in `{ORDER}{allowed[-2]}`{meant}", place_of(argument)
        )

    def _location(self, call: Call, argument: Syntax) -> Token:
        if isinstance(argument, str) and argument.type == "NAME":
            return argument
        message = (
            f"expected a parameter of {self._scope.process} as the first argument of {quoted(call.name)}"
        )
        raise self._scope.error(message, place_of(argument))


class _CompareExchange(NamedTuple):
    scope: Scope
    location: Token
    orders: tuple[str, ...]
    weak: bool
    at: Position

    def run(self, expected: Syntax, desired: Expression, result: str | None) -> None:
        match expected:
            case Operation(operator, (operand,)) if operator == "&" and isinstance(operand, str):
                if self.scope.is_parameter(operand):
                    message = f"{quoted(operand)} is a pointer; its address is no pointer to an `int`"
                    raise self.scope.error(message, operand)
                self._with_register(self.scope.register(operand), desired, result)
            case str() if self.scope.is_parameter(expected):
                self._with_location(expected, desired, result)
            case _:
                message = "expected a pointer to the expected value, as in `&r`"
                raise self.scope.error(message, place_of(expected))

    def _with_location(self, pointer: Token, desired: Expression, result: str | None) -> None:
        if self.scope.points_to_atomic(pointer):
            message = f"the expected value must be a plain `int`; {quoted(pointer)} points to an atomic"
            raise self.scope.error(message, pointer)
        code = self.scope.code
        done = code.label()
        old, success = code.fresh_register(), result or code.fresh_register()
        self.scope.load(old, pointer, self.at)
        self._with_register(old, desired, success)
        code.branch(Register(success), done, self.at)
        self.scope.store(pointer, Register(old), self.at)
        code.here(done)

    def _with_register(self, expected: str, desired: Expression, result: str | None) -> None:
        code, at = self.scope.code, self.at
        cell = self.scope.atomic_cell(self.location)
        self.scope.begin_access(self.orders, at)
        if result is not None and (result == expected or Register(result) in subexpressions(desired)):
            success = code.fresh_register()
            self._exchange(cell, expected, desired, success)
            code.add(Assign(result, Register(success), at=at))
        else:
            self._exchange(cell, expected, desired, result)

    def _exchange(self, cell: Cell, expected: str, desired: Expression, result: str | None) -> None:
        code, at, (success, failure) = self.scope.code, self.at, self.orders
        compared = code.constants.value(expected)
        before = compared
        if result is not None and before == Register(expected):
            code.add(Assign(result, before, at=at))
            before = Register(result)
        failing = self.scope.read_mode(failure)
        modes = (self.scope.read_mode(success), self.scope.write_mode(success), failing)
        cas = CompareExchange(expected, cell, compared, desired, *modes, at=at)
        attempt, spurious, end = code.label(), code.label(), code.label()
        if self.weak:
            code.choose((attempt, spurious), at)
            code.here(attempt)
        code.add(cas)
        if result is not None:
            code.add(Assign(result, Binary("==", Register(expected), before), at=at))
        if self.weak:
            code.goto(end, at)
            code.here(spurious)
            code.add(Load(expected, cell, failing, at=at))
            if result is not None:
                code.add(Assign(result, Constant(0), at=at))
            code.here(end)
