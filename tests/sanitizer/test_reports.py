"""What `fencepost run` prints and writes about findings: text, JSON and SARIF, with names for addresses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fencepost.sanitizer.answer.elf_data import variable_at
from fencepost.sanitizer.answer.symbols import look_up
from fencepost.sanitizer.run.events import Place
from fencepost.verdicts.run import AnyRunAnswer, Frame, places
from tests.report.sarif_schema import checked_run
from tests.sanitizer.building import Shell, Toolchain, with_each_compiler
from tests.sanitizer.fakes import Module, build_module, end, finding, play

TEXT = """\
==================
WARNING: fencepost: not robust: a load of `flags[2]` can miss a write that it follows
  Load of size 4 at 0x555555558028 (memory_order_acquire) by thread T2 'reader':
    #0 get module/spin.c:5 (spin+READER)
        4 | static inline __attribute__((always_inline)) int get(int i) {
      > 5 |     return atomic_load_explicit(&flags[i], memory_order_acquire);
        6 | }
    #1 reader module/spin.c:11 (spin+READER)
    #2 main module/spin.c:16 (spin+MAIN)

  It can miss the write (memory_order_relaxed) by thread T1:
    #0 writer module/spin.c:8 (spin+WRITER)
        7 | __attribute__((noinline)) void writer(void) {
      > 8 |     atomic_store_explicit(&flags[2], 1, memory_order_relaxed);
        9 | }
    #1 main module/spin.c:16 (spin+MAIN)

  Location is global 'flags[2]' of size 16 at 0x555555558028 (spin+FLAGS)

  Why: In every interleaving of this run the load comes after that write (thread T1: write flags
  (module/spin.c:8)). The memory orders do not ensure it: no chain of release and acquire operations
  or fences leads from that write to this load, so a processor or a compiler may reorder them. Then
  this load returns the older value 0.

  Harmless? It can be: see "Is a finding harmful?" in docs/sanitizer.md for how to find out.

  Ranked first of four: the value may decide a branch or be used in other ways.

  Repair: In thread T2, put `atomic_thread_fence(memory_order_seq_cst)` after module/spin.c:8 and
  before module/spin.c:5.
SUMMARY: fencepost: not robust module/spin.c:5 in get
==================
"""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture
def module(shell: Shell) -> Module:
    return build_module(shell.directory / "module")


def without_tools(shell: Shell, *kept: str) -> str:
    """A PATH with Python's directory and these tools alone."""
    directory = shell.directory / "tools"
    directory.mkdir()
    for tool in kept:
        path = shutil.which(tool)
        assert path is not None
        (directory / tool).symlink_to(path)
    return f"{shell.programs}:{directory}"


def expected_text(module: Module) -> str:
    text = TEXT
    for name, symbol, inside in (
        ("READER", "reader", 0),
        ("WRITER", "writer", 0),
        ("MAIN", "main", 0),
        ("FLAGS", "flags", 8),
    ):
        text = text.replace(f"+{name})", f"+{module.place(symbol, inside)['offset']})")
    return text


class TestText:
    def test_a_report_reads_like_those_of_thread_sanitizer(self, shell: Shell, module: Module) -> None:
        """With addr2line, which knows no columns."""
        path = without_tools(shell, "addr2line", "env")
        done = play(shell, events=[[finding(module), end()]], PATH=path)
        assert done.stdout.startswith(expected_text(module))

    @pytest.mark.skipif(not shutil.which("llvm-symbolizer"), reason="llvm-symbolizer is not installed")
    def test_columns_where_the_tool_knows_them(self, shell: Shell, module: Module) -> None:
        done = play(shell, events=[[finding(module), end()]])
        assert "#0 get module/spin.c:5:12 (spin+" in done.stdout

    def test_without_a_tool_there_are_modules_and_offsets(self, shell: Shell, module: Module) -> None:
        done = play(shell, events=[[finding(module), end()]], PATH=without_tools(shell))
        offset = module.place("reader")["offset"]
        assert f"#0 <unknown function> (spin+{offset})" in done.stdout
        assert f"SUMMARY: fencepost: not robust spin+{offset}" in done.stdout
        assert "warning: no source lines" in done.stdout
        assert "apt install llvm" in done.stdout

    def test_a_module_that_is_gone_is_no_obstacle(self, shell: Shell, module: Module) -> None:
        module.path.unlink()
        done = play(shell, events=[[finding(module), end()]])
        assert done.returncode == 1
        assert f"(spin+{module.place('reader')['offset']})" in done.stdout

    @pytest.mark.parametrize(
        ("access", "could", "says"),
        [
            ("load", 3, "Then this load returns the older value 3."),
            ("load", None, "Then this load returns an older value."),
            ("store", None, "counts as the older of the two"),
            ("rmw", 3, "works on the older value 3"),
            ("cas", 3, "compares with the older value 3"),
            ("wait", 3, "ends with the older value 3"),
        ],
    )
    def test_what_can_happen(
        self, shell: Shell, module: Module, access: str, could: int | None, says: str
    ) -> None:
        event = finding(module, access=access, could=None if could is None else {"value": could})
        done = play(shell, events=[[event, end()]])
        assert says in " ".join(done.stdout.split())
        assert ("It can come before the write" in done.stdout) is (access in ("store", "rmw"))

    @pytest.mark.parametrize(
        ("location", "says"),
        [
            ({"kind": "heap", "size": 24}, "Location is in a heap block of size 24 at 0x555555558028"),
            ({"kind": "stack", "thread": 3}, "Location is on the stack of thread T3 at 0x555555558028"),
            ({"kind": "mmap"}, "Location is in mapped memory at 0x555555558028"),
            ({"kind": "unknown"}, "Location is 0x555555558028"),
        ],
    )
    def test_where_it_lies(self, shell: Shell, module: Module, location: dict[str, Any], says: str) -> None:
        done = play(shell, events=[[finding(module, location=location), end()]])
        assert f"  {says}\n" in done.stdout

    def test_where_a_heap_block_was_allocated(self, shell: Shell, module: Module) -> None:
        location = {"kind": "heap", "stack": [module.place("writer")]}
        done = play(shell, events=[[finding(module, location=location), end()]])
        assert "at 0x555555558028, allocated at:\n    #0 writer module/spin.c:8" in done.stdout

    def test_a_stronger_order_as_repair(self, shell: Shell, module: Module) -> None:
        repair = [{"what": "order", "order": "acquire", "at": module.place("reader")}]
        done = play(shell, events=[[finding(module, repair=repair), end()]])
        assert "Repair: Use `memory_order_acquire` for the operation at module/spin.c:5" in done.stdout

    def test_a_data_race_says_nothing_about_robustness(self, shell: Shell, module: Module) -> None:
        done = play(shell, events=[[finding(module, kind="race", order="", repair=[], chain=[]), end()]])
        assert done.returncode == 1
        assert "WARNING: fencepost: data race\n" in done.stdout
        assert "  It races with the access (memory_order_relaxed) by thread T1:\n" in done.stdout
        assert "./program: 1 data race in 1 run" in done.stdout

    def test_says_so_where_no_repair_could_be_tried(self, shell: Shell, module: Module) -> None:
        done = play(shell, events=[[finding(module, repair=[], chain=[], missed=None), end()]])
        assert "Repair: None was tried, because it is not known how" in done.stdout

    def test_names_from_the_program_cannot_write_on_the_terminal(self, shell: Shell, module: Module) -> None:
        event = finding(module, chain=[{"thread": 1, "name": "\x1b[31m", "what": "\x1b]0;x\x07"}])
        event["by"]["name"] = "a\x1b[2Jb\u202e"
        done = play(shell, events=[[event, end()]])
        assert "\x1b" not in done.stdout
        assert "'a\\x1b[2Jb\\u202e'" in done.stdout

    def test_the_last_line_alone(self, shell: Shell, module: Module) -> None:
        done = play(shell, "-q", events=[[finding(module), end()]])
        assert done.stdout.startswith("./program: not robust: 1 finding in 1 run")
        assert done.stdout.count("\n") == 1


class TestJson:
    def test_the_output_is_one_answer_and_nothing_else(self, shell: Shell, module: Module) -> None:
        done = play(shell, "--json", events=[[finding(module), end()]], code="print('of the program')")
        answer = json.loads(done.stdout)
        assert "of the program" in done.stderr
        assert list(answer)[:3] == ["file", "question", "model"]
        assert (answer["question"], answer["model"], answer["verdict"]) == ("run", "cpp20", "not-robust")
        assert answer["command"] == ["./program", "script.json"]
        (found,) = answer["findings"]
        frame = found["access"]["stack"][1]
        assert (frame["function"], frame["line"]) == ("reader", 11)
        assert found["missed"]["stack"][0]["function"] == "writer"
        assert found["location"]["name"] == "flags[2]"
        assert found["runs"] == 1

    @pytest.mark.parametrize(
        ("code", "verdict"), [("", "not-seen"), ("sys.exit(1)", "unknown")], ids=["not-seen", "unknown"]
    )
    def test_the_other_verdicts(self, shell: Shell, code: str, verdict: str) -> None:
        answer = json.loads(play(shell, "--json", events=[[end()]], code=code).stdout)
        assert answer["verdict"] == verdict
        assert answer.get("why") == ("the run exited with code 1" if code else None)

    def test_an_answer_survives_the_way_there_and_back(self, shell: Shell, module: Module) -> None:
        options = ("--schedule", "random", "--runs", "2", "--json")
        text = play(shell, *options, events=[[finding(module), end()]]).stdout
        answer = msgspec.json.decode(text, type=AnyRunAnswer)
        assert json.loads(msgspec.json.encode(answer)) == json.loads(text)
        assert answer.exit_code == 1
        assert answer.findings[0].schedule.decisions is not None


class TestSarif:
    @pytest.fixture
    def run(self, shell: Shell, module: Module) -> dict[str, Any]:
        threads = [{"thread": 1, "blocked_on": "mutex", "stack": [module.place("other")]}]
        events = [finding(module), {"event": "deadlock", "threads": threads}, end()]
        play(shell, "--sarif", "out.sarif", events=[events])
        return checked_run((shell.directory / "out.sarif").read_bytes())

    def test_each_result_follows_a_rule(self, run: dict[str, Any]) -> None:
        assert run["tool"]["driver"]["name"] == "fencepost"
        assert [result["ruleId"] for result in run["results"]] == ["robustness", "deadlock"]
        assert [result["level"] for result in run["results"]] == ["warning", "error"]
        for result in run["results"]:
            assert result["message"]["text"]
            assert result["partialFingerprints"]

    def test_places_are_relative_to_where_it_was_run(self, run: dict[str, Any], shell: Shell) -> None:
        (location,) = run["results"][0]["locations"]
        place = location["physicalLocation"]
        assert place["artifactLocation"] == {"uri": "module/spin.c", "uriBaseId": "ROOT"}
        assert place["region"]["startLine"] == 5
        assert run["originalUriBaseIds"]["ROOT"]["uri"] == f"file://{shell.directory}/"

    def test_the_write_is_related_and_the_flow_leads_from_it_to_the_access(self, run: dict[str, Any]) -> None:
        result = run["results"][0]
        (related,) = result["relatedLocations"]
        assert related["physicalLocation"]["region"]["startLine"] == 8
        (flow,) = result["codeFlows"]
        steps = [step for thread in flow["threadFlows"] for step in thread["locations"]]
        steps.sort(key=lambda step: int(step["executionOrder"]))
        lines = [step["location"]["physicalLocation"]["region"]["startLine"] for step in steps]
        assert lines == [8, 8, 5]

    def test_nothing_found_is_a_document_without_results(self, shell: Shell) -> None:
        assert play(shell, "--sarif", "out.sarif", events=[[end()]]).returncode == 0
        document = json.loads((shell.directory / "out.sarif").read_text(encoding="utf-8"))
        assert document["runs"][0]["results"] == []

    def test_a_place_that_cannot_be_written_is_an_error(self, shell: Shell) -> None:
        done = play(shell, "--sarif", "no/out.sarif", events=[[end()]])
        assert done.returncode == 2
        assert "no/out.sarif: cannot write the findings" in done.stderr


@with_each_compiler
class TestNames:
    """The tools must agree on what each compiler writes."""

    @pytest.mark.parametrize("tool", ["llvm-symbolizer", "addr2line"])
    def test_functions_and_lines(
        self, tmp_path: Path, toolchain: Toolchain, tool: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
        module = build_module(tmp_path / "module", compiler=toolchain.cc)
        (tmp_path / tool).symlink_to(str(shutil.which(tool)))
        monkeypatch.setenv("PATH", str(tmp_path))
        place = Place(**module.place("reader"))
        symbols = look_up([place, place])
        assert symbols.tool == tool
        found = [(frame.function, Path(frame.file).name, frame.line) for frame in symbols.frames[place]]
        assert found == [("get", "spin.c", 5), ("reader", "spin.c", 11)]

    def test_variables_also_static_ones(self, tmp_path: Path, toolchain: Toolchain) -> None:
        module = build_module(tmp_path / "module", compiler=toolchain.cc)
        flags, turn = module.symbols["flags"], module.symbols["turn"]
        assert variable_at(str(module.path), flags + 12) == (flags, 16, "flags")
        assert variable_at(str(module.path), turn) == (turn, 4, "turn")
        assert variable_at(str(module.path), 0) is None


@pytest.mark.parametrize("content", [b"", b"\x7fELF\x02\x01", b"\x7fELF\x02\x01" + b"\xff" * 200, b"text"])
def test_what_is_no_module_has_no_variables(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "module"
    path.write_bytes(content)
    assert variable_at(str(path), 16) is None


@pytest.mark.parametrize(
    "compilers_own",
    [
        "/usr/include/c++/12/bits/atomic_base.h",
        "/usr/include/x86_64-linux-gnu/c++/12/bits/gthr-default.h",
        "/usr/lib/llvm-14/include/c++/v1/atomic",
        "/usr/bin/../lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/bits/atomic_base.h",
    ],
)
def test_a_place_is_the_line_of_a_header_library_and_not_of_the_compilers_own(compilers_own: str) -> None:
    library = Frame(file="/usr/include/boost/lockfree/spsc_queue.hpp", line=110)
    stack = (Frame(file=compilers_own, line=488), library, Frame(file="/home/me/client.cpp", line=10))
    assert places(stack)[-1] == library
