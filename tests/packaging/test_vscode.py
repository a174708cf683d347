"""The extension for Visual Studio Code: what is in the package, that it loads, and what the server tells it.

It is built with npm, as `make vscode` does it; these tests are skipped where npm's registry cannot be
reached. The editor itself is not here: the tests in `editor/vscode/test` talk to the server with the packages
of the extension.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import fencepost
from tests.packaging.wheels import ROOT

SOURCES = ROOT / "editor" / "vscode"
_NO_REGISTRY = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH")
MANIFEST = json.loads((SOURCES / "package.json").read_text(encoding="utf-8"))

# Loads the extension where `vscode` is whatever it takes it for, and prints the commands that it registers.
_LOAD = """
const Module = require("node:module");
const load = Module._load;
const registered = [];
const anything = () => new Proxy(class {}, {
  get: (target, name) => (name in target ? target[name] : name === "then" ? undefined : anything()),
  apply: () => anything(),
});
const commands = { registerCommand: (name) => registered.push(name) };
const vscode = new Proxy({ commands }, { get: (target, name) => target[name] ?? anything() });
Module._load = (name, ...more) => (name === "vscode" ? vscode : load(name, ...more));
const { activate } = require(process.argv[1]);
activate({ subscriptions: [] }).catch(() => {}).finally(() => {});
console.log(JSON.stringify(registered));
process.exit(0);
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The sources of the extension with the packages that npm fetches, and the extension made of them."""
    folder = tmp_path_factory.mktemp("vscode")
    sources = shutil.copytree(SOURCES, folder / "sources", ignore=shutil.ignore_patterns("node_modules"))
    shutil.copy(ROOT / "LICENSE", sources)
    if shutil.which("npm") is None:
        pytest.skip("there is no npm")
    npm(sources, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
    package = folder / "fencepost.vsix"
    npm(sources, "run", "--silent", "package", "--", str(package))
    with zipfile.ZipFile(package) as packed:
        packed.extractall(folder)
    return folder


def npm(folder: Path, *arguments: str) -> None:
    done = subprocess.run(["npm", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode and any(code in done.stderr for code in _NO_REGISTRY):
        pytest.skip("npm's registry cannot be reached")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def extension(built):
    """The extension as Visual Studio Code unpacks it."""
    return built / "extension"


def test_it_has_the_version_of_fencepost():
    lock = json.loads((SOURCES / "package-lock.json").read_text(encoding="utf-8"))
    assert MANIFEST["version"] == lock["version"] == fencepost.__version__


def test_packages_are_locked_without_naming_a_registry():
    packages = json.loads((SOURCES / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert all("integrity" in entry for path, entry in packages.items() if path)
    assert not any("resolved" in entry for entry in packages.values())


def test_everything_that_the_manifest_names_is_packed(extension):
    contributed = MANIFEST["contributes"]
    named = [MANIFEST["main"], *(each["path"] for each in contributed["grammars"])]
    named += [each["configuration"] for each in contributed["languages"]]
    assert all((extension / name).is_file() for name in named)
    assert (extension / "LICENSE.txt").read_bytes() == (ROOT / "LICENSE").read_bytes()
    packed = json.loads((extension / "package.json").read_text(encoding="utf-8"))
    assert packed["version"] == fencepost.__version__
    assert not (extension / "test").exists()
    modules = {path.name for path in (extension / "node_modules").iterdir()}
    assert "vscode-languageclient" in modules
    assert not modules & {"vscode-textmate", "vscode-oniguruma", "@vscode"}


def test_it_loads_and_registers_its_commands(extension):
    done = subprocess.run(
        ["node", "-e", _LOAD, str(extension / "extension.js")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    contributed = [command["command"] for command in MANIFEST["contributes"]["commands"]]
    assert sorted(json.loads(done.stdout)) == sorted(contributed)


def test_its_client_and_its_grammars_go_with_the_server(built, extension, tmp_path):
    """With the packages of the extension, and those that only tests need from where it was built."""
    shutil.copytree(SOURCES / "test", extension / "test")
    start = "import sys; sys.argv[0] = 'fencepost'; from fencepost.cli.main import main; main()"
    server = tmp_path / "fencepost"
    server.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{start}" "$@"\n', encoding="utf-8")
    server.chmod(0o755)
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(fencepost.__file__).parents[1]),
        "NODE_PATH": str(built / "sources" / "node_modules"),
        "FENCEPOST": str(server),
        "EXAMPLES": str(ROOT / "examples"),
    }
    done = subprocess.run(
        ["node", "--test", "test/"],
        cwd=extension,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# pass 5" in done.stdout
