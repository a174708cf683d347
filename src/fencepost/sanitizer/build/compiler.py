"""`fencepost-cc` and `fencepost-c++`: the user's compiler, with the options that the sanitizer needs.

They take the place of the compiler in make, CMake and autotools. Exit codes, signals and output are the
compiler's own: each becomes the real compiler by `exec`, or where sources are compiled waits for it, to
record how that was done (`recording`). A build starts them thousands of times: they import next to nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

from fencepost.memory_models import EXIT_WRONG_INPUT
from fencepost.sanitizer.build.arguments import Request, compilation_of, request_of
from fencepost.sanitizer.build.instrumentation import (
    MODES,
    Mode,
    NoThreadSanitizerError,
    check_libraries,
    compile_options,
    link_options,
)
from fencepost.sanitizer.build.toolchain import CannotBuildError, Compiler, Language, chosen_compiler

_HELP = """\
Usage: {wrapper} [--mode all|atomics|full|races] [option of the compiler]... file...

The {language} compiler, with the options that let fencepost watch the program. It takes the place of the
compiler in make, CMake and autotools; then start the program with `fencepost run`.

Its own options:
  --mode all       watch atomic and plain accesses, with and without a schedule (default)
  --mode atomics   watch the atomic accesses only: costs least
  --mode full      watch plain accesses only under a schedule: needs no ThreadSanitizer
  --mode races     watch atomic and plain accesses, without schedules
  --help           print this

Environment variables:
  FENCEPOST_MODE                 the mode, where --mode is not given
  FENCEPOST_CC, FENCEPOST_CXX    the real compilers; one of them is enough

Example:
  $ {wrapper} -O1 {example} -o queue
  $ fencepost run ./queue

All other options are the compiler's: {compiler}
"""
_OTHER_SANITIZERS = frozenset(("address", "hwaddress", "leak", "memory", "thread", "dataflow"))


def cc() -> NoReturn:
    """The entry point `fencepost-cc`."""
    _become_compiler("fencepost-cc", "c")


def cxx() -> NoReturn:
    """The entry point `fencepost-c++`."""
    _become_compiler("fencepost-c++", "c++")


def _become_compiler(wrapper: str, language: Language) -> NoReturn:
    if sys.argv[1:] == ["--help"]:
        sys.stdout.write(_help(wrapper, language))
        sys.exit(0)
    try:
        command = real_command(language, sys.argv[1:], os.environ)
        compilation = compilation_of(_mode_of(sys.argv[1:], os.environ)[1], language)
        if compilation is None:
            os.execvp(command[0], command)
        from fencepost.sanitizer.build.recording import run_and_record

        sys.exit(run_and_record(command, compilation, chosen_compiler(language, os.environ)))
    except CannotBuildError as error:
        reason = str(error)
    except OSError as error:
        reason = f"cannot start `{command[0]}`: {error.strerror}"
    sys.stderr.write(f"{wrapper}: {reason}\n")
    sys.exit(EXIT_WRONG_INPUT)


def _help(wrapper: str, language: Language) -> str:
    """The wrapper's own options, and where to find those of the compiler."""
    try:
        compiler = f"`{' '.join(chosen_compiler(language, os.environ).words)} --help` lists them."
    except CannotBuildError as error:
        compiler = str(error)
    name, example = {"c": ("C", "queue.c"), "c++": ("C++", "queue.cpp")}[language]
    return _HELP.format(wrapper=wrapper, language=name, example=example, compiler=compiler)


def real_command(language: Language, arguments: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """The command that the wrapper becomes."""
    mode, arguments = _mode_of(arguments, environment)
    compiler = chosen_compiler(language, environment)
    request = request_of(arguments)
    if not request.inputs or request.cut_off:  # such as --version, -dumpmachine, -print-search-dirs; a.c -o
        return [*compiler.words, *arguments]
    _check(request, mode)
    if request.links and not request.shared:
        mode = _linked_mode(mode, compiler)
    compiling = compile_options(mode, compiler.family)
    end = arguments.index("--") if "--" in arguments else len(arguments)
    linking: list[str] = []
    if request.links:
        linking = link_options(mode, compiler.family, shared=request.shared, main=end == len(arguments))
    return [*compiler.words, *compiling, *arguments[:end], *linking, *arguments[end:]]


def _linked_mode(mode: Mode, compiler: Compiler) -> Mode:
    """The mode to link a program in: mode full serves objects of mode all, if there is no ThreadSanitizer."""
    try:
        check_libraries(mode, compiler)
    except NoThreadSanitizerError as error:
        if mode != "all":
            raise
        sys.stderr.write(
            f"fencepost: plain accesses will be watched under a schedule only, as in mode full: {error}\n"
        )
        check_libraries("full", compiler)
        return "full"
    return mode


def _mode_of(arguments: Sequence[str], environment: Mapping[str, str]) -> tuple[Mode, list[str]]:
    """The mode asked for, and the arguments without it."""
    mode = environment.get("FENCEPOST_MODE") or "all"
    rest: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--mode":
            mode = next(words, "")
        elif word.startswith("--mode="):
            mode = word.partition("=")[2]
        else:
            rest.append(word)
    for known in MODES:
        if mode == known:
            return known, rest
    raise CannotBuildError(f"there is no mode `{mode}`; expected {', '.join(MODES[:-1])} or {MODES[-1]}")


def _check(request: Request, mode: Mode) -> None:
    """Refuse what cannot work, before the compiler or the program says so in words hard to understand."""
    machine = os.uname().machine
    other_target = request.width or (request.target if not _is_this_machine(request.target) else "")
    if other_target:
        raise CannotBuildError(
            f"`{other_target}` is not {machine} Linux, for which alone the run-time library was built"
        )
    if request.static and request.links and not request.shared:
        raise CannotBuildError(
            f"`{request.static}` cannot be used: the run-time library needs a shared C library; link without "
            "that option"
        )
    clash = sorted(request.sanitizers & _OTHER_SANITIZERS)
    if clash:
        without = clash == ["thread"] and mode in ("atomics", "full")
        hint = "; mode all has ThreadSanitizer in it" if without else ""
        raise CannotBuildError(
            f"`-fsanitize={','.join(clash)}` cannot be combined with fencepost, which instruments the "
            f"program itself; leave it out{hint}"
        )


def _is_this_machine(target: str) -> bool:
    architecture, _, system = target.partition("-")
    names = {"x86_64": ("x86_64", "amd64"), "aarch64": ("aarch64", "arm64")}
    machine = os.uname().machine
    return not target or (architecture in names.get(machine, (machine,)) and "linux" in system)
