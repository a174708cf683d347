"""Patches into files: only if the sources are as they were built, and if the patched ones compile as before.

Before anything is written, the patched sources are compiled in a scratch directory that mirrors the project's
files, with the compiler and the options of the build. Each file is then replaced at once, by renaming.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from fencepost.sanitizer.build.instrumentation import INCLUDE
from fencepost.sanitizer.sources.builds import Build
from fencepost.sanitizer.sources.patch import check_unchanged
from fencepost.verdicts.patches import SourcePatch

_FOLDERS = ("-I", "-isystem", "-iquote", "-idirafter")
_FILES = ("-include", "-imacros")
_SAID = re.compile(r"^.*?:\d+:(?:\d+:)? (?:fatal )?((?:error|warning): .*)$", re.MULTILINE)
_PLACE = re.compile(r"\d+")


class CannotWritePatchError(Exception):
    """A patch is not written; the text says why."""


def write_patch(patch: SourcePatch, builds: Sequence[Build]) -> None:
    """Write all files that the patch changes, or none."""
    check_compiles(patch, builds)
    check_unchanged(builds)
    _write(patch.texts)


def check_compiles(patch: SourcePatch, builds: Sequence[Build]) -> None:
    """Raise an error if a source does not compile with the patch, or with more warnings than without."""
    check_unchanged(builds)
    for build in builds:
        if not set(patch.texts) & set(build.digests):
            continue
        with tempfile.TemporaryDirectory(prefix="fencepost-") as scratch:
            root = os.path.realpath(scratch)
            before = _compiled(build, root, {})
            after = _compiled(build, root, patch.texts)
        more = after - before
        if more:
            raise CannotWritePatchError(
                f"{build.path} does not compile as before with the patch: {next(iter(more))}"
            )


def _compiled(build: Build, root: str, texts: Mapping[str, bytes]) -> Counter[str]:
    """What the compiler says of a source with these texts, without places."""
    for path in build.digests:
        copy = Path(root + path)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(texts[path] if path in texts else Path(path).read_bytes())
    directory = Path(root + build.directory)
    directory.mkdir(parents=True, exist_ok=True)
    language = ["-x", build.language]
    command = [
        *build.compiler,
        *mirrored(build, root),
        *("-D__FENCEPOST__=1", "-isystem", INCLUDE),
        *("-c", "-o", os.path.join(root, "object.o"), *language, root + build.path),
    ]
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        done = subprocess.run(
            command,
            cwd=directory,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError:
        raise CannotWritePatchError(
            f"`{build.compiler[0]}`, which compiled {build.path}, is not there to try the patch"
        ) from None
    said = Counter(_PLACE.sub("N", one) for one in _SAID.findall(done.stderr.replace(root, "")))
    if done.returncode and not any(one.startswith("error") for one in said):
        said[f"error: exit code {done.returncode}"] += 1
    return said


def mirrored(build: Build, root: str) -> list[str]:
    """The options with each folder that is searched twice: the mirror of it first, then the folder itself.

    What is included by a path from the root is taken from there, if it is one of the project's files.
    """
    options: list[str] = []
    words = iter(build.options)
    for word in words:
        name = next((name for name in (*_FOLDERS, *_FILES) if word.startswith(name)), None)
        if name is None or (name == "-include" and word == "-include-pch"):
            options.append(word)
            continue
        value = word.removeprefix(name) or next(words, "")
        path = build.absolute(value)
        if name in _FOLDERS:
            options += [name, root + path, name, path]
        else:
            options += [name, root + path if path in build.digests else value]
    return options


def _write(texts: Mapping[str, bytes]) -> None:
    """Replace files, each at once; nothing is replaced before all new ones are on the disk."""
    ready: list[tuple[str, str]] = []
    try:
        for path, content in texts.items():
            target = os.path.realpath(path)
            handle, name = tempfile.mkstemp(prefix=".fencepost-", dir=os.path.dirname(target))
            ready.append((name, target))
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(name, os.stat(target).st_mode & 0o7777)
        for name, target in ready:
            os.replace(name, target)
    except OSError as error:
        raise CannotWritePatchError(f"{error.filename}: {error.strerror}") from None
    finally:
        for name, _ in ready:
            if os.path.exists(name):
                os.unlink(name)
