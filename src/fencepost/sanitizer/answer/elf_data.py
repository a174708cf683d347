"""The names of a module's variables, from its symbol table, and its sections by name.

Only what is needed of ELF is read: 64 bits, little endian, the sections SYMTAB and DYNSYM.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SYMTAB, _DYNSYM = 2, 11
_OBJECT = 1  # the type of a symbol that is a variable
_MAGIC = b"\x7fELF\x02\x01"
_LENGTH = re.compile(r"L?(\d+)")  # of a part of a C++ name, which follows


class Variable(NamedTuple):
    start: int
    size: int
    name: str


def variable_at(module: str, address: int) -> Variable | None:
    """The variable of the module that the address lies in."""
    variables = _variables(module)
    index = bisect_right(variables, address, key=lambda variable: variable.start) - 1
    if index < 0:
        return None
    variable = variables[index]
    return variable if address < variable.start + variable.size else None


def section(module: str, name: str) -> bytes:
    """What the section holds; empty if there is none, or no such file, or it cannot be read."""
    try:
        image = _image(module)
        sections = list(_sections(image))
        names = sections[_HEADER.unpack_from(image)[13]][4] if sections else 0
        for found in sections:
            at = names + found[0]
            if image[at : image.index(b"\0", at)] == name.encode():
                return image[found[4] : found[4] + found[5]]
    except _UNREADABLE:
        pass
    return b""


# Also where the file is damaged.
_UNREADABLE = (OSError, struct.error, IndexError, ValueError, OverflowError)


@cache
def _variables(module: str) -> list[Variable]:
    """All variables by their start; none where there is no such file or it cannot be read."""
    try:
        return sorted(_read_variables(_image(module)))
    except _UNREADABLE:
        return []


def _image(module: str) -> bytes:
    with open(module, "rb") as file:
        return file.read()


def _sections(image: bytes) -> Iterator[tuple[int, ...]]:
    if not image.startswith(_MAGIC):
        return
    header = _HEADER.unpack_from(image)
    table, entry_size, count = header[6], header[11], header[12]
    yield from (_SECTION.unpack_from(image, table + i * entry_size) for i in range(count))


def _read_variables(image: bytes) -> set[Variable]:
    sections = list(_sections(image))
    variables = set()
    for section in sections:
        kind, start, size, link = section[1], section[4], section[5], section[6]
        if kind not in (_SYMTAB, _DYNSYM):
            continue
        names = sections[link][4]
        for name, info, _, defined_in, address, length in _SYMBOL.iter_unpack(image[start : start + size]):
            if info & 0xF == _OBJECT and defined_in and length:
                text = image[names + name : image.index(b"\0", names + name)]
                variables.add(Variable(address, length, text.decode("utf-8", "replace")))
    return variables


def readable(name: str) -> str:
    """A C++ variable in namespaces, or a static one: `app::ready`. Other names stay as they are.

    The same as `put_readable` in native/sanitizer/report/symbols.cpp.
    """
    nested = name.startswith("_ZN")
    rest = name.removeprefix("_ZN" if nested else "_Z")
    parts: list[str] = []
    while name.startswith("_Z") and (length := _LENGTH.match(rest)) and (nested or not parts):
        end = length.end() + int(length[1])
        part, rest = rest[length.end() : end], rest[end:]
        parts.append("(anonymous namespace)" if part == "_GLOBAL__N_1" else part)
    return "::".join(parts) if parts and rest == ("E" if nested else "") else name
