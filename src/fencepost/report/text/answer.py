"""An answer for a terminal: the verdict, then each finding with its sentence, its run and its cycle.

Lines stay within `width` columns as far as the user's own names allow; the first line alone may be longer,
so that the path in it can be clicked. What is said comes from `story` and `findings`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fencepost.report import story
from fencepost.report.printable import paragraph, printable
from fencepost.report.text.page import INDENT, Page, page_of
from fencepost.verdicts import Answer, ModelVerdict, Unknown


def render(answer: Answer, *, color: bool, width: int, verbose: bool = False) -> str:
    """The whole answer; `verbose` shows long runs and cycles in full, and the access modes."""
    if answer.question == "outcomes":
        from fencepost.report.text import outcomes  # only here: other answers have no such table

        return outcomes.render(answer, color=color, width=width, verbose=verbose)
    page = page_of(color=color, width=width, verbose=verbose)
    why = [page.wrapped(story.undecided(answer))] if isinstance(answer, Unknown) else []
    return "\n\n".join([verdict_line(page, answer), *why, *findings_and_footer(page, answer)]) + "\n"


def verdict_line(page: Page, answer: Answer, repaired: str = "") -> str:
    """The first line; `repaired` says after which changes the verdict is true."""
    found = [] if answer.holds else story.also_found(answer)
    also = f", {page.paint('with ' + ' and '.join(found), 'bad')}" if found else ""
    headline = story.headline(answer)
    under = f"{', ' if ',' in headline else ' '}under {printable(answer.model)}"
    return f"{printable(answer.file)}: {page.paint(headline, story.mood(answer))}{under}{repaired}{also}"


def findings_and_footer(page: Page, answer: Answer) -> Iterator[str]:
    """The blocks below the verdict: findings, warnings, and what the search took."""
    if answer.parts_found:
        from fencepost.report.text import findings  # only here: most answers have none

        yield from findings.render(page, answer)
    if models := story.models_asked(answer):
        yield "\n".join(_by_model(page, models))
    yield from (page.wrapped(f"warning: {printable(warning)}") for warning in answer.warnings)
    took = page.paint(page.wrapped(story.stats_line(answer.stats)), "dim")
    yield "\n".join([*map(page.wrapped, story.extent(answer)), took])


def _by_model(page: Page, models: Sequence[ModelVerdict]) -> Iterator[str]:
    """One line per model; those that count are marked."""
    names = max(len(one.model) for one in models)
    verdicts = max(len(one.verdict) for one in models)
    styles = {"safe": "good", "unsafe": "bad"}
    for one in models:
        verdict = page.paint(one.verdict.replace("-", " "), styles.get(one.verdict, "open"))
        gap = " " * (verdicts - len(one.verdict))
        before = f"{INDENT}{'▶' if one.required else ' '} {one.model:{names}}  {verdict}{gap}  "
        room = page.width - len(f"{INDENT}▶ ") - names - verdicts - 4
        first, *more = paragraph(printable(one.because), room)
        yield before + first
        yield from (" " * (len(f"{INDENT}▶ ") + names + verdicts + 4) + line for line in more)
