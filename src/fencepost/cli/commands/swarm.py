"""`fencepost swarm`: hunting for a violation in a program too large to decide."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NoReturn

import click

from fencepost.cli.answers import Printing, known_findings, print_answers
from fencepost.cli.console import check_outputs, exit_on_input_error, progress_line
from fencepost.cli.options import (
    bitstate_memory,
    exit_codes,
    input_options,
    model_option,
    printing_options,
    search_limits,
)
from fencepost.memory_models import GRAPH_MODELS, SWARM_ORDER

if TYPE_CHECKING:
    from fencepost.batch.jobs import Outcome, Where
    from fencepost.engine.search import Limits
    from fencepost.formats import Reading


@click.command(
    epilog="Limits are for each run. "
    + exit_codes("", "not robust (or a race or a failing assertion was found)", "nothing was found")
)
@click.argument("file", type=click.Path())
@model_option("robust", GRAPH_MODELS)
@click.option(
    "--runs", type=click.IntRange(1, 100_000), default=16, show_default=True, help="Number of searches."
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of the random orders."
)
@click.option(
    "--first-run",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Number of the first search, to repeat one of an earlier swarm.",
)
@bitstate_memory(16)
@printing_options
@search_limits
@input_options
def swarm(
    *,
    file: str,
    model: str | None,
    runs: int,
    seed: int,
    first_run: int,
    bitstate_memory: float,
    printing: Printing,
    limits: Limits,
    where: Where,
    reading: Reading,
) -> NoReturn:
    """Hunt for weak memory in a program too large to decide.

    Runs many small searches, each in a random order of its own, that forget the states they have met. The
    first one that finds a violation of robustness ends the others. A swarm never answers robust: if nothing
    is found, the answer is unknown, and says how much was seen.
    """
    from fencepost.analyses import swarm as analysis
    from fencepost.batch.jobs import Job, Question, run_jobs, with_seconds
    from fencepost.engine.search import Limits
    from fencepost.formats import given_input, text_of

    known = known_findings(printing.baseline)
    check_outputs((file,), **printing.outputs)
    started = time.monotonic()
    file, text = exit_on_input_error(lambda: given_input(file, reading))
    if text is None:
        text = exit_on_input_error(lambda: text_of(file))
    each = Limits(limits.states or analysis.DEFAULT_STATES, limits.seconds, limits.memory_mb)
    jobs = [
        Job(
            file,
            Question("robust", model),
            each,
            SWARM_ORDER,
            analysis.tactics(seed, run, bitstate_memory),
            reading=reading,
            text=text,
        )
        for run in range(first_run, first_run + runs)
    ]
    outcomes = exit_on_input_error(
        lambda: run_jobs(jobs, where, progress_line(runs, "runs"), enough=_settles_it)
    )
    together = _together(outcomes, seed, first_run)
    print_answers([with_seconds(together, time.monotonic() - started)], known, jobs[0], printing)


def _settles_it(outcome: Outcome) -> bool:
    """A violation, or a program that is wrong, for every run alike."""
    return outcome.answer is None or outcome.answer.holds is False


def _together(outcomes: list[Outcome], seed: int, first_run: int) -> Outcome:
    from fencepost.analyses.swarm import summed
    from fencepost.batch.jobs import Outcome

    wrong = [outcome for outcome in outcomes if outcome.error is not None]
    if wrong:
        return wrong[0]
    answers: list[Any] = [outcome.required_answer for outcome in outcomes]
    return Outcome(outcomes[0].file, answer=summed(answers, seed, first_run))
