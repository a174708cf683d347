"""Which element or field of a variable an address is: `[1]`, `.head`, `.slots[3].turn`.

Reads as much of DWARF (versions 2 to 5) as that takes: the variable at an address, and the members and
elements of its type. The unit that defines the variable is found by the bytes of its location, so that only
this one is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from operator import mul
from typing import NamedTuple

from fencepost.sanitizer.answer.elf_file import UNREADABLE, read_elf, text_at

# Tags.
_ARRAY, _CLASS, _MEMBER, _POINTER, _STRUCT, _TYPEDEF = 0x01, 0x02, 0x0D, 0x0F, 0x13, 0x16
_INHERITANCE, _SUBRANGE, _CONST, _VARIABLE = 0x1C, 0x21, 0x26, 0x34
_VOLATILE, _RESTRICT, _ATOMIC = 0x35, 0x37, 0x47
_OTHER_NAMES = frozenset((_TYPEDEF, _CONST, _VOLATILE, _RESTRICT, _ATOMIC))
_WITH_MEMBERS = frozenset((_STRUCT, _CLASS))  # which member of a union is meant is not known

# Attributes.
_LOCATION, _NAME, _BYTE_SIZE, _UPPER_BOUND, _COUNT = 0x02, 0x03, 0x0B, 0x2F, 0x37
_ABSTRACT_ORIGIN, _MEMBER_LOCATION, _DECLARATION = 0x31, 0x38, 0x3C
_SPECIFICATION, _TYPE, _STR_OFFSETS_BASE, _ADDR_BASE = 0x47, 0x49, 0x72, 0x73

# Forms of values by their size in bytes.
_FIXED = {
    **dict.fromkeys((0x0B, 0x0C, 0x11, 0x25, 0x29), 1),
    **dict.fromkeys((0x05, 0x12, 0x26, 0x2A), 2),
    **dict.fromkeys((0x27, 0x2B), 3),
    **dict.fromkeys((0x06, 0x13, 0x1C, 0x28, 0x2C), 4),
    **dict.fromkeys((0x01, 0x07, 0x14, 0x20, 0x24), 8),
    **dict.fromkeys((0x19, 0x21), 0),
    0x1E: 16,
}
_OFFSETS = frozenset((0x0E, 0x10, 0x17, 0x1D, 0x1F))  # as wide as offsets are in this unit
_NUMBERS = frozenset((0x0F, 0x15, 0x1A, 0x1B, 0x22, 0x23))
_SIGNED, _TEXT, _BLOCK, _EXPRESSION, _IMPLICIT, _PRESENT, _REF_UDATA = (
    0x0D,
    0x08,
    0x09,
    0x18,
    0x21,
    0x19,
    0x15,
)
_BLOCKS = {0x0A: 1, 0x03: 2, 0x04: 4}
_REFERENCES = frozenset((0x11, 0x12, 0x13, 0x14, 0x15))
_STRP, _LINE_STRP, _STRX = 0x0E, 0x1F, {0x1A: None, 0x25: 1, 0x26: 2, 0x27: 3, 0x28: 4}
_ADDR, _PIECE, _ADDRX = 0x03, 0x93, 0xA1  # operations of a location

_RESERVED = re.compile(r"_[_A-Z]")  # names of the language's own library
_ATOMIC_TYPE = re.compile(r"atomic(<|_flag$)")
_POINTER_SIZE = 8
_DEEPEST = 20


class _Abbreviation(NamedTuple):
    tag: int
    children: bool
    attributes: tuple[tuple[int, int, int], ...]  # attribute, form, the value where the form has it


class _Entry(NamedTuple):
    tag: int
    children: bool
    values: dict[int, int | str | bytes]
    end: int  # where the next one begins


def path_inside(module: str, variable: int, inside: int, *, embedded: bool = False) -> str | None:
    """The path from the variable that starts at this address; None where that is not known."""
    try:
        return _path(module, embedded, variable, inside)
    except UNREADABLE:
        return None


@cache
def _path(module: str, embedded: bool, variable: int, inside: int) -> str | None:
    for unit, entry, before in _variables_at(module, embedded, variable):
        kind = unit.type_of(entry)
        if kind is not None:
            return unit.path(kind, before + inside, _DEEPEST)
    return None


@cache
def _sections(module: str, embedded: bool) -> dict[str, bytes]:
    elf = read_elf(module, embedded=embedded)
    names = ("info", "abbrev", "str", "line_str", "str_offsets", "addr")
    return {name: elf.bytes_of(f".debug_{name}") for name in names}


def _variables_at(module: str, embedded: bool, address: int) -> Iterator[tuple[_Unit, _Entry, int]]:
    """The variables of which a part begins there, with how much of them is before it."""
    sections = _sections(module, embedded)
    info = sections["info"]
    word = address.to_bytes(8, "little")
    indices = list(_all(sections["addr"], word))
    for start, end in _units(info):
        unit = _Unit(info, start, end, sections)
        wanted = {bytes((_ADDR,)) + word}
        if unit.addr_base:
            numbers = [(at - unit.addr_base) // 8 for at in indices if at >= unit.addr_base]
            wanted |= {bytes((_ADDRX,)) + _number_as_bytes(number) for number in numbers}
        if not any(info.find(one, start, end) >= 0 for one in wanted):
            continue
        for entry in unit.variables():
            location = entry.values.get(_LOCATION)
            for before, part in _parts(location) if isinstance(location, bytes) else ():
                if part in wanted:
                    yield unit, entry, before


def _parts(location: bytes) -> Iterator[tuple[int, bytes]]:
    """Where a variable is, as operations: one address, or those of the parts that it was split into."""
    at, before, part = 0, 0, b""
    while at < len(location):
        start, operation = at, location[at]
        if operation == _ADDR:
            at, part = at + 9, location[start : at + 9]
        elif operation in (_ADDRX, _PIECE):
            number, at = _uleb(location, at + 1)
            if operation == _ADDRX:
                part = location[start:at]
            else:
                if part:
                    yield before, part
                before, part = before + number, b""
        else:
            return
    if part:
        yield before, part


def _units(info: bytes) -> Iterator[tuple[int, int]]:
    start = 0
    while start + 4 <= len(info):
        wide = info[start : start + 4] == b"\xff" * 4
        length = _int(info, start + 4, 8) if wide else _int(info, start, 4)
        end = start + (12 if wide else 4) + length
        yield start, min(end, len(info))
        start = end


class _Unit:
    """One compiled file: its entries, and the types among them."""

    def __init__(self, info: bytes, start: int, end: int, sections: dict[str, bytes]) -> None:
        self._info, self._start, self._end, self._sections = info, start, end, sections
        wide = info[start : start + 4] == b"\xff" * 4
        self._offset_size = 8 if wide else 4
        at = start + (12 if wide else 4)
        version = _int(info, at, 2)
        kind = info[at + 2] if version >= 5 else 1
        abbreviations = at + 4 if version >= 5 else at + 2
        self._first = at + (4 if version >= 5 else 3) + self._offset_size
        self._first += {4: 8, 5: 8, 2: 8 + self._offset_size, 6: 8 + self._offset_size}.get(kind, 0)
        self._abbreviations = _abbreviations(sections["abbrev"], _int(info, abbreviations, self._offset_size))
        self._str_offsets = 0
        root = self.entry(self._first)
        values = root.values if root is not None else {}
        self.addr_base = _number(values.get(_ADDR_BASE))
        self._str_offsets = _number(values.get(_STR_OFFSETS_BASE))

    def entry(self, at: int) -> _Entry | None:
        """The entry there; None at the end of a list of children."""
        code, at = _uleb(self._info, at)
        if code == 0:
            return None
        abbreviation = self._abbreviations[code]
        values: dict[int, int | str | bytes] = {}
        for attribute, form, implicit in abbreviation.attributes:
            values[attribute], at = (implicit, at) if form == _IMPLICIT else self._value(form, at)
        return _Entry(abbreviation.tag, abbreviation.children, values, at)

    def variables(self) -> Iterator[_Entry]:
        at = self._first
        while at < self._end:
            code, after = _uleb(self._info, at)
            abbreviation = self._abbreviations.get(code)
            if abbreviation is None:  # the end of a list
                at = after
            elif abbreviation.tag == _VARIABLE:
                entry = self.entry(at)
                assert entry is not None
                yield entry
                at = entry.end
            else:
                at = self._after(abbreviation, after)

    def children(self, at: int) -> Iterator[_Entry]:
        """The entries one level below the one there."""
        parent = self.entry(at)
        if parent is None or not parent.children:
            return
        at, depth = parent.end, 1
        while depth and at < self._end:
            entry = self.entry(at)
            if entry is None:
                depth -= 1
                at += 1
                continue
            if depth == 1:
                yield entry
            at = entry.end
            depth += entry.children

    def type_of(self, entry: _Entry) -> int | None:
        """Where its type is; a definition may refer to the declaration that has it."""
        for _ in range(_DEEPEST):
            kind = entry.values.get(_TYPE)
            if isinstance(kind, int):
                return kind
            other = entry.values.get(_SPECIFICATION, entry.values.get(_ABSTRACT_ORIGIN))
            found = self.entry(other) if isinstance(other, int) else None
            if found is None:
                return None
            entry = found
        return None

    def path(self, kind: int, inside: int, deepest: int) -> str:
        at, entry = self._proper(kind)
        rest = f"+{inside}" if inside else ""
        if entry is None or deepest == 0:
            return rest
        if entry.tag == _ARRAY:
            return self._element(at, entry, inside, deepest)
        if entry.tag not in _WITH_MEMBERS or entry.values.get(_DECLARATION):
            return rest
        if _ATOMIC_TYPE.match(str(entry.values.get(_NAME, ""))):
            return ""
        for member in self.children(at):
            if member.tag not in (_MEMBER, _INHERITANCE):
                continue
            start, of = _number(member.values.get(_MEMBER_LOCATION)), self.type_of(member)
            if of is None or not start <= inside < start + self._size(of, deepest - 1):
                continue
            name = str(member.values.get(_NAME, ""))
            base = self._name(of) if member.tag == _INHERITANCE else name
            if _RESERVED.match(base):
                return ""
            return (f".{name}" if name else "") + self.path(of, inside - start, deepest - 1)
        return rest

    def _element(self, at: int, entry: _Entry, inside: int, deepest: int) -> str:
        of, lengths = self.type_of(entry), self._lengths(at)
        size = self._size(of, deepest - 1) if of is not None else 0
        if of is None or not size or not all(lengths[1:]):
            return f"+{inside}" if inside else ""
        index, rest = divmod(inside, size)
        words = []
        for stride in reversed(list(accumulate(reversed(lengths[1:]), mul, initial=1))):
            words.append(f"[{index // stride}]")
            index %= stride
        return "".join(words) + self.path(of, rest, deepest - 1)

    def _lengths(self, at: int) -> list[int]:
        """Of the dimensions of an array; 0 where it is not known."""
        return [
            _number(one.values.get(_COUNT)) or _number(one.values.get(_UPPER_BOUND), -1) + 1
            for one in self.children(at)
            if one.tag == _SUBRANGE
        ]

    def _size(self, kind: int, deepest: int) -> int:
        at, entry = self._proper(kind)
        if entry is None or deepest <= 0:
            return 0
        of = self.type_of(entry)
        if entry.tag == _ARRAY and _BYTE_SIZE not in entry.values and of is not None:
            size = self._size(of, deepest - 1)
            for length in self._lengths(at):
                size *= length
            return size
        return _number(entry.values.get(_BYTE_SIZE), _POINTER_SIZE if entry.tag == _POINTER else 0)

    def _proper(self, kind: int) -> tuple[int, _Entry | None]:
        """The type itself, where it has other names."""
        entry = self.entry(kind)
        for _ in range(_DEEPEST):
            of = entry.values.get(_TYPE) if entry is not None and entry.tag in _OTHER_NAMES else None
            if not isinstance(of, int):
                break
            kind, entry = of, self.entry(of)
        return kind, entry

    def _name(self, kind: int) -> str:
        _, entry = self._proper(kind)
        return str(entry.values.get(_NAME, "")) if entry is not None else ""

    def _after(self, abbreviation: _Abbreviation, at: int) -> int:
        for _, form, _ in abbreviation.attributes:
            size = _FIXED.get(form)
            if size is None:
                at = self._value(form, at)[1]
            else:
                at += size
        return at

    def _value(self, form: int, at: int) -> tuple[int | str | bytes, int]:
        info = self._info
        if form in _REFERENCES:  # from the start of the unit
            number, at = (
                _uleb(info, at) if form == _REF_UDATA else (_int(info, at, _FIXED[form]), at + _FIXED[form])
            )
            return self._start + number, at
        if form in _STRX:
            size = _STRX[form]
            number, at = _uleb(info, at) if size is None else (_int(info, at, size), at + size)
            return self._indexed_text(number), at
        if form in _OFFSETS:
            number, at = _int(info, at, self._offset_size), at + self._offset_size
            if form in (_STRP, _LINE_STRP):
                return text_at(self._sections["str" if form == _STRP else "line_str"], number), at
            return number, at
        if form in _FIXED:
            size = _FIXED[form]
            return (1 if form == _PRESENT else _int(info, at, size)), at + size
        if form in _NUMBERS:
            return _uleb(info, at)
        if form == _SIGNED:
            return _sleb(info, at)
        if form == _TEXT:
            text = text_at(info, at)
            return text, info.index(b"\0", at) + 1
        if form in (_BLOCK, _EXPRESSION):
            size, at = _uleb(info, at)
        else:
            size, at = _int(info, at, _BLOCKS[form]), at + _BLOCKS[form]
        return info[at : at + size], at + size

    def _indexed_text(self, index: int) -> str:
        if not self._str_offsets:  # the unit's own entry, before it is known
            return ""
        offset = _int(
            self._sections["str_offsets"], self._str_offsets + index * self._offset_size, self._offset_size
        )
        return text_at(self._sections["str"], offset)


@cache
def _abbreviations(section: bytes, at: int) -> dict[int, _Abbreviation]:
    table: dict[int, _Abbreviation] = {}
    while True:
        code, at = _uleb(section, at)
        if code == 0:
            return table
        tag, at = _uleb(section, at)
        children, at = section[at] != 0, at + 1
        attributes = []
        while True:
            attribute, at = _uleb(section, at)
            form, at = _uleb(section, at)
            implicit, at = _sleb(section, at) if form == _IMPLICIT else (0, at)
            if attribute == form == 0:
                break
            attributes.append((attribute, form, implicit))
        table[code] = _Abbreviation(tag, children, tuple(attributes))


def _number(value: int | str | bytes | None, otherwise: int = 0) -> int:
    return value if isinstance(value, int) else otherwise


def _int(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "little")


def _uleb(data: bytes, at: int) -> tuple[int, int]:
    byte = data[at]
    if byte < 0x80:
        return byte, at + 1
    number, shift = byte & 0x7F, 7
    while byte & 0x80:
        at += 1
        byte = data[at]
        number |= (byte & 0x7F) << shift
        shift += 7
    return number, at + 1


def _sleb(data: bytes, at: int) -> tuple[int, int]:
    number, end = _uleb(data, at)
    bits = 7 * (end - at)
    return (number - (1 << bits) if number >> (bits - 1) else number), end


def _number_as_bytes(number: int) -> bytes:
    """As `_uleb` reads it."""
    done = bytearray()
    while number >= 0x80:
        done.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*done, number))


def _all(data: bytes, wanted: bytes) -> Iterator[int]:
    at = data.find(wanted)
    while at >= 0:
        yield at
        at = data.find(wanted, at + 1)
