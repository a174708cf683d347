"""`fencepost flags`: the options that the wrappers add, for build systems that want them."""

from __future__ import annotations

import os
import shlex
from typing import Any

import click

from fencepost.cli.console import fail


@click.command()
@click.option("--compile", "compiling", is_flag=True, help="Options for compiling C or C++.")
@click.option("--link", "linking", is_flag=True, help="Options for linking a program.")
@click.option("--link-shared", is_flag=True, help="Options for linking a shared object.")
@click.option(
    "--include", is_flag=True, help="Options to find <fencepost.h> in a build without the sanitizer."
)
@click.option("--cmake-dir", is_flag=True, help="The directory of FencepostTest.cmake, and nothing else.")
@click.option(
    "--mode",
    type=click.Choice(["all", "atomics", "full", "races"]),
    default="all",
    show_default=True,
    help="Watch all, atomics alone, or data races too: under schedules only, or without them only.",
)
@click.option(
    "--compiler",
    type=click.Choice(["gcc", "clang"]),
    help="Whose options; by default those of the compiler that fencepost-cc would use.",
)
def flags(
    *,
    compiling: bool,
    linking: bool,
    link_shared: bool,
    include: bool,
    cmake_dir: bool,
    mode: str,
    compiler: str | None,
) -> None:
    """Print the options that make a compiler watch a program's atomics, quoted for a shell."""
    from fencepost.sanitizer.build import instrumentation

    if cmake_dir:
        click.echo(instrumentation.CMAKE)
        return
    if not (compiling or linking or link_shared or include):
        raise click.UsageError("expected --compile, --link, --link-shared, --include or --cmake-dir")
    chosen: Any = mode
    options: list[str] = []
    if include:
        options += ["-isystem", instrumentation.INCLUDE]
    if compiling:
        options += instrumentation.compile_options(chosen, _family(compiler))
    if linking or link_shared:
        options += instrumentation.link_options(chosen, _family(compiler), shared=not linking)
    click.echo(shlex.join(options))


def _family(compiler: str | None) -> Any:
    from fencepost.sanitizer.build.toolchain import CannotBuildError, chosen_compiler

    try:
        return compiler or chosen_compiler("c", os.environ).family
    except CannotBuildError as error:
        fail(f"fencepost flags: {error}")
