"""Changes of sites as a patch of the sources.

Each change is brought to the operation in the source that it is about, by line and column, operation and
order. One that is in a macro changes the macro, if all uses of it change alike. What cannot be done safely is
left to be done by hand, with a sentence that says what to do.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from fencepost.sanitizer.sources.builds import Build
from fencepost.sanitizer.sources.fences import fence_removed, fences_around
from fencepost.sanitizer.sources.operations import File, Operation
from fencepost.sanitizer.sources.rewriting import CannotPatchError, order_edits
from fencepost.sanitizer.sources.text import Edit, overlap, unified_diff
from fencepost.sanitizer.sources.units import Macro, Unit
from fencepost.verdicts.patches import ByHand, SourcePatch
from fencepost.verdicts.sites import Site, SiteChange, SiteOrder


class SourceChangedError(Exception):
    """A source is not as it was when the program was built; the text says what to do."""


class _Planned(NamedTuple):
    """The edits of a change, all in one file, and the operation that they are about."""

    change: SiteChange
    operation: Operation
    edits: tuple[Edit, ...]


def patch_sources(
    changes: Sequence[SiteChange], builds: Sequence[Build], sites: Sequence[Site] = ()
) -> SourcePatch:
    """The patch that makes these changes. `sites` are all that the program has, where they are known: then a
    template is not changed for one of its instances if another one stays."""
    check_unchanged(builds)
    reader = _Reader(builds)
    planned: list[_Planned] = []
    by_hand: list[ByHand] = []
    for change in merged(changes):
        try:
            planned.append(reader.planned(change, changes, sites))
        except CannotPatchError as error:
            by_hand.append(ByHand(change=change, advice=_advice(change, str(error))))
    planned, left = _without_overlaps(planned)
    by_hand += left
    edits: dict[str, tuple[File, list[Edit]]] = {}
    for one in planned:
        file = one.operation.file
        edits.setdefault(file.text.path, (file, []))[1].extend(one.edits)
    texts = {path: file.text.edited(found) for path, (file, found) in sorted(edits.items()) if found}
    return SourcePatch(
        replacements=tuple(
            replacement for path in texts for replacement in edits[path][0].text.replacements(edits[path][1])
        ),
        by_hand=tuple(by_hand),
        diff="".join(unified_diff(path, edits[path][0].text.content, new) for path, new in texts.items()),
        texts=texts,
    )


def check_unchanged(builds: Iterable[Build]) -> None:
    for build in builds:
        for path in build.changed():
            raise SourceChangedError(
                f"{_shown(path)} has changed since the program was built; build it again, and ask again"
            )


def merged(changes: Iterable[SiteChange]) -> list[SiteChange]:
    """The changes, with those of one expression that agree (instances of a template) as one."""
    found: dict[tuple[str, int, int, str], SiteChange] = {}
    for change in changes:
        site = change.site
        key = site.file, site.line, site.column, site.operation
        first = found.setdefault(key, change)
        if _asked(first) != _asked(change):
            found[*key[:3], f"{site.operation} {len(found)}"] = change
    return list(found.values())


def _asked(change: SiteChange) -> tuple[object, ...]:
    """What becomes of the site."""
    return change.order, change.failure_order, change.fence_before, change.fence_after, change.remove


class _Reader:
    """The units that are read, each once."""

    def __init__(self, builds: Sequence[Build]) -> None:
        self._builds = builds
        self._units: dict[str, Unit] = {}
        self._files: dict[str, File] = {}

    def planned(self, change: SiteChange, changes: Sequence[SiteChange], sites: Sequence[Site]) -> _Planned:
        self._check_instances(change, changes, sites)
        operation = self.operation(change.site)
        if operation.macro is not None:
            self._check_uses(operation, change, changes)
        return _Planned(change, operation, tuple(_edits(operation, change)))

    def operation(self, site: Site) -> Operation:
        file = self.file(site.file)
        if site.line > file.text.lines:
            raise CannotPatchError("the file has no such line")
        found = _closest(site, list(self._candidates(file, site)), file)
        if len(found) != 1:
            raise CannotPatchError(
                "several operations on this line can be meant"
                if found
                else "no such operation is found there"
            )
        (operation,) = found
        if operation.order is not None and not _same_order(operation.order, site.order):
            raise CannotPatchError(f"the source says {operation.order} where {site.order} was compiled")
        return operation

    def file(self, path: str) -> File:
        """A file of the project, in the first unit that has it."""
        path = self._known_path(path)
        if path not in self._files:
            build = next((one for one in self._builds if path in one.digests), None)
            if build is None:
                raise CannotPatchError("the file is none of the program's own")
            if build.path not in self._units:
                self._units[build.path] = Unit(build)
            self._files[path] = File(self._units[build.path], path, Path(path).read_bytes())
        return self._files[path]

    def _known_path(self, path: str) -> str:
        """The path from the root, which debug information may have from the directory of the build."""
        for build in self._builds:
            absolute = build.absolute(path)
            if absolute in build.digests:
                return absolute
        real = os.path.realpath(path)
        known = (one for build in self._builds for one in build.digests)
        return next((one for one in known if os.path.realpath(one) == real), os.path.abspath(path))

    def _candidates(self, file: File, site: Site) -> Iterator[tuple[Operation, frozenset[int]]]:
        """The operations that the site can be, each with the places where debug information may have it."""
        for operation in file.operations:
            yield operation, operation.anchors
        for use in file.macro_uses:
            if file.text.line_of(use.start) <= site.line <= file.text.line_of(use.end):
                anchors = frozenset((use.start,))
                for operation in self._operations_in(use.macro):
                    yield operation, anchors
                for operation in file.operations:
                    if use.start <= operation.start < use.end:
                        yield operation, anchors

    def _operations_in(self, macro: Macro, seen: frozenset[str] = frozenset()) -> Iterator[Operation]:
        """In the body of the macro, and of the macros that it uses."""
        try:
            file = self.file(macro.file)
        except CannotPatchError:
            return
        yield from file.operations_in(macro)
        names = file.names_in(macro) - seen
        for other in file.unit.macros():
            if other.name in names and other.name != macro.name:
                yield from self._operations_in(other, seen | names | {macro.name})

    def _check_instances(
        self, change: SiteChange, changes: Sequence[SiteChange], sites: Sequence[Site]
    ) -> None:
        """All that the program has of one source expression must change alike."""
        place = _place(change.site)
        here = [one for one in changes if _place(one.site) == place]
        if any(_asked(one) != _asked(change) for one in here):
            raise CannotPatchError("instances of this template are to become different")
        known = {one.site.function for one in here}
        others = {site.function for site in sites if _place(site) == place} - known
        if others:
            raise CannotPatchError(f"another instance of this template stays as it is: {sorted(others)[0]}")

    def _check_uses(self, operation: Operation, change: SiteChange, changes: Sequence[SiteChange]) -> None:
        """All uses of a macro must change alike."""
        macro = operation.macro
        assert macro is not None
        asked = [one for one in changes if self._is_at(one.site, operation)]
        if any(_asked(one) != _asked(change) for one in asked):
            raise CannotPatchError(f"other uses of the macro `{macro.name}` are to become different")
        places = {(self._known_path(one.site.file), one.site.line, one.site.column) for one in asked}
        uses = list(self._uses(macro.name))
        for path, line, column in uses:
            alone = sum(one[:2] == (path, line) for one in uses) == 1
            if (path, line, column) not in places and not (alone and (path, line, 0) in places):
                where = f"{_shown(path)}, line {line}"
                raise CannotPatchError(f"the macro `{macro.name}` is also used in {where}, which stays")

    def _is_at(self, site: Site, operation: Operation) -> bool:
        try:
            found = self.operation(site)
        except CannotPatchError:
            return False
        return (found.file.text.path, found.start) == (operation.file.text.path, operation.start)

    def _uses(self, name: str, seen: frozenset[str] = frozenset()) -> Iterator[tuple[str, int, int]]:
        """Where a macro is used in the project, by itself or in other macros; whatever is compiled there."""
        word = name.encode()
        for path in sorted({path for build in self._builds for path in build.digests}):
            if word not in Path(path).read_bytes():
                continue
            file = self.file(path)
            own = [macro for macro in file.unit.macros() if macro.file == path]
            for token in file.tokens:
                if token.text != name:
                    continue
                inside = next((one for one in own if one.start <= token.start < one.end), None)
                if inside is None:
                    start = file.text.line_start(token.start)
                    if not file.text.content[start : token.start].lstrip().startswith(b"#"):
                        yield path, file.text.line_of(token.start), token.start - start + 1
                elif inside.name not in (*seen, name):
                    yield from self._uses(inside.name, seen | {name})


def _place(site: Site) -> tuple[str, int, int, str]:
    return site.file, site.line, site.column, site.operation


def _closest(
    site: Site, candidates: Sequence[tuple[Operation, frozenset[int]]], file: File
) -> list[Operation]:
    """The operations that the site can be: those at its column if there are any, else those on its line."""
    text = file.text
    fitting = [(one, anchors) for one, anchors in candidates if one.operation == site.operation]
    if site.column:
        at = text.offset(site.line, site.column)
        exact = [one for one, anchors in fitting if at in anchors]
        if exact:
            return _by_order(site, exact)
    here = [one for one, anchors in fitting if any(text.line_of(at) == site.line for at in anchors)]
    return _by_order(site, here)


def _by_order(site: Site, found: list[Operation]) -> list[Operation]:
    """Where several are left, those with the site's orders."""
    unique = list({(one.file.text.path, one.start, one.end): one for one in found}.values())
    if len(unique) < 2:
        return unique
    alike = [one for one in unique if one.order is not None and _same_order(one.order, site.order)]
    if len(alike) > 1 and site.failure_order is not None:
        alike = [one for one in alike if one.failure_order == site.failure_order] or alike
    return alike or unique


def _same_order(in_source: SiteOrder, compiled: SiteOrder) -> bool:
    """Compilers make acquire of consume."""
    return in_source == compiled or {in_source, compiled} == {"consume", "acquire"}


def _edits(operation: Operation, change: SiteChange) -> Iterator[Edit]:
    if change.remove:
        yield from fence_removed(operation)
    elif change.order is not None or change.failure_order is not None:
        yield from order_edits(operation, change.order, change.failure_order)
    if change.fence_before is not None or change.fence_after is not None:
        yield from fences_around(operation, change.fence_before, change.fence_after)


def _without_overlaps(planned: Sequence[_Planned]) -> tuple[list[_Planned], list[ByHand]]:
    """Of changes that would edit the same text, the first one."""
    kept: list[_Planned] = []
    by_hand: list[ByHand] = []
    edits: dict[str, list[Edit]] = {}
    for one in planned:
        here = edits.setdefault(one.operation.file.text.path, [])
        if overlap({*here, *one.edits}):
            by_hand.append(ByHand(change=one.change, advice=_advice(one.change, "another change is there")))
        else:
            kept.append(one)
            here.extend(one.edits)
    return kept, by_hand


def _advice(change: SiteChange, why: str) -> str:
    """A sentence that says what to do by hand."""
    site = change.site
    at = f"{_shown(site.file)}:{site.line}" + (f":{site.column}" if site.column else "")
    where = f"in `{site.function}` ({at})" if site.function else f"in {at}"
    what = "fence" if site.operation == "fence" else f"{site.operation.replace('_', '-')}"
    steps = []
    if change.remove:
        steps.append(f"remove the {what} {where}")
    if change.order is not None:
        steps.append(f"make the {what} {where} {change.order}")
    if change.failure_order is not None:
        steps.append(
            f"give it the order {change.failure_order} for failure"
            if steps
            else f"give the {what} {where} the order {change.failure_order} for failure"
        )
    for order, side in ((change.fence_before, "before"), (change.fence_after, "after")):
        if order is not None:
            target = "it" if steps else f"the {what} {where}"
            steps.append(f"put a fence ({order}) right {side} {target}")
    sentence = " and ".join(steps)
    return f"{sentence[0].upper()}{sentence[1:]}; not patched because {why}."


def _shown(path: str) -> str:
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative
