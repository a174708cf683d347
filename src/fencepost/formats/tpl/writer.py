"""From a `Program` to TPL text.

Declarations and names are written here; the bodies of functions are `blocks.py`'s, single instructions
`program/spelling.py`'s. Reading what was written gives the same program, apart from names that TPL cannot
spell and from thread numbers outside complete replicated functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby

from fencepost.formats.text.names import spellings
from fencepost.formats.tpl.blocks import statements
from fencepost.formats.tpl.lowering import WRITTEN_LABEL
from fencepost.formats.tpl.parser import KEYWORDS
from fencepost.program import DEFAULT_MAX_VALUE, Location, Program, Thread
from fencepost.program.spelling import Spelling


def write(program: Program) -> str:
    """The program as TPL text."""
    locations = spellings((location.name for location in program.locations), _is_name)
    families = spellings((thread.family for thread in program.threads), _is_name)
    head = []
    if program.max_value != DEFAULT_MAX_VALUE:
        head.append(f"max_value {program.max_value};")
    for atomic, group in groupby(program.locations, lambda location: location.atomic):
        declared = ", ".join(_declaration(location, locations[location.name]) for location in group)
        head.append(f"{'global' if atomic else 'na'} {declared};")
    for tracking in program.tracking:
        values = "all" if tracking.values is None else ", ".join(map(str, tracking.values))
        head.append(f"track {locations[tracking.location]}: {values};")
    functions = [
        _function(thread, title, locations) for thread, title in _functions(program.threads, families)
    ]
    return "\n\n".join(["\n".join(head)] * bool(head) + functions) + "\n"


def _declaration(location: Location, name: str) -> str:
    size = f"[{len(location.initial)}]" if location.is_array else ""
    values = set(location.initial)
    if values == {0}:
        return name + size
    if len(values) == 1:
        return f"{name}{size}={location.initial[0]}"
    return f"{name}{size}={{{', '.join(map(str, location.initial))}}}"


def _functions(threads: tuple[Thread, ...], families: Mapping[str, str]) -> Iterator[tuple[Thread, str]]:
    """One thread for each function to write, and the function's name with its size."""
    start = 0
    while start < len(threads):
        thread = threads[start]
        name, copies = families[thread.family], thread.copies or 0
        if thread.least is not None:
            yield thread, f"{name}[*]" if thread.least == 1 else f"{name}[{thread.least}..*]"
            start += 1
            continue
        if threads[start : start + copies] == tuple(_copy(thread, tid) for tid in range(copies)) and copies:
            yield thread, f"{name}[{copies}]"
            start += copies
        else:
            yield thread, name if thread.copies is None else f"{name}_{thread.tid}"
            start += 1


def _copy(thread: Thread, tid: int) -> Thread:
    return Thread(thread.family, thread.code, thread.registers, thread.labels, tid, thread.copies)


def _is_name(name: str) -> bool:
    identifier = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is not None
    return identifier and name not in KEYWORDS and not WRITTEN_LABEL.fullmatch(name)


def _function(thread: Thread, title: str, locations: Mapping[str, str]) -> str:
    replicated = thread.least is None and title.endswith("]")
    taken = [*locations.values(), *(["tid"] if replicated else [])]
    registers = spellings(thread.registers, _is_name, taken)
    spelling = Spelling(locations, registers, "tid" if replicated else str(thread.tid))
    lines = [f"fn {title} {{"]
    if registers:
        lines.append(f"    local {', '.join(registers.values())};")
    lines += statements(thread, spellings(thread.labels, _is_name), spelling)
    return "\n".join([*lines, "}"])
