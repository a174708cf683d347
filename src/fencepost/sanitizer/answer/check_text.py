"""An answer to `check` for a terminal: findings as `run` reports them, failures, and one line to sum up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fencepost.memory_models import EXIT_HOLDS, EXIT_VIOLATED
from fencepost.report.printable import counted, printable
from fencepost.report.text.page import Page, page_of
from fencepost.sanitizer.answer.report_text import counts, how_it_failed, reports, unwatched
from fencepost.verdicts.check import AnyCheckAnswer, CheckUnknown, SomeNotRobust
from fencepost.verdicts.run import Trouble

_REPLAY = (
    "To see such an execution again: `fencepost check --json` writes a report for `fencepost run --replay`."
)


def render(answer: AnyCheckAnswer, *, color: bool, width: int, quiet: bool = False) -> str:
    """The whole answer, or its last line alone."""
    page = page_of(color=color, width=width)
    if quiet:
        return _sum(page, answer) + "\n"
    lines = list(reports(page, answer, lambda _: iter(())))
    for failure in answer.failures:
        lines += _failure(page, failure)
    for warning in answer.warnings:
        lines.append(page.wrapped(f"warning: {printable(warning)}", ""))
    if answer.findings or answer.deadlocks or answer.failures:
        lines.append(page.wrapped(_REPLAY, ""))
    else:
        lines += [page.wrapped(sentence, "") for sentence in _looked_at(answer)]
    return "\n".join([*lines, _sum(page, answer)]) + "\n"


def total(answers: Sequence[AnyCheckAnswer], *, color: bool) -> str:
    """One line for all tests of a program."""
    page = page_of(color=color, width=0)
    bad = sum(answer.exit_code == EXIT_VIOLATED for answer in answers)
    robust = sum(answer.exit_code == EXIT_HOLDS for answer in answers)
    parts = [
        (robust, "robust", "good"),
        (bad, "with findings or failures", "bad"),
        (len(answers) - robust - bad, "undecided", "open"),
    ]
    words = ", ".join(f"{number} {page.paint(what, how)}" for number, what, how in parts if number)
    return f"{printable(answers[0].file)}: {counted(len(answers), 'test')}: {words}\n"


def _failure(page: Page, failure: Trouble) -> Iterator[str]:
    yield page.paint(f"WARNING: fencepost: an execution {failure.why}", "bad")
    yield from how_it_failed(page, failure)


def _looked_at(answer: AnyCheckAnswer) -> Iterator[str]:
    which = "every execution" if answer.exhaustive else "these executions"
    accesses, races = {
        "all": (", fences and plain accesses", ""),
        "part": (", fences and some plain accesses", "plain accesses, so a data race could be missed; and "),
        "none": (" and fences", "plain accesses, so a data race could be missed; and "),
        # No execution came to its end.
        "": (", fences and plain accesses", "plain accesses if the build has --mode atomics; and "),
    }[answer.plain]
    yield f"Looked at: atomic operations{accesses}, in {which} with these arguments."
    yield (
        f"Not looked at: {races}what a loop counts in plain memory outside its stack: if it gives up by "
        "that, it was taken for one that waits."
    )


def _sum(page: Page, answer: AnyCheckAnswer) -> str:
    """The last line: the verdict, and what it rests on."""
    failures = counted(len(answer.failures), "failure") if answer.failures else ""
    seen = " and ".join(part for part in (counts(answer), failures) if part) + _harm(answer)
    executions = counted(answer.runs, "execution")
    if isinstance(answer, CheckUnknown):
        nothing = f"nothing was seen{unwatched(answer)}"
        verdict = f"{page.paint('undecided', 'open')}: {printable(answer.why)}; {seen or nothing}"
        amount = f"in {executions}{_share(answer)}"
    elif isinstance(answer, SomeNotRobust):
        verdict = f"{page.paint('not robust', 'bad')}: {seen or 'no new finding'}"
        amount = f"in {executions}{_share(answer)}"
    elif seen:
        verdict, amount = page.paint(seen, "bad"), f"in {executions}{_share(answer)}"
    else:
        verdict = f"{page.paint('robust', 'good')}{unwatched(answer)}:"
        amount = f"all {executions} seen" if answer.runs != 1 else "the only execution seen"
    suppressed = f", {answer.suppressed:,} suppressed" if answer.suppressed else ""
    steps = counted(answer.steps, "step")
    name = printable(" ".join(filter(None, (answer.file, answer.test))))
    return f"{name}: {verdict} {amount}{suppressed}; {steps}, {answer.stats.seconds:.2f} s"


def _harm(answer: AnyCheckAnswer) -> str:
    harms = [one.harm for one in answer.findings if one.harm is not None]
    return f" (harm shown: {sum(harm.shown for harm in harms)} of {len(harms)})" if harms else ""


def _share(answer: AnyCheckAnswer) -> str:
    """The estimated share is not shown: with much left to run it is mostly too high."""
    return ", all there are" if answer.exhaustive else ""
