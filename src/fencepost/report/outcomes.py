"""What the answers to `outcomes` say, decided once for every printer: the table, and the notes below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fencepost.report import bad_state
from fencepost.report.labels import in_turn
from fencepost.report.printable import counted, printable
from fencepost.verdicts import Answer
from fencepost.verdicts.outcomes import FinalState, OutcomesAnswer, UnderModel

ALLOWED, FORBIDDEN, OPEN, RACY, REFUSED = "✓", "–", "?", "race", "n/a"
_CELLS = {"allowed": ALLOWED, "forbidden": FORBIDDEN, "unknown": OPEN}


def verdict_words(answer: Answer) -> str:
    """The verdict about the condition; how many final states there are if there is no condition."""
    assert isinstance(answer, OutcomesAnswer)
    if not answer.condition:
        failing = ", and a failing assertion" if any(c.failure is not None for c in answer.models) else ""
        so_far = " so far" if answer.holds is None else ""
        return f"{counted(len(answer.outcomes), 'outcome')}{so_far}{failing}"
    parts = []
    for possible, word in ((True, "possible"), (False, "impossible"), (None, "open")):
        models = [one.model for one in answer.models if one.possible is possible and not one.refused]
        parts += [f"{word} under {', '.join(models)}"] if models else []
    return "; ".join(parts) or "not asked of any model"


def cell(row: FinalState, column: UnderModel) -> str:
    """What stands in the table where a final state and a model meet."""
    if column.refused:
        return REFUSED
    if column.race is not None:
        return RACY
    return _CELLS[row.under[column.model]]


def condition_cell(column: UnderModel, answer: OutcomesAnswer) -> str:
    """Whether the model allows what the condition looks for; nothing without a condition."""
    if column.refused:
        return REFUSED
    if column.race is not None:
        return RACY
    return {True: ALLOWED, False: FORBIDDEN, None: OPEN if answer.condition else ""}[column.possible]


def split(answer: OutcomesAnswer) -> tuple[list[int], list[int]]:
    """The columns of values to show: those that differ, and those that are the same in all final states."""
    places = range(len(answer.names))
    if len(answer.outcomes) < 2:
        return list(places), []
    same = [place for place in places if len({row.values[place] for row in answer.outcomes}) == 1]
    if answer.condition:
        same = []
    return [place for place in places if place not in same], same


def constants(answer: OutcomesAnswer) -> str:
    """What all final states have in common, in a sentence."""
    _, same = split(answer)
    held = [f"{printable(answer.names[at])} = {answer.outcomes[0].values[at]}" for at in same]
    return f"In all of them: {', '.join(held)}." if held else ""


def notes(answer: OutcomesAnswer) -> Iterator[str]:
    """What the table alone does not say."""
    if answer.condition:
        yield f"Condition: `{printable(answer.condition)}`. {_sought(answer)}"
    refused: dict[str, list[str]] = {}
    for column in answer.models:
        if column.refused:
            refused.setdefault(column.refused, []).append(column.model)
    for why, models in refused.items():
        yield f"{in_turn(models)} {'was' if len(models) == 1 else 'were'} not asked: {why}."
    for kind in ("race", "failure"):
        yield from _wrong(answer, kind)
    yield from _open(answer)
    yield from _about_loops(answer)


def _sought(answer: OutcomesAnswer) -> str:
    numbers = [str(row.number) for row in answer.outcomes if row.sought]
    if not numbers:
        return "No outcome above is one that it looks for."
    which = f"Outcome {numbers[0]} is" if len(numbers) == 1 else f"Outcomes {in_turn(numbers)} are"
    return f"{which} what it looks for."


def _wrong(answer: OutcomesAnswer, kind: str) -> Iterator[str]:
    """Races and failing assertions: the first model that has one, and the others."""
    having = [column for column in answer.models if getattr(column, kind) is not None]
    if not having:
        return
    models = in_turn([column.model for column in having])
    if kind == "race":
        race = having[0].race
        assert race is not None
        lines = list(dict.fromkeys(str(place.line) for place in race.places if place.line))
        at = f" (line{'s' if len(lines) > 1 else ''} {in_turn(lines)})" if lines else ""
        yield (
            f"{models}: two accesses to the non-atomic `{printable(race.cell)}`{at} race. The program has "
            "undefined behaviour, so any outcome is allowed, also ones that are not listed."
        )
    else:
        failure = having[0].failure
        assert failure is not None
        yield f"{models}: {bad_state.failure(failure.kind, failure.places[0], answer.threads)}"


def _open(answer: OutcomesAnswer) -> Iterator[str]:
    """What was not looked at."""
    whys: dict[str, list[str]] = {}
    for column in answer.models:
        if not column.complete:
            whys.setdefault(column.why, []).append(column.model)
    for why, models in whys.items():
        marked = f" `{OPEN}` stands for outcomes that were not found so far." if answer.outcomes else ""
        yield f"Under {in_turn(models)}, {why}.{marked}"


def _about_loops(answer: OutcomesAnswer) -> Iterator[str]:
    if answer.loops and any(not column.complete for column in answer.models):
        further = f"`--unroll {2 * answer.unroll}` looks further."
        yield f"Outcomes that need more rounds were not looked at. {further}"


def next_step(answer: OutcomesAnswer) -> str:
    """How to see more of a final state that only weak memory has."""
    weak = [row for row in answer.outcomes if is_weak(row)]
    chosen = next((row for row in weak if row.sought), weak[0] if weak else None)
    if chosen is None or answer.file.startswith("<"):
        return ""
    models = f" --model {answer.models[0].model}" if len(answer.models) == 1 else ""
    command = f"fencepost outcomes{models} --explain {chosen.number} {printable(answer.file)}"
    return f"`{command}` shows how outcome {chosen.number} comes about."


def is_weak(row: FinalState) -> bool:
    """Whether some model allows it, and sequential consistency does not, or was not asked."""
    return "allowed" in row.under.values() and row.under.get("sc") != "allowed"


def took(answer: OutcomesAnswer) -> str:
    graphs = counted(answer.stats.transitions, "execution graph")
    return f"{graphs}, {counted(answer.stats.states, 'event')}, {answer.stats.seconds:.2f} s"


def models_asked(answers: Sequence[OutcomesAnswer]) -> list[str]:
    """The models of all answers, in their order."""
    return list(dict.fromkeys(column.model for answer in answers for column in answer.models))
