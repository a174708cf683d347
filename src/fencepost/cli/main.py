"""The command line: which commands there are, what they are for, and what was meant by one that is not there.

Each command has a module of its own in `commands/`, imported when it is asked for. Commands import little up
front: most of the time of a small question is Python's start.
"""

from __future__ import annotations

import functools
import os
from importlib import import_module
from typing import NamedTuple

import click


class _Entry(NamedTuple):
    """A command: an example of its use, and its module if that has another name."""

    example: str
    module: str = ""


# The commands, by what one wants to do.
GROUPS = {
    "Ask about a program": {
        "robust": _Entry("fencepost robust lock.tpl --model rc20"),
        "persist": _Entry("fencepost persist lock.tpl"),
        "verify": _Entry("fencepost verify lock.tpl --mutex critical"),
        "races": _Entry("fencepost races lock.tpl", "verify"),
        "outcomes": _Entry("fencepost outcomes test.litmus --model tso"),
        "swarm": _Entry("fencepost swarm large.tpl --runs 100"),
        "check-certificate": _Entry("fencepost check-certificate lock.tpl proof.json"),
    },
    "Repair a program": {
        "fix": _Entry("fencepost fix lock.tpl --output repaired.tpl"),
        "relax": _Entry("fencepost relax lock.tpl"),
    },
    "Watch C and C++ programs": {
        "run": _Entry("fencepost run --schedule random ./queue"),
        "check": _Entry("fencepost check ./queue-client"),
        "flags": _Entry("fencepost flags --compile --link"),
    },
    "Look and convert": {"show": _Entry("fencepost show test.litmus --to tpl")},
    "Many files and machines": {"bench": _Entry("fencepost bench programs/")},
    "Editors, browser and shell": {
        "serve": _Entry("fencepost serve --port 8080"),
        "lsp": _Entry("fencepost lsp --timeout 10"),
        "completion": _Entry('eval "$(fencepost completion bash)"'),
    },
}
COMMANDS = {name: entry for group in GROUPS.values() for name, entry in group.items()}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return _command(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not args[0].startswith("-") and args[0] not in COMMANDS:
            ctx.fail(_no_command(args[0]))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        room = max(map(len, COMMANDS))
        for title, group in GROUPS.items():
            rows = [
                row
                for name, entry in group.items()
                for row in ((name.ljust(room), _first_sentence(_command(name))), ("", f"$ {entry.example}"))
            ]
            with formatter.section(title):
                formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_paragraph()
        formatter.write_text("`fencepost COMMAND --help` lists the options of a command.")
        formatter.write_text("C and C++ programs are built with fencepost-cc and fencepost-c++.")


@functools.cache
def _command(name: str) -> click.Command:
    """The command, with its example in its help."""
    entry = COMMANDS[name]
    word = name.replace("-", "_")
    command: click.Command = getattr(import_module(f"fencepost.cli.commands.{entry.module or word}"), word)
    command.epilog = f"\b\nExample:\n  $ {entry.example}\n\n{command.epilog or ''}"
    return command


def _first_sentence(command: click.Command) -> str:
    return " ".join((command.help or "").split("\n\n")[0].split())


def _no_command(word: str) -> str:
    """What to say where a command is expected and another word stands."""
    from fencepost.formats.text.source import quoted, suggestion

    message = f"there is no command {quoted(word)}"
    if os.path.exists(word) or os.path.splitext(word)[1]:
        return f"{message}; to ask about a file: fencepost robust {word}"
    return message + (suggestion(word, COMMANDS) or "; `fencepost --help` lists them")


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from fencepost.cli.version import version_text

        click.echo(version_text())
        ctx.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version and what this copy consists of, and exit.",
)
def main() -> None:
    """Tells whether weak memory can break a lock-free program, shows how, and repairs it."""
