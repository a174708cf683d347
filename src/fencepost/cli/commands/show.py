"""`fencepost show`: print a program in another format."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fencepost.cli.console import exit_on_input_error
from fencepost.cli.options import input_options

if TYPE_CHECKING:
    from fencepost.formats import Reading


@click.command()
@click.argument("file", type=click.Path())
@click.option(
    "--to",
    type=click.Choice(["tpl", "litmus", "automata", "persist", "c", "promela"]),
    default="tpl",
    show_default=True,
    help="The format to print.",
)
@click.option(
    "--monitor",
    type=click.Choice(["ra"]),
    help="With --to promela: with the monitor that tells whether the program is robust.",
)
@input_options
def show(file: str, to: str, monitor: str | None, reading: Reading) -> None:
    """Print a program in another format."""
    from fencepost.formats import given_input, load_as, write
    from fencepost.report.printable import printable

    if monitor is not None and to != "promela":
        raise click.UsageError("--monitor goes with --to promela")
    options = {} if monitor is None else {"monitor": monitor}

    def print_program() -> None:
        name, text = given_input(file, reading)
        program = load_as(name, reading, text)
        for warning in program.warnings:
            click.echo(f"{printable(name)}: warning: {printable(warning)}", err=True)
        click.echo(write(program, to, **options), nl=False)

    exit_on_input_error(print_program)
