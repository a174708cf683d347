"""Another memory order for an operation in the source, as edits; what cannot be done says why."""

from __future__ import annotations

from fencepost.sanitizer.sources.calls import Call
from fencepost.sanitizer.sources.operations import Operation, Sugar
from fencepost.sanitizer.sources.orders import (
    builtin_order,
    failure_of,
    is_allowed,
    is_allowed_failure,
    respelled,
    strong_enough,
)
from fencepost.sanitizer.sources.text import Edit
from fencepost.sanitizer.sources.units import Cursor
from fencepost.verdicts.sites import SiteOrder

_STATEMENTS = ("COMPOUND_STMT", "CASE_STMT", "DEFAULT_STMT", "LABEL_STMT")
_POSTFIX = (
    "DECL_REF_EXPR",
    "MEMBER_REF_EXPR",
    "ARRAY_SUBSCRIPT_EXPR",
    "PAREN_EXPR",
    "CALL_EXPR",
    "CXX_THIS_EXPR",
)


class CannotPatchError(Exception):
    """A change cannot be made in the source; the text says why."""


def order_edits(operation: Operation, order: SiteOrder | None, failure: SiteOrder | None) -> list[Edit]:
    """The edits that give an operation these orders; None stands for one that stays."""
    written = operation.written
    if operation.order is None or (failure is not None and operation.failure_order is None):
        raise CannotPatchError("its order is not a constant")
    new = order or operation.order
    if not is_allowed(operation.operation, new) or (failure and not is_allowed_failure(failure)):
        raise CannotPatchError(f"C and C++ do not allow this order for a {operation.operation}")
    if isinstance(written, Call) and written.style == "annotation" and failure is not None:
        raise CannotPatchError(f"`{written.name.text}` has one order only")
    if isinstance(written, Sugar):
        return [] if new == "seq_cst" else [_as_call(operation, written, new)]
    if operation.operation == "compare_exchange" and written.style != "annotation":
        new_failure = failure or operation.failure_order
        if new_failure is None:
            raise CannotPatchError("its order is not a constant")
        legal = strong_enough(new, new_failure)
        edits = _both_orders(operation, written, legal, new_failure)
        if not edits and (new, new_failure) != (operation.order, operation.failure_order):
            raise CannotPatchError(f"C does not allow it while the order for failure is {new_failure}")
        return edits
    return [] if new == operation.order else _one_order(operation, written, new)


def _one_order(operation: Operation, call: Call, order: SiteOrder) -> list[Edit]:
    if call.style == "sync":
        return [Edit(call.name.start, call.close.end, f"__atomic_thread_fence({builtin_order(order)})")]
    if call.arguments:
        return [_replaced(operation, call, 0, order)]
    return [*_explicit_name(call), _added(call, _spelled(operation, order))]


def _both_orders(operation: Operation, call: Call, order: SiteOrder, failure: SiteOrder) -> list[Edit]:
    now = operation.order, operation.failure_order
    if (order, failure) == now:
        return []
    if len(call.arguments) == 2:
        edits = [_replaced(operation, call, 0, order), _replaced(operation, call, 1, failure)]
        return [edit for edit, old, new in zip(edits, now, (order, failure), strict=True) if old != new]
    one_is_enough = not call.must_name_both and failure == failure_of(order)
    if call.arguments:
        edits = [] if order == now[0] else [_replaced(operation, call, 0, order)]
        if not one_is_enough:
            end = call.arguments[0][1]
            edits.append(Edit(end, end, f", {_like_first(operation, call, failure)}"))
        return edits
    named = [order] if one_is_enough else [order, failure]
    return [*_explicit_name(call), _added(call, ", ".join(_spelled(operation, one) for one in named))]


def _added(call: Call, orders: str) -> Edit:
    """Orders behind the operands."""
    if not call.operands:
        return Edit(call.close.start, call.close.start, orders)
    end = call.operands[-1][1]
    return Edit(end, end, f", {orders}")


def _explicit_name(call: Call) -> list[Edit]:
    if call.explicit_name == call.name.text:
        return []
    return [Edit(call.name.end, call.name.end, call.explicit_name.removeprefix(call.name.text))]


def _replaced(operation: Operation, call: Call, number: int, order: SiteOrder) -> Edit:
    start, end = call.arguments[number]
    found = call.orders[number]
    if found is None:
        raise CannotPatchError("its order is not a constant")
    text = operation.file.text.slice(start, end)
    return Edit(start, end, respelled(text, found, order, operation.file.spelling))


def _like_first(operation: Operation, call: Call, order: SiteOrder) -> str:
    start, end = call.arguments[0]
    found = call.orders[0]
    if found is None:
        raise CannotPatchError("its order is not a constant")
    return respelled(operation.file.text.slice(start, end), found, order, operation.file.spelling)


def _spelled(operation: Operation, order: SiteOrder) -> str:
    return operation.file.spelling.order(order)


def _as_call(operation: Operation, sugar: Sugar, order: SiteOrder) -> Edit:
    """`x = 1` as `x.store(1, order)`, and so on."""
    text = operation.file.text
    used = _is_used(operation)
    if used and (sugar.operation == "store" or sugar.value is not None):
        raise CannotPatchError("the value of this assignment is used")
    arguments = [text.slice(*sugar.value)] if sugar.value else ["1"] if sugar.operation == "fetch" else []
    if arguments and arguments[0].startswith("{"):
        raise CannotPatchError("its value is a list in braces")
    arguments.append(_spelled(operation, order))
    if operation.file.unit.language == "c++":
        call = f"{_accessed(operation, sugar)}{sugar.member}({', '.join(arguments)})"
    else:
        if not sugar.scalable and sugar.operation == "fetch":
            raise CannotPatchError("there is no generic function for this type")
        if not operation.file.unit.includes("stdatomic.h"):
            raise CannotPatchError("<stdatomic.h>, whose functions take an order, is not included")
        call = f"atomic_{sugar.member}_explicit({', '.join([_pointed_to(operation, sugar), *arguments])})"
    if used and sugar.operation == "fetch" and sugar.prefix:
        call = f"({call} {'+' if sugar.member == 'fetch_add' else '-'} 1)"
    return Edit(operation.start, operation.end, call)


def _accessed(operation: Operation, sugar: Sugar) -> str:
    """What stands before the name of a member function."""
    pointer = _pointer(operation)
    if pointer:
        return f"{pointer}->"
    target = operation.file.text.slice(*sugar.target)
    return f"{target}." if _is_postfix(_target(operation)) else f"({target})."


def _pointed_to(operation: Operation, sugar: Sugar) -> str:
    """The address of the variable."""
    target = operation.file.text.slice(*sugar.target)
    return _pointer(operation) or (f"&{target}" if _is_postfix(_target(operation)) else f"&({target})")


def _pointer(operation: Operation) -> str:
    """`p` of a variable that is written `*p`."""
    target = _target(operation)
    if target is None or target.kind.name != "UNARY_OPERATOR":
        return ""
    inner = next(target.get_children())
    extent = inner.extent.start.offset, inner.extent.end.offset
    while inner.kind.name == "UNEXPOSED_EXPR":
        inner = next(inner.get_children())
    return operation.file.text.slice(*extent) if _is_postfix(inner) else ""


def _is_used(operation: Operation) -> bool:
    """Is the value of the expression used? That of a statement is not."""
    path = list(operation.path[:-1])
    while path and path[-1].kind.name == "UNEXPOSED_EXPR":
        path.pop()
    if not path:
        return True
    parent = path[-1].kind.name
    if parent == "COMPOUND_STMT":
        above = path[-2].kind.name if len(path) > 1 else ""
        return above == "StmtExpr"
    if parent in _STATEMENTS:
        return False
    if parent in ("IF_STMT", "WHILE_STMT", "DO_STMT", "FOR_STMT", "SWITCH_STMT", "CXX_FOR_RANGE_STMT"):
        return _is_head(path[-1], operation)
    return True


def _is_head(statement: Cursor, operation: Operation) -> bool:
    """Does the operation stand in the head of the statement? Its value is taken to be used there."""
    *_, body = statement.get_children()
    if statement.kind.name == "IF_STMT":
        condition = next(statement.get_children())
        return bool(operation.start < condition.extent.end.offset)
    if statement.kind.name == "DO_STMT":
        return bool(body.extent.start.offset <= operation.start)
    return bool(operation.start < body.extent.start.offset)


def _target(operation: Operation) -> Cursor | None:
    """The expression that is the atomic variable."""
    assert isinstance(operation.written, Sugar)
    start, end = operation.written.target
    cursor = operation.path[-1]
    for one in cursor.walk_preorder():
        extent = one.extent.start.offset, one.extent.end.offset
        conversion = one.referenced is not None and one.referenced.kind.name == "CONVERSION_FUNCTION"
        implicit = one.kind.name == "UNEXPOSED_EXPR" or conversion
        if extent == (start, end) and not implicit and one is not cursor:
            return one
    return None


def _is_postfix(cursor: Cursor | None) -> bool:
    if cursor is None or cursor.kind.name not in _POSTFIX:
        return False
    return not str(cursor.spelling).startswith("operator") or cursor.spelling == "operator[]"
