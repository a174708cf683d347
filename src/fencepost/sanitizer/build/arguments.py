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


class Compilation(NamedTuple):
    """The C and C++ sources of a command that makes objects, or a program at once, of them.

    `options` are those that say how sources are read and what to warn of; `output` is empty where none is
    named. `dependencies` is the file that the command asks to write what is included into; it is empty where
    none is asked for, and None where that is asked for in a way that is not known here.
    """

    sources: tuple[tuple[str, str], ...]  # each with its language
    options: tuple[str, ...]
    output: str
    links: bool
    dependencies: str | None


_SOURCES = {
    **dict.fromkeys((".c",), "c"),
    **dict.fromkeys((".cc", ".cp", ".cpp", ".cxx", ".c++", ".CPP", ".C"), "c++"),
}


def language_of(path: str) -> str | None:
    """Of a source, by its ending."""
    return _SOURCES.get(_suffix(path))


# What says nothing about how a source is read; the first of each pair has a value, perhaps as the next word.
_NOT_OF_SOURCES = (
    "-L",
    "-l",
    "-T",
    "-u",
    "-z",
    "-e",
    "-h",
    "-Wl,",
    "-Wa,",
    "-save-temps",
    "-flto",
    "-static",
)
_QUESTIONS = (
    "-###",
    "--help",
    "--version",
    "-print-",
    "--print-",
    "-dumpversion",
    "-dumpmachine",
    "-dumpspecs",
)
_DROPPED = frozenset(
    """
    -- -c -pipe -shared -r -s -rdynamic -nostartfiles -nodefaultlibs -nostdlib -pie -no-pie -v
    -M -MM -MD -MMD -MP -MG -MV --compile --shared --coverage
    """.split()  # noqa: SIM905
)
_DROPPED_WITH_VALUE = frozenset(
    """
    -o -x -L -T -u -z -e -h -MF -MT -MQ -MJ -Xlinker -Xassembler -aux-info -dumpbase -dumpbase-ext -dumpdir
    -wrapper -rpath -soname -framework -serialize-diagnostics -include-pch --output --language --entry
    --library-directory --force-link --for-linker --for-assembler --serialize-diagnostics
    """.split()  # noqa: SIM905
)


def compilation_of(arguments: Iterable[str], language: str) -> Compilation | None:
    """What a command compiles, by a compiler whose own language this is; None if it compiles nothing."""
    words = list(expanded(arguments))
    sources: list[tuple[str, str]] = []
    options: list[str] = []
    output = asked = ""
    file: str | None = None
    named = ""  # the language by `-x`
    compiles, links = True, True
    index = 0
    while index < len(words):
        word = words[index]
        value = words[index + 1] if word in _TAKES_VALUE and index + 1 < len(words) else None
        index += 1 if value is None else 2
        if word in ("-c", "--compile"):
            links = False
        elif word in _STOPS_BEFORE_LINKING or word.startswith(_QUESTIONS):
            compiles = False
        elif word in ("-MD", "-MMD"):
            asked = word
        elif word.startswith(("-Wp,-M", "-Wp,-D")) or word == "--write-dependencies":
            asked = "by another option"
        if word in ("-o", "--output") and value is not None:
            output = value
        elif word.startswith("-o") and len(word) > 2 and value is None:
            output = word[2:]
        elif word == "-MF" and value is not None:
            file = value
        elif word.startswith("-MF") and value is None:
            file = word[3:]
        elif word == "-x" and value is not None:
            named = "" if value == "none" else value
        elif word.startswith("-x") and len(word) > 2 and value is None:
            named = word[2:]
        elif word == "-Xclang" and value is not None:
            # The driver's own value of an option for clang proper is another `-Xclang`.
            options += ["-Xclang", value]
        elif not word.startswith("-"):
            spoken = named or ("c++" if language == "c++" else "") or _SOURCES.get(_suffix(word), "")
            if spoken in ("c", "c++") and (named or _suffix(word) in _SOURCES):
                sources.append((word, spoken))
        elif word in _DROPPED or word in _DROPPED_WITH_VALUE or word.startswith(("-MT", "-MQ", "-MJ")):
            pass
        elif not word.startswith(_NOT_OF_SOURCES):
            options += [word] if value is None else [word, value]
    if not compiles or not sources or (len(sources) > 1 and file is not None):
        return None
    if asked == "by another option":
        file = None
    elif not asked:
        file = ""
    elif file is None:
        file = _dependency_file(output, sources, links=links)
    return Compilation(tuple(sources), tuple(_without_pch(options)), output, links, file)


def _suffix(path: str) -> str:
    return path[path.rfind(".") :] if "." in path.rpartition("/")[2] else ""


def _dependency_file(output: str, sources: list[tuple[str, str]], *, links: bool) -> str | None:
    """Where gcc writes it by itself."""
    if len(sources) > 1:
        return None
    if output and not links:
        return output.removesuffix(_suffix(output)) + ".d"
    source = sources[0][0]
    stem = source.rpartition("/")[2].removesuffix(_suffix(source))
    if not links:
        return stem + ".d"
    return None


def _without_pch(options: Iterable[str]) -> Iterator[str]:
    """A precompiled header is only for the compiler that made it; its text is included besides."""
    words = iter(options)
    for word in words:
        if word == "-Xclang":
            value = next(words)
            if value == "-include-pch":
                next(words, None)
                next(words, None)
            else:
                yield from (word, value)
        else:
            yield word
