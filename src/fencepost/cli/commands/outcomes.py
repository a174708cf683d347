"""`fencepost outcomes`: how can the programs end, and which memory models allow it?"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import click

from fencepost.cli.answers import Printing, answer_files
from fencepost.cli.options import (
    exit_codes,
    files_argument,
    input_options,
    models_in_words,
    printing_options,
    search_limits,
)
from fencepost.memory_models import OUTCOME_MODELS

if TYPE_CHECKING:
    from fencepost.batch.jobs import Where
    from fencepost.engine.search import Limits
    from fencepost.formats import Reading

_CODES = exit_codes(
    "no model asked allows what the final condition looks for, or there is no condition",
    "some model does (or a race or a failing assertion was found)",
)


@click.command(epilog=_CODES)
@files_argument
@click.option(
    "--model",
    "models",
    multiple=True,
    type=click.Choice(OUTCOME_MODELS),
    help=f"Ask this model; can be given several times. By default all: {models_in_words(OUTCOME_MODELS)}.",
)
@click.option(
    "--explain",
    type=click.IntRange(min=1),
    metavar="N",
    help="Show an execution graph that ends with outcome N, and why no interleaving does (one file only).",
)
@click.option(
    "--unroll",
    type=click.IntRange(1, 100),
    default=2,
    show_default=True,
    metavar="K",
    help="In loops, let a thread do each access at most K times. Loops that only wait do not count.",
)
@printing_options
@search_limits
@input_options
def outcomes(
    *,
    files: tuple[str, ...],
    models: tuple[str, ...],
    explain: int | None,
    unroll: int,
    printing: Printing,
    limits: Limits,
    where: Where,
    reading: Reading,
) -> NoReturn:
    """How can the programs end, and which memory models allow it?

    One table per file: rows are final states, columns are models. Of a final state it shows the registers and
    locations that the final condition of the file names, or all of them if it has none. Programs without
    loops are answered exactly. Directories stand for the programs in them.
    """
    from fencepost.batch.jobs import Job, Listing, Question, files_in
    from fencepost.cli.console import exit_on_input_error

    if explain is not None and len(exit_on_input_error(lambda: files_in(files))) != 1:
        raise click.UsageError("--explain takes exactly one program")
    listing = Listing(models, unroll, explain)

    def job(path: str) -> Job:
        return Job(path, Question("outcomes", None, "outcomes"), limits, reading=reading, listing=listing)

    answer_files(files, job, where, printing)
