"""From the changes of an answer to a patch of the sources, and the patched program checked once more.

A patch is written only if the program can be built from the patched sources, each compiled as it was, and
if its executions then show nothing, and do not fail in a new way. What a program is linked with besides its
own objects is not known, so one that needs further libraries is left to its own build.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fencepost.sanitizer.build.compiler import real_command
from fencepost.sanitizer.build.toolchain import CannotBuildError
from fencepost.sanitizer.repair.executions import Asking, Executions, How
from fencepost.sanitizer.repair.search import RUNS
from fencepost.sanitizer.sources import (
    Build,
    CannotReadSourceError,
    CannotWritePatchError,
    NoBuildError,
    SourceChangedError,
    builds_of,
    patch_sources,
    write_patch,
)
from fencepost.sanitizer.sources.writing import mirrored
from fencepost.verdicts.patches import SourcePatch
from fencepost.verdicts.program_changes import AnyProgramFix, AnyProgramRelax
from fencepost.verdicts.sites import Site

_CANNOT = (NoBuildError, CannotReadSourceError, SourceChangedError)


def patch_for(answer: AnyProgramFix | AnyProgramRelax, sites: Sequence[Site] = ()) -> SourcePatch | str:
    """The patch, or why there is none."""
    changes = [one.change for one in answer.changes or ()]
    if not changes:
        return SourcePatch()
    try:
        return patch_sources(changes, builds_of(answer.file), sites)
    except _CANNOT as error:
        return str(error)


def write_checked(patch: SourcePatch, answer: AnyProgramFix | AnyProgramRelax, asking: Asking) -> str:
    """Write the patch and say how it was checked; raises `CannotWritePatchError` if it would not be right."""
    builds = builds_of(answer.file)
    if patch.by_hand:
        raise CannotWritePatchError(
            "some changes have to be made by hand, so the rest was not written either"
        )
    with tempfile.TemporaryDirectory(prefix="fencepost-patched-") as scratch:
        program = _built(builds, patch, os.path.realpath(scratch))
        checked = _check(program, asking, answer)
    write_patch(patch, builds)
    return checked


def _built(builds: Sequence[Build], patch: SourcePatch, scratch: str) -> str:
    root, program = os.path.join(scratch, "root"), os.path.join(scratch, "program")
    objects = []
    for number, build in enumerate(builds):
        for path in build.digests:
            copy = Path(root + path)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(patch.texts[path] if path in patch.texts else Path(path).read_bytes())
        directory = Path(root + build.directory)
        directory.mkdir(parents=True, exist_ok=True)
        objects.append(os.path.join(scratch, f"{number}.o"))
        language = ("-x", build.language)
        words = [*mirrored(build, root), "-c", "-o", objects[-1], *language, root + build.path]
        _run(build, words, str(directory))
    cxx = next((build for build in builds if build.language != "c"), builds[0])
    _run(cxx, [*objects, "-o", program], scratch)
    return program


def _run(build: Build, words: list[str], directory: str) -> None:
    compiler = " ".join(build.compiler)
    environment = {**os.environ, "FENCEPOST_CC": compiler, "FENCEPOST_CXX": compiler}
    try:
        command = real_command("c" if build.language == "c" else "c++", words, environment)
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    except (CannotBuildError, OSError) as error:
        raise CannotWritePatchError(f"the patched program cannot be built here: {error}") from None
    if done.returncode:
        first = next(iter(done.stderr.strip().splitlines()), "")
        raise CannotWritePatchError(
            f"the patched program cannot be built here, so it was not checked: {first}; make the changes of "
            "the diff and build it as usual"
        )


def _check(program: str, asking: Asking, answer: AnyProgramFix | AnyProgramRelax) -> str:
    """All executions as before, or many runs if the patched program does not come to the end of them."""
    again = replace(asking, command=(program, *asking.command[1:]))
    runs = answer.sampled
    look = Executions(again).all((), How(runs=runs))
    if look.why and not look.executions and not look.interrupted and runs is None:
        runs = RUNS
        look = Executions(again).all((), How(runs=runs))
    if look.interrupted:
        raise CannotWritePatchError("the check of the patched program was interrupted")
    if look.executions:
        raise CannotWritePatchError("the patched program still shows a finding")
    new = [one for one in look.failures if one not in answer.failures]
    if new:
        raise CannotWritePatchError(f"the patched program fails, as it did not before: {new[0]}")
    if runs is None:
        return "all executions of the patched program were run: nothing is left in any of them"
    return f"the patched program was run {runs:,} times with each of two schedules: nothing was seen"
