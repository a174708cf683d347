"""`fencepost fix`: what to change so that weak memory no longer shows in a program."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from fencepost.cli.answers import write_html
from fencepost.cli.console import (
    check_outputs,
    exit_on_input_error,
    write_file,
)
from fencepost.cli.options import exit_codes, html_option, input_options, model_option
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
from fencepost.memory_models import DEFAULT_MODELS, MODELS

if TYPE_CHECKING:
    from fencepost.analyses.repair.checks import FixWatcher
    from fencepost.engine.search import Limits
    from fencepost.formats import Reading
    from fencepost.program import Program
    from fencepost.verdicts.repair import FixAnswer

_EPILOG = f"""\b
Changes and what they cost unless you say otherwise:
  sc-fence        10   insert an SC fence
  exchange         8   turn a store into an exchange
  acquire-fence    2   insert an acquire fence (rc20, cpp20)
  release-fence    2   insert a release fence (rc20, cpp20)
  acquire-load     1   make a load or a wait acquire (rc20, cpp20)
  release-store    1   make a store release (rc20, cpp20)
  acquire-rmw      1   make the read part of an RMW acquire (rc20, cpp20)
  acquire-failure  1   make the read of a failing CAS acquire (rc20, cpp20)
  release-rmw      1   make the write part of an RMW release (rc20, cpp20)
  sc-load          2   make a load or a wait seq_cst (cpp20)
  sc-store         8   make a store seq_cst (cpp20)
  sc-rmw           2   make an RMW seq_cst (cpp20)

{
    exit_codes(
        "a cheapest repair was found",
        "there is none (or the repaired program has a failing assertion)",
        "no repair was proven to be a cheapest one within the limits",
    )
}"""


def _kinds(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    from fencepost.analyses.repair.costs import check_kind

    for kind in given:
        try:
            check_kind(kind)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None
    return given


@click.command(epilog=_EPILOG)
@click.argument("file", type=click.Path())
@click.argument("arguments", nargs=-1, metavar="[ARGUMENT]…", type=click.UNPROCESSED)
@model_option("fix")
@click.option(
    "--criterion",
    type=click.Choice(MODELS["tso"].criteria["fix"]),
    help="With --model tso: what to repair for. Default: either there (persistent or robust, whichever costs "
    "less), else robust.",
)
@cost_options
@click.option("--without", multiple=True, callback=_kinds, metavar="CHANGE", help="Do not make such changes.")
@click.option(
    "--ignore-races", is_flag=True, help="Repair for robustness only: leave data races as they are."
)
@click.option("--all", "find_all", is_flag=True, help="List every cheapest repair.")
@click.option("--output", type=click.Path(path_type=Path), help="Write the repaired program.")
@click.option("--force", is_flag=True, help="Let --output overwrite FILE itself.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@html_option
@click.option("-q", "--quiet", is_flag=True, help="Print the verdict and the cost only.")
@click.option("-v", "--verbose", is_flag=True, help="Print runs in full.")
@click.option("--sarif", type=click.Path(path_type=Path), help="Write the repair as SARIF 2.1.0 too.")
@limit_options
@program_options
@input_options
def fix(
    *,
    file: str,
    arguments: tuple[str, ...],
    model: str | None,
    criterion: str | None,
    loop_weight: int,
    costs: dict[str, float],
    without: tuple[str, ...],
    ignore_races: bool,
    find_all: bool,
    output: Path | None,
    force: bool,
    as_json: bool,
    html: Path | None,
    quiet: bool,
    verbose: bool,
    sarif: Path | None,
    max_states: int | None,
    timeout: float | None,
    max_memory: float | None,
    reading: Reading,
    **program: Any,
) -> NoReturn:
    """Which changes make the program robust and free of data races at the least cost?

    Finds a set of changes - fences, stronger accesses, exchanges in place of stores - after which every
    behaviour of the program under the model exists under sequential consistency, and no two accesses race. It
    proves that no cheaper set does it, and prints the changes and a diff. If interrupted, it prints the best
    repair known so far.

    FILE is a program in text, or one that was built with fencepost-cc or fencepost-c++. Of such a program the
    orders of atomic operations are changed, and fences are inserted, by trying them in its executions.
    """
    from fencepost.engine.search import Limits
    from fencepost.formats import given_input

    if is_program(file):
        of_text = {
            "--model": model,
            "--criterion": criterion,
            "--loop-weight": loop_weight != 1,
            "--all": find_all,
            "--output": output,
            "--html": html,
            "--max-states": max_states,
            "--max-memory": max_memory,
        }
        refuse_options(of_text, "programs in text")
        answer_program(
            "fix",
            (file, *arguments),
            program,
            costs=costs,
            without=without,
            races=not ignore_races,
            timeout=timeout,
            as_json=as_json,
            quiet=quiet,
            verbose=verbose,
            sarif=sarif,
        )
    refuse_program_options(arguments, program)
    refuse_to_overwrite(output, file, force=force)
    check_outputs(program=output)
    check_outputs((file,), page=html, findings=sarif)
    file, text = exit_on_input_error(lambda: given_input(file, reading))
    limits = Limits(max_states, timeout, max_memory)
    if criterion is not None and criterion not in MODELS[model or DEFAULT_MODELS["fix"]].criteria["fix"]:
        raise click.UsageError(f"--criterion {criterion} goes with --model tso")
    options: dict[str, Any] = {
        "criterion": criterion,
        "costs": costs,
        "loop_weight": loop_weight,
        "without": without,
        "find_all": find_all,
        "ignore_races": ignore_races,
    }

    def ask(program: Program, limits: Limits, watcher: FixWatcher | None) -> FixAnswer:
        from fencepost.analyses.repair.fix import fix

        return fix(program, model, limits=limits, watcher=watcher, **options)

    answer = answer_with_progress(file, text, reading, limits, ask)
    cost = "" if answer.cost is None else f", cost {answer.cost:g}"
    print_changes(answer, "repair", cost, as_json=as_json, quiet=quiet, verbose=verbose)
    if output is not None:
        write_program(answer.file, answer.repaired, output, "no repair is known")
    if sarif is not None:
        from fencepost.report.export.sarif import encode

        write_file(sarif, encode([(answer.file, answer)]), "findings")
    if html is not None:
        write_html(answer, reading, html, text)
    sys.exit(answer.exit_code)
