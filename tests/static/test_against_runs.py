"""Facts about programs against all runs under sequential consistency of random programs."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from fencepost.formats.tpl import read, write
from fencepost.models.explore import LimitReachedError
from fencepost.models.sc import ScState, sc_states, sc_transitions
from fencepost.models.threads import DIVERGED, Access, Label, ProgramLts, ThreadState
from fencepost.program import (
    BlockingCompareExchange,
    CellAccess,
    CompareExchange,
    Constant,
    Fence,
    Load,
    Program,
    Store,
    Verify,
    Wait,
    expressions_of,
)
from fencepost.static.constants import with_constants
from fencepost.static.critical_values import StaleClasses, ValueClasses, stale_classes
from fencepost.static.liveness import live_registers
from fencepost.static.possible_values import PossibleValues
from fencepost.static.private_locations import private_accesses
from fencepost.static.rotations import Rotation, rotations, without_bounds
from fencepost.static.symmetry import ThreadExchange, exchanges
from tests.engine.alike import program_with_copies
from tests.engine.counting import program_with_counters
from tests.strategies import random_program, wide_program

PROGRAMS = 150
MOST_STATES = 1000


def drawn(seed: int) -> Program:
    if seed % 3 == 0:
        return wide_program(random.Random(seed), sc_accesses=True)
    return random_program(
        random.Random(seed), loop_free=False, modes=seed % 2 == 0, sc_accesses=seed % 2 == 0
    )


def explored(programs: Iterator[Program]) -> Iterator[tuple[Program, ProgramLts, list[ScState]]]:
    """Those that have few states, with all of them."""
    for program in programs:
        lts = ProgramLts(program)
        try:
            yield program, lts, list(sc_states(lts, MOST_STATES))
        except LimitReachedError:
            continue


def random_programs() -> Iterator[tuple[Program, ProgramLts, list[ScState]]]:
    return explored(drawn(seed) for seed in range(PROGRAMS))


def accesses(lts: ProgramLts, state: ScState) -> Iterator[tuple[int, int, Access]]:
    """The thread, pc and resolved access of each thread that stands at an access to a cell."""
    for t, at in enumerate(state.threads):
        access = lts.threads[t].access(at)
        if access is not None and isinstance(access.instruction, CellAccess):
            yield t, at.pc, access


def held_values(program: Program, states: list[ScState]) -> dict[str, set[int]]:
    held: dict[str, set[int]] = defaultdict(set)
    for state in states:
        for (name, _), value in zip(cells(program), state.memory, strict=False):
            held[name].add(value)
    return held


def cells(program: Program) -> list[tuple[str, int]]:
    return [(location.name, n) for location in program.locations for n in range(len(location.initial))]


# Possible values.


def test_all_values_of_runs_are_possible() -> None:
    for program, lts, states in random_programs():
        possible = PossibleValues(program)
        for name, values in held_values(program, states).items():
            expected = possible.of_location(name)
            assert expected is None or values <= expected, f"{name}:\n{write(program)}"
        for state in states:
            for t, pc, access in accesses(lts, state):
                thread = program.threads[t]
                expressions = list(expressions_of(thread.code[pc]))[-len(access.operands) or None :]
                for expression, value in zip(expressions, access.operands, strict=False):
                    of = possible.of_expression(thread, expression)
                    assert of is None or value in of, f"{t}, {pc}:\n{write(program)}"


@pytest.mark.parametrize(
    ("code", "values"),
    [
        ("x.store(6 / r);", {0, 1, 6, 3, 2}),
        ("r = FADD(x, r);", {0, 1, 2, 3, 4, 5, 6, 7, None}),
        ("r = XCHG(x, 5);", {0, 1, 5}),
        ("r = CAS(x, 1, 5);", {0, 1, 5}),
        ("BCAS(x, 1, 5);", {0, 1, 5}),
        ("x.store(y + 3);".replace("y", "r"), {0, 1, 3, 4, 5, 6}),
    ],
)
def test_possible_values_of_a_location(code: str, values: set[int | None]) -> None:
    program = read(
        f"""
        max_value 7;
        global x=1, z;
        fn t {{ local r; oneof({{ r = 1; }} {{ r = 2; }} {{ r = 3; }} {{ skip; }}); {code} }}
        fn u {{ z.store(1); x.store(0); }}
        """
    )
    found = PossibleValues(program).of_location("x")
    assert found == (None if None in values else values)


def test_values_that_come_round_a_loop_are_possible() -> None:
    program = read("max_value 9; global x, y; fn t { local r; r = y.load(); x.store(r); y.store(7); }")
    assert PossibleValues(program).of_location("x") == {0, 7}


# Private accesses.


def test_private_accesses_are_seen_by_nobody() -> None:
    private_steps = 0
    for program, lts, states in random_programs():
        users: dict[int, set[int]] = defaultdict(set)
        written: set[int] = set()
        reached: dict[tuple[int, int], set[int]] = defaultdict(set)
        for state in states:
            for t, pc, access in accesses(lts, state):
                users[access.cell].add(t)
                reached[t, pc].add(access.cell)
                if not isinstance(access.instruction, Load | Wait):
                    written.add(access.cell)
        for ordered_by_s in (False, True):
            for t, pc in private_accesses(program, ordered_by_s=ordered_by_s):
                if isinstance(program.threads[t].code[pc], Fence):
                    continue
                assert not isinstance(program.threads[t].code[pc], Wait | BlockingCompareExchange)
                private_steps += bool(reached[t, pc])
                for cell in reached[t, pc]:
                    alone = users[cell] == {t} or cell not in written
                    assert alone, f"{t}, {pc}:\n{write(program)}"
    assert private_steps > 20


def test_cells_of_an_array_are_told_apart_by_constant_indices_alone() -> None:
    text = "global a[3], x; fn t {{ a[1].store(1); }} fn u {{ local r; {} a[{}].store(2); }}"
    for index, private in (("2", {(0, 0), (1, 0)}), ("1", set())):
        assert private_accesses(read(text.format("", index))) == private
    assert private_accesses(read(text.format("r = x.load();", "r"))) == {(1, 0)}


def test_what_is_waited_for_is_not_private() -> None:
    program = read("global x; fn t { local r; x.store(1); r = wait(x, 2); }")
    assert private_accesses(program) == set()


# Classes of stale values.


def check_classes(of: ValueClasses, singly: set[int], held: set[int]) -> None:
    """Values in `singly` have classes of their own, and all that can be held have one."""
    assert singly & held <= set(of.tracked)
    assert of.others or held <= set(of.tracked)


def test_all_values_that_decide_something_have_their_own_class() -> None:
    for program, lts, states in random_programs():
        classes = stale_classes(program)
        held = held_values(program, states)
        stores = {i.cell.name for thread in program.threads for i in thread.code if isinstance(i, Store)}
        for state in states:
            for t, pc, access in accesses(lts, state):
                instruction = program.threads[t].code[pc]
                assert isinstance(instruction, CellAccess)
                name = instruction.cell.name
                if not program.location_named[name].atomic:
                    assert classes[name] == StaleClasses()
                    continue
                first = set(access.operands[:1])
                if isinstance(instruction, Load):
                    check_classes(classes[name].plain, set(), held[name])
                elif isinstance(instruction, Wait):
                    check_classes(
                        classes[name].plain, set(access.operands), set(access.operands) & held[name]
                    )
                elif isinstance(instruction, CompareExchange):
                    check_classes(classes[name].plain, first, held[name])
                if isinstance(instruction, Load | Wait) or name not in stores:
                    continue
                blocking = isinstance(instruction, BlockingCompareExchange)
                decided = blocking or isinstance(instruction, CompareExchange)
                check_classes(
                    classes[name].free,
                    first if decided else set(),
                    held[name] & first if decided else held[name],
                )


@pytest.mark.parametrize(
    ("access", "plain", "free"),
    [
        ("r = x.load();", ((), True), ((), False)),
        ("r = wait(x, 1);", ((1,), True), ((), False)),
        ("r = CAS(x, 1, 2);", ((1,), True), ((1,), True)),
        ("BCAS(x, 1, 2);", ((), False), ((1,), True)),
        ("r = XCHG(x, 2);", ((), False), ((), True)),
        ("r = CAS(x, 5, 2);", ((), True), ((), True)),
    ],
)
def test_classes_are_no_finer_than_somebody_asks(
    access: str, plain: tuple[tuple[int, ...], bool], free: tuple[tuple[int, ...], bool]
) -> None:
    """Free values, asked for by every store, are there because of the store."""
    program = read(
        f"max_value 9; global x, y; fn t {{ local r; {access} }} fn u {{ x.store(1); x.store(2); }}"
    )
    free = (free[0], True)
    assert stale_classes(program)["x"] == StaleClasses(ValueClasses(*plain), ValueClasses(*free))


def test_free_values_matter_only_where_there_is_a_store() -> None:
    program = read("global x; fn t[2] { local r; r = CAS(x, 0, 1); r = FADD(x, 1); }")
    assert stale_classes(program)["x"].free == ValueClasses()


# Live registers.


def projected(state: ThreadState, live: list[frozenset[str]], names: tuple[str, ...]) -> ThreadState:
    """The thread with 0 in its dead registers."""
    if state.pc == DIVERGED:
        return state
    values = zip(names, state.registers, strict=True)
    return ThreadState(state.pc, tuple(value if name in live[state.pc] else 0 for name, value in values))


def test_dead_registers_do_not_matter() -> None:
    compared = 0
    for program, lts, states in random_programs():
        for t, thread in enumerate(program.threads):
            live = live_registers(thread, frozenset())
            for at in {state.threads[t] for state in states}:
                other = projected(at, live, thread.registers)
                if at == other or at.pc in (DIVERGED, len(thread.code)):
                    continue
                compared += 1
                assert lts.threads[t].access(at) == lts.threads[t].access(other)
                for value in range(program.modulus):
                    steps = [lts.threads[t].step(start, value) for start in (at, other)]
                    after = [
                        step
                        and (
                            step.label,
                            {projected(next_, live, thread.registers) for next_ in step.successors},
                            {(finding.kind, finding.pc) for finding in step.findings},
                        )
                        for step in steps
                    ]
                    assert after[0] == after[1], f"{t}, {at.pc}:\n{write(program)}"
    assert compared > 100


# Constants.


def test_what_is_asked_about_at_the_end_is_live_there() -> None:
    (thread,) = read("global x; fn t { local r, s; r = x.load(); s = r; s = x.load(); }").threads
    assert live_registers(thread, frozenset())[-1] == frozenset()
    assert live_registers(thread, frozenset({"r"}))[-1] == {"r"}


def test_what_is_asked_about_at_the_end_is_live_where_a_thread_may_end_early() -> None:
    loop = "again: s = x.load(); assume(s == 1); goto again;"
    (thread,) = read(f"global x; fn t {{ local r, s; r = x.load(); {loop} }}").threads
    assert all("r" in live for live in live_registers(thread, frozenset({"r"})))


def test_programs_with_constants_have_the_same_states() -> None:
    for program, _, states in random_programs():
        assert set(sc_states(ProgramLts(with_constants(program)))) == set(states), write(program)


@pytest.mark.parametrize(
    "code",
    [
        "oneof({ r = 1; } { r = 2; }); x.store(r);",
        "r = 1; if (y == 0) { r = 2; } x.store(r);".replace("y == 0", "s == 0"),
        "while (r < 3) { r = r + 1; x.store(r); }",
        "r = 1; r = y.load(); x.store(r);",
    ],
)
def test_what_is_known_on_one_way_alone_is_not_known(code: str) -> None:
    program = read(f"max_value 3; global x, y; fn t {{ local r, s; {code} }} fn u {{ y.store(2); }}")
    folded = with_constants(program)
    assert set(sc_states(ProgramLts(folded))) == set(sc_states(ProgramLts(program)))


def test_what_may_fail_keeps_its_registers() -> None:
    """They are reported."""
    program = read(
        "global a[2], x; fn t { local r; r = 2; a[r].store(1); } fn u { local r; r = 1; a[r].store(1); }"
    )
    folded = with_constants(program)
    assert folded.threads[0].code[1] == program.threads[0].code[1]
    assert folded.threads[1].code[1] != program.threads[1].code[1]


def test_a_verified_register_keeps_its_value() -> None:
    program = read("global x; fn t { local r; r = 1; verify(r); x.store(r); }")
    assert any(isinstance(i, Verify) for i in program.threads[0].code)
    (store,) = (i for i in with_constants(program).threads[0].code if isinstance(i, Store))
    assert store.value == Constant(1)


# Exchanges of threads.


class Renaming:
    """What an exchange or a rotation does to states and labels."""

    def __init__(self, program: Program, of: ThreadExchange | Rotation) -> None:
        self._program = program
        self._threads: dict[int, int] = {}
        self._cells: dict[int, int] = {}
        self._values: dict[int | tuple[int, int, int], dict[int, int]] = defaultdict(dict)
        if isinstance(of, Rotation):
            for first, size in of.arrays:
                self._cells |= {first + n: first + (n + of.step) % size for n in range(size)}
            for place in (*of.cells, *of.registers):
                self._values[place] = {v: (v + of.step) % of.modulus for v in range(of.modulus)}
            return
        self._threads = {of.first: of.second, of.second: of.first}
        self._cells = {x: y for pair in of.cells for x, y in (pair, pair[::-1])}
        for renamed in of.values:
            swapped = {renamed.first: renamed.second, renamed.second: renamed.first}
            for place in (*renamed.cells, *renamed.registers):
                self._values[place] |= swapped

    def thread(self, t: int) -> int:
        return self._threads.get(t, t)

    def cell(self, x: int) -> int:
        return self._cells.get(x, x)

    def value(self, x: int, v: int) -> int:
        return self._values[x].get(v, v)

    def at(self, t: int, state: ThreadState, live: list[frozenset[str]]) -> ThreadState:
        names = self._program.threads[t].registers
        state = projected(state, live, names)
        if state.pc in (DIVERGED, len(self._program.threads[t].code)):
            return ThreadState(state.pc, (0,) * len(names))
        registers = (self._values[t, state.pc, n].get(v, v) for n, v in enumerate(state.registers))
        return ThreadState(state.pc, tuple(registers))

    def memory(self, memory: tuple[int, ...]) -> tuple[int, ...]:
        image = list(memory)
        for x, v in enumerate(memory):
            image[self.cell(x)] = self.value(x, v)
        return tuple(image)

    def label(self, label: Label) -> Label:
        x = label.cell
        read, written = (None if v is None else self.value(x, v) for v in (label.read, label.written))
        return label._replace(cell=self.cell(x), read=read, written=written)

    def classes(self, x: int, of: ValueClasses) -> ValueClasses:
        return replace(of, tracked=tuple(sorted(self.value(x, v) for v in of.tracked)))


def check_renaming(program: Program, renaming: Renaming, lts: ProgramLts, states: list[ScState]) -> None:
    """Every state does what its image does, renamed. Dead registers count as 0.

    The first state need not be its own image: then all that is found are images of what is there.
    """
    live = [live_registers(thread, frozenset()) for thread in program.threads]

    def image_of(state: ScState) -> ScState:
        threads = list(state.threads)
        for t, at in enumerate(state.threads):
            threads[renaming.thread(t)] = renaming.at(t, at, live[t])
        return ScState(tuple(threads), renaming.memory(state.memory))

    def plain(t: int, state: ThreadState) -> ThreadState:
        at_end = state.pc in (DIVERGED, len(program.threads[t].code))
        names = program.threads[t].registers
        return ThreadState(state.pc, (0,) * len(names)) if at_end else projected(state, live[t], names)

    def steps(state: ScState, *, rename: bool) -> set[object]:
        found: set[object] = set()
        for t, step, memory in sc_transitions(lts, state):
            findings = frozenset((finding.kind, finding.pc) for finding in step.findings)
            if rename:
                after = frozenset(renaming.at(t, at, live[t]) for at in step.successors)
                label, reached = renaming.label(step.label), renaming.memory(memory)
                found.add((renaming.thread(t), label, after, findings, reached))
            else:
                after = frozenset(plain(t, at) for at in step.successors)
                found.add((t, step.label, after, findings, memory))
        return found

    for state in states:
        assert steps(state, rename=True) == steps(image_of(state), rename=False)
    classes = stale_classes(program)
    for x, (name, _) in enumerate(cells(program)):
        image_name = cells(program)[renaming.cell(x)][0]
        assert renaming.classes(x, classes[name].plain) == classes[image_name].plain
        assert renaming.classes(x, classes[name].free) == classes[image_name].free


def alike(seed: int) -> Program:
    """Copies of a thread. Initial values differ, and sometimes the order of one that fails."""
    source = random.Random(seed)
    program = program_with_copies(source, loop_free=False, modes=seed % 2 == 0, sc_accesses=seed % 4 == 0)
    locations = tuple(
        replace(
            location,
            initial=tuple(
                source.randint(0, program.max_value) if source.random() < 0.3 else v for v in location.initial
            ),
        )
        for location in program.locations
    )
    return replace(program, locations=locations)


def test_exchanges_map_programs_to_themselves() -> None:
    found = renamed = 0
    for program, lts, states in explored(alike(seed) for seed in range(2 * PROGRAMS)):
        for exchange in exchanges(program, stale_classes(program)):
            found += 1
            renamed += bool(exchange.values)
            try:
                check_renaming(program, Renaming(program, exchange), lts, states)
            except AssertionError as error:
                raise AssertionError(f"{exchange}:\n{write(program)}") from error
    assert found > PROGRAMS
    assert renamed > 10


# Rotations of values.


def test_rotations_map_programs_to_themselves() -> None:
    found = arrays = coarse = 0
    for program, lts, states in explored(
        program_with_counters(random.Random(seed), loop_free=False, modes=seed % 2 == 0)
        for seed in range(2 * PROGRAMS)
    ):
        for rotation in rotations(program, stale_classes(program)):
            found += 1
            arrays += bool(rotation.arrays)
            coarse += rotation.step > 1
            try:
                check_renaming(program, Renaming(program, rotation), lts, states)
            except AssertionError as error:
                raise AssertionError(f"{rotation}:\n{write(program)}") from error
    assert found > PROGRAMS // 3
    assert arrays > 5
    assert coarse > 5


COUNTING = """
    max_value {most};
    global c, x, a[2];
    fn t[2] {{ local r, s; while (1) {{ {code} }} }}
"""
READ = "r = c.load(); s = c.load();"


@pytest.mark.parametrize(
    ("most", "code", "found"),
    [
        (3, "r = FADD(c, 1);", (4, 1, False)),
        (3, "r = FADD(c, 1); wait(c, r);", (4, 1, False)),
        (3, "r = c.load(); c.store(r + 1);", (4, 1, False)),
        (3, "r = c.load(); c.store(r - 1);", (4, 1, False)),
        (3, "r = c.load(); c.store(r + r);", None),
        (5, "r = c.load(); c.store((r + 1) % 4);", (4, 1, False)),
        (5, "r = c.load(); c.store((r + 2) % 5);", (5, 1, False)),
        (5, "r = c.load(); c.store((r + 1) % 4); c.store(5);", None),
        (5, "r = FADD(c, 1); c.store(r % 4);", None),
        (5, "r = c.load(); c.store((r + 1) % 4); c.store(r * 0 + 5);", None),
        (3, "r = FADD(c, 1); FADD(x, r); s = x.load(); assert(s != 1);", None),
        # A value that is told from the others, and one that tells every other one.
        (3, "r = FADD(c, 1); if (r == 3) { x.store(1); }", None),
        (3, "r = FADD(c, 1); if (r % 2 == 1) { x.store(1); }", (4, 2, False)),
        (3, "r = FADD(c, 1); x.store(r & 1);", (4, 2, False)),
        (3, "r = FADD(c, 1); c.store(0);", None),
        (3, "r = FADD(c, 1); x.store(1); r = x.load(); c.store(r);", None),
        # Values that wrap around are not in order.
        (3, f"r = FADD(c, 1); {READ} if (r < s) {{ x.store(1); }}", None),
        (3, f"r = FADD(c, 1); {READ} if (r != s) {{ x.store(1); }}", (4, 1, False)),
        (3, f"r = FADD(c, 1); {READ} if (r + 1 == s) {{ x.store(1); }}", None),
        (3, f"r = FADD(c, 1); {READ} r = s - r; if (r < 2) {{ x.store(1); }}", (4, 1, False)),
        (4, f"{READ} c.store((r + 1) % 4); if ((r + 1) % 4 == s) {{ x.store(1); }}", (4, 1, False)),
        # Cells of an array move with their indices, if all indices do.
        (3, "r = FADD(c, 1); a[r % 2].store(1);", (4, 1, True)),
        (3, "r = FADD(c, 1); a[r % 2].store(1); a[0].store(0);", (4, 2, False)),
        (3, "r = FADD(c, 1); a[r % 2].store(1); r = a[(r + 1) % 2].load();", (4, 1, True)),
        (2, "r = FADD(c, 1); a[r % 2].store(1);", None),
        (3, "r = FADD(c, 1); a[r].store(1);", None),
        (3, "r = FADD(c, 1); x.store(6 / r);", None),
        (3, "r = FADD(c, 1); x.store(0 / r);", None),
        (3, "r = FADD(c, 1); s = x.load(); if (s * r == 0) { x.store(1); }", None),
        (3, f"r = FADD(c, 1); {READ} if (r == s && r < 2) {{ x.store(1); }}", None),
        (3, "r = FADD(c, 1); r = c.fetch_and(1);", None),
        (3, "r = FADD(c, 1); r = c.fetch_or(1);", (4, 2, False)),
        (3, "r = FADD(c, 1); r = c.fetch_xor(2);", (4, 1, False)),
    ],
)
def test_values_rotate_where_nobody_tells_how_far(
    most: int, code: str, found: tuple[int, int, bool] | None
) -> None:
    program = read(COUNTING.format(most=most, code=code))
    assert [(r.modulus, r.step, bool(r.arrays)) for r in rotations(program, stale_classes(program))] == (
        [] if found is None else [found]
    )


def test_values_that_do_not_wrap_around_do_not_rotate() -> None:
    program = read(COUNTING.format(most=3, code="r = FADD(c, 1);"))
    assert rotations(program, stale_classes(program))
    assert not rotations(replace(program, wraps=False), stale_classes(program))


@pytest.mark.parametrize(
    ("code", "left"),
    [
        ("r = FADD(c, 1); assume(r < 3);", []),
        ("r = FADD(c, 1); s = c.load(); assume(r < 3 && r != s && 2 > s);", ["r != s"]),
        ("r = FADD(c, 1); s = c.load(); assume(r != s);", None),
        ("r = FADD(c, 1); assume(r < 3); assert(r != 2);", None),
        ("r = FADD(c, 1); if (r < 3) { x.store(1); }", None),
        ("x.store(1); s = x.load(); assume(s < 3); FADD(c, 1);", None),
        ("r = FADD(c, 1); assume(r < 3); s = x.load(); assume(s == 1);", ["s == 1"]),
        ("r = FADD(c, 1); assume(r < 3); s = FADD(x, 1); assume(s < 2);", []),
    ],
)
def test_bounds_of_values_that_rotate_can_be_left_out(code: str, left: list[str] | None) -> None:
    free = without_bounds(read(COUNTING.format(most=3, code=code)))
    if left is None:
        assert free is None
        return
    assert free is not None
    assert rotations(free, stale_classes(free))
    assumed = [line.strip() for line in write(free).splitlines() if "assume" in line]
    assert assumed == [f"assume({condition});" for condition in left]


def test_values_that_are_out_of_range_at_first_do_not_rotate() -> None:
    program = read(COUNTING.format(most=5, code="r = c.load(); c.store((r + 1) % 4);"))
    assert rotations(program, stale_classes(program))
    c, *others = program.locations
    program = replace(program, locations=(replace(c, initial=(4,)), *others))
    assert not rotations(program, stale_classes(program))


def test_an_array_with_a_pivot_stays_where_it_is() -> None:
    program = read(
        """
        max_value 3;
        global a[2], c;
        fn t[2] { local r, s; while (1) { r = FADD(c, 1); s = FADD(a[r % 2], 1); } }
        """
    )
    assert [program.cells[r.pivot] for r in rotations(program, stale_classes(program))] == ["a[0]"]


def test_a_rotation_leaves_the_pivots_of_others_alone() -> None:
    """Indices of `a` rotate, and so do its values, by themselves; then only one of them can have its pivot
    there."""
    program = read(
        """
        max_value 3;
        global c, a[2], b;
        fn t[2] {
            local r, s;
            while (1) { r = FADD(c, 1); s = FADD(a[r % 2], 1); wait(b, s); s = FADD(b, 1); }
        }
        """
    )
    found = rotations(program, stale_classes(program))
    assert [program.cells[rotation.pivot] for rotation in found] == ["c", "b"]
    assert [bool(rotation.arrays) for rotation in found] == [True, False]


@pytest.mark.parametrize(
    ("code", "steps"),
    [
        ("r = FADD(c, 1); s = FADD(x, 1);", {"c": 1, "x": 1}),
        # Values of two sorts together: each of them alone changes what is asked.
        ("r = FADD(c, 1); s = FADD(x, 1); if ((r + s) % 2 == 0) { a[0].store(1); }", {"c": 2, "x": 2}),
        ("r = FADD(c, 1); s = FADD(x, 1); if (((r + s) & 3) == 0) { a[0].store(1); }", {}),
        ("r = FADD(c, 1); s = FADD(x, 2); if (s < 2) { a[0].store(1); }", {"c": 1}),
        # The same expression, of registers that both rotate, and then of one that does and one that does not.
        ("r = FADD(c, 1); s = c.load(); if (((r + s * 3) & 3) == 1) { x.store(1); }", {"c": 1}),
        (
            "r = FADD(c, 1); s = c.load(); if (((r + s * 3) & 3) == 1) { x.store(1); } "
            "s = x.load(); if (((r + s * 3) & 3) == 1) { x.store(1); }",
            {},
        ),
    ],
)
def test_values_of_two_sorts_rotate_by_themselves(code: str, steps: dict[str, int]) -> None:
    program = read(COUNTING.format(most=3, code=code))
    found = rotations(program, stale_classes(program))
    assert {program.cells[rotation.pivot]: rotation.step for rotation in found} == steps


def test_no_cell_that_is_moved_tells_how_far_values_have_come() -> None:
    program = read(
        """
        max_value 3;
        global a[2], c;
        fn t[2] { local r; while (1) { r = c.load(); r = a[r % 2].load(); c.store(r + 1); } }
        """
    )
    assert [program.cells[r.pivot] for r in rotations(program, stale_classes(program))] == ["c"]
    program = read(
        """
        max_value 3;
        global x, y;
        fn a { local r; while (1) { r = FADD(x, 1); } }
        fn b { local r; while (1) { r = FADD(y, 1); } }
        """
    )
    classes = stale_classes(program)
    assert len(rotations(program, classes)) == 2
    assert exchanges(program, classes)
    assert not rotations(program, classes, exchanges(program, classes))


OWN_VALUES = """
    max_value 3;
    global x{initial};
    fn a {{ local r; {first} }}
    fn b {{ local r; {second} }}
"""


@pytest.mark.parametrize(
    ("initial", "code", "can"),
    [
        ("", "x.store({v}); r = x.load();", True),
        ("", "x.store({v}); r = x.load(); r = FADD(x, 1);", False),
        ("", "x.store({v}); r = FADD(x, 0);", True),
        ("", "x.store({v}); r = x.fetch_and(0);", False),
        ("", "x.store({v}); r = x.load(); x.store(r + r);", False),
        ("", "x.store({v}); r = x.load(); if (r < 2) {{ x.store(0); }}", False),
        # What x can hold at first is told apart by one of the threads only.
        ("=1", "x.store(0); r = wait(x, {v});", False),
    ],
)
def test_own_values_can_be_exchanged_where_nobody_computes_with_them(
    initial: str, code: str, *, can: bool
) -> None:
    first, second = (code.format(v=v) for v in (1, 2))
    program = read(OWN_VALUES.format(initial=initial, first=first, second=second))
    assert bool(exchanges(program, stale_classes(program))) is can
