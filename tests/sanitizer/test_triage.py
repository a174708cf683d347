"""Where to look first: groups, ranks, what is left out by default."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from fencepost.sanitizer.answer.suppressions import INTERNALS, read_suppressions
from tests.sanitizer.building import PROGRAMS, Shell, Toolchain, with_each_compiler
from tests.sanitizer.fakes import build_module, end, finding, play

HERE = PROGRAMS / "triage"
LIBRARY = Path(__file__).parents[2] / "native" / "sanitizer" / "report" / "suppressions.cpp"


def built(shell: Shell, name: str) -> Path:
    source = HERE / name
    if source.suffix == ".c":
        shell.ok("fencepost-cc", "--mode", "atomics", "-O1", source, "-o", source.stem)
    else:
        shell.ok("fencepost-c++", "--mode", "atomics", "-std=c++20", "-O1", source, "-o", source.stem)
    return shell.directory / source.stem


def answer_of(shell: Shell, program: Path, *options: str) -> dict[str, Any]:
    done = shell.run("fencepost", "run", *options, "--json", program)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@with_each_compiler
def test_findings_are_ranked_by_what_becomes_of_the_value(tmp_path: Path, toolchain: Toolchain) -> None:
    shell = Shell(tmp_path, toolchain)
    said = re.findall(
        r"^// ranked: (\w+) (\w+)$", (HERE / "ranks.c").read_text(encoding="utf-8"), re.MULTILINE
    )
    program = built(shell, "ranks.c")
    findings = answer_of(shell, program)["findings"]
    ranked = [(one["rank"], one["location"]["name"]) for one in findings]
    assert ranked == said
    text = " ".join(shell.run("fencepost", "run", program).stdout.split())
    places = [text.index(f"Ranked {word} of four: ") for word in ("first", "second", "third", "last")]
    assert places == sorted(places)


@with_each_compiler
def test_findings_at_the_same_two_lines_are_told_once(tmp_path: Path, toolchain: Toolchain) -> None:
    shell = Shell(tmp_path, toolchain)
    program = built(shell, "two_callers.c")
    findings = answer_of(shell, program, "--schedule", "random")["findings"]
    assert len(findings) > 2
    assert len({one["group"] for one in findings}) == 1
    text = shell.run("fencepost", "run", "--schedule", "random", program).stdout
    assert text.count("WARNING: ") == 1
    assert f"At these two lines there are {len(findings) - 1} more findings, by other calls" in text
    assert f"{len(findings)} findings at 1 pair of lines in 100 runs" in text


@with_each_compiler
def test_the_inside_of_libstdcxx_is_left_out_by_default(tmp_path: Path, toolchain: Toolchain) -> None:
    shell = Shell(tmp_path, toolchain)
    program = built(shell, "internals.cpp")
    quiet = answer_of(shell, program, "--schedule", "random")
    assert (quiet["verdict"], quiet["findings"]) == ("not-seen", [])
    assert quiet["suppressed"] > 0
    loud = answer_of(shell, program, "--schedule", "random", "--internals")
    assert len(loud["findings"]) == quiet["suppressed"]
    seed = loud["findings"][0]["schedule"]["seed"]
    schedule = f"schedule=random:seed={seed}"
    direct = shell.run(program, FENCEPOST_OPTIONS=schedule)
    assert (direct.returncode, direct.stderr) == (0, "")
    assert shell.run(program, FENCEPOST_OPTIONS=f"{schedule}:internals=1").returncode == 66


def test_what_is_left_out_can_be_seen_and_is_a_file_of_suppressions(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    listed = shell.ok("fencepost", "run", "--list-suppressions")
    assert listed == shell.ok("fencepost", "check", "--list-suppressions")
    assert len(read_suppressions(str(shell.write("listed", listed)))) == len(INTERNALS)
    assert all(f"/{name}$" in listed for name in INTERNALS)


def test_the_library_leaves_out_the_same() -> None:
    table = re.search(r"internals\[\] = \{(.*?)\};", LIBRARY.read_text(encoding="utf-8"), re.DOTALL)
    assert table is not None
    assert set(re.findall(r'"(.*?)"', table[1])) == set(INTERNALS)


def test_a_baseline_leaves_only_what_is_new(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    module = build_module(shell.directory / "module")
    whole = play(shell, "--json", events=[[finding(module), end()]])
    shell.write("baseline.json", whole.stdout)
    known = play(shell, "--baseline", "baseline.json", events=[[finding(module), end()]])
    assert known.returncode == 0
    assert "WARNING" not in known.stdout
    assert "1 finding is in the baseline and not shown" in known.stdout + known.stderr
    both = [finding(module), finding(module, reader="other"), end()]
    new = play(shell, "--baseline", "baseline.json", "--junit", "out.xml", events=[both])
    assert new.returncode == 1
    assert new.stdout.count("WARNING") == 1
    assert "#1 other" in new.stdout
    (case,) = ElementTree.parse(shell.directory / "out.xml").getroot().iter("testcase")
    assert (case.get("name"), len(case.findall("properties/property"))) == ("program", 1)
    (failure,) = case.findall("failure")
    assert failure.get("type") == "robustness"
    assert "#1 other" in str(failure.text)


def test_a_run_without_findings_is_a_case_that_passes(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    assert play(shell, "--junit", "out.xml", events=[[end()]]).returncode == 0
    root = ElementTree.parse(shell.directory / "out.xml").getroot()
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("1", "0", "0")


def test_a_run_that_fails_of_itself_is_an_error(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    assert play(shell, "--junit", "out.xml", events=[[end()]], code="sys.exit(5)").returncode == 3
    root = ElementTree.parse(shell.directory / "out.xml").getroot()
    assert (root.get("failures"), root.get("errors")) == ("0", "1")


def test_a_baseline_that_is_none_is_an_error(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.write("baseline.json", "{}")
    done = play(shell, "--baseline", "baseline.json", events=[[end()]])
    assert done.returncode == 2
    assert "baseline.json:1:1: " in done.stderr
