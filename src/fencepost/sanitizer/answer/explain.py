"""A finding in plain words for a C or C++ programmer: what can happen, why, and what would repair it."""

from __future__ import annotations

import os
from collections.abc import Iterator

from fencepost.report.printable import printable
from fencepost.verdicts.run import Access, Deadlock, Finding, Frame, Location, Repair, places

NOUNS = {
    "load": "load",
    "store": "store",
    "rmw": "read-modify-write",
    "cas": "compare-and-exchange",
    "wait": "wait",
    "fence": "fence",
}

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
        return (
            "Two threads use the same memory, one of them writes, not both accesses are atomic, and nothing "
            "in C11 orders the two: no mutex, no release write with an acquire read of it, no fences about "
            "such a pair."
        )
    if finding.kind == "threads":
        return "ThreadSanitizer saw threads or mutexes used as their standards do not allow."
    expected = f"In every interleaving of this run the {name} comes after that write{_chain(finding)}."
    return (
        f"{expected} The memory orders do not ensure it: no chain of release and acquire operations or "
        f"fences leads from that write to this {name}, so a processor or a compiler may reorder them. Then "
        f"{_consequence(finding)}."
    )


def repairs(finding: Finding) -> list[str]:
    """What would repair it, one sentence each; general advice where nothing exact is known."""
    known = [_repair(repair) for repair in finding.repair]
    if known or finding.kind != "robustness":
        return known
    return [
        "If the threads pass something on through another atomic, make its write `memory_order_release` and "
        "its read `memory_order_acquire`. If each writes one location and then looks at what the other "
        "writes, put `atomic_thread_fence(memory_order_seq_cst)` between the two in both threads."
    ]


def summary(finding: Finding) -> str:
    frame = places(finding.access.stack)[-1] if finding.access.stack else Frame()
    function = f" in {printable(frame.function)}" if frame.function else ""
    return f"{_VERDICTS.get(finding.kind, finding.kind)} {place(frame)}{function}"


def deadlock_summary(deadlock: Deadlock) -> str:
    return f"deadlock of {', '.join(thread_name(thread) for thread in deadlock.threads)}"


def thread_name(access: Access) -> str:
    """As ThreadSanitizer names threads."""
    name = f" '{printable(access.name)}'" if access.name and (access.thread or access.name != "main") else ""
    return f"thread T{access.thread}{name}" if access.thread else f"main thread{name}"


def memory_order(order: str) -> str:
    return order if order.startswith("memory_order") else f"memory_order_{order}"


def place(frame: Frame) -> str:
    """`FILE:LINE:COLUMN`, as far as it is known."""
    if not frame.file:
        module = printable(os.path.basename(frame.module))
        return f"{module}+{frame.offset}" if module else "unknown place"
    numbers = [number for number in (frame.line, frame.column) if number]
    return ":".join([printable(short_path(frame.file)), *map(str, numbers)])


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
    steps = [
        f"{thread_name(step)}: {printable(step.what) or 'access'} ({place(places(step.stack)[-1])})"
        if step.stack
        else f"{thread_name(step)}: {printable(step.what) or 'access'}"
        for step in finding.chain
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
        where = f" at {place(repair.at)}" if repair.at is not None else ""
        sentence = f"use `{order}` for the operation{where}"
    return f"{thread}{sentence}." if thread else f"{sentence[0].upper()}{sentence[1:]}."


def _fence_places(repair: Repair) -> Iterator[str]:
    if repair.after is not None:
        yield f"after {place(repair.after)}"
    if repair.before is not None:
        yield f"before {place(repair.before)}"
