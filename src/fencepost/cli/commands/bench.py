"""`fencepost bench`: all questions about many programs, measured, and compared with the expected verdicts."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from fencepost.cli.console import check_outputs, exit_on_input_error, progress_line, write_file
from fencepost.cli.options import exit_codes, search_limits

if TYPE_CHECKING:
    from fencepost.batch.jobs import Where
    from fencepost.engine.search import Limits


@click.command(
    epilog=exit_codes(
        "all decided (and as expected)",
        "a verdict differs from its header (with --check-expected)",
        "something undecided",
    )
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH…", type=click.Path())
@click.option(
    "--check-expected", is_flag=True, help="Compare with the verdicts that the files' headers state."
)
@click.option("--output", type=click.Path(path_type=Path), help="Write the measurements as JSON too.")
@search_limits
def bench(
    *,
    paths: tuple[str, ...],
    check_expected: bool,
    output: Path | None,
    limits: Limits,
    where: Where,
) -> NoReturn:
    """Ask all questions about many programs, and print a table of answers and measurements.

    With --check-expected each verdict is compared with what the program's header says
    (`// expect: robust ra=yes`), and any difference is a failure.
    """
    from fencepost.batch import corpus
    from fencepost.batch.jobs import files_in

    if output is not None:
        with suppress(OSError):  # then the next line says why
            output.parent.mkdir(parents=True, exist_ok=True)
        check_outputs(measurements=output)
    files = exit_on_input_error(lambda: files_in(paths))
    rows = exit_on_input_error(lambda: corpus.measure(files, limits, where, progress_line(len(files))))
    corpus.print_table(rows, check_expected=check_expected)
    if output is not None:
        write_file(output, corpus.as_json(rows), "measurements")
    sys.exit(corpus.exit_code(rows, check_expected=check_expected))
