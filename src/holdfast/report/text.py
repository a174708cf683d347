"""An answer for a terminal: the verdict, then each finding with its sentence, its run and its cycle.

Lines stay within `width` columns as far as the user's own names allow; the first line alone may be longer,
so that the path in it can be clicked. What the findings mean is said in `explain`, runs are laid out in
`run_text`, cycles and repairs in `cycle_text`; this module puts the parts together.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET

from holdfast.report import cycle_text, explain, run_text
from holdfast.report.findings import Finding, finding_id, findings, worth_showing
from holdfast.report.labels import verdict
from holdfast.report.page import NARROWEST, Page
from holdfast.report.printable import printable
from holdfast.report.roles import roles
from holdfast.verdicts import Answer, Stats, Unknown

LONGEST_FULL_RUN = 40  # accesses; of a longer run only what matters is shown, unless asked for all
_MARK = "▶"
_MARKS = {"access": _MARK, "overtaking": _MARK, "delayed": "▷", "misled": _MARK, "racing": _MARK}
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
    for found in findings(answer):
        blocks += _finding(page, found, answer)
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


def _finding(page: Page, found: Finding, answer: Answer) -> Iterator[str]:
    """What is wrong, the run, the cycle, and what would repair it."""
    yield page.wrapped(found.message)
    shown = None if page.verbose else worth_showing(found, LONGEST_FULL_RUN)
    run = run_text.render(page, found.run, marks=_marks(found), shown=shown, delayed=found.delayed)
    if run:
        yield run
    if found.graph is not None and found.graph.cycle:
        yield cycle_text.render(page, found.graph, printable(answer.file))
    if found.graph is not None and found.repairs:
        yield cycle_text.render_repairs(page, found.graph, found.repairs, printable(answer.file))
        if answer.question != "fix" and not answer.file.startswith("<"):
            yield page.wrapped(
                f"`{fix_command(answer)}` finds the cheapest changes that forbid every such run."
            )
    if page.verbose:
        yield page.paint(page.wrapped(f"finding {finding_id(answer, found)}"), "dim")


def _marks(found: Finding) -> dict[int, str]:
    if found.graph is None:
        return dict.fromkeys(found.parts, _MARK)
    return {event: _MARKS[role] for event, role in roles(found.graph).items() if role in _MARKS}


def fix_command(answer: Answer) -> str:
    """The command that repairs what the answer is about."""
    by_default = answer.model != "tso" or answer.criterion == "persistent"
    criterion = "" if by_default else f" --criterion {answer.criterion}"
    return f"holdfast fix --model {answer.model}{criterion} {printable(answer.file)}"


def _footer(page: Page, answer: Answer) -> Iterator[str]:
    if answer.race is None and answer.assertion is None and not isinstance(answer, Unknown):
        searched = explain.explain_search(answer)
        if searched:
            yield page.wrapped(searched)
    swarm = getattr(answer, "swarm", UNSET)
    if swarm is not UNSET:
        from holdfast.report import swarm_text

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
