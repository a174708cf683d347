"""From addresses in modules to functions and source lines, by `llvm-symbolizer` or `addr2line`.

One process per module answers for all addresses in it. A place without debug information keeps its module and
offset, and its function where that is known.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby, pairwise
from typing import NamedTuple

import msgspec

from fencepost.sanitizer.answer.elf_file import UNREADABLE, read_elf
from fencepost.sanitizer.build.toolchain import found
from fencepost.sanitizer.run.events import Place
from fencepost.verdicts.run import Frame

_LLVM = ("llvm-symbolizer", *(f"llvm-symbolizer-{n}" for n in range(19, 13, -1)))
_GNU = "addr2line"
# What is before a call made ready for it.
_NEAR = (*range(-1, -65, -1), *range(1, 33))  # bytes

Frames = tuple[Frame, ...]


class Symbols(NamedTuple):
    """`frames`: for each place the function it lies in, preceded by those inlined into it there."""

    frames: Mapping[Place, Frames]
    tool: str | None  # None: there is none, so there are no source lines

    def of_stack(self, stack: Iterable[Place]) -> Frames:
        return tuple(frame for place in stack for frame in self.frames[place])


def look_up(places: Iterable[Place], *, near: bool = False) -> Symbols:
    """With `near`, a place without a line gets one of its function that is near it in the machine code."""
    wanted = sorted(set(places), key=lambda place: (place.module, place.embedded, place.address))
    tool = next((name for name in (*_LLVM, _GNU) if found(name, os.environ)), None)
    frames: dict[Place, Frames] = {}
    for (module, embedded), group in groupby(wanted, lambda place: (place.module, place.embedded)):
        here = list(group)
        known: dict[int, Frames] = {}
        if tool is not None:
            with _file_of(module, embedded) as file:
                known = _ask(tool, file, module, [place.address for place in here])
                if near:
                    known |= dict(_near(tool, file, module, known))
        for place in here:
            frames[place] = known.get(place.address) or (Frame(module=module, offset=place.offset),)
    return Symbols(frames, tool)


@contextmanager
def _file_of(module: str, embedded: bool) -> Iterator[str]:
    """What the symbolizer is to look into."""
    if not embedded:
        yield module
        return
    with tempfile.NamedTemporaryFile(prefix="fencepost-") as file:
        with suppress(*UNREADABLE):
            file.write(read_elf(module, embedded=True).image)
        file.flush()
        yield file.name


def _near(tool: str, file: str, module: str, known: Mapping[int, Frames]) -> Iterator[tuple[int, Frames]]:
    """For places without a line: clang gives none to a plain access that it has made of two."""
    lineless = {address: frames for address, frames in known.items() if frames and _has_no_line(frames[0])}
    around = _ask(tool, file, module, sorted({a + step for a in lineless for step in _NEAR if a + step > 0}))
    for address, frames in lineless.items():
        for step in _NEAR:
            candidate = around.get(address + step, ())
            of_the_same = [frame.function for frame in candidate] == [frame.function for frame in frames]
            if of_the_same and candidate[0].line:
                found = msgspec.structs.replace(candidate[0], offset=frames[0].offset, near=True)
                yield address, (found, *frames[1:])
                break


def _has_no_line(frame: Frame) -> bool:
    return bool(frame.file and frame.function) and not frame.line


def _ask(tool: str, file: str, module: str, addresses: Sequence[int]) -> dict[int, Frames]:
    if not addresses:
        return {}
    if tool == _GNU:
        command = [tool, "-e", file, "-f", "-i", "-C", "-a"]
    else:
        command = [tool, f"--obj={file}", "--output-style=JSON"]
    questions = "".join(f"{address:#x}\n" for address in addresses)
    try:
        done = subprocess.run(command, input=questions, capture_output=True, text=True, check=False)
    except OSError:
        return {}
    lines = done.stdout.splitlines()
    return _gnu_answers(module, lines) if tool == _GNU else _llvm_answers(module, lines)


class _Symbol(msgspec.Struct):
    function: str = msgspec.field(default="", name="FunctionName")
    file: str = msgspec.field(default="", name="FileName")
    line: int = msgspec.field(default=0, name="Line")
    column: int = msgspec.field(default=0, name="Column")


class _LlvmAnswer(msgspec.Struct):
    address: str = msgspec.field(name="Address")
    symbols: list[_Symbol] = msgspec.field(default_factory=list, name="Symbol")


def _llvm_answers(module: str, lines: Iterable[str]) -> dict[int, Frames]:
    answers: dict[int, Frames] = {}
    for line in lines:
        try:
            answer = msgspec.json.decode(line, type=_LlvmAnswer)
            address = int(answer.address, 16)
        except (msgspec.DecodeError, ValueError):
            continue
        answers[address] = tuple(
            Frame(
                function=symbol.function,
                file=_tidy(symbol.file),
                line=symbol.line,
                column=symbol.column,
                module=module,
                offset=answer.address,
            )
            for symbol in answer.symbols
        )
    return answers


def _gnu_answers(module: str, lines: Sequence[str]) -> dict[int, Frames]:
    """An address on a line of its own, then for each function its name and, on the next line, `FILE:LINE`."""
    answers: dict[int, Frames] = {}
    starts = [i for i, line in enumerate(lines) if re.fullmatch("0x[0-9a-f]{1,16}", line)]
    for start, end in pairwise([*starts, len(lines)]):
        address = int(lines[start], 16)
        pairs = zip(lines[start + 1 : end : 2], lines[start + 2 : end : 2], strict=False)
        answers[address] = tuple(_gnu_frame(module, address, *pair) for pair in pairs)
    return answers


def _gnu_frame(module: str, address: int, function: str, place: str) -> Frame:
    file, _, line = place.partition(" (discriminator")[0].rpartition(":")
    return Frame(
        function="" if function == "??" else function,
        file="" if file == "??" else _tidy(file),
        line=int(line) if re.fullmatch("[0-9]{1,9}", line) else 0,
        module=module,
        offset=f"{address:#x}",
    )


def _tidy(path: str) -> str:
    """Without `./` and the like, which compilers leave in for included files."""
    return os.path.normpath(path) if path else ""
