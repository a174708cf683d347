"""What the run-time library writes while a program runs: one JSON object a line, with raw addresses.

Nothing is made of it here. A line that was cut off because the program was killed is left out, and so is a
kind of event that this version does not know.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from typing import BinaryIO

import msgspec

from fencepost.errors import InputError, UnavailableError
from fencepost.verdicts.sites import SiteOperation, SiteOrder


class Place(msgspec.Struct, frozen=True):
    """An address in a module, counted from where the module is loaded.

    `embedded`: not in the module as it is, but in the image that it has embedded for runs under a schedule.
    """

    module: str
    offset: str
    embedded: bool = False

    @property
    def address(self) -> int:
        return int(self.offset, 16)


class RawLocation(msgspec.Struct, frozen=True, kw_only=True):
    kind: str = "unknown"
    name: str | None = None
    size: int | None = None
    module: str | None = None
    offset: str | None = None
    embedded: bool = False
    thread: int | None = None
    stack: tuple[Place, ...] = ()


class RawAccess(msgspec.Struct, frozen=True, kw_only=True):
    """Who did what, in which thread, and by which calls; `location` is given for steps of a chain."""

    thread: int
    name: str = ""
    order: str = ""
    what: str = ""
    stack: tuple[Place, ...] = ()
    location: RawLocation | None = None


class RawRepair(msgspec.Struct, frozen=True, kw_only=True):
    """A fence between two places of a thread, or a stronger order at one."""

    what: str
    order: str
    thread: int | None = None
    after: Place | None = None
    before: Place | None = None
    at: Place | None = None


class StaleValue(msgspec.Struct, frozen=True):
    value: int | str | None = None


class Doubt(msgspec.Struct, frozen=True):
    """The place of an access, and the old values that it could read; all of them, if `complete`."""

    at: Place
    values: tuple[int, ...] = ()
    complete: bool = False


class RawFinding(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="finding"):
    """`missed` is the newest write that the access comes after under SC, but need not see.

    `unless_await`: it is none if its place waits, and none of the old values ends the wait.
    """

    kind: str
    access: str
    by: RawAccess
    id: str = ""
    missed: RawAccess | None = None
    pid: int = 0
    address: str = ""
    size: int = 0
    order: str = ""
    value: int | str | None = None
    could: StaleValue | None = None
    chain: tuple[RawAccess, ...] = ()
    location: RawLocation | None = None
    repair: tuple[RawRepair, ...] = ()
    unless_await: Doubt | None = None
    step: int = 0


class RawOldRead(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="old-read"):
    """A load of a weak execution that has read an old write; `missed` are the stacks of all newer ones."""

    by: RawAccess
    missed: tuple[tuple[Place, ...], ...] = ()


class RawUses(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="uses"):
    """How often a run met the finding with this id, and what older values could have done.

    `same`: each older value was the one read. `compared`: if not, the thread's next operation
    was a CAS of the location with the value that it had read. `tried`: its repairs were tried, and worked.
    `forgotten`: they could not be, because the run no longer knew how the access came after the write.
    """

    id: str
    times: int = 0
    same: int = 0
    compared: int = 0
    tried: int = 0
    forgotten: int = 0


class RawRepairs(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="repairs"):
    """All repairs of the finding with this id, where it came about in other ways since it was reported."""

    id: str
    repair: tuple[RawRepair, ...] = ()


class RawAwait(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="await"):
    """A place that was seen to wait, and the values that only ever ended or only ever prolonged it."""

    at: Place
    ended_by: tuple[int, ...] = ()
    prolonged_by: tuple[int, ...] = ()


class RawBlocked(msgspec.Struct, frozen=True, kw_only=True):
    thread: int
    name: str = ""
    blocked_on: str = ""
    owner: int | None = None
    location: RawLocation | None = None
    stack: tuple[Place, ...] = ()


class RawDeadlock(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="deadlock"):
    threads: tuple[RawBlocked, ...]


class StepLimit(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="step-limit"):
    steps: int = 0


class NoSchedules(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="no-schedules"):
    """A schedule was asked for, and the program's mode has none."""


class RawSite(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="site"):
    """An atomic operation that was made, with the orders that it was compiled with; told once."""

    at: Place
    operation: SiteOperation
    order: SiteOrder
    failure: SiteOrder | None = None


class BadSites(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="bad-sites"):
    """The file of changes at sites has a mistake in this line; 0: in no particular one."""

    file: str
    line: int = 0
    why: str = ""


class End(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="end"):
    """`mode` is that of the build, `atomics` the number of atomic operations, `steps` of scheduled steps.

    `plain`: which plain accesses were watched, `all`, `part` or `none`.
    """

    mode: str = ""
    plain: str = ""
    atomics: int = 0
    steps: int = 0
    exit: int = 0


class RawCrash(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="crash"):
    """A fault that ended the process."""

    signal: int
    by: RawAccess
    address: str = ""


class Execution(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="execution"):
    """An execution of an exploration that showed something: the events before it, back to the last one of
    this kind, are its own. `trouble` says why it was not followed to its end."""

    number: int
    exit: int = 0
    signal: int = 0
    trouble: str = ""
    decisions: str = ""
    output: str = ""


class Exploration(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="exploration"):
    """How far an exploration has come; `why` says why it is not complete, `wanted` and `met` where an
    execution did something else than it did before."""

    at_end: bool = False
    executions: int = 0
    in_vain: int = 0
    cut: int = 0
    bounded: int = 0
    steps: int = 0
    atomics: int = 0
    millionths: int = 0
    why: str = ""
    untried: tuple[str, ...] = ()
    wanted: RawAccess | None = None
    met: RawAccess | None = None


class NotResumed(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="not-resumed"):
    """The file from which an exploration was to go on is not its own."""

    why: str = ""


class NotSaved(msgspec.Struct, frozen=True, tag_field="event", tag="not-saved"):
    """The state of an exploration could not be written where it is kept."""


Found = RawFinding | RawOldRead | RawDeadlock
Event = (
    Found
    | RawUses
    | RawRepairs
    | RawAwait
    | RawSite
    | BadSites
    | StepLimit
    | RawCrash
    | NoSchedules
    | End
    | Execution
    | Exploration
    | NotResumed
    | NotSaved
)

_DECODER = msgspec.json.Decoder(Event)


def check_sites(events: Iterable[Event]) -> None:
    """Raises `InputError` if the file of changes at sites was refused."""
    for event in events:
        if isinstance(event, BadSites):
            raise InputError(event.why, event.file, event.line, 1 if event.line else 0)


def read_whole(file: BinaryIO, most: int = -1) -> bytes:
    """What a process has written into the file; raises `UnavailableError` if it did not find room for all."""
    content = file.read(most)
    if not os.fstat(file.fileno()).st_mode & stat.S_IWUSR:
        raise UnavailableError(
            f"there is no room in {tempfile.gettempdir()} for what the program did; make room, or set TMPDIR"
        )
    return content


def read_events(lines: bytes) -> Iterator[Event]:
    for line in lines.splitlines():
        try:
            yield _DECODER.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
