"""A finding in plain words for a C or C++ programmer: what can happen, why, and what would repair it."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Sequence
from functools import cache

from fencepost.report.printable import counted, printable
from fencepost.verdicts.run import (
    Access,
    Deadlock,
    Finding,
    Frame,
    Location,
    Rank,
    Repair,
    Schedule,
    Waiting,
    WatchedAnswer,
    caller_of_wrapper,
    comes_with_the_compiler,
    places,
)
from fencepost.verdicts.sites import Site

NOUNS = {
    "load": "load",
    "store": "store",
    "rmw": "read-modify-write",
    "cas": "compare-and-exchange",
    "wait": "wait",
    "fence": "fence",
}

# The same as `can_be_harmless` in native/sanitizer/report/wording.hpp.
HARMLESS = 'Harmless? It can be: see "Is a finding harmful?" in docs/sanitizer.md for how to find out.'

# Where the chain is not remembered. The same as `no_repair_known` in native/sanitizer/report/wording.hpp.
_NO_REPAIR = (
    "None was tried, because it is not known how the write comes before this access: that was too long ago, "
    "or it came by way of too many threads. Make the run again under a schedule (`fencepost run --schedule "
    "random`), or with `history=65536` in FENCEPOST_OPTIONS."
)

# What a thread waits for in a deadlock. The same as `awaited` in native/sanitizer/report/wording.hpp.
_AWAITED = {
    "mutex": "the mutex",
    "read-write lock": "the read-write lock",
    "spin lock": "the spin lock",
    "condition variable": "a signal of the condition variable",
    "semaphore": "the semaphore",
    "barrier": "the other threads at the barrier",
    "once": "the initialisation",
    "wait": "a value",
}
_END_OF_A_THREAD = "end of a thread"

# What the runs have shown of an older value's use. It is no proof.
_RANKS: dict[Rank, str] = {
    "used": "first of four: the value may decide a branch or be used in other ways",
    "waits": "second of four: the access was seen to wait in a loop, which an older value may only prolong",
    "compared": (
        "third of four: the thread's next operation was each time a compare-and-exchange of this location "
        "with the value that it had read, which fails if that is not the newest"
    ),
    "same": "last of four: each older value that it could read was equal to the one that it read",
}

_MOST_TURNS = 20

_VERDICTS = {"robustness": "not robust", "race": "data race", "threads": "wrong use of threads"}


def noun(access: str) -> str:
    return NOUNS.get(access, access or "access")


def title(finding: Finding) -> str:
    if finding.kind == "race":
        return "data race"
    if finding.kind == "threads":
        return f"wrong use of threads: {printable(finding.access.what)}"
    name = printable(finding.location.name)
    preposition = {"store": "to", "wait": "for"}.get(finding.access.what, "of")
    where = f" {preposition} `{name}`" if name else ""
    return f"not robust: a {noun(finding.access.what)}{where} {can(finding)} a write that it follows"


def can(finding: Finding) -> str:
    """What the access can do to the other one: reads miss a write, writes can end up before it."""
    if finding.kind == "race":
        return "races with"
    return "can come before" if finding.access.what in ("store", "rmw") else "can miss"


def why(finding: Finding) -> str:
    """One paragraph: the order that a reader of the program expects, and why nothing ensures it."""
    name = noun(finding.access.what)
    if finding.kind == "race":
        passed = _chain(finding)
        if passed:
            passed = f" What passed last from one thread to the other does not order them{passed}."
        return (
            "Two threads use the same memory, one of them writes, not both accesses are atomic, and nothing "
            "in C11 orders the two: no mutex, no release write with an acquire read of it, no fences around "
            f"such a pair.{passed}"
        )
    if finding.kind == "threads":
        return "ThreadSanitizer saw threads or mutexes used as their standards do not allow."
    expected = f"In every interleaving of this run the {name} comes after that write{_chain(finding)}."
    return (
        f"{expected} The memory orders do not ensure it: no chain of release and acquire operations or "
        f"fences leads from that write to this {name}, so a processor or a compiler may reorder them. "
        f"{_half_seq_cst(finding, name)}Then {_consequence(finding)}."
    )


def _half_seq_cst(finding: Finding, name: str) -> str:
    weaker_write = finding.access.order == "seq_cst"
    if finding.missed is None or weaker_write == (finding.missed.order == "seq_cst"):
        return ""
    stronger, weaker = (name, "write") if weaker_write else ("write", name)
    return (
        f"The {stronger} is seq_cst, but the {weaker} is not, so the order of seq_cst operations leaves it "
        "out. "
    )


def harm(finding: Finding) -> str:
    """What is known about the harm that it does."""
    found, name = finding.harm, noun(finding.access.what)
    if found is None:
        return HARMLESS
    missed = f"in which the {name} missed that write"
    if found.shown:
        others = f" Other findings took effect in it too: {', '.join(found.others)}." if found.others else ""
        return (
            f"Harm: shown. In a weak execution {missed}, the program {printable(found.why)}, as in no "
            f"execution under sequential consistency that was run. {found.failed:,} of "
            f"{counted(found.executions, 'such execution')} failed.{others}"
        )
    if found.executions:
        number = counted(found.executions, "weak execution")
        return f"Harm: none found in {number} {missed}. This does not show that there is none."
    return f"Harm: not known: {found.why}."


def repairs(finding: Finding) -> list[str]:
    """What would repair it, one sentence each: what the run-time library has tried, or that it could not."""
    known = [_repair(repair) for repair in finding.repair]
    if finding.kind == "race":
        return _race_repairs(finding, known)
    if finding.kind != "robustness":
        return known
    if not known:
        return [_NO_REPAIR]
    return known


def tried(finding: Finding) -> Iterator[str]:
    """For which occurrences the repairs are, unless all of them are for all."""
    if finding.kind != "robustness" or not finding.repair:
        return
    besides = sum(repair.besides for repair in finding.repair)
    number = counted(finding.occurrences, "occurrence")
    if besides:
        first = "The last of these is" if besides == 1 else f"The last {besides} of these are"
        yield f"{first} for other occurrences, at which the access comes after the write in other ways."
    if finding.tried < finding.occurrences:
        yield f"The repair was tried on {finding.tried:,} of {number}; the others may need more."


def _race_repairs(finding: Finding, known: list[str]) -> list[str]:
    """The run-time library does not know when the other thread made its access, so the repair has an if."""
    if not known or finding.missed is None or not finding.chain:
        return [
            "Protect both accesses with the same mutex, or make both atomic; or pass on that the first is "
            "done: after it, write an atomic with `memory_order_release`, and before the second read that "
            "value with `memory_order_acquire`."
        ]
    first = finding.chain[0]
    where = f" at {_where(first.stack)}" if first.stack else ""
    last = (
        f"This helps if {thread_name(finding.missed)} makes its access before the {first.what.split()[0]}"
        f"{where}, or by it. If it comes later, protect both accesses with the same mutex."
    )
    return [*known[:-1], f"{known[-1]} {last}"]


def rank(finding: Finding) -> str:
    return f"Ranked {_RANKS[finding.rank]}."


def others(number: int) -> str:
    """Findings at the same two lines."""
    what = "1 more finding" if number == 1 else f"{number:,} more findings"
    return f"At these two lines there {'is' if number == 1 else 'are'} {what}, by other calls (`--json`)."


def watched(answer: WatchedAnswer) -> Iterator[str]:
    """What "nothing seen" is about, what it leaves out, and how to ask for that."""
    if not answer.plain:
        yield (
            "Watched: atomic operations and fences, in these runs; plain accesses unless the program was "
            "built with `--mode atomics`, or with `--mode full` and run without a schedule."
        )
        return
    also = {"all": ", fences and plain accesses", "part": ", fences and some plain accesses"}
    yield f"Watched: atomic operations{also.get(answer.plain, ' and fences')}, in these runs."
    yield from _left_out(answer)
    if answer.schedule.kind == "os" and answer.mode != "races":
        yield "Other orders of the threads may show more: `--schedule pct`."


def _left_out(answer: WatchedAnswer) -> Iterator[str]:
    if answer.mode == "races":
        yield (
            "Not watched: other orders of the threads. Make more runs (`--runs 100`), or try many orders "
            "with a build in the default mode (without `--mode races`, then `--schedule pct`)."
        )
    elif answer.plain == "part":
        yield (
            "Not watched: plain accesses in some of the processes or runs, or after a thread had appeared "
            "that does not run under the schedule; a data race there would not be seen."
        )
    elif answer.plain == "none":
        remedy = (
            "They are watched under a schedule only: `--schedule random`."
            if answer.mode == "full"
            else "To watch them, rebuild without `--mode atomics`."
        )
        yield (
            "Not watched: plain accesses, so a data race would not be seen: what a lock with a relaxed "
            f"unlock protects, or what a pointer that is read relaxed points to. {remedy}"
        )


def summary(finding: Finding) -> str:
    frame = places(finding.access.stack)[-1] if finding.access.stack else Frame()
    function = f" in {printable(frame.function)}" if frame.function else ""
    return f"{_VERDICTS.get(finding.kind, finding.kind)} {place(frame)}{function}"


def waits(thread: Waiting, deadlock: Deadlock) -> str:
    """Thread T1 waits for the mutex `a`, which thread T2 holds"""
    name = thread_name(thread)
    start = f"{name[0].upper()}{name[1:]} waits for "
    holder = "" if thread.holder is None else thread_name(Access(thread=thread.holder))
    if thread.what == _END_OF_A_THREAD and holder:
        return f"{start}{holder} to end"
    what = _AWAITED.get(thread.what, printable(thread.what) or "something")
    if thread.object:
        what += f" `{printable(thread.object)}`"
    if not holder:
        return start + what
    is_there = any(other.thread == thread.holder for other in deadlock.threads)
    return f"{start}{what}, which {holder} {'holds' if is_there else 'held when it ended'}"


def deadlock_summary(deadlock: Deadlock) -> str:
    return f"deadlock of {', '.join(thread_name(thread) for thread in deadlock.threads)}"


def thread_name(access: Access) -> str:
    """As ThreadSanitizer names threads."""
    name = f" '{printable(access.name)}'" if access.name and (access.thread or access.name != "main") else ""
    return f"thread T{access.thread}{name}" if access.thread else f"main thread{name}"


def turns(schedule: Schedule) -> str:
    """Which threads ran, in which order, and for how many steps; the last ones, if they are many."""
    if schedule.decisions is None:
        return ""
    lines = [line.split() for line in zlib.decompress(schedule.decisions).decode().splitlines()]
    runs = [line for line in lines if line and line[0].isdecimal()]
    last = [_turn(int(run[0]), int(run[1]) if len(run) > 1 else 0) for run in runs[-_MOST_TURNS:]]
    if not last:
        return ""
    which = f"The last {_MOST_TURNS} of {len(runs):,} turns" if len(runs) > _MOST_TURNS else "Turns"
    return f"{which} of the threads: {', '.join(last)}."


def _turn(thread: int, steps: int) -> str:
    name = thread_name(Access(thread=thread)).removeprefix("thread ")
    return f"{name} ({counted(steps, 'step')})" if steps else f"{name} to the end"


def memory_order(order: str) -> str:
    return order if order.startswith("memory_order") else f"memory_order_{order}"


def place(frame: Frame) -> str:
    """`FILE:LINE:COLUMN`, as far as it is known."""
    if not frame.file:
        module = printable(os.path.basename(frame.module))
        return f"{module}+{frame.offset}" if module else "unknown place"
    numbers = [number for number in (frame.line, frame.column) if number]
    near = "near " if frame.near else ""
    return near + ":".join([printable(short_path(frame.file)), *map(str, numbers)])


def site_place(site: Site) -> str:
    numbers = [number for number in (site.line, site.column) if number]
    return ":".join([printable(short_path(site.file)), *map(str, numbers)])


def site(one: Site) -> str:
    """In one line: place, operation, orders, function."""
    failure = f"/{one.failure_order}" if one.failure_order is not None else ""
    return f"{site_place(one)} {one.operation} {one.order}{failure} {printable(one.function)}".rstrip()


def source_lines(frame: Frame) -> Iterator[str]:
    """The frame's line with those before and after it, if the file can be read.

    The same as `put_source` in native/sanitizer/report/report_text.cpp.
    """
    if not frame.file or not frame.line or comes_with_the_compiler(frame.file):
        return
    lines = _lines_of(frame.file)[: frame.line + 1]
    width = len(str(frame.line + 1))
    for number in range(max(frame.line - 1, 1), len(lines) + 1):
        mark = ">" if number == frame.line else " "
        text = printable(lines[number - 1].rstrip().replace("\t", "    "))
        yield f"{mark} {number:>{width}} | {text}".rstrip()


@cache
def _lines_of(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace", newline="\n") as file:
            return file.read().removesuffix("\n").split("\n")
    except OSError:
        return []


def short_path(path: str) -> str:
    """Relative to the current directory for what lies in it."""
    inside = os.path.join(os.getcwd(), "")
    return path.removeprefix(inside) if os.path.isabs(path) else path


def location(finding: Finding) -> str:
    """What lies at the address, in one sentence without its end."""
    it: Location = finding.location
    name = f" '{printable(it.name)}'" if it.name else ""
    size = f" of size {it.size}" if it.size else ""
    at = f" at {finding.address}" if finding.address else ""
    match it.kind:
        case "global":
            module = f" ({printable(os.path.basename(it.module))}+{it.offset})" if it.module else ""
            return f"Location is global{name}{size}{at}{module}"
        case "heap":
            return f"Location is in a heap block{size}{at}" + (", allocated at:" if it.stack else "")
        case "stack":
            owner = "" if it.thread is None else f" of {thread_name(Access(thread=it.thread))}"
            return f"Location is on the stack{owner}{at}"
        case "tls":
            owner = "" if it.thread is None else f" of {thread_name(Access(thread=it.thread))}"
            return f"Location is thread-local{owner}{at}"
        case "mmap":
            return f"Location is in mapped memory{name}{at}" + (", mapped at:" if it.stack else "")
        case _:
            return f"Location is{at.removeprefix(' at') or ' unknown'}"


def _chain(finding: Finding) -> str:
    """An access that ends one link of the chain and begins the next is there once."""
    steps = [
        f"{thread_name(step)}: {printable(step.what) or 'access'} ({_where(step.stack)})"
        if step.stack
        else f"{thread_name(step)}: {printable(step.what) or 'access'}"
        for before, step in zip((None, *finding.chain), finding.chain, strict=False)
        if step != before
    ]
    return f" ({'; then '.join(steps)})" if steps else ""


def _consequence(finding: Finding) -> str:
    stale = "an older value" if finding.could is None else f"the older value {finding.could}"
    match finding.access.what:
        case "store":
            return "this store counts as the older of the two, and the other write's value stays"
        case "rmw":
            return f"this operation works on {stale}, as if that write came after it"
        case "cas":
            return f"this operation compares with {stale}"
        case "wait":
            return f"this wait ends with {stale}"
        case _:
            return f"this load returns {stale}"


def _repair(repair: Repair) -> str:
    order = memory_order(repair.order)
    thread = "" if repair.thread is None else f"In {thread_name(Access(thread=repair.thread))}, "
    if repair.what == "fence":
        where = " and ".join(_fence_places(repair))
        sentence = f"put `atomic_thread_fence({order})` {where or 'between the two accesses'}"
    else:
        where = f" at {_called(repair.at, repair.at_caller)}" if repair.at is not None else ""
        sentence = f"use `{order}` for the operation{where}"
    return f"{thread}{sentence}." if thread else f"{sentence[0].upper()}{sentence[1:]}."


def _fence_places(repair: Repair) -> Iterator[str]:
    if repair.after is not None:
        yield f"after {_called(repair.after, repair.after_caller)}"
    if repair.before is not None:
        yield f"before {_called(repair.before, repair.before_caller)}"


def _where(stack: Sequence[Frame]) -> str:
    return _called(places(stack)[-1], caller_of_wrapper(stack))


def _called(frame: Frame, caller: Frame | None) -> str:
    """Its place, and for a wrapper also where it is called."""
    return place(frame) + (f", called at {place(caller)}" if caller is not None else "")
