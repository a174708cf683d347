"""What a compiler's command line asks for, as far as a wrapper must know it.

The wrappers hand every argument on as it is; they only need to know whether there is anything to compile or
link at all, what comes out of it, and whether something is asked for that the run-time library cannot serve.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

# Options of gcc and clang whose value is the next argument.
_TAKES_VALUE = frozenset(
    """
    -o -x -I -L -D -U -A -B -F -T -u -z -e -h -G
    -include -include-pch -imacros -iquote -isystem -idirafter -iprefix -iwithprefix -iwithprefixbefore
    -isysroot -imultilib -imultiarch -iframework -ivfsoverlay -cxx-isystem -c-isystem
    -MF -MT -MQ -MJ -Xlinker -Xassembler -Xpreprocessor -Xclang -Xanalyzer -mllvm -arch -target -gcc-toolchain
    -aux-info -dumpbase -dumpbase-ext -dumpdir -wrapper -rpath -soname -framework -serialize-diagnostics
    --param --sysroot --output --language --include --imacros --define-macro --undefine-macro
    --include-directory --library-directory --prefix --entry --force-link --for-linker --for-assembler
    --serialize-diagnostics --config
    """.split()  # noqa: SIM905 (a list of literals would fill two pages)
)
_STOPS_BEFORE_LINKING = frozenset(
    """
    -c -S -E -M -MM -fsyntax-only --compile --assemble --preprocess --dependencies --user-dependencies
    --analyze -emit-ast -print-supported-cpus --precompile
    """.split()  # noqa: SIM905 (a list of literals would fill two pages)
)
_HEADERS = (".h", ".hh", ".hp", ".hpp", ".hxx", ".h++", ".H")  # these are precompiled
_RELOCATABLE = frozenset(("-r", "-Wl,-r", "-Wl,--relocatable", "-Wl,-i"))
_STATIC = frozenset(("-static", "--static", "-static-pie"))
_OTHER_WIDTH = frozenset(("-m32", "-mx32", "-m16"))

_DEEPEST_RESPONSE_FILE = 20


class Request(NamedTuple):
    """`inputs`: is there anything to work on, or is the compiler only asked about itself?

    `cut_off`: the last option lacks its value, so what is added after it would be taken for that.
    """

    inputs: bool = False
    cut_off: bool = False
    stops_before_linking: bool = False
    shared: bool = False
    relocatable: bool = False
    static: str = ""  # the option that says so
    width: str = ""  # likewise
    target: str = ""
    sanitizers: frozenset[str] = frozenset()

    @property
    def links(self) -> bool:
        """Does an executable or a shared object come out?"""
        return self.inputs and not self.stops_before_linking and not self.relocatable


def request_of(arguments: Iterable[str]) -> Request:
    inputs = cut_off = stops = shared = relocatable = False
    static = width = target = ""
    sanitizers: set[str] = set()
    words = expanded(arguments)
    for word in words:
        if not word.startswith("-") or word == "-" or word.startswith("-l"):
            inputs = True
            stops |= word.endswith(_HEADERS)
        elif word == "--":
            inputs = any(True for _ in words) or inputs
        elif word in _TAKES_VALUE:
            value = next(words, None)
            if value is None:
                cut_off = True
                break
            target = value if word == "-target" else target
            stops |= word == "-x" and value.endswith("-header")
        elif word in _STOPS_BEFORE_LINKING:
            stops = True
        elif word in _RELOCATABLE:
            relocatable = True
        elif word in ("-shared", "--shared"):
            shared = True
        elif word in _STATIC:
            static = word
        elif word in _OTHER_WIDTH:
            width = word
        elif word == "-m64":
            width = ""
        elif word.startswith("--target="):
            target = word.partition("=")[2]
        elif word.startswith("-fsanitize="):
            sanitizers.update(word.partition("=")[2].split(","))
        elif word.startswith("-fno-sanitize="):
            gone = word.partition("=")[2].split(",")
            sanitizers.difference_update(sanitizers.copy() if "all" in gone else gone)
    return Request(inputs, cut_off, stops, shared, relocatable, static, width, target, frozenset(sanitizers))


def expanded(arguments: Iterable[str], depth: int = 0) -> Iterator[str]:
    """The arguments with those in response files (`@FILE`); one that cannot be read is an argument itself."""
    for argument in arguments:
        words = _words_in(argument[1:]) if argument.startswith("@") else None
        if words is None or depth >= _DEEPEST_RESPONSE_FILE:
            yield argument
        else:
            yield from expanded(words, depth + 1)


def _words_in(path: str) -> list[str] | None:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            text = file.read()
    except (OSError, ValueError):
        return None
    import shlex  # takes time, and is seldom needed

    try:
        return shlex.split(text)
    except ValueError:  # a quotation that does not end; the compiler will say so
        return text.split()
