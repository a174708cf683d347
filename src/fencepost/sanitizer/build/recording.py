"""How each object was compiled, recorded in it, so that its sources can be read and patched later.

The section `.fencepost.build` is not loaded. It has one record for each source: the directory, the compiler,
the options that matter for reading the source, and digests of the source and of the project's headers that
it included. The linker puts the records of all objects one after the other. They are added when the compiler
has ended, since only then it is known what was included: gcc and clang say that in files that environment
variables name. Whatever goes wrong here, the build goes on without a record.
"""

from __future__ import annotations

import os
import re
import signal
import struct
import time
from collections.abc import Iterable, Iterator, Mapping

from fencepost.sanitizer.answer.elf_file import ELF_HEADER, ELF_SECTION, MAGIC
from fencepost.sanitizer.build.arguments import Compilation
from fencepost.sanitizer.build.toolchain import Compiler

SECTION = ".fencepost.build"

_GCC_SAYS = "DEPENDENCIES_OUTPUT"
_CLANG_SAYS = ("CC_PRINT_HEADERS", "CC_PRINT_HEADERS_FILE")
_SYSTEM = ("/usr/include/", "/usr/lib/", "/usr/lib64/", "/usr/local/include/", "/usr/local/lib/")
_HEADERS_OF_CLANG = "/lib/clang/"
_WORD = re.compile(r"(?:\\.|[^\s\\])+")
_ESCAPED = re.compile(r"\\([ #:])")
_MOST_SECTIONS = 0xFF00  # from here on they are counted elsewhere

Included = Mapping[str, Iterable[str]]  # what each source includes


def run_and_record(command: list[str], compilation: Compilation, compiler: Compiler) -> int:
    """Run the compiler, record what it compiled, and return its exit code; a signal ends both alike."""
    import tempfile  # takes time, and a compiler that is only asked about itself does not need it

    directory, started = os.getcwd(), time.time_ns()
    handle, listing = tempfile.mkstemp(prefix="fencepost-")
    os.close(handle)
    try:
        code = _run(command, {**os.environ, **_asked(compilation, compiler, listing)})
        if code == 0:
            _record(compilation, compiler, directory, _included(compilation, compiler, listing), started)
    finally:
        os.unlink(listing)
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code != signal.SIGKILL else None
        os.kill(os.getpid(), -code)
    return code


def digest_of(content: bytes) -> str:
    import hashlib

    return hashlib.blake2b(content, digest_size=16).hexdigest()


def add_section(path: str, content: bytes) -> None:
    """Add to an ELF file a section `SECTION` that is not loaded; files of other kinds stay as they are.

    All is written behind the end of the file, and the header last, so the file is whole at any time.
    """
    with open(path, "r+b") as file:
        start = file.read(ELF_HEADER.size)
        if not start.startswith(MAGIC) or len(start) < ELF_HEADER.size:
            return
        header = list(ELF_HEADER.unpack(start))
        at, count, names = header[6], header[12], header[13]
        if not 0 < names < count < _MOST_SECTIONS - 1:
            return
        file.seek(at)
        sections = [list(ELF_SECTION.unpack(file.read(ELF_SECTION.size))) for _ in range(count)]
        file.seek(sections[names][4])
        name_table = file.read(sections[names][5])
        end = file.seek(0, os.SEEK_END)
        sections.append([len(name_table), 1, 0, 0, end, len(content), 0, 0, 1, 0])
        name_table += SECTION.encode() + b"\0"
        sections[names][4:6] = end + len(content), len(name_table)
        padding = -(end + len(content) + len(name_table)) % 8
        header[6], header[12] = end + len(content) + len(name_table) + padding, count + 1
        table = b"".join(ELF_SECTION.pack(*section) for section in sections)
        try:
            file.write(content + name_table + bytes(padding) + table)
            file.flush()
        except OSError:
            file.truncate(end)
            raise
        file.seek(0)
        file.write(ELF_HEADER.pack(*header))


def _run(command: list[str], environment: Mapping[str, str]) -> int:
    """The compiler's exit code, or minus the signal that ended it.

    What the terminal sends, it gets as well; what is sent to us alone is passed on.
    """
    heard = [number for number in (signal.SIGINT, signal.SIGQUIT) if _is_heard(number)]
    passed_on = [number for number in (signal.SIGTERM, signal.SIGHUP) if _is_heard(number)]
    for number in heard:
        signal.signal(number, signal.SIG_IGN)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, passed_on)  # until there is someone to pass them on to
    child = os.posix_spawnp(command[0], command, environment, setsigdef=heard, setsigmask=mask)
    for number in passed_on:
        signal.signal(number, lambda received, _: os.kill(child, received))
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _is_heard(number: signal.Signals) -> bool:
    return signal.getsignal(number) is not signal.SIG_IGN


def _asked(compilation: Compilation, compiler: Compiler, listing: str) -> dict[str, str]:
    """Beside -MD and -MMD these variables would change what the compiler writes into the user's own file."""
    if compilation.dependencies != "" or _GCC_SAYS in os.environ:
        return {}
    by_clang = dict(zip(_CLANG_SAYS, ("1", listing), strict=True))
    return by_clang if compiler.family == "clang" else {_GCC_SAYS: listing}


def _included(compilation: Compilation, compiler: Compiler, listing: str) -> Included:
    """The headers of each source; a source of which nothing is known is missing."""
    if compilation.dependencies is None:
        return {}
    try:
        with open(compilation.dependencies or listing, encoding="utf-8", errors="surrogateescape") as file:
            text = file.read()
    except OSError:
        return {}
    if compilation.dependencies or compiler.family == "gcc":
        return dict(_rules(text))
    headers = text.splitlines()  # of all sources
    return {source: headers for source, _ in compilation.sources} if headers else {}


def _rules(text: str) -> Iterator[tuple[str, list[str]]]:
    """The rules of a makefile that a compiler wrote: the first thing that each depends on is the source."""
    for line in text.replace("\\\n", " ").splitlines():
        words = [_ESCAPED.sub(r"\1", word.replace("$$", "$")) for word in _WORD.findall(line)]
        targets = next((place for place, word in enumerate(words, 1) if word.endswith(":")), len(words))
        if words[targets:]:
            yield words[targets], words[targets + 1 :]


def _record(
    compilation: Compilation, compiler: Compiler, directory: str, included: Included, started: int
) -> None:
    """Add the records to what came out; a build does not fail for them."""
    import json

    systems = (*_SYSTEM, *_system_folders(compilation.options))
    records: dict[str, bytes] = {}
    for source, language in compilation.sources:
        headers = [path for path in included.get(source, ()) if not _is_of_system(path, systems)]
        record = {
            "directory": directory,
            "compiler": compiler.words,
            "family": compiler.family,
            "language": language,
            "options": compilation.options,
            "source": source,
            "files": {path: _digest_of_file(path, started) for path in (source, *headers)},
            "complete": source in included,
        }
        made = compilation.output or ("a.out" if compilation.links else _object_of(source))
        written = json.dumps(record, separators=(",", ":")).encode() + b"\0"
        records[made] = records.get(made, b"") + written
    for path, content in records.items():
        try:
            add_section(path, content)
        except (OSError, struct.error, ValueError):
            continue


def _is_of_system(path: str, systems: tuple[str, ...]) -> bool:
    return path.startswith(("<", *systems)) or _HEADERS_OF_CLANG in path


def _system_folders(options: tuple[str, ...]) -> Iterator[str]:
    for place, word in enumerate(options):
        if word.startswith("-isystem"):
            folder = word.removeprefix("-isystem") or "".join(options[place + 1 : place + 2])
            yield os.path.join(folder, "")


def _digest_of_file(path: str, started: int) -> str:
    """Nothing for one that has changed while it was compiled."""
    try:
        with open(path, "rb") as file:
            changed = os.fstat(file.fileno()).st_mtime_ns > started
            return "" if changed else digest_of(file.read())
    except OSError:
        return ""


def _object_of(source: str) -> str:
    name = source.rpartition("/")[2]
    return name.rpartition(".")[0] + ".o"
