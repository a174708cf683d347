"""`fencepost completion`: the script that lets a shell complete commands, options and files."""

from __future__ import annotations

import click
from click.shell_completion import ShellComplete, get_completion_class

_SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(_SHELLS))
def completion(shell: str) -> None:
    """Print the script that lets a shell complete commands, options and files.

    \b
    bash, in ~/.bashrc:               eval "$(fencepost completion bash)"
    zsh, in ~/.zshrc, after compinit: eval "$(fencepost completion zsh)"
    fish, once: fencepost completion fish > ~/.config/fish/completions/fencepost.fish
    """
    from fencepost.cli.main import main

    kind = get_completion_class(shell)
    assert kind is not None
    # Not the `source` of the class: that of bash starts a shell to see how old it is.
    click.echo(ShellComplete.source(kind(main, {}, "fencepost", "_FENCEPOST_COMPLETE")))
