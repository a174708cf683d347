"""The identity of a program: a digest of what it is, not of how it was written down.

Two programs have the same digest exactly if they are equal. The names of its locations, threads, registers
and labels are part of a program; layout, comments, positions and the name of the file are not.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from hashlib import sha256

import msgspec

from fencepost.program.program import Program


def program_digest(program: Program) -> str:
    """SHA-256 of the program's content, as hexadecimal digits."""
    return sha256(msgspec.json.encode(_plain(program.content))).hexdigest()


def _plain(part: object) -> object:
    """A part of a program as nested lists; a struct begins with the name of its type, a mapping is sorted."""
    match part:
        case tuple():
            return [_plain(each) for each in part]
        case Mapping():
            return sorted(part.items())
        case Enum():
            return part.value
        case msgspec.Struct():
            fields = [name for name in part.__struct_fields__ if name != "at"]
            return [type(part).__name__, *(_plain(getattr(part, name)) for name in fields)]
        case _:
            return part
