"""The names of a module's variables, from its symbol table.

Only what is needed of ELF is read: the sections SYMTAB and DYNSYM. What lies inside a variable is told by its
debug information (`dwarf_data`).
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from functools import cache
from typing import NamedTuple

from fencepost.sanitizer.answer.elf_file import UNREADABLE, ElfFile, read_elf, text_at

_SYMBOL = struct.Struct("<IBBHQQ")
_SYMTAB, _DYNSYM = 2, 11
_OBJECT = 1  # the type of a symbol that is a variable
_LENGTH = re.compile(r"L?(\d+)")  # of a part of a C++ name, which follows
_ONE_OF_SEVERAL = re.compile(r"(_\d|__\d+_)?")
_NUMBERED = re.compile(r"(\.\d+)+$")  # of several with this name, or a part of one (clang)
_OF_FUNCTION = re.compile(r"(\w+)\.([A-Za-z_]\w*)$")


class Variable(NamedTuple):
    start: int
    size: int
    name: str


def variable_at(module: str, address: int, *, embedded: bool = False) -> Variable | None:
    """The variable of the module, or of the image that it has embedded, that the address lies in."""
    variables = _variables(module, embedded)
    index = bisect_right(variables, address, key=lambda variable: variable.start) - 1
    if index < 0:
        return None
    variable = variables[index]
    return variable if address < variable.start + variable.size else None


@cache
def _variables(module: str, embedded: bool) -> list[Variable]:
    """All variables by their start; none where there is no such file or it cannot be read."""
    try:
        return sorted(_read_variables(read_elf(module, embedded=embedded)))
    except UNREADABLE:
        return []


def _read_variables(elf: ElfFile) -> set[Variable]:
    variables = set()
    for section in elf.sections:
        if section.kind not in (_SYMTAB, _DYNSYM):
            continue
        names = elf.sections[section.link].start
        symbols = elf.image[section.start : section.start + section.size]
        for name, info, _, defined_in, address, length in _SYMBOL.iter_unpack(symbols):
            if info & 0xF == _OBJECT and defined_in and length:
                variables.add(Variable(address, length, text_at(elf.image, names + name)))
    return variables


def readable(name: str) -> str:
    """A C++ variable in namespaces, or a static one: `app::ready`, `run()::ready`. Other names stay.

    The same as `put_readable` in native/sanitizer/report/symbols.cpp.
    """
    name = _NUMBERED.sub("", name)
    if name.startswith("_ZZ"):
        return _of_function(name)
    if not name.startswith("_Z"):
        local = _OF_FUNCTION.match(name)
        return f"{local[1]}()::{local[2]}" if local else name
    parts, rest = _parts(name.removeprefix("_Z"))
    return "::".join(parts) if parts and not rest else name


def _of_function(name: str) -> str:
    """`_ZZN3app3runEvE5ready`; where the function is a template, the variable alone."""
    parts, rest = _parts(name.removeprefix("_ZZ"))
    function = "::".join(parts) + "()::" if parts and not rest.startswith("I") else ""
    for end in re.finditer("E", name):
        if length := _LENGTH.match(name, end.end()):
            local = name[length.end() : length.end() + int(length[1])]
            if len(local) == int(length[1]) and _ONE_OF_SEVERAL.fullmatch(name[length.end() + len(local) :]):
                return function + local
    return name


def _parts(text: str) -> tuple[list[str], str]:
    """The parts of a name in namespaces or by itself, and what follows it."""
    nested = text.startswith("N")
    rest = text[1:].removeprefix("K") if nested else text
    parts: list[str] = []
    if nested and rest.startswith("St"):
        parts, rest = ["std"], rest[2:]
    while (length := _LENGTH.match(rest)) and (nested or not parts):
        end = length.end() + int(length[1])
        part, rest = rest[length.end() : end], rest[end:]
        parts.append("(anonymous namespace)" if part == "_GLOBAL__N_1" else part)
    if nested:
        return (parts, rest[1:]) if rest.startswith("E") else ([], rest)
    return parts, rest
