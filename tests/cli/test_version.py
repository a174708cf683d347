"""What `fencepost --version` says about this copy, and about what is missing in it."""

from importlib.metadata import PackageNotFoundError

import pytest
from click.testing import CliRunner

import fencepost
from fencepost.cli import version
from fencepost.cli.main import main


@pytest.fixture
def facts():
    def read():
        result = CliRunner().invoke(main, ["--version"], catch_exceptions=False)
        assert result.exit_code == 0
        first, *rest = result.output.splitlines()
        assert first == f"fencepost {fencepost.__version__}"
        return dict(line.split(": ", 1) for line in rest)

    return read


def test_the_build_is_described(facts):
    said = facts()
    assert said["engine"].split()[2] in ("GNU", "Clang", "AppleClang")
    assert said["commit"] == "unknown" or int(said["commit"].partition(",")[0], 16)
    assert {"extra cluster", "extra lsp", "extra web"} <= set(said)


def test_a_copy_that_was_never_built_says_so(facts, monkeypatch, tmp_path):
    monkeypatch.setattr(version, "_HERE", tmp_path)
    monkeypatch.setattr(version, "LIBRARIES", {"atomics": str(tmp_path / "libfencepost_atomics.a")})
    said = facts()
    assert said["commit"] == "unknown"
    assert said["engine"] == "compiled by an unknown compiler"
    assert said["run-time library for C and C++"] == "not built"
    assert said["editor of the playground"] == "a plain text field"


def test_a_build_of_changed_files_names_the_commit_before(facts, monkeypatch, tmp_path):
    (tmp_path / "build_facts.json").write_text('{"commit": "0123456789ab+", "compiler": "GNU 12.2.0"}')
    monkeypatch.setattr(version, "_HERE", tmp_path)
    assert facts()["commit"] == "0123456789ab, with changes"


def test_missing_packages_are_named_with_the_command_that_installs_them(facts, monkeypatch):
    def missing(name):
        if name == "uvicorn":
            raise PackageNotFoundError
        return "1.2"

    monkeypatch.setattr(version, "version", missing)
    said = facts()["extra web"]
    assert said.startswith("starlette 1.2, ")
    assert said.endswith(", not installed (pip install 'uvicorn>=0.30')")
