"""`fencepost swarm`: hunting for a violation in a program too large to decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import click

from fencepost.cli.answers import Printing, print_answers
from fencepost.cli.console import guarded, progress_line
from fencepost.cli.options import bitstate_memory, input_options, printing_options, search_limits
from fencepost.cli.reports import known_findings
from fencepost.memory_models import SWARM_ORDER

if TYPE_CHECKING:
    from fencepost.batch.jobs import Outcome, Where
    from fencepost.engine.search import Limits
    from fencepost.formats import Reading


@click.command(
    epilog="""\b
Limits are for each run. Exit code: 1 not robust (or a race or a failing
assertion was found), 2 wrong input or usage, 3 nothing was found.
"""
)
@click.argument("file")
@click.option(
    "--model",
    type=click.Choice(["ra", "rc20"]),
    default="ra",
    show_default=True,
    help="Release/acquire, or C++20 atomics.",
)
@click.option(
    "--runs", type=click.IntRange(1, 100_000), default=16, show_default=True, help="How many searches."
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Other seeds, other runs."
)
@click.option(
    "--first-run",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="The number of the first of them.",
)
@bitstate_memory(16)
@printing_options
@search_limits
@input_options
def swarm(
    *,
    file: str,
    model: str,
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

    Many small searches, each in a random order of its own, that forget the states they have met. The first
    that finds a violation of robustness ends the others. A swarm never answers robust: where nothing is
    found, the answer is unknown, with a word on how much was seen.
    """
    from fencepost.analyses import swarm as analysis
    from fencepost.batch.jobs import Job, Question, run_jobs
    from fencepost.engine.search import Limits
    from fencepost.formats import text_of

    known = known_findings(printing.baseline)
    text = guarded(lambda: text_of(file))
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
    outcomes = guarded(lambda: run_jobs(jobs, where, progress_line(runs, "runs"), enough=_settles_it))
    print_answers([_together(outcomes, seed, first_run)], known, reading, printing)


def _settles_it(outcome: Outcome) -> bool:
    """A violation; or the program is wrong, for every run."""
    return outcome.answer is None or outcome.answer.holds is False


def _together(outcomes: list[Outcome], seed: int, first_run: int) -> Outcome:
    from fencepost.analyses.swarm import summed
    from fencepost.batch.jobs import Outcome

    wrong = [outcome for outcome in outcomes if outcome.error is not None]
    if wrong:
        return wrong[0]
    answers: list[Any] = [outcome.required_answer for outcome in outcomes]
    return Outcome(outcomes[0].file, answer=summed(answers, seed, first_run))
