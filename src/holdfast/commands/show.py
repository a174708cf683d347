"""`holdfast show`: print a program in another format."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast.commands.console import guarded
from holdfast.commands.options import input_options

if TYPE_CHECKING:
    from holdfast.formats import Reading


@click.command()
@click.argument("file")
@click.option(
    "--to",
    type=click.Choice(["tpl", "litmus"]),
    default="tpl",
    show_default=True,
    help="The format to print.",
)
@input_options
def show(file: str, to: str, reading: Reading) -> None:
    """Print a program in another format."""
    from holdfast.formats import load_as, write

    click.echo(guarded(lambda: write(load_as(file, reading), to)), nl=False)
