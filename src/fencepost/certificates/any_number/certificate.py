"""The file with which "robust for every number of threads" can be trusted: sets of views, as JSON.

    {"format": "fencepost-view-certificate", "version": 1, "model": "rc20", "program": …, "k": 2,
     "free_of": ["data races", "failures"],
     "parts": [{"topic": {"about": "stale", "cell": 0, "plain": true, "free": false, "values": [1],
                          "reader": -1},
                "globals": [[memory, [thread, …], [bits of cell, …]], …],
                "locals": [[function, pc, registers, bits], …],
                "views": [[global, local, local], …]}, …]}

`views` says what the states and the topics are, `view_sets` why such sets prove anything, `check`
whether they do. `free_of` is what the file proves besides robustness. `program` is its digest.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from fencepost.certificates.any_number.view_sets import ViewSet
from fencepost.certificates.any_number.views import Global, Local, Topic
from fencepost.certificates.certificate import malformed
from fencepost.errors import InputError
from fencepost.program import Program
from fencepost.program.digest import program_digest

ViewModel = Literal["ra", "rc20", "cpp20", "tso"]
FreeOf = Literal["data races", "failures"]
FORMAT: Literal["fencepost-view-certificate"] = "fencepost-view-certificate"


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The views of one topic; the first number of a view is that of its global state."""

    topic: Topic
    globals: tuple[Global, ...]
    locals: tuple[Local, ...]
    views: tuple[tuple[int, ...], ...]


class ViewCertificate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: Literal["fencepost-view-certificate"]
    version: Literal[1]
    model: ViewModel
    program: str
    k: int
    free_of: tuple[FreeOf, ...]
    parts: tuple[Part, ...]

    @staticmethod
    def of(
        program: Program, model: ViewModel, k: int, free_of: Iterable[FreeOf], parts: Iterable[Part]
    ) -> ViewCertificate:
        return ViewCertificate(FORMAT, 1, model, program_digest(program), k, tuple(free_of), tuple(parts))


def part_of(views: ViewSet) -> Part:
    """A set of views, with the states that occur in it."""
    globals_ = {number: place for place, number in enumerate(sorted(views.at))}
    used = sorted({local for here in views.at for local in views.locals_at(here)})
    locals_ = {number: place for place, number in enumerate(used)}
    return Part(
        views.steps.topic,
        tuple(views.globals.all[number] for number in globals_),
        tuple(views.locals.all[number] for number in used),
        tuple(
            (globals_[here], *(locals_[local] for local in view))
            for here in globals_
            for view in sorted(views.at[here])
        ),
    )


def encode_views(certificate: ViewCertificate) -> bytes:
    return msgspec.json.encode(certificate) + b"\n"


def is_view_certificate(data: bytes) -> bool:
    class Head(msgspec.Struct):
        format: str = ""

    try:
        return msgspec.json.decode(data, type=Head).format == FORMAT
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return False


def decode_views(data: bytes, file: str) -> ViewCertificate:
    """The certificate in a file of which `is_view_certificate` is true."""
    try:
        return msgspec.json.decode(data, type=ViewCertificate)
    except msgspec.ValidationError as error:
        text = str(error)
        raise InputError(f"not a certificate of fencepost: {text[:1].lower()}{text[1:]}", file) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise malformed(data, str(error), file) from None
