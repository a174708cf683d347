"""The answers to `fix` and `relax` about compiled programs, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fencepost.report.printable import aligned, counted, printable
from fencepost.report.text.page import INDENT, Page, page_of
from fencepost.sanitizer.answer import explain
from fencepost.verdicts.program_changes import (
    AnyProgramFix,
    AnyProgramRelax,
    ChangesAnswer,
    NeededOrder,
    PricedChange,
    ProgramRelaxUnknown,
    ProgramRepairUnknown,
    RelaxedAnswer,
)
from fencepost.verdicts.run import Finding, places
from fencepost.verdicts.sites import SiteChange

_NOUNS = {
    "load": "load",
    "store": "store",
    "exchange": "exchange",
    "fetch": "read-modify-write",
    "compare_exchange": "compare-and-exchange",
    "fence": "fence",
}


def render(
    answer: AnyProgramFix | AnyProgramRelax,
    *,
    color: bool,
    width: int,
    quiet: bool = False,
    verbose: bool = False,
) -> str:
    page = page_of(color=color, width=width)
    headline = _headline(page, answer)
    if quiet:
        return headline + "\n"
    blocks = [headline, *map(page.wrapped, _said(answer))]
    if answer.changes:
        blocks.append("\n".join(_rows(answer.changes, relaxes=isinstance(answer, RelaxedAnswer))))
    if isinstance(answer, RelaxedAnswer) and answer.needed:
        blocks.append(page.wrapped("Of the orders that stay, each is needed:"))
        blocks += [page.wrapped(_why_needed(one)) for one in answer.needed]
    if answer.findings:
        blocks.append(page.wrapped(_left(answer)))
        told = (_one(one, verbose=verbose) for one in answer.findings)
        blocks += [page.wrapped(one) for one in dict.fromkeys(told)]
    blocks += [page.wrapped(f"warning: {_failure(one)}") for one in answer.failures]
    blocks += [page.wrapped(f"By hand: {printable(one.advice)}") for one in answer.by_hand]
    if answer.no_diff:
        blocks.append(page.wrapped(f"There is no diff of the sources: {printable(answer.no_diff)}."))
    if answer.diff:
        from fencepost.report.text.repair import diff_lines

        blocks.append("\n".join(diff_lines(page, answer.diff)))
    return "\n\n".join(blocks) + "\n"


def _headline(page: Page, answer: AnyProgramFix | AnyProgramRelax) -> str:
    name = printable(" ".join((answer.file, *answer.tests)))
    return f"{name}: {_verdict(page, answer)}{_cost(answer)}; {_extent(answer)}"


def _verdict(page: Page, answer: AnyProgramFix | AnyProgramRelax) -> str:
    relaxes = isinstance(answer, RelaxedAnswer)
    words = {
        "robust": ("robust", "good"),
        "not-seen": ("nothing seen", "good"),
        "not-robust": ("not robust" if relaxes else "not repairable", "bad"),
        "unknown": ("undecided", "open"),
    }
    told, mood = words[answer.verdict]
    return page.paint(told, mood)


def _cost(answer: AnyProgramFix | AnyProgramRelax) -> str:
    if answer.changes is None or answer.cost is None:
        return ""
    before = f" instead of {answer.cost_before:g}" if isinstance(answer, RelaxedAnswer) else ""
    if not answer.changes:
        return " as it is" if not before else f", and nothing can be weaker (cost {answer.cost:g})"
    return f" with changes at {counted(len(answer.changes), 'place')} (cost {answer.cost:g}{before})"


def _extent(answer: ChangesAnswer) -> str:
    return f"{counted(answer.runs, 'execution')}, {answer.stats.seconds:.2f} s"


def _said(answer: AnyProgramFix | AnyProgramRelax) -> Iterator[str]:
    relaxes = isinstance(answer, RelaxedAnswer)
    tried = f"{counted(answer.checks, 'set')} of {'orders' if relaxes else 'changes'}"
    how = f"{tried} {'was' if answer.checks == 1 else 'were'} tried, and {counted(answer.replays, 'time')} an"
    how += " execution was repeated with other changes"
    if isinstance(answer, ProgramRelaxUnknown | ProgramRepairUnknown):
        yield f"Not decided: {printable(answer.why)}; {how}."
        if answer.changes is not None and answer.cost is not None:
            yield (
                f"The best known so far cost {answer.cost:g}. None cost less than {answer.lower_bound:g}, "
                "but there may be some in between."
            )
        return
    if answer.holds is False:
        if relaxes:
            yield "Nothing is relaxed. Repair the program first: `fencepost fix`."
        else:
            yield f"No orders and fences at its sites repair it; {how}."
        return
    yield f"{_cheapest(answer)}; {how}."
    if answer.sampled is None:
        yield "All executions of the program were run with these changes: nothing is left in any of them."
    else:
        runs = f"{answer.sampled:,} runs of each of two schedules"
        yield (
            f"Not proven: not all executions were run. Each set was tried in {runs}, and the last one in as "
            "many others. More runs (--runs) may show that more is needed."
        )


def _cheapest(answer: ChangesAnswer) -> str:
    if isinstance(answer, RelaxedAnswer):
        return "No cheaper orders, none stronger than the program's own, do"
    return "Nothing needs to be changed" if not answer.changes else "No cheaper set of changes does"


def _rows(changes: Sequence[PricedChange], *, relaxes: bool) -> Iterator[str]:
    rows = aligned(
        [explain.site_place(one.change.site) for one in changes],
        [printable(one.change.site.function) for one in changes],
        [words(one.change) for one in changes],
        [f"saves {one.saves:g}" if relaxes else f"cost {one.cost:g}" for one in changes],
    )
    return (INDENT + row for row in rows)


def words(change: SiteChange) -> str:
    """What to do at the place."""
    noun = _NOUNS[change.site.operation]
    if change.remove:
        return f"remove the {change.site.order} fence"
    parts = []
    if change.order is not None:
        parts.append(f"make the {noun} {change.order}, not {change.site.order}")
    if change.failure_order is not None:
        where = "" if change.order is not None else f" of the {noun}"
        parts.append(f"make the failure{where} {change.failure_order}, not {change.site.failure_order}")
    if change.fence_before is not None:
        parts.append(f"insert a {change.fence_before} fence before the {noun}")
    if change.fence_after is not None:
        parts.append(f"insert a {change.fence_after} fence after the {noun}")
    return " and ".join(parts) or f"leave the {noun} {change.site.order}"


def _order(change: SiteChange) -> str:
    if change.remove:
        return "without it"
    order = change.order or change.site.order
    failure = change.failure_order or change.site.failure_order
    return f"{order}/{failure}" if failure is not None else order


def _why_needed(one: NeededOrder) -> str:
    noun = _NOUNS[one.change.site.operation]
    now, weaker = _order(one.change), _order(one.weaker)
    instead = weaker if one.weaker.remove else f"as {weaker}"
    where = f"{explain.site_place(one.change.site)}, the {now} {noun}"
    if one.finding is None:
        return f"{where}: {instead}, the runs made for this show nothing."
    return f"{where}: {instead}, {_seen(one.finding)}."


def _seen(finding: Finding) -> str:
    by = places(finding.access.stack)[-1] if finding.access.stack else None
    where = f" ({explain.place(by)})" if by is not None and by.file else ""
    return f"{explain.title(finding)}{where}"


def _left(answer: ChangesAnswer) -> str:
    if isinstance(answer, RelaxedAnswer):
        return "It is not robust, or not free of data races, as it is:"
    return "With all changes that were offered, this is left:"


def _one(finding: Finding, *, verbose: bool) -> str:
    return f"{_seen(finding)}. {explain.why(finding)}" if verbose else f"{_seen(finding)}."


def _failure(what: str) -> str:
    return f"{printable(what)}. No memory order changes that."
