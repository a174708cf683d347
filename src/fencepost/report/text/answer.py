"""An answer for a terminal: the verdict, then each finding with its sentence, its run and its cycle.

Lines stay within `width` columns as far as the user's own names allow; the first line alone may be longer,
so that the path in it can be clicked. Findings are told by `finding_text`, which is imported when there are
any.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET

from fencepost.report.extent import searched
from fencepost.report.labels import verdict
from fencepost.report.printable import printable
from fencepost.report.text.page import NARROWEST, Page
from fencepost.verdicts import Answer, Stats, Unknown

_FAILURES = {
    "assertion": "a failing assertion",
    "division-by-zero": "a division by zero",
    "index-out-of-range": "an index out of range",
}


def render(answer: Answer, *, color: bool, width: int, verbose: bool = False) -> str:
    """The whole answer; `verbose` shows long runs and cycles in full, and the access modes."""
    page = Page(width=max(width, NARROWEST), color=color, verbose=verbose)
    blocks = [_verdict_line(page, answer)]
    if isinstance(answer, Unknown):
        blocks.append(page.wrapped(f"Not decided: {printable(answer.why)}"))
    if (answer.witness, answer.race, answer.assertion) != (None, None, None):
        from fencepost.report.text import findings as finding_text

        blocks += finding_text.render(page, answer)
    blocks += [page.wrapped(f"warning: {printable(warning)}") for warning in answer.warnings]
    blocks.append("\n".join(_footer(page, answer)))
    return "\n\n".join(blocks) + "\n"


def _verdict_line(page: Page, answer: Answer) -> str:
    style = {True: "good", False: "bad", None: "open"}[answer.holds]
    found = ["a data race"] if answer.race is not None else []
    if answer.assertion is not None:
        found.append(_FAILURES[answer.assertion.kind])
    findings = f", {page.paint('with ' + ' and '.join(found), 'bad')}" if found else ""
    words = page.paint(verdict(answer), style)
    return f"{printable(answer.file)}: {words} under {printable(answer.model)}{findings}"


def _footer(page: Page, answer: Answer) -> Iterator[str]:
    if answer.race is None and answer.assertion is None and not isinstance(answer, Unknown):
        extent = searched(answer)
        if extent:
            yield page.wrapped(extent)
    swarm = getattr(answer, "swarm", UNSET)
    if swarm is not UNSET:
        from fencepost.report.text import swarm as swarm_text

        yield page.wrapped(swarm_text.summary(swarm, answer))
    yield page.paint(page.wrapped(stats_line(answer.stats)), "dim")


def stats_line(stats: Stats) -> str:
    """What the search took."""
    parts = [_count(stats.states, "state"), _count(stats.transitions, "transition"), f"{stats.seconds:.2f} s"]
    if stats.peak_memory_mb:
        parts.append(f"{stats.peak_memory_mb:.0f} MB")
    if stats.bits_used is not UNSET:
        parts.append(f"{stats.bits_used:.1%} of the bits used")
    return ", ".join(parts)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
