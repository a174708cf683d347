"""What `fencepost --version` says: the version, how this copy was built, and what it has beside the core."""

from __future__ import annotations

import json
import os
import platform
import shlex
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata, version
from pathlib import Path

import fencepost
from fencepost import __version__
from fencepost.errors import packages_of
from fencepost.sanitizer.build.instrumentation import LIBRARIES

_HERE = Path(fencepost.__file__).parent


def version_text() -> str:
    """One line for the version, then one per fact."""
    return "\n".join([f"fencepost {__version__}", *(f"{fact}: {value}" for fact, value in _facts())])


def _facts() -> Iterator[tuple[str, str]]:
    built = _built()
    commit = built.get("commit") or "unknown"
    yield "commit", f"{commit[:-1]}, with changes" if commit.endswith("+") else commit
    yield "engine", f"compiled by {built.get('compiler') or 'an unknown compiler'}"
    machine = f"{platform.system()} {platform.machine()}"
    yield "Python", f"{platform.python_version()} ({platform.python_implementation()}) on {machine}"
    modes = [mode for mode, library in LIBRARIES.items() if os.path.exists(library)]
    yield "run-time library for C and C++", f"modes {', '.join(modes)}" if modes else "not built"
    has_editor = (_HERE / "playground" / "vendor" / "LICENSES.txt").exists()
    yield "editor of the playground", "CodeMirror" if has_editor else "a plain text field"
    for extra in metadata("fencepost").get_all("Provides-Extra") or ():
        yield f"extra {extra}", _extra(extra)


def _built() -> dict[str, str]:
    """What `native/build_facts.cmake` wrote; nothing in a source tree that was never built."""
    try:
        facts: dict[str, str] = json.loads((_HERE / "build_facts.json").read_text(encoding="utf-8"))
    except OSError:
        return {}
    return facts


def _extra(extra: str) -> str:
    """The versions of its packages, or what would install those that are missing."""
    there, missing = [], []
    for requirement, name in packages_of(extra):
        try:
            there.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(requirement)
    install = [f"not installed (pip install {shlex.join(missing)})"] if missing else []
    return ", ".join([*there, *install])
