"""The sites of a program as far as it was run, and the file by which the run-time library changes them.

The library knows an operation by its address, and a site has as many of these as the compiler has made copies
of it. Each run tells of the operations that it makes, so the table grows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from fencepost.sanitizer.answer.symbols import look_up
from fencepost.sanitizer.run.events import Event, Place, RawSite
from fencepost.verdicts.run import places
from fencepost.verdicts.sites import Site, SiteChange


class SiteTable:
    def __init__(self) -> None:
        self._at: dict[tuple[Place, str], Site] = {}
        self._sites: dict[Site, list[Place]] = {}
        self._by_place: dict[Site, Site] = {}

    @property
    def sites(self) -> tuple[Site, ...]:
        """In the order of the sources."""
        return tuple(sorted(self._sites, key=_position))

    def learn(self, events: Iterable[Event]) -> bool:
        """Is any of the operations that these events tell of new?"""
        told = {(event.at, event.operation): event for event in events if isinstance(event, RawSite)}
        new = {key: event for key, event in told.items() if key not in self._at}
        frames = look_up(event.at for event in new.values()).frames if new else {}
        for (place, operation), event in new.items():
            frame = places(frames[place])[-1]
            site = Site(
                file=frame.file or place.module,
                line=frame.line,
                # Without a line, operations are told apart by their addresses alone.
                column=frame.column if frame.line else place.address,
                function=function_name(frame.function),
                operation=event.operation,
                order=event.order,
                failure_order=event.failure,
            )
            # What instances of a template are called may differ in more than their arguments.
            site = self._by_place.setdefault(msgspec.structs.replace(site, function=""), site)
            self._at[place, operation] = site
            self._sites.setdefault(site, []).append(place)
        return bool(new)

    def file_of(self, changes: Iterable[SiteChange]) -> str:
        """The text of a file with these changes, at all copies that are known."""
        return "".join(
            f"{place.module}+{place.offset} {words}\n"
            for change in changes
            for words in (settings_of(change),)
            for place in self._sites[change.site]
        )


def _position(site: Site) -> tuple[str, int, int, str, str, str]:
    return site.file, site.line, site.column, site.operation, site.order, site.function


_QUALIFIERS = re.compile(r"(?: const| volatile| noexcept| &&?| \[[^]]*\])+$")


def function_name(name: str) -> str:
    """Without parameters, and without what differs between the instances of a template."""
    plain = _without_template_arguments(name)
    short = _QUALIFIERS.sub("", plain)
    if short.endswith(")"):
        depths = [short[at:].count(")") - short[at:].count("(") for at in range(len(short))]
        begin = max(at for at, depth in enumerate(depths) if depth == 0)
        if begin and not short[:begin].endswith("operator"):
            short = short[:begin]
    if plain != name:  # it has the type of its result before it
        outside = [at for at, c in enumerate(short) if c == " " and not _open(short[:at])]
        named = short.find("operator ")
        spaces = [at for at in outside if named < 0 or at < named]
        short = short[spaces[-1] + 1 :] if spaces else short
    return short


def _open(text: str) -> bool:
    """Is a parenthesis or a brace open at its end?"""
    return text.count("(") > text.count(")") or text.count("{") > text.count("}")


def _without_template_arguments(name: str) -> str:
    kept, depth = "", 0
    for at, c in enumerate(name):
        is_operator = re.search(r"operator[<>=-]*$", name[:at]) is not None or name[at - 1 : at + 1] == "->"
        if c == "<" and not is_operator:
            depth += 1
        elif c == ">" and not is_operator:
            depth -= 1
        elif not depth:
            kept += c
    return name if depth else kept


def settings_of(change: SiteChange) -> str:
    """As in a line of the file, behind the place: `store order=release after=seq_cst`."""
    return " ".join((change.site.operation, *_settings(change)))


def _settings(change: SiteChange) -> Iterator[str]:
    parts: Sequence[tuple[str, str | None]] = (
        ("order", change.order),
        ("failure", change.failure_order),
        ("before", change.fence_before),
        ("after", change.fence_after),
    )
    yield from (f"{name}={order}" for name, order in parts if order is not None)
    if change.remove:
        yield "remove"


def place_of(site: Site) -> str:
    """As people write it, and as a line of the file begins."""
    column = f":{site.column}" if site.line and site.column else ""
    return f"{site.file}:{site.line}{column}" if site.line else f"{site.file}+{site.column:#x}"
