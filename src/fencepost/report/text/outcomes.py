"""The answer to `outcomes` for a terminal: a table of final states and models, and notes below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fencepost.errors import InputError
from fencepost.report import outcomes, story
from fencepost.report.printable import columns, counted, pad, printable
from fencepost.report.text import findings
from fencepost.report.text.page import INDENT, Page, page_of
from fencepost.verdicts import Answer
from fencepost.verdicts.outcomes import OutcomesAnswer, OutcomesUnknown

MOST_ROWS = 60  # of more final states the rest is counted, unless all are asked for
_STYLES = {outcomes.ALLOWED: "good", outcomes.RACY: "bad", outcomes.OPEN: "open"}


def render(answer: Answer, *, color: bool, width: int, verbose: bool = False) -> str:
    """The whole answer. The graph of an outcome is shown where it was asked for."""
    assert isinstance(answer, OutcomesAnswer)
    page = page_of(color=color, width=width, verbose=verbose)
    said = page.paint(story.headline(answer), story.mood(answer))
    blocks = [f"{printable(answer.file)}: {said}"]
    if isinstance(answer, OutcomesUnknown) and not answer.models:
        blocks.append(page.wrapped(story.undecided(answer)))
    if answer.outcomes:
        blocks.append("\n".join(_table(page, answer)))
    below = [*filter(None, [outcomes.constants(answer)]), *outcomes.notes(answer)]
    blocks += map(page.wrapped, below)
    if answer.explained is not None:
        blocks += findings.render(page, answer)
    elif hint := outcomes.next_step(answer):
        blocks.append(page.wrapped(hint))
    blocks += [page.wrapped(f"warning: {printable(warning)}") for warning in answer.warnings]
    blocks.append(page.paint(page.wrapped(outcomes.took(answer)), "dim"))
    return "\n\n".join(blocks) + "\n"


def _table(page: Page, answer: OutcomesAnswer) -> Iterator[str]:
    """One row per final state; those that the condition looks for are marked."""
    shown, _ = outcomes.split(answer)
    rows = answer.outcomes if page.verbose else answer.outcomes[:MOST_ROWS]
    heads = ["", *(printable(answer.names[at]) for at in shown), *(column.model for column in answer.models)]
    body = [
        [
            str(row.number),
            *(str(row.values[at]) for at in shown),
            *(outcomes.cell(row, column) for column in answer.models),
        ]
        for row in rows
    ]
    values = len(shown) + 1
    yield from _laid_out(page, heads, body, values, ["▶" if row.sought else " " for row in rows])
    left = len(answer.outcomes) - len(rows)
    if left:
        yield page.paint(f"{INDENT}  ⋯ {left:,} more; -v shows all", "dim")


def _laid_out(
    page: Page, heads: Sequence[str], body: Sequence[Sequence[str]], values: int, marks: Sequence[str]
) -> Iterator[str]:
    """Numbers to the right, what models say in the middle of their columns."""
    rooms = [max(map(columns, cells)) for cells in zip(heads, *body, strict=True)]

    def line(cells: Sequence[str], mark: str, style: str = "") -> str:
        parts = []
        for at, (cell, room) in enumerate(zip(cells, rooms, strict=True)):
            before = room - columns(cell) if at < values else (room - columns(cell)) // 2
            painted = page.paint(cell, style or _STYLES.get(cell, "dim")) if at >= values or style else cell
            parts.append(" " * before + painted + " " * (room - columns(cell) - before))
        left, right = "  ".join(parts[:values]), "  ".join(parts[values:])
        return f"{INDENT}{mark} {left}   {right}".rstrip()

    yield line(heads, " ", "bold")
    for cells, mark in zip(body, marks, strict=True):
        yield line(cells, page.paint(mark, "bad") if mark.strip() else mark)


def summary(answers: Sequence[tuple[str, Answer | InputError]], *, color: bool, width: int) -> str:
    """One row per file: which models allow what its condition looks for, and how many outcomes there are."""
    page = page_of(color=color, width=width)
    given = [answer for _, answer in answers if isinstance(answer, OutcomesAnswer)]
    models = outcomes.models_asked(given)
    heads = ["file", "outcomes", *models]
    body = []
    for file, answer in answers:
        if isinstance(answer, OutcomesAnswer):
            told = {column.model: outcomes.condition_cell(column, answer) for column in answer.models}
            count = f"{len(answer.outcomes):,}{'' if answer.exhaustive else '+'}"
            body.append([printable(file), count, *(told.get(model, "") for model in models)])
        else:
            body.append([printable(file), "error", *("" for _ in models)])
    room = max(columns(row[0]) for row in [heads, *body])
    padded = [[pad(file, room), *cells] for file, *cells in [heads, *body]]
    laid_out = _laid_out(page, padded[0], padded[1:], 2, [" "] * len(body))
    lines = [line.removeprefix(f"{INDENT}  ") for line in laid_out]
    kinds = {
        "possible": sum(answer.holds is False for answer in given),
        "impossible": sum(answer.verdict == "impossible" for answer in given),
        "without a condition": sum(not answer.condition for answer in given),
        "unknown": sum(answer.holds is None and bool(answer.condition) for answer in given),
        "input errors": len(answers) - len(given),
    }
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
    return "\n".join([*lines, "", f"{counted(len(answers), 'file')}: {counts}"]) + "\n"
