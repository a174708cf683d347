"""The sources are complete: the package builds from them alone, without a network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import fencepost
from tests.packaging.wheels import ROOT, sources

# A registry that is never there.
_NOWHERE = "http://127.0.0.1:9"


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    """What `make wheel` packs, from files that git would commit."""
    folder = tmp_path_factory.mktemp("sdist")
    for path in sources("."):
        copy = folder / "tree" / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    installed = Path(fencepost.__file__).parent / "playground" / "vendor"
    if installed.exists():  # otherwise npm could not be reached when this machine built the package
        shutil.copytree(installed, folder / "tree" / "editor" / "vendor")
    subprocess.run(
        [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--skip-dependency-check", "-o", folder],
        cwd=folder / "tree",
        check=True,
        capture_output=True,
    )
    (packed,) = folder.glob("fencepost-*.tar.gz")
    return packed


def _unpacked(sdist: Path, folder: Path) -> Path:
    with tarfile.open(sdist) as packed:
        packed.extractall(folder, filter="data")
    (top,) = folder.iterdir()
    return top


def test_it_has_every_source_file_and_the_editor(sdist, tmp_path):
    tree = sdist.parent / "tree"
    top = _unpacked(sdist, tmp_path)
    packed = {path.relative_to(top).as_posix() for path in top.rglob("*") if path.is_file()}
    assert {path.relative_to(ROOT).as_posix() for path in sources(".")} <= packed
    vendored = {path.relative_to(tree).as_posix() for path in (tree / "editor" / "vendor").glob("*")}
    assert vendored <= packed


@pytest.mark.slow
def test_it_builds_without_a_network(sdist, tmp_path):
    top = _unpacked(sdist, tmp_path / "sources")
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    pip = [venv / "bin" / "pip", "--quiet", "--disable-pip-version-check"]
    needed = ["scikit-build-core>=0.10", "nanobind>=2.4", "lark>=1.2,<2", "cmake", "ninja"]
    if subprocess.run([*pip, "install", *needed], check=False).returncode:
        pytest.skip("the packages that a build needs cannot be fetched")
    cut_off = {**os.environ, "http_proxy": _NOWHERE, "https_proxy": _NOWHERE, "NPM_CONFIG_REGISTRY": _NOWHERE}
    cut_off["PATH"] = f"{venv / 'bin'}:{os.environ['PATH']}"
    wheels = tmp_path / "wheels"
    options = ["--no-index", "--no-build-isolation", "--no-deps", "--wheel-dir", wheels]
    subprocess.run([*pip, "wheel", *options, top], env=cut_off, check=True)
    (wheel,) = wheels.glob("*.whl")
    with zipfile.ZipFile(wheel) as made:
        names = set(made.namelist())
    assert "fencepost/sanitizer/lib/libfencepost_full.a" in names
    if (top / "editor" / "vendor").exists():
        assert "fencepost/playground/vendor/codemirror-view.js" in names
