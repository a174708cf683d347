"""`fencepost fix`: what to change so that weak memory no longer shows in a program."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click
from msgspec.structs import replace

from fencepost.cli.answers import write_html
from fencepost.cli.console import (
    check_outputs,
    exit_on_input_error,
    progress_line,
    terminal_width,
    wants_color,
    write_file,
)
from fencepost.cli.options import Amount, exit_codes, html_option, input_options, model_option
from fencepost.memory_models import DEFAULT_MODELS, EXIT_UNDECIDED, MODELS

if TYPE_CHECKING:
    from fencepost.engine.search import Limits
    from fencepost.formats import Reading
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


def _costs(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> dict[str, float]:
    from fencepost.analyses.repair.costs import Prices

    costs: dict[str, float] = {}
    for text in given:
        kind, equals, number = text.partition("=")
        try:
            if not equals:
                raise ValueError(f"expected a change and its cost, as in `sc-fence=10`, not `{text}`")
            costs[kind] = _number(kind, number)
            Prices(costs)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None
    return costs


def _number(kind: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"the cost of {kind} is `{text}`; expected a number") from None


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
@model_option("fix")
@click.option(
    "--criterion",
    type=click.Choice(MODELS["tso"].criteria["fix"]),
    help="With --model tso: what to repair for. Default: either there (persistent or robust, whichever costs "
    "less), else robust.",
)
@click.option(
    "--loop-weight",
    type=click.IntRange(min=1, max=100),
    default=1,
    show_default=True,
    help="How many times more a change costs for each loop around it.",
)
@click.option(
    "--cost", "costs", multiple=True, callback=_costs, metavar="CHANGE=N", help="What a change costs."
)
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
@click.option(
    "--max-states", type=click.IntRange(min=1), metavar="N", help="Limit on stored states per check."
)
@click.option("--timeout", type=Amount(min=0), metavar="SECONDS", help="Time limit for the whole repair.")
@click.option("--max-memory", type=Amount(min=1), metavar="MB", help="Memory limit.")
@input_options
def fix(
    *,
    file: str,
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
) -> NoReturn:
    """Which changes make the program robust and free of data races at the least cost?

    Finds a set of changes - fences, stronger accesses, exchanges in place of stores - after which every
    behaviour of the program under the model exists under sequential consistency, and no two accesses race. It
    proves that no cheaper set does it, and prints the changes and a diff. If interrupted, it prints the best
    repair known so far.
    """
    from fencepost.engine.search import Limits
    from fencepost.formats import given_input

    if output is not None and not force and _same_file(output, file):
        raise click.UsageError(
            f"--output would overwrite {file} itself; add --force if that is what you want"
        )
    check_outputs(program=output)
    check_outputs((file,), page=html, findings=sarif)
    file, text = exit_on_input_error(lambda: given_input(file, reading))
    limits = Limits(max_states, timeout, max_memory)
    if criterion is not None and criterion not in MODELS[model or DEFAULT_MODELS["fix"]].criteria["fix"]:
        raise click.UsageError(f"--criterion {criterion} goes with --model tso")
    options = {
        "criterion": criterion,
        "costs": costs,
        "loop_weight": loop_weight,
        "without": without,
        "find_all": find_all,
        "ignore_races": ignore_races,
    }
    try:
        answer = _answer(file, text, reading, model=model, limits=limits, options=options)
    except KeyboardInterrupt:  # while reading or writing; during the search it becomes an answer
        click.echo(f"{file}: interrupted before there was an answer", err=True)
        sys.exit(EXIT_UNDECIDED)
    _print(answer, as_json=as_json, quiet=quiet, verbose=verbose)
    if output is not None:
        _write(answer, output)
    if sarif is not None:
        from fencepost.report.export.sarif import encode

        write_file(sarif, encode([(answer.file, answer)]), "findings")
    if html is not None:
        write_html(answer, reading, html, text)
    sys.exit(answer.exit_code)


def _same_file(output: Path, file: str) -> bool:
    try:
        return os.path.samefile(output, file)
    except (OSError, ValueError):
        return False


def _answer(
    file: str,
    text: str | None,
    reading: Reading,
    *,
    model: str | None,
    limits: Limits,
    options: dict[str, Any],
) -> FixAnswer:
    from fencepost.analyses.repair.fix import fix
    from fencepost.formats import load_as

    display = progress_line(1)
    watcher = None if display is None else display.repairing

    def ask() -> FixAnswer:
        started = time.monotonic()
        program = load_as(file, reading, text)
        left = limits.after(time.monotonic() - started)
        answer = fix(program, model, limits=left, watcher=watcher, **options)
        spent = replace(answer.stats, seconds=round(time.monotonic() - started, 6))
        return replace(answer, stats=spent)

    try:
        answer: FixAnswer = exit_on_input_error(ask)
        return answer
    finally:
        if display is not None:
            display.close()


def _print(answer: FixAnswer, *, as_json: bool, quiet: bool, verbose: bool) -> None:
    from fencepost.report.export import as_json as json_form
    from fencepost.report.printable import printable
    from fencepost.report.story import brief
    from fencepost.report.text import repair as repair_text

    if as_json:
        click.echo(json_form.encode(answer))
    elif quiet:
        cost = "" if answer.cost is None else f", cost {answer.cost:g}"
        click.echo(f"{printable(answer.file)}: {brief(answer)}{cost}")
    else:
        page = repair_text.render(answer, color=wants_color(), width=terminal_width(), verbose=verbose)
        click.echo(page, nl=False, color=True)


def _write(answer: FixAnswer, path: Path) -> None:
    if answer.repaired is None:
        click.echo(f"{answer.file}: no repair is known, {path} was not written", err=True)
        return
    write_file(path, answer.repaired, "program")
