"""What is needed of an ELF file: its sections, 64 bits, little endian.

One of them can be a file of its own: the image that a program has embedded for runs under a schedule
(native/sanitizer/images/linker.cpp).
"""

from __future__ import annotations

import struct
import zlib
from functools import cache
from typing import NamedTuple

ELF_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
ELF_SECTION = struct.Struct("<IIQQQQIIQQ")
_COMPRESSED = struct.Struct("<IIQQ")
MAGIC = b"\x7fELF\x02\x01"
_ZLIB = 1
_HAS_NO_BYTES = 8  # the kind of a section that is only room
_COMPRESSED_FLAG = 0x800
_EMBEDDED = ".fencepost.full"

# What a damaged file raises; a file that cannot be read has no names.
UNREADABLE = (OSError, struct.error, zlib.error, IndexError, KeyError, ValueError, OverflowError)


class Section(NamedTuple):
    name: str
    kind: int
    start: int
    size: int
    link: int
    flags: int


class ElfFile(NamedTuple):
    image: bytes
    sections: tuple[Section, ...]

    def bytes_of(self, name: str) -> bytes:
        """The content of a section; nothing where there is no such section."""
        section = next((one for one in self.sections if one.name == name), None)
        if section is None or section.kind == _HAS_NO_BYTES:
            return b""
        content = self.image[section.start : section.start + section.size]
        if not section.flags & _COMPRESSED_FLAG:
            return content
        kind, _, _, _ = _COMPRESSED.unpack_from(content)
        return zlib.decompress(content[_COMPRESSED.size :]) if kind == _ZLIB else b""


@cache
def read_elf(path: str, *, embedded: bool = False) -> ElfFile:
    """Without sections where it is no such file; raises one of `UNREADABLE` where it is damaged.

    `embedded`: the one that the file has embedded.
    """
    if embedded:
        return parse_elf(read_elf(path).bytes_of(_EMBEDDED))
    with open(path, "rb") as file:
        return parse_elf(file.read())


def parse_elf(image: bytes) -> ElfFile:
    if not image.startswith(MAGIC):
        return ElfFile(b"", ())
    header = ELF_HEADER.unpack_from(image)
    table, entry_size, count, names = header[6], header[11], header[12], header[13]
    entries = [ELF_SECTION.unpack_from(image, table + i * entry_size) for i in range(count)]
    start = entries[names][4] if entries else 0
    sections = (
        Section(text_at(image, start + one[0]), one[1], one[4], one[5], one[6], one[2]) for one in entries
    )
    return ElfFile(image, tuple(sections))


def text_at(image: bytes, start: int) -> str:
    return image[start : image.index(b"\0", start)].decode("utf-8", "replace")
