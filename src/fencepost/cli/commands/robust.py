"""`fencepost robust`: does weak memory show in the programs at all?"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import click

from fencepost.cli.answers import Printing, answer_files
from fencepost.cli.console import check_outputs, say
from fencepost.cli.options import (
    check_certificate_options,
    exit_codes,
    files_argument,
    input_options,
    model_option,
    printing_options,
    search_limits,
    search_tactics,
)
from fencepost.memory_models import (
    DEFAULT_MODELS,
    MODELS,
    OBSERVATIONAL,
    ROBUSTNESS_MODELS,
    SEARCH_ORDERS,
)

if TYPE_CHECKING:
    from fencepost.batch.jobs import Where
    from fencepost.engine.search import Limits, Tactics
    from fencepost.formats import Reading


_CRITERIA = tuple(dict.fromkeys(c for model in ROBUSTNESS_MODELS for c in MODELS[model].criteria["robust"]))


def refuse_with_store(model: str | None, order: str, tactics: Tactics, where: Where) -> None:
    """What does not go with states in files."""
    against = {
        "--model tso": model == "tso",
        f"--search {order}": order not in ("auto", "breadth-first"),
        "--compress": tactics.compress is True,
        "--bitstate": tactics.bitstate,
        "--threads": tactics.threads > 1,
        "--cluster": where.cluster is not None,
    }
    for other, is_given in against.items():
        if is_given:
            raise click.UsageError(f"--store does not go with {other}")


@click.command(epilog=exit_codes())
@files_argument
@model_option("robust")
@click.option(
    "--criterion",
    type=click.Choice(_CRITERIA),
    default="robust",
    show_default=True,
    help="What must not show: executions that only the weak model has, values that the program uses "
    "(observational; not with --model tso), or triangular races (trf; --model tso).",
)
@click.option("--shortest", is_flag=True, help="Insist on a shortest witness: search breadth first.")
@click.option(
    "--search",
    type=click.Choice(SEARCH_ORDERS),
    default="auto",
    show_default=True,
    help="Order of the search. Breadth first finds shortest witnesses, one location after the other decides "
    "soonest; auto begins with the one and goes over to the other.",
)
@search_tactics
@click.option(
    "--certificate",
    type=click.Path(dir_okay=False),
    help="Write the proof for every number of threads, of a program with `[*]` (one file only; see "
    "check-certificate).",
)
@printing_options
@search_limits
@input_options
def robust(
    *,
    files: tuple[str, ...],
    model: str | None,
    criterion: str,
    shortest: bool,
    search: str,
    tactics: Tactics,
    certificate: str | None,
    printing: Printing,
    limits: Limits,
    where: Where,
    reading: Reading,
) -> NoReturn:
    """Does weak memory show in the programs at all?

    A program is robust if every behaviour it has under the model exists under sequential consistency too. If
    it is not, the answer is a run, the access that can leave sequential consistency, and the cycle that
    proves it. Directories stand for the programs in them.
    """
    from fencepost.batch.jobs import Job, Question, Safety

    if criterion not in MODELS[model or DEFAULT_MODELS["robust"]].criteria["robust"]:
        models = [name for name in ROBUSTNESS_MODELS if criterion in MODELS[name].criteria["robust"]]
        raise click.UsageError(f"--criterion {criterion} goes with --model {' or '.join(models)}")
    if criterion == OBSERVATIONAL and search == "by-location":
        raise click.UsageError(f"--search by-location does not go with --criterion {criterion}")
    order = "breadth-first" if shortest else search
    if tactics.directory is not None:
        refuse_with_store(model, order, tactics, where)
    question = Question("robust", model, criterion)
    if tactics.threads > 1 and (model == "tso" or order == "breadth-first"):
        why = "with --model tso" if model == "tso" else "for a shortest run"
        say(f"--threads {tactics.threads} has no effect: one thread searches {why}", err=True)

    if certificate is not None:
        check_certificate_options(files, where)
        if criterion != "robust":
            raise click.UsageError(f"--certificate does not go with --criterion {criterion}")
    check_outputs(files, certificate=certificate)

    def job(path: str) -> Job:
        safety = Safety(certificate=certificate)
        return Job(path, question, limits, order, tactics, safety=safety, reading=reading)

    answer_files(files, job, where, printing)
