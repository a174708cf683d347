"""The options that make gcc and clang watch a program's atomics, for each mode.

In mode `atomics` the compiler's ThreadSanitizer pass puts a call at each atomic operation, and our run-time
library is what is called. The pass must not bring its own library along. So the option for it goes to the
compiler proper and not to the driver that calls the linker: clang has `-Xclang` for that, gcc needs a specs
file. What compiles never changes how a program is linked then, and one command line may do both. Plain
accesses are left alone where the compiler can do so (clang). Mode `full` is the same with plain accesses,
which our library watches itself under a schedule. In mode `races` our library stands above
ThreadSanitizer's: the linker leads every atomic operation to ours first (`races.wrap`). Mode `all` is `races`
and `full` in one program. Objects are the same in both, so the compiler is given a linker that links them
twice (native/sanitizer/images/linker.cpp).
"""

from __future__ import annotations

import os
from typing import Literal

from fencepost.sanitizer.build.toolchain import CannotBuildError, Compiler, Family, output_of

Mode = Literal["all", "atomics", "full", "races"]
MODES: tuple[Mode, ...] = ("all", "atomics", "full", "races")

_HERE = os.path.dirname(os.path.abspath(__file__))
_INSTALLED = os.path.dirname(_HERE)
INCLUDE = os.path.join(_INSTALLED, "include")
CMAKE = os.path.join(_INSTALLED, "cmake")  # where FencepostTest.cmake is
LIBRARIES: dict[Mode, str] = {
    mode: os.path.join(_INSTALLED, "lib", f"libfencepost_{'races' if mode == 'all' else mode}.a")
    for mode in MODES
}
_LINKER = os.path.join(_INSTALLED, "lib", "both", "")  # the folder, as -B takes it
_MAIN = os.path.join(_INSTALLED, "lib", "libfencepost_main.a")  # for programs with tests and no `main`
_WRAPPED = os.path.join(_HERE, "races.wrap")
_SPECS: dict[Mode, str] = {
    "all": os.path.join(_HERE, "gcc_stacks.specs"),
    "atomics": os.path.join(_HERE, "gcc.specs"),
    "full": os.path.join(_HERE, "gcc.specs"),
}

# Reports need lines and stacks; a call in tail position would leave its function out of them.
_FOR_REPORTS = ("-g", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls")
# Equal code of two branches stays apart: merged, gcc gives it the line of one of them, and clang line 0.
_APART: dict[Family, tuple[str, ...]] = {
    "gcc": ("-fno-crossjumping", "-fno-tree-tail-merge"),
    "clang": (
        *("-mllvm", "-enable-tail-merge=0"),
        *("-mllvm", "-simplifycfg-sink-common=0"),
        *("-mllvm", "-simplifycfg-hoist-common=0"),
    ),
}
# Calls of their own for volatile accesses, which may count as atomic (volatile=relaxed).
_VOLATILE: dict[Family, tuple[str, ...]] = {
    "gcc": ("--param", "tsan-distinguish-volatile=1"),
    "clang": ("-mllvm", "-tsan-distinguish-volatile=1"),
}
# LLVM's pass for ThreadSanitizer asks whether others can have the address of a member, not of the whole local
# variable, and leaves out accesses that race. With this option it takes all addresses for known to others.
_LOCALS_BY_CLANG = ("-mllvm", "-capture-tracking-max-uses-to-explore=0")
_FULL_BY_CLANG = (*("-Xclang", "-fsanitize=thread"), *("-mllvm", "-tsan-instrument-func-entry-exit=0"))
_BY_CLANG: dict[Mode, tuple[str, ...]] = {
    # Programs with ThreadSanitizer can be moved.
    "all": ("-Xclang", "-fsanitize=thread", "-fPIE", *_LOCALS_BY_CLANG),
    "atomics": (
        *_FULL_BY_CLANG,
        *("-mllvm", "-tsan-instrument-memory-accesses=0"),
        *("-mllvm", "-tsan-instrument-memintrinsics=0"),
    ),
    "full": (*_FULL_BY_CLANG, *_LOCALS_BY_CLANG),
    "races": ("-fsanitize=thread", *_LOCALS_BY_CLANG),
}


class NoThreadSanitizerError(CannotBuildError):
    """The compiler's own library is not installed."""


def compile_options(mode: Mode, family: Family) -> list[str]:
    """What to add where C or C++ is preprocessed or compiled; harmless where it is only linked."""
    common = [*_FOR_REPORTS, *_APART[family], *_VOLATILE[family], "-D__FENCEPOST__=1", "-isystem", INCLUDE]
    if family == "gcc":
        specs = _SPECS.get(mode)
        instrument = [f"-specs={specs}"] if specs else ["-fsanitize=thread", "-Wno-tsan"]
        return [*instrument, *common]
    return _perhaps_unused([*_BY_CLANG[mode], *common])


def link_options(mode: Mode, family: Family, *, shared: bool = False, main: bool = False) -> list[str]:
    """What to add where a program or a shared object is linked.

    A shared object takes the library's functions from the program that loads it (`-rdynamic`), also where it
    is linked with `-z defs`. All of the library is linked: a plug-in may need what the program does not.
    In mode all it must not bring ThreadSanitizer along, which is there in one of the program's images only.
    `main` gives a program with tests a `main` if it has none; then these options must be the last ones.
    """
    options = _to_linker(f"@{_WRAPPED}") if mode in ("all", "races") else []
    if mode == "races" or (mode == "all" and not shared):
        options = ["-fsanitize=thread", *options]
    if shared:
        options += _to_linker("-z", "undefs")
    else:
        words = ("--whole-archive", LIBRARIES[mode], "--no-whole-archive", *((_MAIN,) if main else ()))
        options += [f"-B{_LINKER}"] if mode == "all" else []
        options += ["-rdynamic", *_to_linker(*words), "-pthread", "-ldl", "-lc"]  # after -nodefaultlibs, too
    return _perhaps_unused(options) if family == "clang" else options


def check_libraries(mode: Mode, compiler: Compiler) -> None:
    """Is all there that the linker will ask for?"""
    if mode in ("all", "races") and not _has_thread_sanitizer(compiler):
        raise NoThreadSanitizerError(
            f"mode {mode} needs the ThreadSanitizer library of {compiler.name}, which is not there; "
            f"install it (Debian: apt install {_thread_sanitizer_package(compiler)})"
        )
    if not os.path.exists(LIBRARIES[mode]):
        raise CannotBuildError(
            f"the run-time library {LIBRARIES[mode]} is missing; it is built when fencepost is installed "
            "on Linux with g++ (Debian: apt install g++), so install fencepost again"
        )


def _perhaps_unused(options: list[str]) -> list[str]:
    """clang warns of options that it has no use for, and a wrapper cannot always know."""
    return ["--start-no-unused-arguments", *options, "--end-no-unused-arguments"]


def _to_linker(*words: str) -> list[str]:
    """Words for the linker. As one option they stand wherever an option may, even after `-x c`."""
    if any("," in word for word in words):
        return [part for word in words for part in ("-Xlinker", word)]
    return [f"-Wl,{','.join(words)}"]


def _has_thread_sanitizer(compiler: Compiler) -> bool:
    """A compiler that does not find a library answers with the bare name of it."""
    name = "libtsan.so" if compiler.family == "gcc" else f"libclang_rt.tsan-{os.uname().machine}.a"
    path = output_of([*compiler.words, f"-print-file-name={name}"]).strip()
    return os.path.isabs(path) and os.path.exists(path)


def _thread_sanitizer_package(compiler: Compiler) -> str:
    version = output_of([*compiler.words, "-dumpversion"]).partition(".")[0].strip()
    if compiler.family == "gcc":
        return f"libgcc-{version}-dev"
    return f"libclang-common-{version}-dev" if version == "15" else f"libclang-rt-{version}-dev"
