"""`fencepost run`: which runs are made, how, what they add up to, and the exit codes."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from fencepost.errors import InputError
from fencepost.sanitizer.run import replay
from fencepost.verdicts.run import NotSeen, RunsUnknown, SeenNotRobust
from tests.interrupting import HEED_CONTROL_C, answer_within
from tests.sanitizer.building import Shell
from tests.sanitizer.fakes import Module, build_module, end, finding, options_given, play

RunAnswer = NotSeen | RunsUnknown | SeenNotRobust
CLEAN = [[end()]]
WAITS_FOR_CONTROL_C = """
open("waiting", "w").close()
try:
    time.sleep(99)
except KeyboardInterrupt:
    print("ended in its own way")
"""

FOR_EVER = """#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
atomic_int x;
int main(void) {
    FILE* file = fopen("pid", "w");
    fprintf(file, "%d", getpid());
    fclose(file);
    while (atomic_load(&x) == 0) usleep(1000);
}
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Module:
    return build_module(tmp_path_factory.mktemp("module"))


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


class TestExitCodes:
    def test_nothing_seen_is_0(self, shell: Shell) -> None:
        done = play(shell, events=CLEAN)
        assert done.returncode == 0
        assert "\n./program: nothing seen in 1 run (scheduled by the system); 10 atomic" in done.stdout

    @pytest.mark.parametrize(
        ("mode", "options", "says", "last"),
        [
            ("atomics", (), "Not watched: plain accesses", "nothing seen (plain accesses were not watched)"),
            ("atomics", (), "rebuild without `--mode atomics`", "nothing seen (plain"),
            ("atomics", (), "may show more: `--schedule pct`", "nothing seen (plain"),
            ("races", (), "Watched: atomic operations, fences and plain accesses", "nothing seen in 1 run"),
            ("races", (), "Not watched: other orders of the threads", "nothing seen in 1 run"),
            ("full", (), "They are watched under a schedule only", "nothing seen (plain accesses were not"),
            ("", (), "plain accesses unless the program was built with `--mode atomics`", "nothing seen in"),
        ],
    )
    def test_nothing_seen_says_what_was_watched(
        self, shell: Shell, mode: str, options: tuple[str, ...], says: str, last: str
    ) -> None:
        plain = {"atomics": "none", "full": "none", "races": "all"}.get(mode, "")
        told = [[end(mode=mode, plain=plain)]]
        done = play(shell, *options, events=told)
        assert done.returncode == 0
        assert says in " ".join(done.stdout.split())
        assert done.stdout.splitlines()[-1].startswith(f"./program: {last}")
        quiet = play(shell, "-q", events=told)
        assert quiet.stdout.startswith(f"./program: {last}")
        answer = json.loads(play(shell, "--json", events=told).stdout)
        assert (answer["mode"], answer["plain"]) == (mode, plain)

    def test_plain_accesses_watched_in_some_runs_are_watched_in_part(self, shell: Shell) -> None:
        told = [[end(mode="full", plain="all")], [end(mode="full", plain="none")]]
        done = play(shell, events=told)
        assert "Watched: atomic operations, fences and some plain accesses" in done.stdout
        assert done.stdout.splitlines()[-1].startswith(
            "./program: nothing seen (plain accesses were watched in part)"
        )

    def test_a_schedule_that_the_build_does_not_have_is_2(self, shell: Shell) -> None:
        """However many runs were asked for, there is one message."""
        events = [[{"event": "no-schedules"}]]
        options = ("--schedule", "random", "--runs", "5")
        done = play(shell, *options, events=events, code="sys.exit(2)")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1
        assert "a program built with --mode races has no schedules" in done.stderr

    def test_a_finding_is_1(self, shell: Shell, module: Module) -> None:
        done = play(shell, events=[[finding(module), end()]])
        assert done.returncode == 1
        assert "./program: not robust: 1 finding in 1 run" in done.stdout

    def test_a_finding_counts_more_than_the_exit_code_of_the_program(
        self, shell: Shell, module: Module
    ) -> None:
        done = play(shell, events=[[finding(module), end()]], code="sys.exit(9)")
        assert done.returncode == 1
        assert "exited with" not in done.stdout

    def test_a_deadlock_is_1(self, shell: Shell, module: Module) -> None:
        threads = [
            {
                "thread": 0,
                "name": "main",
                "blocked_on": "mutex",
                "owner": 3,
                "location": {"kind": "global", **module.place("turn")},
                "stack": [module.place("reader")],
            },
            {
                "thread": 3,
                "blocked_on": "end of a thread",
                "owner": 0,
                "stack": [module.place("writer")],
            },
            {"thread": 4, "blocked_on": "spin lock", "owner": 2, "stack": [module.place("writer")]},
            {"thread": 5, "blocked_on": "barrier", "stack": [module.place("writer")]},
        ]
        done = play(shell, events=[[{"event": "deadlock", "threads": threads}, end()]], code="sys.exit(66)")
        assert done.returncode == 1
        assert "  Main thread waits for the mutex `turn`, which thread T3 holds:\n    #0 get" in done.stdout
        assert "  Thread T3 waits for main thread to end:\n" in done.stdout
        assert "  Thread T4 waits for the spin lock, which thread T2 held when it ended:\n" in done.stdout
        assert "  Thread T5 waits for the other threads at the barrier:\n" in done.stdout
        assert "SUMMARY: fencepost: deadlock of main thread, thread T3, thread T4, thread T5" in done.stdout

    @pytest.mark.parametrize(
        ("code", "why"),
        [
            ("sys.exit(9)", "exited with code 9"),
            ("os.kill(os.getpid(), signal.SIGSEGV)", "was killed by SIGSEGV"),
        ],
    )
    def test_an_end_of_its_own_kind_is_3(self, shell: Shell, code: str, why: str) -> None:
        done = play(shell, events=CLEAN, code=code)
        assert done.returncode == 3
        assert f"The run {why}." in done.stdout
        assert f"./program: undecided: the run {why}; nothing was seen" in done.stdout

    def test_a_limit_on_time_is_3(self, shell: Shell) -> None:
        done = play(shell, "--timeout", "1", events=CLEAN, code="time.sleep(100)")
        assert done.returncode == 3
        assert "did not end within the time limit" in done.stdout

    def test_a_limit_on_steps_is_3(self, shell: Shell) -> None:
        limit = {"event": "step-limit", "steps": 500}
        done = play(shell, "--max-steps", "500", "--schedule", "pct", "--runs", "2", events=[[limit, end()]])
        assert done.returncode == 3
        assert "2 runs of 2 reached the limit of 500 scheduled steps" in done.stdout
        assert options_given(shell)[0]["steps"] == "500"

    def test_a_program_that_was_not_built_for_it_is_2(self, shell: Shell) -> None:
        done = shell.run("fencepost", "run", "true")
        assert done.returncode == 2
        assert "not built with fencepost-cc" in done.stderr
        assert done.stdout == ""

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["./none"], "./none: cannot start the program: No such file or directory"),
            (["/tmp"], "/tmp: cannot start the program: this is a directory"),
            ([], "expected a program to run"),
            (["--replay", "none.json"], "none.json: cannot read the report"),
            (["--suppressions", "none", "true"], "none: cannot read the suppressions"),
        ],
    )
    def test_wrong_input_is_2(self, shell: Shell, arguments: list[str], message: str) -> None:
        done = shell.run("fencepost", "run", *arguments)
        assert done.returncode == 2
        assert message in done.stderr
        assert "Traceback" not in done.stderr

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("./queue.c", b"", "this is a source; build it with `fencepost-cc`"),
            ("queue.cpp", b"", "this is a source; build it with `fencepost-c++`"),
            ("./queue.o", b"\x7fELF" + bytes(12) + b"\x01\x00", "this is an object file; link it with "),
            ("queue", b"", "it is not in PATH; for the file in this directory write `./queue`"),
        ],
    )
    def test_what_is_no_program_is_named(self, shell: Shell, name: str, content: bytes, message: str) -> None:
        (shell.directory / name).write_bytes(content)
        for command in ("run", "check"):
            done = shell.run("fencepost", command, name)
            assert (done.returncode, done.stdout) == (2, "")
            assert done.stderr.startswith(f"{name}: cannot start the program: {message}")


class TestRuns:
    def test_each_run_has_the_next_seed(self, shell: Shell) -> None:
        done = play(shell, "--schedule", "random", "--runs", "5", "--seed", "40", events=CLEAN)
        assert done.returncode == 0
        assert {options["seed"] for options in options_given(shell)} == {"40", "41", "42", "43", "44"}
        assert "in 5 runs (schedule random, seeds 40 to 44); 50 atomic operations" in done.stdout

    def test_pct_spreads_its_changes_over_the_length_of_the_first_run(self, shell: Shell) -> None:
        play(shell, "--schedule", "pct", "--depth", "4", "--runs", "3", events=[[end(steps=321)]])
        given = options_given(shell)
        assert [options.get("length") for options in given] == [None, "321", "321"]
        assert {options["depth"] for options in given} == {"4"}

    def test_the_users_options_come_first(self, shell: Shell) -> None:
        play(shell, events=CLEAN, FENCEPOST_OPTIONS="await_loops=0:quiet=0:max_findings=7")
        (options,) = options_given(shell)
        assert options["await_loops"] == "0"
        assert options["max_findings"] == "7"
        assert options["quiet"] == "1"

    def test_addresses_are_not_random(self, shell: Shell) -> None:
        done = play(shell, events=CLEAN, code="print(open('/proc/self/personality').read())")
        assert int(done.stdout.split()[0], 16) & 0x0040000

    def test_a_single_run_has_the_terminal(self, shell: Shell) -> None:
        shell.write("script.json", "")
        done = play(shell, events=CLEAN, code="print('out'); print('err', file=sys.stderr)")
        assert done.stdout.startswith("out\nWatched: ")
        assert done.stderr == "err\n"

    def test_several_runs_do_not_mix_their_output(self, shell: Shell) -> None:
        done = play(shell, "--runs", "3", events=CLEAN, code="print('out'); sys.exit(4)")
        assert done.returncode == 3
        assert "3 of 3 runs exited with code 4.\n  The end of what it printed:\n    out\n" in done.stdout
        assert done.stdout.count("out\n") == 1

    def test_processes_that_the_program_starts_are_watched_too(self, shell: Shell, module: Module) -> None:
        done = play(shell, events=[[end()], [finding(module), end()]])
        assert done.returncode == 1
        assert "20 atomic operations" in done.stdout

    def test_what_a_killed_program_left_is_read_as_far_as_it_goes(self, shell: Shell, module: Module) -> None:
        lines = [finding(module), {"event": "of a later version", "x": 1}, '{"event":"finding","ki']
        done = play(shell, events=[lines], code="os.kill(os.getpid(), signal.SIGKILL)")
        assert done.returncode == 1
        assert "The run was killed by SIGKILL." in done.stdout

    def test_time_is_up_for_what_the_program_started_too(self, shell: Shell) -> None:
        code = "print(os.spawnlp(os.P_NOWAIT, 'sleep', 'sleep', '100'), file=open('child', 'w'), flush=True)"
        play(shell, "--timeout", "1", events=CLEAN, code=f"{code}; time.sleep(100)")
        child = int((shell.directory / "child").read_text())
        deadline = time.monotonic() + 60
        while is_alive(child) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not is_alive(child)

    def test_control_c_ends_the_program_and_tells_what_it_found(self, shell: Shell, module: Module) -> None:
        play(shell, events=[[finding(module)]])  # writes the program
        script = {"events": [[finding(module)]], "by_seed": {}, "code": WAITS_FOR_CONTROL_C}
        shell.write("script.json", json.dumps(script))
        process = start(shell, "fencepost", "run", "./program", "script.json")
        while not (shell.directory / "waiting").exists():
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        output = answer_within(process, 60)
        assert process.returncode == 1
        assert "ended in its own way" in output
        assert "not robust: 1 finding in 1 run" in output

    def test_a_program_that_never_ends_does_not_outlive_us(self, shell: Shell) -> None:
        play(shell, events=CLEAN)  # writes the program
        code = "signal.signal(signal.SIGINT, signal.SIG_DFL); open('waiting', 'w').close(); time.sleep(99)"
        shell.write("script.json", json.dumps({"events": CLEAN, "by_seed": {}, "code": code}))
        process = start(shell, "fencepost", "run", "./program", "script.json")
        while not (shell.directory / "waiting").exists():
            time.sleep(0.05)
        process.terminate()
        answer_within(process, 60)
        assert process.returncode == 3
        assert not any(is_alive(options["pid"]) for options in options_given(shell))

    def test_control_c_ends_all_runs_and_tells_what_was_seen(self, shell: Shell, module: Module) -> None:
        play(shell, events=CLEAN)  # writes the program
        code = "time.sleep(0 if options['seed'] in ('1', '2') else 99)"
        script = {"events": CLEAN, "by_seed": {"1": [[finding(module), end()]]}, "code": code}
        shell.write("script.json", json.dumps(script))
        options = ("--schedule", "random", "--runs", "50", "-j", "3")
        process = start(shell, "fencepost", "run", *options, "./program", "script.json")
        log = shell.directory / "options.log"
        while len(log.read_text().splitlines()) < 1 + 4:  # two are over, and others have started
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        output = answer_within(process, 60)
        assert process.returncode == 1
        assert "not robust: 1 finding in 2 runs" in output
        assert not any(is_alive(options["pid"]) for options in options_given(shell))


def test_a_program_does_not_outlive_us_when_we_are_killed(shell: Shell) -> None:
    """That is the run-time library's to see to: nothing of ours is left to do it."""
    shell.write("program.c", FOR_EVER)
    shell.ok("fencepost-cc", "program.c", "-o", "program")
    process = start(shell, "fencepost", "run", "./program")
    number = shell.directory / "pid"
    while not number.exists() or not number.read_text():
        time.sleep(0.05)
    assert is_alive(int(number.read_text()))
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 60
    while is_alive(int(number.read_text())) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_alive(int(number.read_text()))


def test_a_line_on_the_terminal_shows_the_runs_after_a_second(shell: Shell) -> None:
    play(shell, events=CLEAN, code="import time; time.sleep(0.4)")  # writes the program
    terminal, end_of_program = pty.openpty()
    options = ["--schedule", "random", "--runs", "3", "-j", "1"]
    command = ["fencepost", "run", *options, "./program", "script.json"]
    environment = {**shell.environment, "TERM": "xterm"}
    done = subprocess.run(
        command,
        cwd=shell.directory,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=end_of_program,
        check=True,
    )
    os.close(end_of_program)
    shown = b""
    with contextlib.suppress(OSError):  # the end of a terminal
        while part := os.read(terminal, 4096):
            shown += part
    assert b"3/3 runs  0 seen" in shown
    assert b"./program: nothing seen in 3 runs" in done.stdout


def start(shell: Shell, *command: str) -> subprocess.Popen[str]:
    """What is started in the background ignores Ctrl-C unless it is told to heed it."""
    heeding = f"{HEED_CONTROL_C}; import os, sys; os.execvp(sys.argv[1], sys.argv[1:])"
    return subprocess.Popen(
        [sys.executable, "-c", heeding, *command],
        cwd=shell.directory,
        env=shell.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


class TestSummingUp:
    def test_the_same_finding_is_told_once(self, shell: Shell, module: Module) -> None:
        seen = [[finding(module), end()]]
        done = play(shell, "--schedule", "random", "--runs", "4", by_seed={2: seen, 3: seen}, events=CLEAN)
        assert done.stdout.count("WARNING: fencepost") == 1
        assert "Seen in 2 of 4 runs, first with `--schedule random --seed " in done.stdout

    def test_stacks_tell_findings_apart(self, shell: Shell, module: Module) -> None:
        """By their functions and lines: the same helper called from elsewhere is another finding."""
        same_line = finding(module)
        same_line["by"]["stack"][0] = module.place("reader", 1)
        elsewhere = finding(module, reader="other")
        done = play(shell, events=[[finding(module), same_line, elsewhere, end()]])
        assert "At these two lines there is 1 more finding" in done.stdout
        assert "2 findings at 1 pair of lines in 1 run" in done.stdout

    @pytest.mark.skipif(not shutil.which("llvm-symbolizer"), reason="llvm-symbolizer is not installed")
    @pytest.mark.parametrize(("ended_by", "told"), [([1], 0), ([1, 0], 1)])
    def test_a_copy_of_a_loop_that_waits_is_the_loop(
        self, shell: Shell, module: Module, ended_by: list[int], told: int
    ) -> None:
        """`get` is inlined into both. Only an old value that ends the wait would do harm."""
        doubtful = finding(module, unless_await={"at": module.place("reader", 1), "values": [0]})
        wait = {"event": "await", "at": module.place("other", 1), "ended_by": ended_by}
        elsewhere = {"event": "await", "at": module.place("writer", 1), "ended_by": []}
        done = play(shell, events=[[doubtful, wait, elsewhere, end()]])
        assert done.stdout.count("WARNING: fencepost") == told
        assert play(shell, events=[[doubtful, elsewhere, end()]]).returncode == 1
        assert play(shell, events=[[finding(module), wait, end()]]).returncode == 1

    def test_an_id_is_the_same_in_another_build(self, shell: Shell, module: Module, tmp_path: Path) -> None:
        from tests.sanitizer.fakes import SOURCE

        before = "int before(int x) { return x * x / (x + 1); }\n"
        other = build_module(tmp_path / "elsewhere", before + "#line 1\n" + SOURCE)
        assert other.symbols["reader"] != module.symbols["reader"]
        ids = set()
        for one in (module, other):
            done = play(shell, "--json", events=[[finding(one), end()]])
            ids.add(json.loads(done.stdout)["findings"][0]["id"])
        assert len(ids) == 1

    @pytest.mark.parametrize(
        ("line", "hides"),
        [
            ("robustness:reader", True),
            ("robustness:^read*", True),
            ("robustness:^eader", False),
            ("robustness:spin.c", True),
            ("robustness:flags", True),
            ("robustness:^flags$", False),
            ("race:reader", False),
        ],
    )
    def test_suppressions(self, shell: Shell, module: Module, line: str, hides: bool) -> None:
        shell.write("suppressions", f"# not these\n\n{line}\n")
        done = play(shell, "--suppressions", "suppressions", events=[[finding(module), end()]])
        assert done.returncode == (0 if hides else 1)
        assert ("1 suppressed" in done.stdout) is hides
        assert options_given(shell)[0]["suppressions"] == "/dev/null"  # the library is to tell of all

    def test_suppressions_from_the_environment(self, shell: Shell, module: Module) -> None:
        shell.write("suppressions", "robustness:reader\n")
        done = play(shell, events=[[finding(module)]], FENCEPOST_OPTIONS="suppressions=suppressions")
        assert done.returncode == 0

    def test_a_mistake_in_the_suppressions_is_shown(self, shell: Shell) -> None:
        shell.write("suppressions", "robustness:x\nrobustnes:y\n")
        done = play(shell, "--suppressions", "suppressions", events=CLEAN)
        assert done.returncode == 2
        assert done.stderr.startswith("suppressions:2:1: expected `KIND:PATTERN`")


class TestReplay:
    def report(self, shell: Shell, module: Module) -> Path:
        """Of three runs, that of seed 8 finds something."""
        events = {8: [[finding(module), end()]]}
        done = play(
            shell,
            *(
                "--schedule",
                "pct",
                "--depth",
                "2",
                "--runs",
                "3",
                "--seed",
                "7",
                "--max-steps",
                "99",
                "--json",
            ),
            by_seed=events,
            events=CLEAN,
        )
        (shell.directory / "options.log").unlink()
        return shell.write("report.json", done.stdout)

    def test_the_run_of_the_finding_is_made_again(self, shell: Shell, module: Module) -> None:
        self.report(shell, module)
        done = shell.run("fencepost", "run", "--replay", "report.json")
        assert done.returncode == 1
        assert "not robust: 1 finding in 1 run (replayed from the report)" in done.stdout
        (options,) = options_given(shell)
        assert options["seed"] == "8"
        assert options["depth"] == "2"
        assert options["length"] == "20"
        assert options["steps"] == "99"
        assert (shell.directory / "replayed.log").read_text() == "turns of seed 8\n"

    def test_a_finding_that_does_not_come_again_is_no_answer(self, shell: Shell, module: Module) -> None:
        self.report(shell, module)
        shell.write("script.json", json.dumps({"events": CLEAN, "by_seed": {}, "code": ""}))
        done = shell.run("fencepost", "run", "--replay", "report.json")
        assert done.returncode == 3
        assert "what the report says was not seen again" in done.stdout

    def test_another_program_can_be_given(self, shell: Shell, module: Module) -> None:
        self.report(shell, module)
        done = shell.run("fencepost", "run", "--replay", "report.json", "./none")
        assert "./none: cannot start the program" in done.stderr

    @pytest.mark.parametrize("text", ["", "{}", '{"verdict":"robust"}', "\x00", '{"verdict":"not-seen"}'])
    def test_what_is_no_report_is_refused(self, shell: Shell, text: str) -> None:
        shell.write("report.json", text)
        done = shell.run("fencepost", "run", "--replay", "report.json")
        assert done.returncode == 2
        assert "report.json: this is no report" in done.stderr

    def test_damaged_decisions_are_refused(self, shell: Shell, module: Module) -> None:
        report = json.loads(self.report(shell, module).read_text())
        report["findings"][0]["schedule"]["decisions"] = "AAAA"
        shell.write("report.json", json.dumps(report))
        done = shell.run("fencepost", "run", "--replay", "report.json")
        assert done.returncode == 2
        assert "the decisions of seed 8 are damaged" in done.stderr

    def test_decisions_that_become_very_many_are_refused(
        self, shell: Shell, module: Module, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A few bytes of a compressed file may stand for all of the memory."""
        monkeypatch.setattr(replay, "MOST_DECISIONS", 3 << 20)
        report = json.loads(self.report(shell, module).read_text())
        for size, message in (((3 << 20) + 1, "more than 3 MB together"), (3 << 20, None), (0, None)):
            packed = zlib.compress(b"0" * size, 9)
            report["findings"][0]["schedule"]["decisions"] = base64.b64encode(packed).decode()
            path = shell.write("report.json", json.dumps(report))
            if message is None:
                assert replay.read_report(str(path)).ids
            else:
                with pytest.raises(InputError, match=message):
                    replay.read_report(str(path))

    def test_a_report_without_findings_has_nothing_to_show_again(self, shell: Shell) -> None:
        shell.write("report.json", play(shell, "--json", events=CLEAN).stdout)
        done = shell.run("fencepost", "run", "--replay", "report.json")
        assert done.returncode == 2
        assert "the report has no finding" in done.stderr


ENDS_IN_SOME_WAY = """#include <fencepost.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
atomic_int x, y;
static int runs;
static void* one(void* _) { atomic_store(&x, 1); atomic_load_explicit(&y, 0); return malloc(100); }
static void* two(void* _) { atomic_store(&y, 1); atomic_load_explicit(&x, 0); return malloc(200); }
int main(int count, char** words) {
    pthread_t p, q;
    pthread_create(&p, 0, one, 0);
    pthread_create(&q, 0, two, 0);
    pthread_join(p, 0);
    pthread_join(q, 0);
    printf("printed %d\\n", ++runs);
    fflush(stdout);
    char const* way = words[count - 1];
    int chosen = fp_choose(4) == 3;
    if (!strcmp(way, "crash") && chosen) abort();
    if (!strcmp(way, "file")) fclose(fopen("/dev/null", "w"));
    if (!strcmp(way, "fork") && fork() == 0) _exit(0);
    if (!strcmp(way, "fork")) wait(NULL);
    if (!strcmp(way, "quick")) quick_exit(chosen);
    if (!strcmp(way, "abrupt")) _exit(chosen);
    if (!strcmp(way, "hang") && chosen) for (int volatile i = 0;;) i = i + 1;
    if (!strcmp(way, "lock") && chosen) {
        pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
        pthread_mutex_lock(&m);
        pthread_mutex_lock(&m);
    }
    return chosen ? 7 : 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shell = Shell(tmp_path_factory.mktemp("series"))
    shell.write("many.c", ENDS_IN_SOME_WAY)
    shell.ok("fencepost-cc", "-O2", "-g", "many.c", "-o", "many")
    return shell.directory / "many"


class TestSeries:
    """Runs that differ in their seeds alone are made in one process, or forked, where that is possible."""

    @staticmethod
    def answer(shell: Shell, options: Sequence[str | Path], restart: str = "auto") -> RunAnswer:
        command = ("fencepost", "run", "--schedule", "random", "--json", *map(str, options))
        done = shell.run(*command, FENCEPOST_OPTIONS=f"restart={restart}")
        return msgspec.json.decode(done.stdout, type=RunAnswer)

    @staticmethod
    def shown(answer: RunAnswer) -> Counter[str]:
        """In how many runs which finding, deadlock or trouble was seen."""
        counted = Counter({f"{kind.id} {kind.could}": kind.runs for kind in answer.findings})
        counted.update({str(kind.threads): kind.runs for kind in answer.deadlocks})
        counted.update({kind.why: kind.runs for kind in answer.troubles})
        return counted

    @pytest.mark.parametrize("way", ["", "crash", "file", "fork", "quick", "abrupt", "lock"])
    def test_its_runs_are_those_of_processes_of_their_own(
        self, shell: Shell, program: Path, way: str
    ) -> None:
        """Up to seven runs have processes of their own."""
        command = (program, *([way] if way else []))
        alone = [self.answer(shell, ("--runs", "7", "--seed", seed, *command)) for seed in ("1", "8")]
        for restart in ("auto", "fork"):
            answer = self.answer(shell, ("--runs", "14", *command), restart)
            assert answer.runs == 14
            assert answer.steps == sum(some.steps for some in alone)
            assert answer.atomics == sum(some.atomics for some in alone)
            assert self.shown(answer) == sum((self.shown(some) for some in alone), Counter())
            assert self.shown(answer)
            assert all(trouble.output == "printed 1\n" for trouble in answer.troubles)

    def test_only_runs_that_take_too_long_are_stopped(self, shell: Shell, program: Path) -> None:
        answer = self.answer(shell, ("--runs", "12", "--timeout", "1.5", program, "hang"))
        assert answer.runs == 12
        assert [trouble.why for trouble in answer.troubles] == [
            "did not end within the time limit of 1.5 s (`--timeout`)"
        ]
        assert 0 < answer.troubles[0].runs < 12
        assert answer.troubles[0].output == "printed 1\n"

    def test_a_report_of_it_is_replayed(self, shell: Shell, program: Path) -> None:
        """A replay makes as many threads before the program begins, so that addresses are the same."""
        done = shell.run("fencepost", "run", "--schedule", "random", "--runs", "20", "--json", str(program))
        shell.write("report.json", done.stdout)
        answer = msgspec.json.decode(done.stdout, type=RunAnswer)
        again = shell.run("fencepost", "run", "--replay", "report.json", "--json", str(program))
        replayed = msgspec.json.decode(again.stdout, type=RunAnswer)
        assert {(one.id, one.could, one.step) for one in replayed.findings} == {
            (one.id, one.could, one.step) for one in answer.findings
        }
