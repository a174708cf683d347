"""The answer to `relax` for a terminal: what can be weaker, why the rest cannot, and the diff."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fencepost.report import story
from fencepost.report.findings import findings
from fencepost.report.printable import aligned, counted, printable
from fencepost.report.text.answer import findings_and_footer, verdict_line
from fencepost.report.text.page import INDENT, Page, page_of
from fencepost.report.text.repair import diff_lines
from fencepost.verdicts.relax import (
    AnyRelaxAnswer,
    NothingToRelax,
    RelaxedSafe,
    RelaxUnknown,
    UnsafeToRelax,
    Weakening,
)


def render(answer: AnyRelaxAnswer, *, color: bool, width: int, verbose: bool = False) -> str:
    """The whole answer; `verbose` shows a run for each order that is needed."""
    page = page_of(color=color, width=width, verbose=verbose)
    blocks = [verdict_line(page, answer, _summary(answer)), *map(page.wrapped, _said(answer))]
    if answer.weakenings:
        blocks.append("\n".join(_rows(answer.weakenings)))
    blocks += _needed(page, answer, verbose=verbose)
    if answer.diff:
        blocks.append("\n".join(diff_lines(page, answer.diff)))
    if answer.weakenings and answer.proof is not None:
        blocks.append(f"{INDENT}The relaxed program, checked once more: {story.stats_line(answer.proof)}.")
    return "\n\n".join([*blocks, *findings_and_footer(page, answer)]) + "\n"


def _summary(answer: AnyRelaxAnswer) -> str:
    if not answer.holds or answer.weakenings is None:
        return ""
    if not answer.weakenings:
        return ", and nothing can be weaker"
    places = counted(len(answer.weakenings), "place")
    return f" with other orders at {places} (cost {answer.cost:g} instead of {answer.cost_before:g})"


def _said(answer: AnyRelaxAnswer) -> Iterator[str]:
    if isinstance(answer, NothingToRelax):
        file = printable(answer.file)
        yield f"Nothing is relaxed. Repair the program first: `fencepost fix --model cpp20 {file}`."
    elif isinstance(answer, UnsafeToRelax):
        yield "Nothing is relaxed: the program goes wrong as it is."
    elif isinstance(answer, RelaxUnknown):
        yield story.undecided(answer)
        if answer.cost is None:
            yield "No weaker orders are known yet."
        else:
            yield (
                f"The best orders known cost {answer.cost:g} instead of {answer.cost_before:g}. None cost "
                f"less than {answer.lower_bound:g}, but there may be some in between."
            )
    else:
        tried = (
            f"{counted(answer.checks, 'choice')} of orders {'was' if answer.checks == 1 else 'were'} tried"
        )
        kept = "robust and free of data races"
        if isinstance(answer, RelaxedSafe):
            kept = "free of data races and of failures, which is all that was asked: it need not be robust"
        yield (
            f"No cheaper orders keep the program {kept}; {tried}. This is about the "
            "threads and accesses that the program has: one that does more may need stronger orders."
        )


def _rows(weakenings: Sequence[Weakening]) -> Iterator[str]:
    """One statement per row: where, in which function, what, and what it saves or, traded, costs."""
    rows = aligned(
        [f"line {one.line}" for one in weakenings],
        [printable(one.function) for one in weakenings],
        [_words(one.statement, one.text) for one in weakenings],
        [f"{'saves' if one.saves >= 0 else 'costs'} {abs(one.saves):g}" for one in weakenings],
    )
    return (INDENT + row for row in rows)


def _words(old: str, new: str) -> str:
    return f"turn `{printable(old)}` into `{printable(new)}`" if new else f"remove `{printable(old)}`"


def _needed(page: Page, answer: AnyRelaxAnswer, *, verbose: bool) -> Iterator[str]:
    """For each order that stays, what would go wrong with the next weaker one."""
    if answer.needed:
        yield page.wrapped("Of the orders that stay, each is needed:")
    for one in answer.needed:
        instead = f"as `{printable(one.text)}`" if one.text else "without it"
        found = findings(one.broken)[0]
        yield page.wrapped(
            f"Line {one.line}, `{printable(one.statement)}` of `{printable(one.function)}`: {instead}, "
            f"{found.message[0].lower()}{found.message[1:]}"
        )
        if verbose:
            from fencepost.report.text.findings import render as render_findings

            yield from render_findings(page, one.broken)
