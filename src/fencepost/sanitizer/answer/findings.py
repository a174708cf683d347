"""A finding as a reader of the source knows it: functions, lines and names in place of addresses.

Its `id` is made of its kind and of the functions and lines on both stacks, so it is the same in all runs, and
in all builds of the same sources.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Hashable, Iterable, Iterator, Sequence

import msgspec

from fencepost.sanitizer.answer.dwarf_data import path_inside
from fencepost.sanitizer.answer.elf_data import readable, variable_at
from fencepost.sanitizer.answer.symbols import Symbols
from fencepost.sanitizer.answer.tally import Seen, Tally
from fencepost.sanitizer.answer.tally import Trouble as RawTrouble
from fencepost.sanitizer.answer.triage import group_of
from fencepost.sanitizer.run.events import (
    Found,
    Place,
    RawAccess,
    RawBlocked,
    RawDeadlock,
    RawFinding,
    RawLocation,
    RawOldRead,
    RawRepair,
)
from fencepost.verdicts.run import (
    Access,
    Crash,
    Deadlock,
    Finding,
    Frame,
    Location,
    Repair,
    Trouble,
    Waiting,
    caller_of_wrapper,
    places,
)

# Above the user's part of a stack: what the run-time library does, and how an atomic operation comes to
# ThreadSanitizer in mode races.
_ABOVE = re.compile(r"__tsan_|__wrap___tsan_|(.* )?fencepost::")
_OUR_FILES = re.compile(r"native/sanitizer/(hooks|schedule|races|core)/")
# Where it ends: with `main`, or before what starts a thread or the program.
_LAST = "main"
_BELOW = re.compile(
    r"(_start|start_thread|clone|clone3|__clone3|execute_native_thread_routine|fp_run_(test|tests|thread))$"
    r"|__libc_start|fencepost::"
    r"|.*std::(__invoke|thread::_Invoker|thread::_State_impl)"
)
_FILES_BELOW = re.compile(r".*/c\+\+/.*/(invoke\.h|std_thread\.h|thread\.h|thread)$")
_MODULES_BELOW = re.compile(r".*/(libstdc\+\+|libc\+\+|libc|libpthread)\.[^/]*$")
# Functions of ThreadSanitizer stand for those of the C library.
_STAND_INS = re.compile(r"/(libsanitizer|compiler-rt)/.*tsan")


def places_of(raw: Found) -> Iterator[Place]:
    """All the addresses in it that source lines are wanted for."""
    if isinstance(raw, RawDeadlock):
        for blocked in raw.threads:
            yield from blocked.stack
        return
    if isinstance(raw, RawOldRead):
        yield from itertools.chain(raw.by.stack, *raw.missed)
        return
    for part in (raw.by, raw.missed, raw.location, *raw.chain):
        yield from part.stack if part is not None else ()
    for repair in raw.repair:
        yield from _places_of_repair(repair)


def places_in(tally: Tally) -> Iterator[Place]:
    for seen in tally.findings.values():
        yield from places_of(seen.what)
        yield from itertools.chain.from_iterable(map(_places_of_repair, seen.repairs))
    for deadlocked in tally.deadlocks.values():
        yield from places_of(deadlocked.what)
    for trouble in tally.troubles.values():
        yield from trouble.what.crash.by.stack if trouble.what.crash is not None else ()


def _places_of_repair(repair: RawRepair) -> Iterator[Place]:
    return (place for place in (repair.after, repair.before, repair.at) if place is not None)


def finding(seen: Seen[RawFinding], symbols: Symbols) -> Finding:
    raw = seen.what
    access = _access(raw.by, symbols, raw.access, raw.order)
    missed = _access(raw.missed, symbols) if raw.missed is not None else None
    return Finding(
        id=_identity(raw.kind, raw.access, [access] if missed is None else [access, missed]),
        kind=raw.kind,
        access=access,
        missed=missed,
        address=raw.address,
        size=raw.size,
        value=raw.value,
        could=raw.could.value if raw.could is not None else None,
        location=_location(raw.location or RawLocation(), symbols),
        chain=tuple(_step(step, symbols) for step in raw.chain),
        repair=_repairs(raw.repair, seen.repairs, symbols),
        occurrences=sum(uses.times for uses in seen.uses if uses is not None),
        tried=sum(uses.tried for uses in seen.uses if uses is not None),
        runs=len(seen.runs),
        schedule=seen.schedule,
        step=raw.step,
        group=group_of(access, missed),
    )


def identities(read: RawOldRead, symbols: Symbols) -> Iterator[str]:
    """Of the findings that took effect when an old write was read: one for each write that was missed."""
    by = _access(read.by, symbols)
    for stack in read.missed:
        missed = Access(thread=by.thread, stack=_trimmed(symbols.of_stack(stack)))
        yield _identity("robustness", read.by.what, [by, missed])


def deadlock(seen: Seen[RawDeadlock], symbols: Symbols) -> Deadlock:
    threads = tuple(_blocked(thread, symbols) for thread in seen.what.threads)
    return Deadlock(
        id=_identity("deadlock", "", threads), threads=threads, runs=len(seen.runs), schedule=seen.schedule
    )


def trouble(seen: Seen[RawTrouble], symbols: Symbols) -> Trouble:
    crash = seen.what.crash
    return Trouble(
        why=seen.what.why,
        runs=len(seen.runs),
        schedule=seen.schedule,
        output=seen.output,
        crash=Crash(address=crash.address, by=_access(crash.by, symbols)) if crash is not None else None,
    )


def names_in(report: Finding | Deadlock) -> Iterator[str]:
    """The functions, files, modules and variables of a report, for suppressions."""
    if isinstance(report, Finding):
        yield report.location.name
        accesses: Iterable[Access | None] = (report.access, report.missed)
    else:
        accesses = report.threads
    for access in accesses:
        for frame in access.stack if access is not None else ():
            yield from (frame.function, frame.file, frame.module)


def _access(raw: RawAccess, symbols: Symbols, what: str = "", order: str = "") -> Access:
    return Access(
        thread=raw.thread,
        name=raw.name,
        what=what or raw.what,
        order=order or raw.order,
        stack=_trimmed(symbols.of_stack(raw.stack)),
    )


def _step(raw: RawAccess, symbols: Symbols) -> Access:
    """A step of the chain, with the name of its location instead of the address where it has one."""
    name, _ = _name_and_size(raw.location) if raw.location is not None else ("", None)
    return _access(raw, symbols, f"{raw.what.partition(' ')[0]} {name}" if name else "")


def _blocked(raw: RawBlocked, symbols: Symbols) -> Waiting:
    return Waiting(
        thread=raw.thread,
        name=raw.name,
        what=raw.blocked_on,
        stack=_trimmed(symbols.of_stack(raw.stack)),
        object=_name_and_size(raw.location)[0] if raw.location is not None else "",
        holder=raw.owner,
    )


def _trimmed(stack: Sequence[Frame]) -> tuple[Frame, ...]:
    """What a reader looks for; the same as `frames_of` in native/sanitizer/report/symbols.cpp."""
    kept: list[Frame] = []
    for frame in list(itertools.dropwhile(_is_above, stack)) or stack:
        kept.append(_in_place_of(frame))
        if frame.function == _LAST:
            break
    while len(kept) > 1 and _is_below(kept[-1]):
        kept.pop()
    return tuple(kept)


def _is_above(frame: Frame) -> bool:
    return bool(_ABOVE.match(frame.function) or _OUR_FILES.search(frame.file))


def _is_below(frame: Frame) -> bool:
    if _BELOW.match(frame.function) or _FILES_BELOW.match(frame.file) or _OUR_FILES.search(frame.file):
        return True
    # addr2line gives addresses in these modules the name of whatever comes before.
    return not frame.file and bool(_MODULES_BELOW.match(frame.module))


def _in_place_of(frame: Frame) -> Frame:
    if not _STAND_INS.search(frame.file):
        return frame
    function = frame.function.removeprefix("__interceptor_").removeprefix("___interceptor_")
    return msgspec.structs.replace(frame, function=function, file="", column=0)


def _repairs(first: Iterable[RawRepair], others: Iterable[RawRepair], symbols: Symbols) -> tuple[Repair, ...]:
    """Those of the occurrence that is shown, and then those that others need besides.

    Inlining makes copies of an operation, but there is one change in the source. One that should release in
    one thread and acquire in another should do both.
    """
    kept: dict[Hashable, Repair] = {}
    tagged = itertools.chain(((raw, False) for raw in first), ((raw, True) for raw in others))
    for raw, besides in tagged:
        repair = Repair(
            what=raw.what,
            order=raw.order,
            besides=besides,
            thread=raw.thread,
            after=_line(raw.after, symbols),
            before=_line(raw.before, symbols),
            at=_line(raw.at, symbols),
            after_caller=_caller(raw.after, symbols),
            before_caller=_caller(raw.before, symbols),
            at_caller=_caller(raw.at, symbols),
        )
        places_and_frames = zip(
            (raw.after, raw.before, raw.at), (repair.after, repair.before, repair.at), strict=True
        )
        key = (raw.what, *(_position(place, frame) for place, frame in places_and_frames))
        known = kept.setdefault(key, repair)
        if known.order != repair.order:
            strongest = "seq_cst" if "seq_cst" in (known.order, repair.order) else "acq_rel"
            known = msgspec.structs.replace(known, order=strongest)
        kept[key] = known if known.thread == raw.thread else msgspec.structs.replace(known, thread=None)
    return tuple(kept.values())


def joined_repairs(parts: Iterable[tuple[Repair, ...]]) -> tuple[Repair, ...]:
    """Of copies of a finding; the first one is shown."""
    kept: dict[Hashable, Repair] = {}
    for number, repairs in enumerate(parts):
        for repair in repairs:
            places = [(at and (at.file, at.line, at.column, at.offset)) for at in _places(repair)]
            besides = repair.besides or number > 0
            kept.setdefault(
                (repair.what, repair.order, *places), msgspec.structs.replace(repair, besides=besides)
            )
    return tuple(kept.values())


def _places(repair: Repair) -> tuple[Frame | None, ...]:
    return repair.after, repair.before, repair.at


def _position(place: Place | None, frame: Frame | None) -> Hashable:
    """What tells two operations apart: without columns, only their addresses do."""
    return place if frame is None or not frame.column else (frame.file, frame.line, frame.column)


def _line(place: Place | None, symbols: Symbols) -> Frame | None:
    """The line of the user's own sources that the place belongs to."""
    return None if place is None else places(symbols.frames[place])[-1]


def _caller(place: Place | None, symbols: Symbols) -> Frame | None:
    return None if place is None else caller_of_wrapper(symbols.frames[place])


def _location(raw: RawLocation, symbols: Symbols) -> Location:
    name, size = _name_and_size(raw)
    return Location(
        kind=raw.kind,
        name=name,
        size=size,
        thread=raw.thread,
        module=raw.module or "",
        offset=raw.offset or "",
        stack=_trimmed(symbols.of_stack(raw.stack)),
    )


def _name_and_size(raw: RawLocation) -> tuple[str, int | None]:
    """Of a variable with the element or field, as far as the module knows it."""
    if raw.kind == "global" and raw.module and raw.offset:
        address = int(raw.offset, 16)
        variable = variable_at(raw.module, address, embedded=raw.embedded)
        if variable is not None:
            inside = address - variable.start
            path = path_inside(raw.module, variable.start, inside, embedded=raw.embedded)
            if path is None:
                path = f"+{inside}" if inside else ""
            return readable(variable.name) + path, variable.size
    return raw.name or "", raw.size


def _identity(kind: str, what: str, accesses: Iterable[Access]) -> str:
    parts = [kind, what]
    for access in accesses:
        parts.append("by")
        for frame in access.stack:
            where = frame.file.rpartition("/")[2] or frame.module.rpartition("/")[2]
            parts += [where, frame.function, str(frame.line or frame.offset)]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]
