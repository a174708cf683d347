"""What evaluating an expression of a C litmus test does: the instructions it takes, and the value then left.

Operands are evaluated from left to right. Each access inside an expression is an instruction of its own that
puts its value in a made-up register. `&&` and `||` whose right side has such effects become a jump over them;
all others stay operators. Functions are `calls.py`'s.
"""

from __future__ import annotations

from fencepost.formats.litmus.calls import Calls
from fencepost.formats.litmus.parser import Call, Operation, Syntax, has_effects, place_of
from fencepost.formats.litmus.scope import Scope
from fencepost.formats.text.source import quoted
from fencepost.formats.text.tree import Token, position
from fencepost.program import Assign, Binary, Constant, Expression, Position, Register, Unary

_TRUTH_VALUED = ("==", "!=", "<", "<=", ">", ">=", "&&", "||")


class Evaluation:
    """Evaluates the expressions of one process into its code."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._code = scope.code
        self._calls = Calls(scope, self.value)

    def effects(self, node: Syntax) -> None:
        """What the expression does, as a statement."""
        match node:
            case Call():
                self._calls.run(node, None)
            case Operation(operator, (target,)) if operator.type == "STEP":
                self._update(node, target, operator[0], Constant(1))
            case Operation() if node.assigns:
                self._assign(node)
            case _:
                self.value(node)

    def value(self, node: Syntax) -> Expression:
        """The value of the expression after its effects."""
        match node:
            case Call():
                result = self._code.fresh_register()
                self._calls.run(node, result)
                return Register(result)
            case Operation(_, (operand,)):
                return self._unary(node, operand)
            case Operation() if node.assigns:
                return self._assign(node)
            case Operation(operator, (left, right)):
                self._check_operator(operator)
                if operator in ("&&", "||") and has_effects(right):
                    return self._short_circuit(operator, left, right)
                return Binary(str(operator), self.value(left), self.value(right))
            case Operation():
                raise AssertionError(node)
            case _ if node.type == "NUMBER":
                return Constant(self._scope.number(node))
            case _:
                return Register(self._scope.register(node))

    def into(self, register: str, node: Syntax, at: Position) -> None:
        """`register = node`, without a detour through a made-up register where that is possible."""
        match node:
            case Call():
                self._calls.run(node, register)
            case Operation(operator, (operand,)) if operator == "*":
                self._scope.load(register, self._pointer(operator, operand), position(operator))
            case _:
                self._code.add(Assign(register, self.value(node), at=at))

    def _unary(self, node: Operation, operand: Syntax) -> Expression:
        operator = node.operator
        if operator == "*":
            result = self._code.fresh_register()
            self.into(result, node, place_of(node))
            return Register(result)
        if operator.type == "STEP":
            raise self._scope.error(f"{quoted(operator)} must be a statement of its own", operator)
        if operator == "&":
            message = "`&` is only supported for the expected value of a compare-exchange"
            raise self._scope.error(message, operator)
        self._check_operator(operator)
        return Unary(str(operator), self.value(operand))

    def _check_operator(self, operator: Token) -> None:
        if operator in ("~", "<<", ">>", "<<=", ">>="):
            raise self._scope.error(f"the operator {quoted(operator)} is not supported", operator)

    def _short_circuit(self, operator: Token, left: Syntax, right: Syntax) -> Expression:
        """`t = left; if (t) t = right;`, or with `!t` for `||`."""
        at, end = position(operator), self._code.label()
        first = _truth(self.value(left))
        result = Register(self._code.fresh_register())
        self._code.add(Assign(result.name, first, at=at))
        self._code.branch(Unary("!", result) if operator == "&&" else result, end, at)
        self._code.add(Assign(result.name, _truth(self.value(right)), at=at))
        self._code.here(end)
        return result

    def _assign(self, node: Operation) -> Expression:
        operator, (target, value) = node.operator, node.operands
        if operator.type == "COMPOUND":
            self._check_operator(operator)
            return self._update(node, target, str(operator[:-1]), self.value(value))
        at = place_of(target)
        match target:
            case Operation(star, (operand,)) if star == "*":
                pointer, stored = self._pointer(star, operand), self.value(value)
                self._scope.store(pointer, stored, at)
                return stored
            case str() if target.type == "NAME":
                register = self._scope.register(target)
                self.into(register, value, at)
                return Register(register)
            case _:
                raise self._not_assignable(target)

    def _update(self, node: Operation, target: Syntax, operator: str, value: Expression) -> Expression:
        """`target operator= value`."""
        at = place_of(node)
        match target:
            case Operation(star, (operand,)) if star == "*":
                pointer = self._pointer(star, operand)
                if self._scope.points_to_atomic(pointer):
                    message = f"{quoted(pointer)} points to an atomic; use atomic_fetch_add_explicit"
                    raise self._scope.error(message, place_of(node))
                old = self._code.fresh_register()
                self._scope.load(old, pointer, at)
                stored = Binary(operator, Register(old), value)
                self._scope.store(pointer, stored, at)
                return stored
            case str() if target.type == "NAME":
                register = self._scope.register(target)
                self._code.add(Assign(register, Binary(operator, Register(register), value), at=at))
                return Register(register)
            case _:
                raise self._not_assignable(target)

    def _pointer(self, star: Token, operand: Syntax) -> Token:
        if isinstance(operand, str) and operand.type == "NAME":
            return operand
        message = f"only a parameter of {self._scope.process} can come after `*`"
        raise self._scope.error(message, star)

    def _not_assignable(self, target: Syntax) -> Exception:
        return self._scope.error("expected a register or `*x` left of the assignment", place_of(target))


def _truth(value: Expression) -> Expression:
    """0 or 1 for what counts as false or true."""
    match value:
        case Unary("!", _):
            return value
        case Binary(operator, _, _) if operator in _TRUTH_VALUED:
            return value
        case _:
            return Binary("!=", value, Constant(0))
