"""The answer to `fix` for a terminal: what to change where, the diff, and how sure the answer is.

Data races, failing assertions and the witness of a program that cannot be repaired are printed as in every
other answer (`text.answer`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fencepost.memory_models import CRITERIA
from fencepost.report import story
from fencepost.report.printable import columns, counted, pad, printable
from fencepost.report.text.answer import findings_and_footer, verdict_line
from fencepost.report.text.page import INDENT, Page, page_of
from fencepost.verdicts.repair import Edit, FixAnswer, RepairAnswer, RepairUnknown


def render(answer: FixAnswer, *, color: bool, width: int, verbose: bool = False) -> str:
    """The whole answer."""
    page = page_of(color=color, width=width, verbose=verbose)
    blocks = [verdict_line(page, answer, _summary(answer)), *map(page.wrapped, said(answer))]
    for number, edits in enumerate(_repairs(answer), start=1):
        title = [f"{INDENT}Repair {number}"] if len(answer.minima) > 1 else []
        blocks.append("\n".join([*title, *_rows(edits, printable(answer.file), page.width)]))
    if answer.diff:
        title = [f"{INDENT}Repair 1 as a diff:\n"] if len(answer.minima) > 1 else []
        blocks.append("\n".join([*title, *_diff(page, answer.diff)]))
    if answer.edits and answer.proof is not None:
        blocks.append(f"{INDENT}The repaired program, checked once more: {story.stats_line(answer.proof)}.")
    return "\n\n".join([*blocks, *findings_and_footer(page, answer)]) + "\n"


def _summary(answer: FixAnswer) -> str:
    if not answer.holds or answer.edits is None:
        return ""
    if not answer.edits:
        return " as it is"
    return f" after changing {counted(len(answer.edits), 'place')} (cost {answer.cost:g})"


def said(answer: FixAnswer) -> Iterator[str]:
    """What there is to say before the changes."""
    aim = goal(answer)
    if isinstance(answer, RepairUnknown):
        yield story.undecided(answer)
        if answer.edits is None:
            yield f"No repair is known yet. None costs less than {answer.lower_bound:g}."
        elif answer.cost == answer.lower_bound:
            yield f"The repair below costs {answer.cost:g}, and none costs less."
        else:
            yield (
                f"The best repair known costs {answer.cost:g}. It is not proven to be a minimum: no repair "
                f"costs less than {answer.lower_bound:g}, but there may be one in between."
            )
        if answer.minima:
            yield f"Minimum repairs found so far: {len(answer.minima):,}. There may be more."
    elif not answer.holds:
        yield f"No set of the allowed changes makes the program {aim}. With all of them made, this is left:"
    elif len(answer.minima) > 1:
        yield f"{len(answer.minima):,} repairs cost {answer.cost:g}, and none costs less."
    elif answer.minima:
        yield "No other repair costs as little."
    elif answer.edits:
        yield f"No cheaper set of changes makes the program {aim}; {answer.checks:,} sets were tried."


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
    parts = [places, functions, words]
    widths = [max(map(columns, part)) for part in parts]
    for edit, *cells in zip(edits, *parts, strict=True):
        row = "  ".join(pad(cell, wide) for cell, wide in zip(cells, widths, strict=True))
        yield f"{INDENT}{row}  cost {edit.cost:g}"


def edit_words(edit: Edit) -> str:
    """What is done at one place."""
    old, new = printable(edit.statement), printable(edit.text)
    match edit.action:
        case "insert-before":
            return f"insert `{new};` before `{old}`"
        case "insert-after":
            return f"insert `{new};` after `{old}`"
        case "replace":
            return f"turn `{old}` into `{new}`"


def goal(answer: RepairAnswer) -> str:
    """What the program is to become."""
    return CRITERIA[answer.criterion]


def _diff(page: Page, diff: str) -> Iterator[str]:
    for line in diff.splitlines():
        shown = printable(line.expandtabs(8))
        yield page.paint(shown, line[0]) if line.startswith(("+", "-", "@")) else shown
