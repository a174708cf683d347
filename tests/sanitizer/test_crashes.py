"""A program that comes to a bad end, or to one without the handlers of `exit`: what was found is told before,
and the end is the one that it would have been without the sanitizer."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.sanitizer.building import Shell, Toolchain, with_each_compiler

# Store buffering in a fixed order. The load might turn out to be a round of a loop that waits, so it is
# reported only when the program ends.
PROGRAM = """\
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
atomic_int x, y;
static volatile int turn;
static int* volatile nowhere;
static void* first(void* unused) {
    atomic_store_explicit(&x, 1, memory_order_release);
    atomic_load_explicit(&y, memory_order_acquire);
    turn = 1;
    return unused;
}
static void* second(void* unused) {
    while (turn == 0) usleep(100);
    atomic_store_explicit(&y, 1, memory_order_release);
    atomic_load_explicit(&x, memory_order_acquire);
    return unused;
}
static void own(int number) { signal(number, SIG_DFL); raise(number); }
static void last_word(void) { if (write(1, "handler", 7) != 7) abort(); }
static void in_child(void) {
    int status;
    pid_t const child = fork();
    if (child == 0) *nowhere = 1;
    exit(waitpid(child, &status, 0) == child && WTERMSIG(status) == SIGSEGV ? 5 : 6);
}
static void end(char const* how) {
    int const zero = (int)(size_t)nowhere;
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "assert")) assert(how == NULL);
    if (!strcmp(how, "fault")) *nowhere = 1;
    if (!strcmp(how, "divide")) turn /= zero;
    if (!strcmp(how, "trap")) __builtin_trap();
    if (!strcmp(how, "terminate")) kill(getpid(), SIGTERM);
    if (!strcmp(how, "interrupt")) signal(SIGINT, SIG_DFL), raise(SIGINT);  // background jobs ignore it
    if (!strcmp(how, "pipe")) { int ends[2]; if (pipe(ends) == 0) close(ends[0]), write(ends[1], "", 1); }
    if (!strcmp(how, "handler")) signal(SIGSEGV, own), *nowhere = 1;
    if (!strcmp(how, "group")) syscall(SYS_exit_group, 5);
    if (!strcmp(how, "quick")) at_quick_exit(last_word), quick_exit(5);
    if (!strcmp(how, "at once")) _exit(5);
    if (!strcmp(how, "child")) in_child();
    pause();
}
int main(int count, char** words) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    end(count > 1 ? words[1] : "");
}
"""

# How it ends, with which exit code (a negative one is a signal), and what it says.
ENDS = {
    "abort": -signal.SIGABRT,
    "assert": -signal.SIGABRT,
    "fault": -signal.SIGSEGV,
    "divide": -signal.SIGFPE,
    "trap": -signal.SIGILL,
    "terminate": -signal.SIGTERM,
    "interrupt": -signal.SIGINT,
    "pipe": -signal.SIGPIPE,
    "handler": -signal.SIGSEGV,
    "group": 5,
    "quick": 5,
    "at once": 5,
    "child": 5,
}

# What a program finds when it asks for the action of a signal, and what it sets is what it gets.
ACTIONS = """\
#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
atomic_int seen;
static void note(int number) { (void)number; atomic_fetch_add(&seen, 1); }
int main(void) {
    struct sigaction action = {0}, old;
    assert(sigaction(SIGTERM, 0, &old) == 0 && old.sa_handler == SIG_DFL && old.sa_flags == 0);
    assert(signal(SIGTERM, note) == SIG_DFL);
    raise(SIGTERM);
    assert(atomic_load(&seen) == 1);
    assert(signal(SIGTERM, SIG_IGN) == (ONCE ? SIG_DFL : note));
    raise(SIGTERM);
    action.sa_flags = SA_NODEFER;
    assert(sigaction(SIGTERM, &action, &old) == 0 && old.sa_handler == SIG_IGN);
    assert(sigaction(SIGTERM, 0, &old) == 0 && old.sa_handler == SIG_DFL && old.sa_flags == SA_NODEFER);
    action.sa_handler = note;
    action.sa_flags = SA_RESETHAND;
    assert(sigaction(SIGABRT, &action, 0) == 0);
    raise(SIGABRT);
    assert(sigaction(SIGABRT, 0, &old) == 0 && old.sa_handler == SIG_DFL);
    assert(sigaction(SIGKILL, &action, 0) == -1);
    return 0;
}
"""


def events(shell: Shell) -> list[str]:
    """What all processes of a program have told; the files are gone then."""
    told = []
    for file in sorted(shell.directory.glob("*.json")):
        told += [json.loads(line)["event"] for line in file.read_text(encoding="utf-8").splitlines()]
        file.unlink()
    return told


@with_each_compiler
@pytest.mark.parametrize("schedule", ["os", "random"])
def test_what_was_found_is_told_before_the_end(tmp_path: Path, toolchain: Toolchain, schedule: str) -> None:
    shell = Shell(tmp_path, toolchain)
    shell.write("program.c", PROGRAM)
    shell.ok("fencepost-cc", "-O1", "-Wno-unused-result", "program.c", "-o", "program")
    for how, code in ENDS.items():
        options = f"json=%p.json:quiet=1:exitcode=0:schedule={schedule}"
        done = shell.run("./program", how, FENCEPOST_OPTIONS=options)
        assert done.returncode == code, how
        assert events(shell) == ["finding", "end"] + ["end"] * (how == "child"), how
        assert done.stdout == ("handler" if how == "quick" else ""), how


@with_each_compiler
def test_a_report_in_text_comes_before_the_crash(tmp_path: Path, toolchain: Toolchain) -> None:
    shell = Shell(tmp_path, toolchain)
    shell.write("program.c", PROGRAM)
    shell.ok("fencepost-cc", "-O1", "-Wno-unused-result", "program.c", "-o", "program")
    done = shell.run("./program", "fault")
    assert done.returncode == -signal.SIGSEGV
    assert "WARNING: fencepost: not robust" in done.stderr
    assert "reported 1 warning" in done.stderr


@with_each_compiler
def test_a_crash_in_mode_races(tmp_path: Path, toolchain: Toolchain) -> None:
    """ThreadSanitizer reports a fault itself, and ends the program with an exit code."""
    shell = Shell(tmp_path, toolchain)
    shell.write("program.c", PROGRAM)
    shell.ok("fencepost-cc", "--mode", "races", "-Wno-unused-result", "program.c", "-o", "program")
    for how in ("abort", "assert", "fault", "terminate", "quick"):
        done = shell.run(
            "setarch",
            "-R",
            "./program",
            how,
            FENCEPOST_OPTIONS="json=%p.json:quiet=1:exitcode=0",
            TSAN_OPTIONS="report_bugs=0",
        )
        assert done.returncode == (66 if how == "fault" else ENDS[how]), (how, done.stderr)
        assert events(shell) == ["finding", "end"], how


@with_each_compiler
@pytest.mark.parametrize("mode", ["atomics", "races"])
def test_the_program_sees_no_handlers_but_its_own(tmp_path: Path, toolchain: Toolchain, mode: str) -> None:
    shell = Shell(tmp_path, toolchain)
    for standard in ("gnu11", "c11"):  # `signal` is another function in the second, and holds only once
        once = standard == "c11"
        head = f"#define _XOPEN_SOURCE 700\n#define ONCE {int(once)}\n" if once else "#define ONCE 0\n"
        shell.write("program.c", head + ACTIONS)
        shell.ok("fencepost-cc", f"-std={standard}", "--mode", mode, "program.c", "-o", "program")
        shell.ok("setarch", "-R", "./program")


@with_each_compiler
def test_a_run_that_is_stopped_tells_what_it_has_found(tmp_path: Path, toolchain: Toolchain) -> None:
    shell = Shell(tmp_path, toolchain)
    shell.write("program.c", PROGRAM)
    shell.ok("fencepost-cc", "-O1", "-Wno-unused-result", "program.c", "-o", "program")
    done = shell.run("fencepost", "run", "--timeout", "2", "--json", "./program", "waits")
    answer = json.loads(done.stdout)
    assert answer["verdict"] == "not-robust"
    assert [trouble["why"] for trouble in answer["troubles"]] == ["did not end within the time limit"]
