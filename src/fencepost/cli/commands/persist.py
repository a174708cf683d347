"""`fencepost persist`: do the store buffers of x86 show in the programs?"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import click

from fencepost.cli.answers import Printing, answer_files
from fencepost.cli.options import exit_codes, files_argument, input_options, printing_options, search_limits

if TYPE_CHECKING:
    from fencepost.batch.jobs import Where
    from fencepost.engine.search import Limits
    from fencepost.formats import Reading


@click.command(epilog=exit_codes())
@files_argument
@click.option(
    "--abstraction",
    type=click.Choice(["none", "flatten"]),
    default="none",
    show_default=True,
    help="First try a coarser program for each thread; useful with many threads.",
)
@click.option(
    "--k",
    type=click.IntRange(min=0, max=64),
    default=2,
    show_default=True,
    help="Steps of the other threads that flattening keeps at first.",
)
@printing_options
@search_limits
@input_options
def persist(
    *,
    files: tuple[str, ...],
    abstraction: str,
    k: int,
    printing: Printing,
    limits: Limits,
    where: Where,
    reading: Reading,
) -> NoReturn:
    """Do the store buffers of x86 show in the programs?

    A program is persistent if each of its runs under TSO has the same order of accesses in every thread, and
    the same order in which writes reach memory, as some run under sequential consistency. Then both reach the
    same states. If it is fragile, the answer is a run: which write waits in its buffer, which read overtakes
    it, and which write of another thread makes that visible. Directories stand for the programs in them.
    """
    from fencepost.batch.jobs import Job, Question

    flatten = k if abstraction == "flatten" else None

    def job(path: str) -> Job:
        return Job(path, Question.of("persist", "tso"), limits, flatten=flatten, reading=reading)

    answer_files(files, job, where, printing)
