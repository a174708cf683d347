"""Programs under the sanitizer, when there is no room for what it has to tell: no finding is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.faults.devices import full_device
from tests.sanitizer.building import PROGRAMS, Shell

# A program that may not write more to any file, as on a full disk.
LIMITED = """
#include <signal.h>
#include <sys/resource.h>
__attribute__((constructor)) static void fill_the_disk(void) {
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {600, 600};
    setrlimit(RLIMIT_FSIZE, &limit);
}
"""


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    shell = Shell(tmp_path_factory.mktemp("full"))
    source = (PROGRAMS / "check" / "store_buffering.c").read_text(encoding="utf-8")
    shell.write("roomy.c", source)
    shell.write("limited.c", source + LIMITED)
    for name in ("roomy", "limited"):
        shell.ok("fencepost-cc", "-O1", f"{name}.c", "-o", name)
    return shell


@pytest.mark.parametrize(
    "command",
    [
        ("run",),
        ("run", "--schedule", "random", "--runs", "2"),
        ("run", "--schedule", "random", "--runs", "40"),
        ("check",),
    ],
    ids=" ".join,
)
def test_findings_that_find_no_room_are_not_taken_for_none(shell: Shell, command: tuple[str, ...]) -> None:
    done = shell.run("fencepost", *command, shell.directory / "roomy")
    assert done.returncode == 1
    done = shell.run("fencepost", *command, shell.directory / "limited")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("there is no room in ")
    assert done.stderr.endswith(" for what the program did; make room, or set TMPDIR\n")


def test_the_library_says_that_its_events_are_not_whole(shell: Shell) -> None:
    done = shell.run(shell.directory / "limited", FENCEPOST_OPTIONS="json=events")
    assert "fencepost: cannot write all events to events\n" in done.stderr


@full_device
def test_a_state_that_finds_no_room_is_told(shell: Shell) -> None:
    Path(shell.directory / "state.new").symlink_to("/dev/full")
    command = ("fencepost", "check", "--json", "--resume", "state", shell.directory / "roomy")
    done = shell.run(*command)
    assert done.returncode == 1
    assert json.loads(done.stdout)["warnings"] == ["the state could not be written to state"]
    assert not (shell.directory / "state").exists()
