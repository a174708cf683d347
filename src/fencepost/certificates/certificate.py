"""The file with which a safe answer under SRA or TSO can be trusted: an inductive invariant, as JSON.

    {"format": "fencepost-certificate", "version": 2, "model": "sra", "question": …, "program": …,
     "basis": [{"threads": [{"pc": 3, "registers": [0, 1]}, …], "phase": 2,
                "potentials": [[[[writer, cell, value, flag], …], …], …]}, …]}

The invariant is that the program is in no state above one of the basis: the threads stand there, and every
list of the potentials is a possible future of its thread. Only some orders of a run's steps are looked at;
`phase` says at which places in them (`blocks`). `program` is its digest (`program/digest.py`); in version 1
it was that of its TPL text. A writer is the number of a thread, or −1 for the initial memory. A cell is an
index into `Program.cells`. The flag says whether the write must be the last one of its cell in modification
order (U), must not be (S), or may be either (R). Whether all this is true is `check`'s question.

Under TSO each thread has one list, of what it has yet to read; the lists after those of the threads, of one
option each, are what cells hold. There it does not matter who wrote a value: the writer is always −1.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from fencepost.errors import InputError
from fencepost.program import Program
from fencepost.program.digest import program_digest

CertifiedModel = Literal["sra", "tso"]
Flag = Literal["R", "U", "S"]
FileOption = tuple[int, int, int, Flag]


class Standing(msgspec.Struct, frozen=True):
    """Where a thread stands: as in `ThreadState`, or at −2 if it has failed, or anywhere if `pc` is None."""

    pc: int | None
    registers: tuple[int, ...]


class BasisState(msgspec.Struct, frozen=True):
    """For each thread where it stands, and its lists; then those of the final memory and of SC fences."""

    threads: tuple[Standing, ...]
    phase: int
    potentials: tuple[tuple[tuple[FileOption, ...], ...], ...]


class Certificate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: Literal["fencepost-certificate"]
    version: Literal[2]
    model: CertifiedModel
    question: str
    program: str
    basis: tuple[BasisState, ...]

    @staticmethod
    def of(
        program: Program, question: str, basis: tuple[BasisState, ...], model: CertifiedModel = "sra"
    ) -> Certificate:
        return Certificate("fencepost-certificate", 2, model, question, program_digest(program), basis)


def encode(certificate: Certificate) -> bytes:
    return msgspec.json.encode(certificate) + b"\n"


def decode(data: bytes, file: str) -> Certificate:
    try:
        return msgspec.json.decode(data, type=Certificate)
    except msgspec.ValidationError as error:
        raise InputError(f"not a certificate of fencepost: {_in_lower_case(str(error))}", file) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise malformed(data, str(error), file) from None


def malformed(data: bytes, message: str, file: str) -> InputError:
    """The place of the mistake in lines and columns; msgspec counts bytes."""
    place = re.search(r"\(byte (\d+)\)", message)
    before = data[: int(place[1])] if place else data
    line, column = before.count(b"\n") + 1, len(before) - (before.rfind(b"\n") + 1) + 1
    return InputError("expected a certificate of fencepost, which is JSON; this is not", file, line, column)


def _in_lower_case(text: str) -> str:
    return text[:1].lower() + text[1:]
