"""Which compiler the wrappers stand for, and what to install where something is missing.

`FENCEPOST_CC` and `FENCEPOST_CXX` name it; where only one is set, the other follows it. Without them it is
clang if there is one, which can leave plain accesses alone, and else gcc.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

Language = Literal["c", "c++"]
Family = Literal["gcc", "clang"]

_VARIABLE: dict[Language, str] = {"c": "FENCEPOST_CC", "c++": "FENCEPOST_CXX"}
_OTHER: dict[Language, Language] = {"c": "c++", "c++": "c"}
_LANGUAGE_NAME: dict[Language, str] = {"c": "C", "c++": "C++"}

_CLANG_VERSIONS = range(19, 13, -1)
_CANDIDATES: dict[Language, tuple[str, ...]] = {
    "c": ("clang", *(f"clang-{n}" for n in _CLANG_VERSIONS), "gcc", "gcc-12", "cc"),
    "c++": ("clang++", *(f"clang++-{n}" for n in _CLANG_VERSIONS), "g++", "g++-12", "c++"),
}

# Names of compilers in C, and what the one for C++ beside each is called.
_SIBLINGS = (("clang", "clang++"), ("gcc", "g++"), ("cc", "c++"))


class CannotBuildError(Exception):
    """Something is missing, or something is asked for that cannot be done; the text says what to do."""


class Compiler(NamedTuple):
    """How to start the real compiler (`ccache gcc -m64` has three words), and whose options it takes."""

    words: tuple[str, ...]
    family: Family

    @property
    def name(self) -> str:
        return os.path.basename(_program_in(self.words))


def chosen_compiler(language: Language, environment: Mapping[str, str]) -> Compiler:
    variable = _VARIABLE[language]
    words = environment.get(variable, "").split()
    if not words:
        words, variable = _following_the_other(language, environment)
    if words:
        return _named_compiler(words, variable, environment)
    for name in _CANDIDATES[language]:
        if found(name, environment):
            return Compiler((name,), _family(name, environment))
    what = _LANGUAGE_NAME[language]
    package = "clang" if language == "c" else "clang or g++"
    raise CannotBuildError(
        f"there is no {what} compiler in PATH; install clang or gcc (Debian: apt install {package})"
    )


def found(name: str, environment: Mapping[str, str]) -> str | None:
    """The path of the program, if there is one. `shutil.which` would take longer to import than all this."""
    if "/" in name:
        return name if _is_program(name) else None
    for directory in environment.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(directory or ".", name)
        if _is_program(path):
            return path
    return None


def package_of(compiler: str) -> str | None:
    """The Debian package with the compiler of this name."""
    name = os.path.basename(compiler)
    stem, _, version = name.partition("-")
    if version and not version.isdigit():
        return None
    suffix = f"-{version}" if version else ""
    packages = {"clang": "clang", "clang++": "clang", "gcc": "gcc", "g++": "g++", "cc": "gcc", "c++": "g++"}
    return packages[stem] + suffix if stem in packages else None


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _following_the_other(language: Language, environment: Mapping[str, str]) -> tuple[list[str], str]:
    """The compiler beside the one that is named for the other language, if there is such a pair."""
    variable = _VARIABLE[_OTHER[language]]
    words = environment.get(variable, "").split()
    if words:
        program = _program_in(words)
        directory, name = os.path.split(program)
        for c, cxx in _SIBLINGS:
            old, new = (c, cxx) if language == "c++" else (cxx, c)
            if old in name:
                other = os.path.join(directory, name.replace(old, new))
                return [other if word == program else word for word in words], variable
    return [], variable


def _named_compiler(words: list[str], variable: str, environment: Mapping[str, str]) -> Compiler:
    program = _program_in(words)
    for word in (words[0], program):
        if os.path.basename(word).startswith("fencepost-c"):
            raise CannotBuildError(f"{variable} names a wrapper of fencepost; expected the real compiler")
        if not found(word, environment):
            package = package_of(word)
            advice = f"; install it (Debian: apt install {package})" if package else ""
            raise CannotBuildError(f"{variable} asks for `{word}`, which is not there{advice}")
    return Compiler(tuple(words), _family(program, environment))


def _program_in(words: Sequence[str]) -> str:
    """The compiler itself: the last word that is no option."""
    return next((word for word in reversed(words) if not word.startswith("-")), words[0])


def _family(name: str, environment: Mapping[str, str]) -> Family:
    """By its name, by the name of what a link such as `cc` leads to, or else by what it says of itself."""
    path = found(name, environment) or name
    for known in (name, os.path.realpath(path)):
        family = _family_by_name(os.path.basename(known))
        if family is not None:
            return family
    return _family_by_version(path)


def _family_by_name(name: str) -> Family | None:
    if "clang" in name:
        return "clang"
    return "gcc" if "gcc" in name or "g++" in name else None


def _family_by_version(path: str) -> Family:
    said = output_of([path, "--version"])
    if "clang" in said:
        return "clang"
    if "Free Software Foundation" in said:
        return "gcc"
    raise CannotBuildError(f"`{path}` is neither gcc nor clang; fencepost knows these two")


def output_of(command: list[str]) -> str:
    """What a program prints; empty if it cannot be started."""
    import subprocess  # takes time, and is seldom needed

    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except OSError:
        return ""
    return done.stdout
