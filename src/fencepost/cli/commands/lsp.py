"""`fencepost lsp`: the language server for TPL and C litmus tests, which editors start."""

from __future__ import annotations

import click

from fencepost.cli.console import fail
from fencepost.cli.options import Amount
from fencepost.errors import missing_extra


@click.command()
@click.option(
    "--timeout",
    type=Amount(min=0, min_open=True),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Time limit for each search that the editor asks for.",
)
def lsp(timeout: float) -> None:
    """Speak the Language Server Protocol over standard input and output.

    Editors start this for files in TPL and C litmus tests: mistakes as you type, completion, what memory
    orders mean, where names are declared, a search for runs against robustness, and repairs.
    """
    try:
        from fencepost.lsp.server import make_server
    except ImportError as error:
        if error.name is None or not error.name.startswith(("pygls", "lsprotocol")):
            raise
        fail(str(missing_extra("lsp", "the language server needs pygls")))
    make_server(timeout).start_io()
