"""The wheel that `make` leaves behind, and fresh environments to install it into."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_MADE_BY_MAKE = ROOT / "build" / "wheel"


def sources(folder: str) -> list[Path]:
    """The files below it that belong to the project, whether git knows them already or not."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", folder]
    done = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=False)
    return [ROOT / name for name in done.stdout.splitlines() if (ROOT / name).exists()]


def wheel_of_make() -> Path:
    """The wheel in `build/wheel`, if it is the package under test."""
    wheels = sorted(_MADE_BY_MAKE.glob("*.whl"))
    if len(wheels) != 1:
        pytest.skip("there is no wheel in build/wheel: `make` leaves it there")
    with zipfile.ZipFile(wheels[0]) as wheel:
        record = next(name for name in wheel.namelist() if name.endswith(".dist-info/RECORD"))
        packed = _hashes(wheel.read(record).decode())
    installed = _hashes(distribution("fencepost").read_text("RECORD") or "")
    if not packed <= installed:
        pytest.skip("the wheel in build/wheel is not what is installed: run `make`")
    return wheels[0]


def _hashes(record: str) -> set[str]:
    """The lines of the files of the package itself."""
    return {line for line in record.splitlines() if line.startswith("fencepost/")}


class Environment:
    """A Python environment of its own, in which programs find only what `PATH` is said to have."""

    def __init__(self, directory: Path) -> None:
        self.bin = directory / "env" / "bin"
        self.programs = directory / "programs"
        self.work = directory / "work"
        self.programs.mkdir()
        self.work.mkdir()
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.bin.parent], check=True)

    def install(self, *requirements: str) -> None:
        """With pip, without a compiler; skips the test if what fencepost needs cannot be fetched."""
        pip = [sys.executable, "-m", "pip", "--python", str(self.bin / "python"), "--quiet"]
        options = ["--no-compile", "--only-binary", ":all:", "--disable-pip-version-check"]
        done = self._run([*pip, "install", *options, *requirements])
        if done.returncode and "No matching distribution found for" in done.stderr:
            pytest.skip("the packages that fencepost needs cannot be fetched")
        assert done.returncode == 0, done.stderr

    def link(self, *programs: str) -> None:
        """Lets these programs of this machine be found."""
        for name in programs:
            (self.programs / name).symlink_to(_found(name))

    def run(self, *words: str, exit_code: int = 0, **environment: str) -> str:
        """What a command prints."""
        done = self._run([str(self.bin / words[0]), *words[1:]], **environment)
        assert done.returncode == exit_code, done.stdout + done.stderr
        return done.stdout

    def environment(self) -> dict[str, str]:
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL"))
        }
        return {**kept, "PATH": f"{self.bin}:{self.programs}"}

    def _run(self, command: list[str], **more: str) -> subprocess.CompletedProcess[str]:
        environment = {**self.environment(), **more}
        return subprocess.run(
            command, cwd=self.work, env=environment, capture_output=True, text=True, check=False, timeout=300
        )


def _found(name: str) -> str:
    """Where a program is; past a directory of links and past ccache."""
    for folder in ("/usr/bin", "/bin", "/usr/local/bin"):
        if os.access(f"{folder}/{name}", os.X_OK):
            return f"{folder}/{name}"
    pytest.skip(f"there is no {name}")
