"""The command line. Each command has a module of its own in `commands/`.

Commands import little up front: most of the time of a small question is Python's start.
"""

from __future__ import annotations

import click

from holdfast import __version__
from holdfast.commands.bench import bench
from holdfast.commands.check_certificate import check_certificate
from holdfast.commands.fix import fix
from holdfast.commands.flags import flags
from holdfast.commands.lsp import lsp
from holdfast.commands.persist import persist
from holdfast.commands.robust import robust
from holdfast.commands.run import run
from holdfast.commands.serve import serve
from holdfast.commands.show import show
from holdfast.commands.verify import races, verify


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version=__version__, message="%(prog)s %(version)s")
def main() -> None:
    """Tells whether weak memory can break a lock-free program, shows how, and repairs it."""


for command in (robust, persist, verify, races, check_certificate, fix, show, serve, bench, run, flags, lsp):
    main.add_command(command)
