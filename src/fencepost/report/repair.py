"""What is said about a repair, decided once for every printer."""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.memory_models import CRITERIA, MODELS
from fencepost.report import story
from fencepost.report.printable import printable
from fencepost.verdicts.repair import Edit, FixAnswer, RepairAnswer, RepairUnknown


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
    elif not answer.holds and answer.witness is None and not MODELS[answer.model].weak_fences:
        yield (
            "No set of the allowed changes removes the data race below. It is there under sequential "
            "consistency too, so it takes a lock around the two accesses, or an atomic location. "
            "`--ignore-races` repairs the program for weak memory alone."
        )
    elif not answer.holds:
        if answer.witness is None:
            yield "It takes a lock around the two accesses, or an atomic location."
        yield f"No set of the allowed changes makes the program {aim}. With all of them made, this is left:"
    elif len(answer.minima) > 1:
        yield f"{len(answer.minima):,} repairs cost {answer.cost:g}, and none costs less."
    elif answer.minima:
        yield "No other repair costs as little."
    elif answer.edits:
        yield f"No cheaper set of changes makes the program {aim}; {answer.checks:,} sets were tried."


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
    races = answer.race is None if answer.holds else answer.witness is None and answer.holds is False
    repaired = MODELS[answer.model].weak_fences and races
    return CRITERIA[answer.criterion] + (" and free of data races" if repaired else "")
