"""The answer to `fix` for a terminal: what to change where, the diff, and how sure the answer is.

Data races, failing assertions and the witness of a program that cannot be repaired are told as in every
other answer (`report.text`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fencepost.analyses.repair.checks import FixProgress
from fencepost.report.printable import columns, pad, paragraph, printable
from fencepost.report.text import answer as text
from fencepost.report.text.page import INDENT, NARROWEST
from fencepost.report.text.progress import ProgressLine
from fencepost.verdicts.repair import Edit, FixAnswer, RepairAnswer, RepairUnknown

_GOALS = {"robust": "robust", "persistent": "persistent", "trf": "free of triangular races"}
_DIFF_COLORS = {"+": "32", "-": "31", "@": "36"}


def render(answer: FixAnswer, *, color: bool, width: int, verbose: bool = False) -> str:
    """The whole answer."""
    head, _, rest = text.render(answer, color=color, width=width, verbose=verbose).partition("\n\n")
    width = max(width, NARROWEST)
    verdict, under_model, findings = head.partition(f" under {printable(answer.model)}")
    blocks = [verdict + under_model + _summary(answer) + findings]
    blocks += ["\n".join(INDENT + line for line in paragraph(p, width - len(INDENT))) for p in said(answer)]
    for number, edits in enumerate(_repairs(answer), start=1):
        title = [f"{INDENT}Repair {number}"] if len(answer.minima) > 1 else []
        blocks.append("\n".join([*title, *_rows(edits, printable(answer.file), width)]))
    if answer.diff:
        title = [f"{INDENT}Repair 1 as a diff:\n"] if len(answer.minima) > 1 else []
        blocks.append("\n".join([*title, *_diff(answer.diff, color=color)]))
    if answer.edits and answer.proof is not None:
        blocks.append(f"{INDENT}The repaired program, checked once more: {text.stats_line(answer.proof)}.")
    return "\n\n".join([*blocks, rest])


class FixProgressLine(ProgressLine):
    """The line on the terminal that shows how far a repair is."""

    def fixing(self, progress: FixProgress) -> bool:
        best = "none yet" if progress.best is None else f"{progress.best:g}"
        line = f"{progress.checks:,} sets tried, lower bound {progress.lower_bound:g}, best so far {best}"
        if progress.checking is not None:
            line += f"; checking one, {progress.checking.states:,} states"
        self._show(f"{line}, {progress.seconds:.0f} s")
        return False


def _summary(answer: FixAnswer) -> str:
    if not answer.holds or answer.edits is None:
        return ""
    if not answer.edits:
        return " as it is"
    places = "1 place" if len(answer.edits) == 1 else f"{len(answer.edits)} places"
    return f" after changing {places} (cost {answer.cost:g})"


def said(answer: FixAnswer) -> Iterator[str]:
    """What there is to say before the changes."""
    goal = _GOALS[answer.criterion]
    if isinstance(answer, RepairUnknown):
        yield f"Not decided: {printable(answer.why)}."
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
        yield f"No set of the changes allowed makes the program {goal}. With all of them made this is left:"
    elif len(answer.minima) > 1:
        yield f"{len(answer.minima):,} repairs cost {answer.cost:g}, and none costs less."
    elif answer.minima:
        yield "No other repair costs as little."
    elif answer.edits:
        yield f"No cheaper set of changes makes the program {goal}; {answer.checks:,} sets were tried."


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
    return _GOALS[answer.criterion]


def _diff(diff: str, *, color: bool) -> Iterator[str]:
    for line in diff.splitlines():
        shown = printable(line.expandtabs(8))
        code = _DIFF_COLORS.get(line[:1])
        yield f"\x1b[{code}m{shown}\x1b[0m" if color and code else shown
