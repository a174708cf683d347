"""Which values of stale writes the monitors must tell apart (rocker-2019, section 5.1).

A value of a location is critical if some instruction can be blocked or decided by it. All other values of
the location share one class. Reads and writes are asked about different sets of stale writes (`plain` and
`free` in design.md, section 3), and each only as far as some instruction asks:

    load                        any plain value at all
    wait for v                  v in plain
    CAS expecting v             v in free; any value but v in plain
    BCAS expecting v            v in free
    store, FADD, exchange       any free value at all; free values exist only where there is a plain store
"""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from fencepost.program import (
    BlockingCompareExchange,
    CellAccess,
    CompareExchange,
    Expression,
    Load,
    Program,
    Store,
    Thread,
    Wait,
)
from fencepost.static.possible_values import PossibleValues, Values

MOST_CRITICAL_VALUES = 1024


class ValueClasses(msgspec.Struct, frozen=True):
    """`tracked` values have a class each; all others share one, if `others` is set, or have none."""

    tracked: tuple[int, ...] = ()
    others: bool = False


class StaleClasses(msgspec.Struct, frozen=True):
    plain: ValueClasses = ValueClasses()
    free: ValueClasses = ValueClasses()


class _Demand(msgspec.Struct):
    """What the instructions ask about one location."""

    plain_asked: bool = False
    free_asked: bool = False
    plain_stores: bool = False
    plain_critical: list[Values] = msgspec.field(default_factory=list)
    free_critical: list[Values] = msgspec.field(default_factory=list)


def critical_values(program: Program) -> dict[str, Values]:
    """The critical values of each atomic location; None where every value is critical."""
    possible = PossibleValues(program)
    demands = _demands(program, possible)
    return {
        name: _union(demand.plain_critical + demand.free_critical)
        for name, demand in demands.items()
        if program.location_named[name].atomic
    }


def stale_classes(program: Program, private: Collection[tuple[int, int]] = ()) -> dict[str, StaleClasses]:
    """For each location the classes of stale values that a monitor must keep.

    `private` accesses, by thread and pc, ask for none.
    """
    possible = PossibleValues(program)
    result = {}
    for name, demand in _demands(program, possible, private).items():
        if not program.location_named[name].atomic:
            result[name] = StaleClasses()
            continue
        held = possible.of_location(name)
        plain = free = ValueClasses()
        if demand.plain_asked:
            plain = _classes(program, name, held, _union(demand.plain_critical))
        if demand.free_asked and demand.plain_stores:
            free = _classes(program, name, held, _union(demand.free_critical))
        result[name] = StaleClasses(plain, free)
    return result


def _demands(
    program: Program, possible: PossibleValues, private: Collection[tuple[int, int]] = ()
) -> dict[str, _Demand]:
    demands = {location.name: _Demand() for location in program.locations}
    for t, thread in enumerate(program.threads):
        for pc, instruction in enumerate(thread.code):
            if isinstance(instruction, CellAccess) and (t, pc) not in private:
                _add_demand(demands[instruction.cell.name], thread, instruction, possible)
    return demands


def _add_demand(demand: _Demand, thread: Thread, access: CellAccess, possible: PossibleValues) -> None:
    def values(*expressions: Expression) -> Values:
        return _union([possible.of_expression(thread, e) for e in expressions])

    match access:
        case Load():
            demand.plain_asked = True
        case Wait(_, _, awaited):
            demand.plain_asked = True
            demand.plain_critical.append(values(*awaited))
        case CompareExchange(_, _, expected):
            demand.plain_asked = demand.free_asked = True
            demand.plain_critical.append(values(expected))
            demand.free_critical.append(values(expected))
        case BlockingCompareExchange(_, expected):
            demand.free_asked = True
            demand.free_critical.append(values(expected))
        case _:
            demand.free_asked = True
            demand.plain_stores |= isinstance(access, Store)


def _union(sets: list[Values]) -> Values:
    result: frozenset[int] = frozenset()
    for values in sets:
        if values is None:
            return None
        result |= values
    return result


def _classes(program: Program, name: str, held: Values, critical: Values) -> ValueClasses:
    if critical is None and held is None:
        if program.modulus > MOST_CRITICAL_VALUES:
            location = program.location_named[name]
            raise program.mistake(
                f"`{name}` is compared with a computed value and can hold any of 0..{program.max_value}; "
                f"at most {MOST_CRITICAL_VALUES} values can be told apart: lower max_value",
                location.at,
            )
        return ValueClasses(tuple(range(program.modulus)), False)
    if critical is None:
        assert held is not None
        return ValueClasses(tuple(sorted(held)), False)
    if held is None:
        return ValueClasses(tuple(sorted(critical)), program.modulus > len(critical))
    return ValueClasses(tuple(sorted(critical & held)), bool(held - critical))
