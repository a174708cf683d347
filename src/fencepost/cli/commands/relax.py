"""`fencepost relax`: which memory orders of a program are stronger than they need to be."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from fencepost.cli.console import check_outputs, exit_on_input_error
from fencepost.cli.options import exit_codes, input_options
from fencepost.cli.program_repairs import (
    answer_program,
    is_program,
    program_options,
    refuse_options,
    refuse_program_options,
)
from fencepost.cli.repairs import (
    answer_with_progress,
    cost_options,
    limit_options,
    print_changes,
    refuse_to_overwrite,
    write_program,
)

if TYPE_CHECKING:
    from fencepost.analyses.repair.checks import FixWatcher
    from fencepost.analyses.repair.relax import Kept
    from fencepost.engine.search import Limits
    from fencepost.formats import Reading
    from fencepost.program import Program
    from fencepost.verdicts.relax import AnyRelaxAnswer

_EPILOG = exit_codes(
    "the cheapest orders were found",
    "the program is not robust, or has a data race, as it is (or an assertion fails)",
    "no orders were proven to be the cheapest within the limits",
)


@click.command(epilog=_EPILOG)
@click.argument("file", type=click.Path())
@click.argument("arguments", nargs=-1, metavar="[ARGUMENT]…", type=click.UNPROCESSED)
@cost_options
@click.option(
    "--trade", is_flag=True, help="Let accesses become stronger where that costs less in all, as for a fence."
)
@click.option(
    "--keep",
    type=click.Choice(["robust", "races,assertions"]),
    default="robust",
    show_default=True,
    help="What stays true: that the program is robust and free of data races; or only that it has no data "
    "race, no failing assertion, and nothing else that its file forbids.",
)
@click.option("--output", type=click.Path(path_type=Path), help="Write the relaxed program.")
@click.option("--force", is_flag=True, help="Let --output overwrite FILE itself.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("-q", "--quiet", is_flag=True, help="Print the verdict and the cost only.")
@click.option("-v", "--verbose", is_flag=True, help="Also print a run for each order that is needed.")
@limit_options
@program_options
@input_options
def relax(
    *,
    file: str,
    arguments: tuple[str, ...],
    loop_weight: int,
    costs: dict[str, float],
    trade: bool,
    keep: Kept,
    output: Path | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    max_states: int | None,
    timeout: float | None,
    max_memory: float | None,
    reading: Reading,
    **program: Any,
) -> NoReturn:
    """Which memory orders can be weaker so that the program stays robust and free of data races?

    Takes a program that is robust under C++20 atomics (the model cpp20), and finds the cheapest orders, none
    stronger than its own, with which it still is; fences can become weaker or go. It proves that no others
    cost less, says for each order that stays what would go wrong without it, and prints a diff. With --keep
    races,assertions it need not be robust: its runs may show weak memory as long as none goes wrong.

    FILE is a program in text, or one that was built with fencepost-cc or fencepost-c++. The orders of
    such a program are tried in its executions.
    """
    from fencepost.engine.search import Limits
    from fencepost.formats import given_input

    if is_program(file):
        of_text = {
            "--loop-weight": loop_weight != 1,
            "--trade": trade,
            "--keep": keep != "robust",
            "--output": output,
            "--max-states": max_states,
            "--max-memory": max_memory,
        }
        refuse_options(of_text, "programs in text")
        answer_program(
            "relax",
            (file, *arguments),
            program,
            costs=costs,
            timeout=timeout,
            as_json=as_json,
            quiet=quiet,
            verbose=verbose,
        )
    refuse_program_options(arguments, program)
    refuse_to_overwrite(output, file, force=force)
    check_outputs(program=output)
    file, text = exit_on_input_error(lambda: given_input(file, reading))
    limits = Limits(max_states, timeout, max_memory)

    def ask(program: Program, limits: Limits, watcher: FixWatcher | None) -> AnyRelaxAnswer:
        from fencepost.analyses.repair.relax import relax

        options: dict[str, Any] = {"costs": costs, "loop_weight": loop_weight, "trade": trade, "keep": keep}
        if keep != "robust":
            from fencepost.formats.properties import stated_property

            options["wanted"] = stated_property(program)
        return relax(program, limits=limits, watcher=watcher, **options)

    answer = answer_with_progress(file, text, reading, limits, ask)
    cost = "" if answer.cost is None else f", cost {answer.cost:g} instead of {answer.cost_before:g}"
    print_changes(answer, "relax", cost, as_json=as_json, quiet=quiet, verbose=verbose)
    if output is not None:
        write_program(answer.file, answer.relaxed, output, "no weaker orders are known")
    sys.exit(answer.exit_code)
