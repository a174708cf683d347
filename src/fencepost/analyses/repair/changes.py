"""Which changes could repair a program, and what is the program with some of them made?

    kind            change                                              models
    sc-fence        insert an SC fence                                  ra, rc20, cpp20, tso
    exchange        turn a store into an exchange, its result unused    ra, rc20, cpp20
    acquire-fence   insert an acquire fence                             rc20, cpp20
    release-fence   insert a release fence                              rc20, cpp20
    acquire-load    make a relaxed load or wait acquire                 rc20, cpp20
    release-store   make a relaxed store release                        rc20, cpp20
    acquire-rmw     make the read part of an RMW acquire, of a CAS also rc20, cpp20
                    where it fails
    acquire-failure the same of a CAS only where it fails               rc20, cpp20
    release-rmw     make the write part of an RMW release               rc20, cpp20
    sc-load         make a load or wait seq_cst                         cpp20
    sc-store        make a store seq_cst                                cpp20
    sc-rmw          make an RMW seq_cst, a CAS also where it fails      cpp20
    acquire-success the parts of a CAS that `relax` takes one by one:   cpp20
    sc-success      acquire and seq_cst where it succeeds,
    sc-failure      seq_cst where it fails

`relax` offers these changes the other way round (`weakening`): of a program whose accesses are relaxed and
whose fences do nothing, it asks which orders are needed again. A fence is then a change of the statement
where it stood, which is a `Skip` without it.

Under C++20 a seq_cst access can also do without its weaker kinds: whoever takes both pays for both. Under RA
every access acquires and releases anyway, so only the first two can help; if the program carries
modes, a new exchange gets both, so that it does the same under RC20. A store is also offered `acquire-rmw`,
which takes effect together with `exchange`. `acquire-failure` is offered only where success acquires already:
C11 has no order for failure that is stronger. Under RC20 non-atomic accesses are accesses too, because
changes around them can order those that race. Left out is what cannot help: changes to
locations that one thread alone uses or that nobody writes, acquire with nothing after it, release with
nothing before it, and a fence where another place for it is at least as good:

    acquire fence   stands after a relaxed read, after a store, or where several ways come together
    release fence   stands before a relaxed write, or where several ways part

A function that makes several threads is changed for all of them at once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from msgspec.structs import replace

from fencepost.memory_models import MODELS
from fencepost.program import (
    BlockingCompareExchange,
    CellAccess,
    CompareExchange,
    Exchange,
    Fence,
    FetchAdd,
    Instruction,
    Load,
    Mode,
    Program,
    Skip,
    Store,
    Thread,
    Wait,
    access_modes,
    moved,
    read_mode,
)
from fencepost.static.fence_places import AccessFlow, FencePlace, Side
from fencepost.static.flow import loop_depths

Kind = Literal[
    "sc-fence",
    "exchange",
    "acquire-fence",
    "release-fence",
    "acquire-load",
    "release-store",
    "acquire-rmw",
    "acquire-failure",
    "release-rmw",
    "sc-load",
    "sc-store",
    "sc-rmw",
    "acquire-success",
    "sc-success",
    "sc-failure",
]

# Roughly the cost on common machines of executing it once, an acquire load being 1.
DEFAULT_COSTS: dict[Kind, float] = {
    "sc-fence": 10,
    "exchange": 8,
    "acquire-fence": 2,
    "release-fence": 2,
    "acquire-load": 1,
    "release-store": 1,
    "acquire-rmw": 1,
    "acquire-failure": 1,
    "release-rmw": 1,
    "sc-load": 2,
    "sc-store": 8,
    "sc-rmw": 2,
    "acquire-success": 1,
    "sc-success": 2,
    "sc-failure": 1,
}
_SC_KINDS: tuple[Kind, ...] = ("sc-load", "sc-store", "sc-rmw", "acquire-success", "sc-success", "sc-failure")

_FENCE_MODES: dict[Kind, Mode] = {
    "sc-fence": Mode.SC,
    "acquire-fence": Mode.ACQ,
    "release-fence": Mode.REL,
}


Bits = int  # a set of changes: the sum of 1 << number


@dataclass(frozen=True, slots=True)
class Change:
    """One change to the statement at `pc` of a function, or a fence on one `side` of it.

    `threads` are the threads that the function makes, `loops` the number of loops around the statement. An
    exchange that `orders` acquires and releases by its own modes.
    """

    kind: Kind
    threads: tuple[int, ...]
    pc: int
    side: Side | None = None
    loops: int = 0
    orders: bool = False


class Origin(NamedTuple):
    """What an instruction of a changed program was: the one at `pc`, or on one side of it a new fence."""

    pc: int
    side: Side | None = None


class Changed(NamedTuple):
    """A program with changes made, and for each of its threads where each instruction comes from."""

    program: Program
    origins: tuple[tuple[Origin, ...], ...]


class Offered:
    """The changes that are offered for a program: numbered, and found by place."""

    def __init__(self, program: Program, model: str, changes: Sequence[Change]) -> None:
        self.program = program
        self.model = model
        self.changes = changes
        self._at: dict[tuple[int, Origin], dict[Kind, Bits]] = {}
        for number, change in enumerate(changes):
            for thread in change.threads:
                place = self._at.setdefault((thread, Origin(change.pc, change.side)), {})
                place[change.kind] = 1 << number

    def at(self, thread: int, origin: Origin) -> Mapping[Kind, Bits]:
        return self._at.get((thread, origin), {})

    def with_instances(self, copies: int) -> Offered:
        """The same changes, under the same numbers, for the program with so many copies of each template."""
        numbers = self.program.instance_numbers(copies)
        changes = [
            dataclasses.replace(change, threads=tuple(n for t in change.threads for n in numbers[t]))
            for change in self.changes
        ]
        return Offered(self.program.with_instances(copies), self.model, changes)


def kinds_for(model: str) -> tuple[Kind, ...]:
    """The kinds of changes that can help against the model, as the table says."""
    if model == "tso":
        return ("sc-fence",)
    if MODELS[model].synchronises:
        return ("sc-fence", "exchange")
    return tuple(kind for kind in DEFAULT_COSTS if MODELS[model].sc_accesses or kind not in _SC_KINDS)


def candidates(program: Program, model: str, kinds: Collection[Kind] | None = None) -> tuple[Change, ...]:
    """Every change of the given kinds that might help to make the program robust against the model."""
    wanted = set(kinds_for(model)) & set(kinds_for(model) if kinds is None else kinds)
    if model == "tso":
        return tuple(_fences_against_tso(program)) if wanted else ()
    shared = shared_locations(program, non_atomic=MODELS[model].weak_fences)
    orders = MODELS[model].synchronises and _carries_modes(program)
    return tuple(
        dataclasses.replace(change, orders=orders and change.kind == "exchange")
        for threads in functions_of(program)
        for change in _Offers(program.threads[threads[0]].code, threads, shared, wanted).all()
        if change.kind in wanted
    )


def apply(program: Program, changes: Iterable[Change]) -> Changed:
    """The program with the changes made."""
    by_thread: dict[int, list[Change]] = {}
    for change in changes:
        for number in change.threads:
            by_thread.setdefault(number, []).append(change)
    threads, origins = [], []
    for number, thread in enumerate(program.threads):
        changed, origin = _changed(thread, by_thread.get(number, []))
        threads.append(changed)
        origins.append(origin)
    # Its statements are no longer those of the source.
    return Changed(replace(program, threads=tuple(threads), source=None), tuple(origins))


def new_fence(kinds: Collection[Kind], at: Instruction) -> Fence | None:
    """The one fence that does what all the fences among `kinds` do, placed where `at` is."""
    modes = {_FENCE_MODES[kind] for kind in kinds if kind in _FENCE_MODES}
    if not modes:
        return None
    mode = Mode.SC if Mode.SC in modes else Mode.ACQ_REL if len(modes) > 1 else modes.pop()
    return Fence(mode, at=at.at)


def strengthened(instruction: Instruction, kinds: Collection[Kind], *, orders: bool = False) -> Instruction:
    """The instruction with those of `kinds` done to it that are not fences; see `Change` for `orders`."""
    match instruction:
        case Skip():
            return new_fence(kinds, instruction) or instruction
        case Load() | Wait():
            if "sc-load" in kinds:
                return replace(instruction, mode=Mode.SC)
            return replace(instruction, mode=Mode.ACQ) if "acquire-load" in kinds else instruction
        case Store(cell, value, mode):
            write = Mode.REL if "release-store" in kinds else mode
            read = Mode.ACQ if "acquire-rmw" in kinds else Mode.RLX
            if "sc-store" in kinds or mode is Mode.SC:
                read = write = Mode.SC
            if "exchange" in kinds and orders:
                return Exchange(None, cell, value, Mode.ACQ, Mode.REL, at=instruction.at)
            if "exchange" in kinds:
                return Exchange(None, cell, value, read, write, at=instruction.at)
            return replace(instruction, mode=write)
    if not isinstance(instruction, CellAccess):
        return instruction
    if "sc-rmw" in kinds:
        changed = replace(instruction, load_mode=Mode.SC, store_mode=Mode.SC)
        is_cas = isinstance(changed, CompareExchange)
        return replace(changed, failure_mode=Mode.SC) if is_cas else changed
    acquires = not {"acquire-rmw", "acquire-success"}.isdisjoint(kinds)
    read = Mode.ACQ if acquires else instruction.load_mode
    write = Mode.REL if "release-rmw" in kinds else instruction.store_mode
    if "sc-success" in kinds:
        read = write = Mode.SC
    changed = replace(instruction, load_mode=read, store_mode=write)
    if isinstance(changed, CompareExchange) and "sc-failure" in kinds:
        return replace(changed, failure_mode=Mode.SC)
    if isinstance(changed, CompareExchange) and not {"acquire-rmw", "acquire-failure"}.isdisjoint(kinds):
        return replace(changed, failure_mode=Mode.ACQ)
    return changed


# --- what is offered


def _carries_modes(program: Program) -> bool:
    """Whether some access says how strongly it orders."""
    return any(
        isinstance(instruction, CellAccess) and {Mode.ACQ, Mode.REL} & set(access_modes(instruction))
        for thread in program.threads
        for instruction in thread.code
    )


def shared_locations(program: Program, *, non_atomic: bool) -> set[str]:
    """The locations that several threads use and some thread writes; `non_atomic` ones only if wanted."""
    users: dict[str, set[int]] = {}
    written: set[str] = set()
    for numbers, thread in zip(program.instance_numbers(2), program.threads, strict=True):
        for instruction in thread.code:
            if isinstance(instruction, CellAccess):
                users.setdefault(instruction.cell.name, set()).update(numbers)
                if access_modes(instruction)[1] is not None:
                    written.add(instruction.cell.name)
    return {
        name
        for name, threads in users.items()
        if len(threads) > 1 and name in written and (non_atomic or program.location_named[name].atomic)
    }


def functions_of(program: Program) -> list[tuple[int, ...]]:
    """The threads of each function."""
    functions: dict[object, list[int]] = {}
    for number, thread in enumerate(program.threads):
        key = number if thread.copies is None else (thread.family, thread.code)
        functions.setdefault(key, []).append(number)
    return [tuple(threads) for threads in functions.values()]


def _fences_against_tso(program: Program) -> Iterator[Change]:
    """A fence anywhere between two accesses: every write counts, since the order of all of them does."""
    for threads in functions_of(program):
        code = program.threads[threads[0]].code
        loops = loop_depths(code)
        for pc, side in AccessFlow(code, lambda i: isinstance(i, CellAccess)).places(crossings=True):
            yield Change("sc-fence", threads, pc, side, loops[pc])


class _Offers:
    """The changes to one function."""

    def __init__(
        self, code: Sequence[Instruction], threads: tuple[int, ...], shared: set[str], wanted: set[Kind]
    ) -> None:
        self._code = code
        self._threads = threads
        self._exchanges = "exchange" in wanted
        self._loops = loop_depths(code)
        self._flow = AccessFlow(code, lambda i: isinstance(i, CellAccess) and i.cell.name in shared)

    def all(self) -> Iterator[Change]:
        for place in self._flow.places():
            for kind in self._fences(place):
                yield Change(kind, self._threads, place.pc, place.side, self._loops[place.pc])
        for pc in self._flow.accesses:
            for kind in self._strengthenings(pc):
                yield Change(kind, self._threads, pc, None, self._loops[pc])

    def _fences(self, place: FencePlace) -> Iterator[Kind]:
        yield "sc-fence"
        if self._acquire_fence_may_help(place):
            yield "acquire-fence"
        if self._release_fence_may_help(place):
            yield "release-fence"

    def _acquire_fence_may_help(self, place: FencePlace) -> bool:
        if place.side == "after":
            return self._reads_relaxed(place.pc)
        previous = self._flow.previous[place.pc]
        if len(previous) == 1:
            return self._reads_relaxed(next(iter(previous)))
        return any(self._reads_relaxed(pc) for pc in self._flow.can_precede(place.pc))

    def _release_fence_may_help(self, place: FencePlace) -> bool:
        if place.side == "before" and self._writes_relaxed(place.pc):
            return True
        several = len(self._flow.next[place.pc]) > 1
        return several and any(self._writes_relaxed(pc) for pc in self._flow.can_follow(place.pc))

    def _strengthenings(self, pc: int) -> Iterator[Kind]:
        instruction = self._code[pc]
        if _is_non_atomic(instruction):
            return
        yield from self._sc_orders(instruction)
        acquire_may_help = bool(self._flow.next[pc]) and self._reads_relaxed(pc)
        release_may_help = bool(self._flow.previous[pc]) and self._writes_relaxed(pc)
        match instruction:
            case Load() | Wait():
                if acquire_may_help:
                    yield "acquire-load"
            case Store():
                yield "exchange"
                if release_may_help:
                    yield "release-store"
                if acquire_may_help:
                    yield "acquire-rmw"
            case _:
                if acquire_may_help:
                    relaxed = isinstance(instruction, CellAccess) and access_modes(instruction)[0] is Mode.RLX
                    yield "acquire-rmw" if relaxed else "acquire-failure"
                if release_may_help:
                    yield "release-rmw"

    def _sc_orders(self, instruction: Instruction) -> Iterator[Kind]:
        match instruction:
            case Load() | Wait() if instruction.mode is not Mode.SC:
                yield "sc-load"
            case Store() if instruction.mode is not Mode.SC:
                yield "sc-store"
            case FetchAdd() | Exchange() | CompareExchange() | BlockingCompareExchange():
                modes = (*access_modes(instruction), read_mode(instruction, writes=False))
                if set(modes) != {Mode.SC}:
                    yield "sc-rmw"

    def _reads_relaxed(self, pc: int) -> bool:
        """Also what would read relaxed if it were turned into an exchange."""
        access = self._code[pc]
        if isinstance(access, Store):
            return self._exchanges and not _is_non_atomic(access)
        relaxed = isinstance(access, CellAccess) and access_modes(access)[0] is Mode.RLX
        return relaxed or _fails_relaxed(access)

    def _writes_relaxed(self, pc: int) -> bool:
        access = self._code[pc]
        return isinstance(access, CellAccess) and access_modes(access)[1] is Mode.RLX


def _fails_relaxed(access: Instruction) -> bool:
    return isinstance(access, CompareExchange) and access.failure_mode is Mode.RLX


def _is_non_atomic(instruction: Instruction) -> bool:
    return isinstance(instruction, CellAccess) and Mode.NA in access_modes(instruction)


# --- making changes


def _changed(thread: Thread, changes: Sequence[Change]) -> tuple[Thread, tuple[Origin, ...]]:
    kinds: dict[Origin, set[Kind]] = {}
    orders = any(change.orders for change in changes)  # all exchanges of a program do, or none
    for change in changes:
        kinds.setdefault(Origin(change.pc, change.side), set()).add(change.kind)
    code: list[Instruction] = []
    origins: list[Origin] = []
    starts: list[int] = []  # old index -> new one; a jump to a statement meets the fence before it

    def add(instruction: Instruction | None, origin: Origin) -> None:
        if instruction is not None:
            code.append(instruction)
            origins.append(origin)

    for pc, instruction in enumerate(thread.code):
        here, before, after = Origin(pc), Origin(pc, "before"), Origin(pc, "after")
        starts.append(len(code))
        add(new_fence(kinds.get(before, ()), instruction), before)
        add(strengthened(instruction, kinds.get(here, ()), orders=orders), here)
        add(new_fence(kinds.get(after, ()), instruction), after)
    starts.append(len(code))
    labels = {label: starts[pc] for label, pc in thread.labels.items()}
    new_code = tuple(moved(instruction, starts) for instruction in code)
    return replace(thread, code=new_code, labels=labels), tuple(origins)
