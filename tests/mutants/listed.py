"""The list of mutants: small wrong changes to the code that decides verdicts.

`lists/*.txt` have them, each beside others that the same tests should notice:

    == native/engine/monitors/rules.hpp | monitors
    - m.unite(p.MSC(x), p.VSC(t));
    +
    - if («e.acquire») m.meet(v.current[e.thread], v.message[e.cell]);
    + true
    = the reason why nothing can notice the change, if that is so

What stands after `-` must occur exactly once in the file; if a part of it is marked by « and », only that
part is replaced, and the rest says which one is meant. Several lines after each other that begin alike are
one text; spaces and line breaks between words count as one space. After `+` is what comes instead, after `|`
the name of a row in `SUITES` (suites.py). In C++ the text that is replaced is a whole statement or a whole
expression.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parents[2]
LISTS = Path(__file__).parent / "lists"


class ListError(Exception):
    pass


@dataclass(frozen=True)
class Mutant:
    number: int
    file: str
    suite: str
    shown: str  # with the marks
    new: str
    equivalent: str
    listed_at: str

    @cached_property
    def key(self) -> str:
        """The same as long as the change is the same."""
        return sha256("\0".join((self.file, self.shown, self.new)).encode()).hexdigest()[:16]

    @property
    def area(self) -> str:
        return self.listed_at.partition(":")[0].removesuffix(".txt")

    @property
    def is_python(self) -> bool:
        return self.file.endswith(".py")

    def span_in(self, text: str) -> tuple[int, int]:
        """Where in the file the replaced part begins and ends."""
        before, mark, rest = self.shown.partition("«")
        old, end_mark, after = rest.partition("»") if mark else (self.shown, "", "")
        if bool(mark) != bool(end_mark):
            raise ListError(f"{self.listed_at}: « without »")
        parts = (before, old, after) if mark else ("", old, "")
        pattern = "".join(f"({_spaced(part)})" for part in parts)
        found = list(re.finditer(pattern, text))
        if len(found) != 1:
            raise ListError(f"{self.listed_at}: found {len(found)} times in {self.file}: {self.shown}")
        return found[0].span(2)


def _spaced(text: str) -> str:
    return r"\s+".join(map(re.escape, re.split(r"\s+", text)))


def mutants(folder: Path = LISTS) -> list[Mutant]:
    """All of them, numbered from 1."""
    listed = [mutant for path in sorted(folder.glob("*.txt")) for mutant in _read(path)]
    return [replace(mutant, number=n) for n, mutant in enumerate(listed, start=1)]


def _read(path: Path) -> Iterator[Mutant]:
    file = suite = ""
    kind, old, new, why, at = "", [], [], [], 0

    def done() -> Iterator[Mutant]:
        if old:
            yield Mutant(0, file, suite, "\n".join(old), "\n".join(new), " ".join(why), f"{path.name}:{at}")
        old.clear(), new.clear(), why.clear()

    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.startswith("== "):
            yield from done()
            file, _, suite = (part.strip() for part in line[3:].partition("|"))
            kind = ""
        elif line[:1] in ("-", "+", "="):
            if line[0] == "-" and kind != "-":
                yield from done()
                at = number
            kind = line[0]
            {"-": old, "+": new, "=": why}[kind].append(line[2:])
        elif line and not line.startswith("#"):
            raise ListError(f"{path.name}:{number}: neither -, +, = nor ==")
    yield from done()


@dataclass
class _Region:
    start: int
    end: int
    mutant: Mutant
    inner: list[_Region]


def with_switches(text: str, changes: list[Mutant]) -> str:
    """C++ in which `mutant(n)` chooses between what the file says and mutant n."""
    regions = sorted(
        (_Region(*mutant.span_in(text), mutant, []) for mutant in changes),
        key=lambda region: (region.start, -region.end),
    )
    outer: list[_Region] = []
    for region in regions:
        _put(region, outer)
    return _rendered(text, 0, len(text), outer)


def _put(region: _Region, among: list[_Region]) -> None:
    if among and region.start < among[-1].end:
        if region.end > among[-1].end:
            raise ListError(f"{region.mutant.listed_at} and {among[-1].mutant.listed_at} overlap")
        return _put(region, among[-1].inner)
    among.append(region)
    return None


def _rendered(text: str, start: int, end: int, regions: list[_Region]) -> str:
    parts = []
    for region in regions:
        parts.append(text[start : region.start])
        old = _rendered(text, region.start, region.end, region.inner)
        new, n = region.mutant.new, region.mutant.number
        if text[region.start : region.end].rstrip().endswith(";"):
            parts.append(f"{{ if (mutant({n})) {{ {new} }} else {{ {old} }} }}")
        else:
            parts.append(f"(mutant({n}) ? ({new}) : ({old}))")
        start = region.end
    return "".join((*parts, text[start:end]))


def changed(text: str, mutant: Mutant) -> str:
    """The text of a Python file as the mutant has it."""
    start, end = mutant.span_in(text)
    return text[:start] + mutant.new + text[end:]
