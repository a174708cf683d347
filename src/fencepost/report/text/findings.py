"""The findings of an answer for a terminal: each with its sentence, its run and its cycle.

`explain` says what they mean; `run` lays out runs, `cycle` cycles and repairs. This module puts the parts
together.
"""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.memory_models import MODELS
from fencepost.report.findings import Finding, finding_id, findings, worth_showing
from fencepost.report.printable import printable
from fencepost.report.text import cycle as cycle_text
from fencepost.report.text import run as run_text
from fencepost.report.text.page import Page
from fencepost.verdicts import Answer

LONGEST_FULL_RUN = 40  # accesses; of a longer run only what matters is shown, unless asked for all
_MARKS = {"access": "▶", "overtaking": "▶", "delayed": "▷", "misled": "▶", "racing": "▶"}


def render(page: Page, answer: Answer) -> Iterator[str]:
    """The blocks of all findings."""
    for found in findings(answer):
        yield from _finding(page, found, answer)


def _finding(page: Page, found: Finding, answer: Answer) -> Iterator[str]:
    """What is wrong, the run, the cycle, and what would repair it."""
    yield page.wrapped(found.message)
    shown = None if page.verbose else worth_showing(found, LONGEST_FULL_RUN)
    marks = {event: _MARKS[role] for event, role in found.roles.items() if role in _MARKS}
    run = run_text.render(page, found.run, marks=marks, shown=shown, delayed=found.delayed)
    if run:
        yield run
    if found.graph is not None and found.graph.cycle:
        yield cycle_text.render(page, found.graph, printable(answer.file))
    if found.graph is not None and found.repairs:
        yield cycle_text.render_repairs(page, found.graph, found.repairs, printable(answer.file))
        if answer.question != "fix" and not answer.file.startswith("<"):
            yield page.wrapped(_fix_hint(answer) + _harm(answer))
    if found.next_step:
        yield page.wrapped(found.next_step)
    if page.verbose:
        yield page.paint(page.wrapped(f"finding {finding_id(answer, found)}"), "dim")


def _fix_hint(answer: Answer) -> str:
    """The command that repairs what the answer is about, or more than that."""
    by_default, *others = MODELS[answer.model].criteria["fix"]
    criterion = f" --criterion {answer.criterion}" if answer.criterion in others else ""
    command = f"`fencepost fix --model {answer.model}{criterion} {printable(answer.file)}`"
    if answer.criterion in (by_default, *others):
        return f"{command} finds the cheapest changes that forbid every such run."
    return f"{command} finds the cheapest changes that make it {by_default}, which is more."


def _harm(answer: Answer) -> str:
    """How to find out whether weak memory does harm, where that can be asked."""
    if answer.question != "robust" or "verify" not in MODELS[answer.model].criteria:
        return ""
    command = f"fencepost verify --model {answer.model} {printable(answer.file)}"
    return f" Such a run may be harmless: `{command}` asks whether the program can go wrong."
