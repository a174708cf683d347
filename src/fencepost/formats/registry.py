"""Programs in files: which language is a file in, and which module reads and writes that?

`load` finds out which language a file is in, reads its text, and leaves the text to that language's module.
Whatever is wrong with the file itself is told here, as an `InputError` like every other mistake in an input.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from fencepost.errors import InputError
from fencepost.formats.text.source import Source, one_of, quoted, suggestion
from fencepost.program import Position, Program

if TYPE_CHECKING:
    from fencepost.formats.text.edits import Edit

LARGEST_FILE = 1 << 20
SHARED_ENDING = ".txt"  # of files whose first word tells the language
_C_ENDINGS = (".c", ".cc", ".cpp", ".cxx", ".c++", ".h", ".hh", ".hpp")
_STANDARD_INPUT, _ITS_NAME = "-", "<stdin>"


class Format(msgspec.Struct, frozen=True):
    """A language: its name, the endings of its files, and the module with its `read` and `write`.

    `options` are those of `Reading` that its `read` takes, `first_words` those of its files with
    `SHARED_ENDING`. With `edits` the module has a module `edits` that changes texts in place, and with
    `labels_are_states` such changes may add labels.
    """

    name: str
    endings: tuple[str, ...]
    module: str
    options: tuple[str, ...] = ()
    first_words: tuple[str, ...] = ()
    edits: bool = False
    labels_are_states: bool = False


FORMATS = (
    Format("tpl", (".tpl",), "fencepost.formats.tpl", options=("strict_tpl",), edits=True),
    Format("litmus", (".litmus",), "fencepost.formats.litmus", options=("treat_sc_as",)),
    Format(
        "automata",
        (".aut",),
        "fencepost.formats.automata",
        first_words=("thread", "memory_size", "#"),
        edits=True,
        labels_are_states=True,
    ),
    Format("persist", (".persist",), "fencepost.formats.persist", edits=True, labels_are_states=True),
)
# Languages that are only written.
WRITTEN_ONLY = (
    Format("c", (), "fencepost.formats.c.writer"),
    Format("promela", (), "fencepost.formats.promela.writer"),
)


class Reading(msgspec.Struct, frozen=True):
    """How to read files: in which format (by ending or first word if None), and what the formats leave open.

    `strict_tpl` refuses fencepost's extensions of TPL; `treat_sc_as` ("fence" or "acq-rel") says what to make
    of the seq_cst accesses of litmus tests for models that do not have them; `instances` is how many copies
    to take of threads of which there is any number.
    """

    format: str | None = None
    strict_tpl: bool = False
    treat_sc_as: str | None = None
    instances: int | None = None


BY_ENDING = Reading()


def load(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    strict_tpl: bool = False,
    treat_sc_as: str | None = None,
    instances: int | None = None,
) -> Program:
    """The program in the file at `path`; raises `InputError`. See `Reading` for the options."""
    return load_as(path, Reading(format, strict_tpl, treat_sc_as, instances))


def load_as(path: str | os.PathLike[str], reading: Reading, text: str | None = None) -> Program:
    """The program in the file at `path`, which is not read if its `text` is given; raises `InputError`."""
    file = os.fspath(path)
    known = _format_of(file, reading.format)
    if text is None:
        text = text_of(file)
    chosen = known or _format_by_first_word(text, file)
    options = {name: getattr(reading, name) for name in chosen.options}
    program = reader_of(chosen)(text, file, **options)
    if reading.instances is None:
        return program
    if not program.templates:
        raise InputError("there is no `[*]` in the program of which `--instances` could take copies", file)
    return program.with_instances(reading.instances)


def format_of(program: Program) -> Format | None:
    """The language that the program was read from."""
    return next((known for known in FORMATS if known.name == program.format), None)


def reader_of(format: Format) -> Callable[..., Program]:
    """Reads a text of the language, given the name of its file and the options of the format."""
    read: Callable[..., Program] = importlib.import_module(format.module).read
    return read


def editor_of(format: Format) -> Callable[[str, str, Mapping[Position, Edit]], Iterable[str]]:
    """Gives texts, of which one should be the first text with the edits made; for formats with `edits`."""
    edited: Callable[[str, str, Mapping[Position, Edit]], Iterable[str]]
    edited = importlib.import_module(f"{format.module}.edits").edited
    return edited


def write(program: Program, format: str = "tpl", **options: str) -> str:
    """The program as text in the language that is called `format`; Promela has the option `monitor`."""
    known = _format_named(format, program.file, FORMATS + WRITTEN_ONLY)
    if known.name != "tpl":
        program.require_fixed_threads(f"the format {known.name}")
    text: str = importlib.import_module(known.module).write(program, **options)
    return text


def _format_named(name: str, file: str, formats: tuple[Format, ...] = FORMATS) -> Format:
    for known in formats:
        if known.name == name:
            return known
    names = [known.name for known in formats]
    message = f"there is no format {quoted(name)}; expected {one_of(names)}"
    raise InputError(message + suggestion(name, names), file)


def _format_of(file: str, name: str | None) -> Format | None:
    """The format that is asked for or that the ending tells; None if the first word must tell it."""
    if name is not None:
        return _format_named(name, file)
    ending = os.path.splitext(file)[1].lower()
    for known in FORMATS:
        if ending in known.endings:
            return known
    if ending == SHARED_ENDING:
        return None
    if ending in _C_ENDINGS:
        compiler = "fencepost-cc" if ending == ".c" else "fencepost-c++"
        raise InputError(
            f"C and C++ programs are watched while they run: build this one with `{compiler}`, then ask "
            "`fencepost check ./a.out` about every execution, or `fencepost run ./a.out` about some of them",
            file,
        )
    if os.path.isdir(file):
        raise InputError("this is a directory; expected a program", file)
    if file != "-" and not os.path.exists(file):
        raise InputError("there is no such file", file)
    endings = ", ".join([*(e for known in FORMATS for e in known.endings), SHARED_ENDING])
    found = f"the ending `{ending}`" if ending else "no ending"
    raise InputError(f"cannot tell the format of a file with {found}; expected one of: {endings}", file)


def _format_by_first_word(text: str, file: str) -> Format:
    word = text.split(None, 1)[0]
    for known in FORMATS:
        if word in known.first_words:
            return known
    words = one_of(quoted(word) for known in FORMATS for word in known.first_words)
    at = Source(text, file).position(text.index(word))
    message = f"cannot tell the format of a `{SHARED_ENDING}` file that begins with {quoted(word)}"
    raise Source(text, file).error(f"{message}; expected {words}", at)


def given_input(path: str, reading: Reading) -> tuple[str, str | None]:
    """What to call the file in answers, and its text if it must be read now: that of the standard input."""
    if not path:
        raise InputError("the name of the file is empty")
    if path != _STANDARD_INPUT:
        return path, None
    if reading.format is None:
        names = one_of(known.name for known in FORMATS)
        raise InputError(f"the standard input has no ending: say its format with --format {names}", _ITS_NAME)
    return _ITS_NAME, text_of(_ITS_NAME, sys.stdin.buffer)


def text_of(file: str, opened: BinaryIO | None = None) -> str:
    """What is in the file, or in the stream if it is open already; raises `InputError` if it cannot be a
    program."""
    try:
        with nullcontext(opened) if opened is not None else open(file, "rb") as stream:
            content = stream.read(LARGEST_FILE + 1)
    except OSError as error:
        raise InputError(f"cannot read the file: {error.strerror or error}", file) from None
    except ValueError as error:  # a NUL in the name
        raise InputError(f"cannot read the file: {error}", file) from None
    if len(content) > LARGEST_FILE:
        raise InputError(f"the file is larger than {LARGEST_FILE >> 20} MiB; expected a program", file)
    text = _decoded(content, file)
    if not text.strip():
        raise InputError("the file is empty; expected a program", file, 1, 1)
    return text


def _decoded(content: bytes, file: str) -> str:
    """`content` as UTF-8 without a byte order mark."""
    wrong = content.find(0)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        wrong = error.start if wrong < 0 else min(wrong, error.start)
        text = ""
    if wrong < 0:
        return text
    line = content.count(b"\n", 0, wrong) + 1
    column = len(content[content.rfind(b"\n", 0, wrong) + 1 : wrong].decode("utf-8-sig", "replace")) + 1
    raise InputError("the file is not text; expected a program in UTF-8", file, line, column)
