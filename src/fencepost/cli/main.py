"""The command line. Each command has a module of its own in `commands/`, imported when it is asked for.

Commands import little up front: most of the time of a small question is Python's start.
"""

from __future__ import annotations

from importlib import import_module

import click

from fencepost import __version__

# Name of a command, and its module.
_HOME = {
    "bench": "bench",
    "check-certificate": "check_certificate",
    "fix": "fix",
    "flags": "flags",
    "lsp": "lsp",
    "persist": "persist",
    "races": "verify",
    "robust": "robust",
    "run": "run",
    "serve": "serve",
    "show": "show",
    "swarm": "swarm",
    "verify": "verify",
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_HOME)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _HOME:
            return None
        command: click.Command = getattr(
            import_module(f"fencepost.cli.commands.{_HOME[cmd_name]}"), cmd_name.replace("-", "_")
        )
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version=__version__, message="%(prog)s %(version)s")
def main() -> None:
    """Tells whether weak memory can break a lock-free program, shows how, and repairs it."""
