"""How a program was built: the records that `fencepost-cc` put into its objects (`build.recording`)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

import msgspec

from fencepost.sanitizer.answer.elf_file import UNREADABLE, parse_elf
from fencepost.sanitizer.build.recording import SECTION, digest_of
from fencepost.sanitizer.build.toolchain import Family, Language


class NoBuildError(Exception):
    """The program does not say how it was built; the text says what to do."""


class Build(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """How one source was compiled.

    Paths are as the compiler had them, so they can be relative to `directory`. `files` has the digests of the
    source and of the project's own headers; it is empty where a file changed while it was compiled. If the
    headers are not known, `complete` is false.
    """

    directory: str
    compiler: tuple[str, ...]
    family: Family
    language: Language
    options: tuple[str, ...]
    source: str
    files: dict[str, str]
    complete: bool

    @cached_property
    def path(self) -> str:
        """The source, from the root."""
        return self.absolute(self.source)

    @cached_property
    def digests(self) -> Mapping[str, str]:
        """The digest of each file, by its path from the root."""
        return {self.absolute(path): digest for path, digest in self.files.items()}

    def absolute(self, path: str) -> str:
        return os.path.normpath(os.path.join(self.directory, path))

    def changed(self) -> list[str]:
        """The files that are not as they were when they were compiled."""
        return [path for path, digest in self.digests.items() if _digest(path) != digest or not digest]


def builds_of(program: str) -> tuple[Build, ...]:
    """The builds of all sources of a program and of the shared libraries that it is linked with."""
    builds = (build for path in (program, *_libraries(program)) for build in _recorded(path))
    found = {(build.directory, build.source, build.options): build for build in builds}
    if not found:
        raise NoBuildError(
            f"{program} does not say how it was built, so its sources cannot be patched; build it with "
            "fencepost-cc or fencepost-c++ of this version, and do not strip it"
        )
    return tuple(found.values())


def _recorded(path: str) -> Iterator[Build]:
    try:
        elf = parse_elf(Path(path).read_bytes())
        for section in elf.sections:
            if section.name == SECTION:
                for record in elf.image[section.start : section.start + section.size].split(b"\0"):
                    if record:
                        yield msgspec.json.decode(record, type=Build)
    except (*UNREADABLE, msgspec.MsgspecError):
        return


def _libraries(program: str) -> Iterator[str]:
    """The shared libraries that the program is linked with, but not those of the system."""
    try:
        done = subprocess.run(["ldd", program], capture_output=True, text=True, errors="replace", check=False)
    except OSError:
        return
    for line in done.stdout.splitlines():
        path = line.partition("=>")[2].rpartition("(")[0].strip()
        if path.startswith("/") and not path.startswith(("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/")):
            yield path


def _digest(path: str) -> str:
    try:
        return digest_of(Path(path).read_bytes())
    except OSError:
        return ""
