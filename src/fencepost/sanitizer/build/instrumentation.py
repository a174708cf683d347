"""The options that make gcc and clang watch a program's atomics, for each mode.

In mode `atomics` the compiler's ThreadSanitizer pass puts a call at each atomic operation, and our run-time
library is what is called. The pass must not bring its own library along. So the option for it goes to the
compiler proper and not to the driver that calls the linker: clang has `-Xclang` for that, gcc needs a specs
file. What compiles never changes how a program is linked then, and one command line may do both. Plain
accesses are left alone where the compiler can do so (clang). Mode `full` is the same with plain accesses,
which our library watches itself under a schedule. In mode `races` our library stands above
ThreadSanitizer's: the linker leads every atomic operation to ours first (`races.wrap`).
"""

from __future__ import annotations

import os
from typing import Literal

from fencepost.sanitizer.build.toolchain import CannotBuildError, Compiler, Family, output_of

Mode = Literal["atomics", "full", "races"]
MODES: tuple[Mode, ...] = ("atomics", "full", "races")

_HERE = os.path.dirname(os.path.abspath(__file__))
_INSTALLED = os.path.dirname(_HERE)
INCLUDE = os.path.join(_INSTALLED, "include")
LIBRARIES: dict[Mode, str] = {
    mode: os.path.join(_INSTALLED, "lib", f"libfencepost_{mode}.a") for mode in MODES
}
_WRAPPED = os.path.join(_HERE, "races.wrap")
_SPECS = os.path.join(_HERE, "gcc.specs")

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
_FULL_BY_CLANG = (*("-Xclang", "-fsanitize=thread"), *("-mllvm", "-tsan-instrument-func-entry-exit=0"))
_BY_CLANG: dict[Mode, tuple[str, ...]] = {
    "atomics": (
        *_FULL_BY_CLANG,
        *("-mllvm", "-tsan-instrument-memory-accesses=0"),
        *("-mllvm", "-tsan-instrument-memintrinsics=0"),
    ),
    "full": _FULL_BY_CLANG,
    "races": ("-fsanitize=thread",),
}


def compile_options(mode: Mode, family: Family) -> list[str]:
    """What to add where C or C++ is preprocessed or compiled; harmless where it is only linked."""
    common = [*_FOR_REPORTS, *_APART[family], "-D__FENCEPOST__=1", "-isystem", INCLUDE]
    if family == "gcc":
        instrument = ["-fsanitize=thread", "-Wno-tsan"] if mode == "races" else [f"-specs={_SPECS}"]
        return [*instrument, *common]
    return _perhaps_unused([*_BY_CLANG[mode], *common])


def link_options(mode: Mode, family: Family, *, shared: bool = False) -> list[str]:
    """What to add where a program or a shared object is linked.

    A shared object takes the library's functions from the program that loads it (`-rdynamic`), also where it
    is linked with `-z defs`. All of the library is linked: a plug-in may need what the program does not.
    """
    options = ["-fsanitize=thread", *_to_linker(f"@{_WRAPPED}")] if mode == "races" else []
    if shared:
        options += _to_linker("-z", "undefs")
    else:
        library = _to_linker("--whole-archive", LIBRARIES[mode], "--no-whole-archive")
        options += ["-rdynamic", *library, "-pthread", "-ldl", "-lc"]  # after -nodefaultlibs, too
    return _perhaps_unused(options) if family == "clang" else options


def check_libraries(mode: Mode, compiler: Compiler) -> None:
    """Is all there that the linker will ask for?"""
    if mode == "races" and not _has_thread_sanitizer(compiler):
        raise CannotBuildError(
            f"mode races needs the ThreadSanitizer library of {compiler.name}, which is not there; "
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
