"""`fencepost verify` and `fencepost races`: can the programs go wrong under causal consistency?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import click

from fencepost.cli.answers import Printing, answer_files
from fencepost.cli.console import check_outputs
from fencepost.cli.options import (
    Command,
    GivenProperty,
    check_certificate_options,
    default_words,
    exit_codes,
    files_argument,
    input_options,
    model_option,
    models_in_words,
    printing_options,
    property_options,
    search_limits,
)
from fencepost.memory_models import (
    CERTIFIED_MODELS,
    DEADLOCKS,
    ENGINES,
    MODELS,
    PRUNINGS,
    RACE_KINDS,
    RaceKind,
    models_for,
)

if TYPE_CHECKING:
    from fencepost.batch.jobs import Where
    from fencepost.engine.search import Limits
    from fencepost.formats import Reading


_RACE_MODELS = ("cpp20", "rc20", "ra", "sra", "tso", "sc")


def _without(command: Command) -> Command:
    option: Any = click.option(
        "--without",
        multiple=True,
        type=click.Choice(PRUNINGS),
        help="Switch off a pruning of the backward search, to see its worth.",
    )
    return option(command)  # type: ignore[no-any-return]


def _models(_ctx: click.Context, _param: click.Parameter, value: str | None) -> tuple[str, ...]:
    """The models of a list that is separated by commas."""
    known = models_for("verify")
    models = () if value is None else tuple(name.strip() for name in value.split(","))
    for name in models:
        if name not in known:
            raise click.BadParameter(f"{name!r} is not one of {', '.join(known)}.")
    return models


@click.command(epilog=exit_codes())
@files_argument
@click.option(
    "--model",
    type=click.Choice(models_for("verify")),
    help=f"Ask this model alone, not all of them. {models_in_words(models_for('verify'))}.",
)
@click.option(
    "--require",
    callback=_models,
    metavar="MODELS",
    show_default=default_words("verify", models_for("verify")),
    help="Of all models, those under which the program must be safe (a,b,…): the worst verdict counts.",
)
@property_options
@click.option(
    "--deadlocks",
    is_flag=True,
    help="No state in which a thread waits (wait, BCAS, lock) and all others wait too or have ended.",
)
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default=ENGINES[0],
    show_default=True,
    help="Backward decides, forward finds bugs; the portfolio lets them take turns.",
)
@_without
@click.option(
    "--certificate",
    type=click.Path(dir_okay=False),
    help="Write the inductive invariant that proves the program safe (one file only; see check-certificate).",
)
@printing_options
@search_limits
@input_options
def verify(
    *,
    files: tuple[str, ...],
    model: str | None,
    require: tuple[str, ...],
    given: GivenProperty,
    deadlocks: bool,
    engine: Any,
    without: tuple[str, ...],
    certificate: str | None,
    printing: Printing,
    limits: Limits,
    where: Where,
    reading: Reading,
) -> NoReturn:
    """Can the programs go wrong, and under which memory models?

    A program is unsafe if some run fails an assertion, has a data race, ends in a state that its final
    condition looks for or --assert does not allow, or does what --mutex, --error-label, --bad or --deadlocks
    forbid; comments such as `// mutex: cs` in the file say the same. The answer comes with a run or says
    which engine proved it. Without --model, --engine, --without and --certificate all models are asked, and
    the answer is the one under those that --require names. Directories stand for the programs in them.
    """
    from fencepost.batch.jobs import Job, Question, Safety

    if certificate is not None:
        if model not in (None, *CERTIFIED_MODELS) or engine == "forward":
            models = " or ".join(CERTIFIED_MODELS)
            raise click.UsageError(f"--certificate takes --model {models} and the backward search")
        check_certificate_options(files, where)
        if deadlocks:
            raise click.UsageError("--certificate does not cover --deadlocks; ask about them without it")
    of_one_model = model is not None or engine != ENGINES[0] or without or certificate is not None
    if require and of_one_model:
        raise click.UsageError("--require is for all models; leave out what is about one of them")
    check_outputs(files, certificate=certificate)
    how = Safety(*given, engine, without, certificate, deadlocks, not of_one_model, require)
    criterion = DEADLOCKS if deadlocks else "safe"

    def job(path: str) -> Job:
        return Job(path, Question("verify", model, criterion), limits, reading=reading, safety=how)

    answer_files(files, job, where, printing)


@click.command(epilog=exit_codes())
@files_argument
@click.option(
    "--kind",
    type=click.Choice(list(RACE_KINDS)),
    default="data",
    show_default=True,
    help="Races on non-atomic locations, or between any two writes to a location.",
)
@model_option("races", _RACE_MODELS)
@_without
@printing_options
@search_limits
@input_options
def races(
    *,
    files: tuple[str, ...],
    kind: RaceKind,
    model: str | None,
    without: tuple[str, ...],
    printing: Printing,
    limits: Limits,
    where: Where,
    reading: Reading,
) -> NoReturn:
    """Do two accesses to a location ever race?

    A program is free of data races if in every run under the model any two accesses to a non-atomic location,
    of which one writes, are ordered by happens-before. With --kind write-write the question is about any two
    writes to a location, atomic or not, under strong release/acquire: if they are ordered, RA and SRA reach
    the same states, and `verify --model ra` answers from SRA. Directories stand for the programs in them.
    """
    from fencepost.batch.jobs import Job, Question, Safety

    criterion = RACE_KINDS[kind]
    if model is None and kind == "write-write":
        model = "sra"
    if model is not None and criterion not in MODELS[model].criteria["races"]:
        raise click.UsageError(f"--kind {kind} is about --model sra")
    question = Question("races", model, criterion)

    def job(path: str) -> Job:
        return Job(path, question, limits, reading=reading, safety=Safety(without=without))

    answer_files(files, job, where, printing)
