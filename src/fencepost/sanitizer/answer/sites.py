"""The sites of a program as far as it was run, and the file by which the run-time library changes them.

The library knows an operation by its address, and a site has as many of these as the compiler has made copies
of it. Each run tells of the operations that it makes, so the table grows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fencepost.sanitizer.answer.symbols import look_up
from fencepost.sanitizer.run.events import Event, Place, RawSite
from fencepost.verdicts.run import places
from fencepost.verdicts.sites import Site, SiteChange


class SiteTable:
    def __init__(self) -> None:
        self._at: dict[tuple[Place, str], Site] = {}
        self._sites: dict[Site, list[Place]] = {}

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
                function=frame.function,
                operation=event.operation,
                order=event.order,
                failure_order=event.failure,
            )
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
