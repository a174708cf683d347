"""The answer to `fix` for a terminal: what to change where, the diff, and how sure the answer is.

Data races, failing assertions and the witness of a program that cannot be repaired are printed as in every
other answer (`text.answer`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fencepost.report import story
from fencepost.report.printable import aligned, columns, counted, printable
from fencepost.report.repair import edit_words, said
from fencepost.report.text.answer import findings_and_footer, verdict_line
from fencepost.report.text.page import INDENT, Page, page_of
from fencepost.verdicts.repair import Edit, FixAnswer


def render(answer: FixAnswer, *, color: bool, width: int, verbose: bool = False) -> str:
    """The whole answer."""
    page = page_of(color=color, width=width, verbose=verbose)
    blocks = [verdict_line(page, answer, _summary(answer)), *map(page.wrapped, said(answer))]
    for number, edits in enumerate(_repairs(answer), start=1):
        title = [f"{INDENT}Repair {number}"] if len(answer.minima) > 1 else []
        blocks.append("\n".join([*title, *_rows(edits, printable(answer.file), page.width)]))
    if answer.diff:
        title = [f"{INDENT}Repair 1 as a diff:\n"] if len(answer.minima) > 1 else []
        blocks.append("\n".join([*title, *diff_lines(page, answer.diff)]))
    if answer.edits and answer.proof is not None:
        blocks.append(f"{INDENT}The repaired program, checked once more: {story.stats_line(answer.proof)}.")
    return "\n\n".join([*blocks, *findings_and_footer(page, answer)]) + "\n"


def _summary(answer: FixAnswer) -> str:
    if not answer.holds or answer.edits is None:
        return ""
    if not answer.edits:
        return " as it is"
    return f" after changing {counted(len(answer.edits), 'place')} (cost {answer.cost:g})"


def _repairs(answer: FixAnswer) -> Sequence[tuple[Edit, ...]]:
    if answer.minima:
        return answer.minima
    return [answer.edits] if answer.edits else []


def _rows(edits: Sequence[Edit], file: str, width: int) -> Iterator[str]:
    """One change per row: where, in which function, what, and what it costs."""
    words = [edit_words(edit) for edit in edits]
    functions = [printable(edit.function) for edit in edits]
    room = width - len(INDENT) - max(map(columns, words)) - max(map(columns, functions)) - len("    cost 10")
    places = [f"{file}:{edit.line}" for edit in edits]
    if max(map(columns, places)) > room:
        places = [f"line {edit.line}" for edit in edits]
    rows = aligned(places, functions, words, [f"cost {edit.cost:g}" for edit in edits])
    return (INDENT + row for row in rows)


def diff_lines(page: Page, diff: str) -> Iterator[str]:
    for line in diff.splitlines():
        shown = printable(line.expandtabs(8))
        yield page.paint(shown, line[0]) if line.startswith(("+", "-", "@")) else shown
