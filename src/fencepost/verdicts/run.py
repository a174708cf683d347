"""The answers to `run`.

The verdict is about the runs that were made. It is `not-robust` if an access in them can leave sequential
consistency, `not-seen` if all of them ended without such an access (which proves nothing about other runs),
and `unknown` if there was none but some run did not end. Data races and deadlocks are findings too, whatever
the verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from fencepost.memory_models import EXIT_HOLDS, EXIT_UNDECIDED, EXIT_VIOLATED
from fencepost.verdicts.answers import Answer
from fencepost.verdicts.sites import Site

ScheduleKind = Literal["os", "random", "pct"]
# What an older value could do, as far as runs have shown it; the worst first.
Rank = Literal["used", "waits", "compared", "same"]


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """A call on a stack. `line` is 0 and `file` empty where there is no debug information.

    `near`: the compiler has given no line to this place, but to one near it in the machine code.
    """

    function: str = ""
    file: str = ""
    line: int = 0
    column: int = 0
    module: str = ""
    offset: str = ""
    near: bool = False


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """What a thread did: `what` is the operation, `order` its memory order; innermost call first."""

    thread: int
    name: str = ""
    what: str = ""
    order: str = ""
    stack: tuple[Frame, ...] = ()


class Location(msgspec.Struct, frozen=True, kw_only=True):
    """What lies at the address; `stack` is where it was allocated."""

    kind: str = "unknown"
    name: str = ""
    size: int | None = None
    thread: int | None = None
    module: str = ""
    offset: str = ""
    stack: tuple[Frame, ...] = ()


class Repair(msgspec.Struct, frozen=True, kw_only=True):
    """A `fence` of this order between `after` and `before`, or this `order` for the operation at `at`.

    Each of these places has a caller if it is in a header, and so perhaps in a wrapper: the nearest call in
    another file that it is inlined into. `besides`: the occurrence that is shown does not need it, others do.
    """

    what: str
    order: str
    besides: bool = False
    thread: int | None = None
    after: Frame | None = None
    before: Frame | None = None
    at: Frame | None = None
    after_caller: Frame | None = None
    before_caller: Frame | None = None
    at_caller: Frame | None = None


class Departure(msgspec.Struct, frozen=True, kw_only=True):
    """Where a weak run leaves the decisions that it follows: the load at `step` reads an old write, and what
    comes after that is drawn from `seed`. Not more than `old_reads` loads read old writes; null: no limit."""

    step: int
    seed: int
    old_reads: int | None = None


class Schedule(msgspec.Struct, frozen=True, kw_only=True):
    """How threads took turns in a run, and all that is needed to have it again.

    `length` is the number of steps over which pct spreads its changes of priority. `decisions` are the turns
    themselves, as the scheduler wrote them, compressed (zlib); null where they were not kept. In a `weak` run
    loads could read older writes; with a `departure`, not before that.
    """

    kind: ScheduleKind = "os"
    seed: int = 1
    depth: int = 3
    length: int = 0
    max_steps: int | None = None
    decisions: bytes | None = None
    weak: bool = False
    departure: Departure | None = None


class Harm(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a finding in weak executions, in which its access did miss the write.

    There were `executions` of that kind; in `failed` of them the program failed as it does in no execution
    under sequential consistency that was run, and then harm is `shown`. `why` says how it failed, or, if
    there was no such execution, why not. `schedule` and `output` are those of one that failed with as few old
    reads as possible; `others` are the ids of further findings that took effect in it.
    """

    shown: bool
    executions: int
    failed: int = 0
    why: str = ""
    others: tuple[str, ...] = ()
    output: str = ""
    schedule: Schedule | None = None


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """An access that can leave sequential consistency, and the write that it can miss.

    `id` depends on the kind and on the functions and lines of both stacks only, so it is the same in every
    run and in every build of the same sources. `could` is a value that the access can meet in place of
    `value`. `chain` leads from the missed write to the access: why it comes later under sequential
    consistency. It was seen in `runs` of the runs; `schedule` is that of the first, and `step` the step of it
    at which the access was made, 0 without a schedule. `group` is the same for findings at the same two
    lines. `harm` is null if nobody has asked for it. `repair` was tried on `tried` of the `occurrences` that
    the runs have met.
    """

    id: str
    kind: str
    access: Access
    missed: Access | None
    address: str
    size: int
    value: int | str | None
    could: int | str | None
    location: Location
    chain: tuple[Access, ...]
    repair: tuple[Repair, ...]
    runs: int
    schedule: Schedule
    occurrences: int = 0
    tried: int = 0
    step: int = 0
    group: str = ""
    rank: Rank = "used"
    harm: Harm | None = None


class Waiting(Access, frozen=True, kw_only=True):
    """A thread that waits: `what` is what for, `object` the name of that variable, if it has one.

    `holder` is the thread that could end the wait: the one that holds the lock, or that should end.
    """

    object: str = ""
    holder: int | None = None


class Deadlock(msgspec.Struct, frozen=True, kw_only=True):
    """Threads that wait for each other, or for what nobody will do."""

    id: str
    threads: tuple[Waiting, ...]
    runs: int
    schedule: Schedule


class Crash(msgspec.Struct, frozen=True, kw_only=True):
    """A fault: what the thread did when it came to this address."""

    address: str
    by: Access


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """Runs that did not come to a proper end, all for the same reason.

    `output` is the end of what the first of them printed, if that was kept. `crash` is where it crashed.
    """

    why: str
    runs: int
    schedule: Schedule
    output: str = ""
    crash: Crash | None = None


class WatchedAnswer(Answer, frozen=True, kw_only=True):
    """What every answer about a program that was run has: `runs` runs of `command` were made, with `schedule`
    from its seed on.

    In a `replay`, the runs are those of an earlier answer's findings, and `schedule` is that of the first.
    `mode` is the mode that the program was built in, and `plain` says which plain accesses were watched:
    `all`, `part` or `none` (both are empty if no run told it).
    `atomics` is the number of atomic operations in all of them, `steps` that of scheduled steps; `suppressed`
    counts findings that a suppression hides.
    """

    command: tuple[str, ...]
    runs: int
    schedule: Schedule
    findings: tuple[Finding, ...] = ()
    deadlocks: tuple[Deadlock, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    mode: str = ""
    plain: Literal["", "all", "part", "none"] = ""
    atomics: int = 0
    steps: int = 0
    suppressed: int = 0
    replay: bool = False
    exhaustive: bool = False

    @property
    def ids(self) -> tuple[str, ...]:
        """Of findings and deadlocks."""
        return (*(one.id for one in self.findings), *(one.id for one in self.deadlocks))

    @property
    def exit_code(self) -> int:
        """What a baseline has left out does not count."""
        if self.findings or self.deadlocks:
            return EXIT_VIOLATED
        return EXIT_UNDECIDED if self.holds is None else EXIT_HOLDS


class RunAnswer(WatchedAnswer, frozen=True, kw_only=True):
    """`sites` are the atomic operations and fences that were made, if they were asked for."""

    question: Literal["run"]
    sites: tuple[Site, ...] = ()


class SeenNotRobust(RunAnswer, frozen=True, kw_only=True, tag="not-robust"):
    holds = False


class NotSeen(RunAnswer, frozen=True, kw_only=True, tag="not-seen"):
    holds = True


class RunsUnknown(RunAnswer, frozen=True, kw_only=True, tag="unknown"):
    holds = None
    why: str
    interrupted: bool = False


AnyRunAnswer = SeenNotRobust | NotSeen | RunsUnknown


def places(stack: Sequence[Frame]) -> Sequence[Frame]:
    """From the innermost call to the first outside of the compiler's own headers, such as `<atomic>`."""
    for index, frame in enumerate(stack):
        if frame.file and not comes_with_the_compiler(frame.file):
            return stack[: index + 1]
    return stack[:1]


def caller_of_wrapper(stack: Sequence[Frame]) -> Frame | None:
    """Where the last of `places` is in a header, and so perhaps in a wrapper around atomics: the nearest call
    in another file."""
    inner = places(stack)
    if not inner or not _is_header(inner[-1].file):
        return None
    for frame in stack[len(inner) :]:
        if frame.file and frame.file != inner[-1].file and not comes_with_the_compiler(frame.file):
            return frame
    return None


def _is_header(file: str) -> bool:
    dot = file.rpartition("/")[2].rpartition(".")
    return bool(file) and (not dot[1] or dot[2][:1] in ("h", "H"))


def comes_with_the_compiler(file: str) -> bool:
    """Or with us. Other libraries lie in /usr/include too, and their lines are what a reader looks for."""
    return (
        file.startswith(("/usr/lib/", "/usr/bin/../lib/"))
        or (file.startswith("/usr/include/") and "/c++/" in file)
        or "/fencepost/sanitizer/include/" in file
    )
