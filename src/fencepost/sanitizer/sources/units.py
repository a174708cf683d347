"""Sources as libclang reads them: syntax tree, tokens and macros of a file as it was compiled.

libclang comes from PyPI, without headers of its own, so it is given those of the compiler. It is imported
where it is needed only, since few need it.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from fencepost.sanitizer.build.instrumentation import INCLUDE
from fencepost.sanitizer.sources.builds import Build
from fencepost.sanitizer.sources.text import SourceText

Cursor = Any  # `clang.cindex` has no types

_HEADERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "headers")
# The options that say how a source is read; those in the second line have a value, perhaps as the next word.
_READING = ("-std=", "-ansi", "-fno-exceptions", "-fno-rtti", "-fshort-enums", "-fms-extensions", "-fopenmp")
_WITH_VALUE = ("-I", "-D", "-U", "-isystem", "-iquote", "-idirafter", "-include", "-imacros")
_WHERE_HEADERS_ARE = ("-stdlib=", "-nostdinc", "--sysroot", "-isysroot")
_DETAILED_PREPROCESSING = 1
_FATAL = 4


class CannotReadSourceError(Exception):
    """A source cannot be read; the text says what to do."""


class Token(NamedTuple):
    start: int
    end: int
    text: str
    kind: str  # PUNCTUATION, KEYWORD, IDENTIFIER, LITERAL or COMMENT


class Macro(NamedTuple):
    """A definition of a macro: its name, where it is, and its body with the name and the parameters."""

    name: str
    file: str
    start: int
    end: int


def libclang() -> Any:
    """The module `clang.cindex`."""
    try:
        from clang import cindex

        cindex.Index.create()
    except ImportError:
        raise CannotReadSourceError(
            "patching needs libclang, which is not installed; install it with: pip install 'fencepost[patch]'"
        ) from None
    except cindex.LibclangError as error:
        raise CannotReadSourceError(f"libclang cannot be loaded: {error}") from None
    return cindex


class Unit:
    """A source with all that it includes."""

    def __init__(self, build: Build) -> None:
        cindex = libclang()
        arguments = _arguments(build)
        try:
            self._unit = cindex.Index.create().parse(
                build.path, args=arguments, options=_DETAILED_PREPROCESSING
            )
        except cindex.TranslationUnitLoadError:
            raise CannotReadSourceError(f"libclang cannot read {build.path}") from None
        for said in self._unit.diagnostics:
            if said.severity >= _FATAL:
                place = said.location
                raise CannotReadSourceError(
                    f"{place.file or build.path}:{place.line}:{place.column}: libclang cannot read this: "
                    f"{said.spelling}"
                )
        self.build = build
        self.language = build.language
        self._cindex = cindex
        self._tokens: dict[str, list[Token]] = {}
        self._names: dict[int, str] = {}  # of files, by libclang's pointers to them

    def absolute(self, file: Any) -> str:
        return self.build.absolute(file.name)

    @cached_property
    def top_level(self) -> dict[str, list[Cursor]]:
        """What each file of the project has at its top level, macros included."""
        found: dict[str, list[Cursor]] = {path: [] for path in self.build.digests}
        names: dict[str, list[Cursor] | None] = {}
        for cursor in self._unit.cursor.get_children():
            file = cursor.location.file
            if file is not None:
                if file.name not in names:
                    names[file.name] = found.get(self.absolute(file))
                here = names[file.name]
                if here is not None:
                    here.append(cursor)
        return found

    def macros(self) -> Iterator[Macro]:
        """The macros that the files of the project define."""
        for path, cursors in self.top_level.items():
            for cursor in cursors:
                if cursor.kind.name == "MACRO_DEFINITION":
                    extent = cursor.extent
                    yield Macro(cursor.spelling, path, extent.start.offset, extent.end.offset)

    def includes(self, header: str) -> bool:
        return any(os.path.basename(one.include.name) == header for one in self._unit.get_includes())

    def tokens(self, text: SourceText) -> list[Token]:
        """All of a file, but the comments."""
        if text.path not in self._tokens:
            file = self._file(text.path)
            start = self._cindex.SourceLocation.from_offset(self._unit, file, 0)
            end = self._cindex.SourceLocation.from_offset(self._unit, file, len(text.content))
            extent = self._cindex.SourceRange.from_locations(start, end)
            self._tokens[text.path] = [
                Token(token.extent.start.offset, token.extent.end.offset, token.spelling, token.kind.name)
                for token in self._unit.get_tokens(extent=extent)
                if token.kind.name != "COMMENT"
            ]
        return self._tokens[text.path]

    def place(self, location: Any) -> tuple[str, int] | None:
        """File and offset of a location; of one in the argument of a macro, where the argument stands."""
        file, offset, unused = self._cindex.c_object_p(), ctypes.c_uint(), ctypes.byref(ctypes.c_uint())
        found = self._cindex.conf.lib.clang_getFileLocation
        found(location, ctypes.byref(file), unused, unused, ctypes.byref(offset))
        if not file:
            return None
        pointer = ctypes.cast(file, ctypes.c_void_p).value or 0
        if pointer not in self._names:
            self._names[pointer] = self.absolute(self._cindex.File(file))
        return self._names[pointer], offset.value

    def _file(self, path: str) -> Any:
        """libclang's own handle of a file, which it may know by another name."""
        for one in (path, *(one.include.name for one in self._unit.get_includes())):
            if self.build.absolute(str(one)) == path:
                return self._cindex.File.from_name(self._unit, one)
        return self._cindex.File.from_name(self._unit, self.build.path)


def _arguments(build: Build) -> list[str]:
    own = list(_options(build.options, _READING, _WITH_VALUE))
    where = tuple(_options(build.options, _WHERE_HEADERS_ARE, ("-isysroot", "--sysroot")))
    headers = [
        word for path in _header_paths(build.compiler, build.language, where) for word in ("-isystem", path)
    ]
    ours = ["-isystem", _HEADERS] if build.language == "c" else []
    return [
        *("-x", build.language, "-working-directory", build.directory, "-nostdinc"),
        *("-ferror-limit=0", "-w", "-Wno-error", "-D__FENCEPOST__=1"),
        *ours,
        *own,
        *("-isystem", INCLUDE),
        *headers,
    ]


def _options(words: Sequence[str], alone: tuple[str, ...], with_value: tuple[str, ...]) -> Iterator[str]:
    rest = iter(_driver_words(words))
    for word in rest:
        if word in with_value:
            yield from (word, next(rest, ""))
        elif word.startswith((*alone, *with_value)):
            yield word


def _driver_words(words: Sequence[str]) -> list[str]:
    """With what CMake gives to clang itself (`-Xclang -include -Xclang FILE`) as the driver would have it."""
    return [word for word in words if word != "-Xclang"]


@cache
def _header_paths(compiler: tuple[str, ...], language: str, options: tuple[str, ...]) -> tuple[str, ...]:
    """Where the compiler looks for the headers of the system."""
    command = [*compiler, *options, "-x", language, "-E", "-v", os.devnull]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except OSError:
        raise CannotReadSourceError(f"`{compiler[0]}`, which compiled the program, is not there") from None
    _, _, rest = done.stderr.partition("#include <...> search starts here:\n")
    lines = rest.partition("End of search list.")[0].splitlines()
    return tuple(str(Path(line.strip()).resolve()) for line in lines if line.strip())
