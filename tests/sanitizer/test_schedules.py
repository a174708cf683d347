"""Schedules: one thread at a time, decided by a seed, repeatable, and every way to block is known to them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.sanitizer.building import INSTALLED, PROGRAMS, Shell, Toolchain, with_each_compiler

C_HEAD = """\
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fenv.h>
#include <fencepost.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static pthread_t threads[64];
static void start(int i, void *(*body)(void *)) {
    assert(!pthread_create(&threads[i], 0, body, (void *)(long)i));
}
static void join(int i) { assert(!pthread_join(threads[i], 0)); }
static atomic_int clock_hand;
static void step(void) { atomic_fetch_add(&clock_hand, 1); }
static void steps(int n) { while (n-- > 0) step(); }
static int order[4096];
static atomic_int ordered;
static void note(int what) { order[atomic_fetch_add(&ordered, 1)] = what; }
static void print_order(void) {
    for (int i = 0; i < ordered; i++) printf("%d ", order[i]);
    printf("\\n");
}
"""

# Four threads take turns as the schedule wants.
RACE = """
static void *body(void *number) {
    for (int i = 0; i < 10; i++) note((int)(long)number);
    return 0;
}
int main(void) {
    for (int i = 0; i < 4; i++) start(i, body);
    for (int i = 0; i < 4; i++) join(i);
    print_order();
    return 0;
}
"""

INVERSION = """
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void both(pthread_mutex_t *first, pthread_mutex_t *second) {
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}
static void *forwards(void *unused) { return both(&a, &b), unused; }
static void *backwards(void *unused) { return both(&b, &a), unused; }
int main(void) {
    start(0, forwards);
    start(1, backwards);
    join(0);
    join(1);
    return 0;
}
"""


class Ran(NamedTuple):
    """How a program ended under a schedule, and what its library told."""

    code: int
    output: str
    errors: str
    events: list[dict[str, Any]]
    decisions: str

    def event(self, name: str) -> dict[str, Any]:
        found = [event for event in self.events if event["event"] == name]
        assert len(found) == 1, f"{len(found)} events {name} in {self}"
        return found[0]


class Program:
    """A compiled program that can be run under schedules."""

    def __init__(self, shell: Shell, name: str) -> None:
        self._shell = shell
        self._name = name

    def run(self, schedule: str, seed: int = 1, **more: str | int | Path) -> Ran:
        events = self._shell.directory / f"{self._name}.jsonl"
        decisions = self._shell.directory / f"{self._name}.decisions"
        options = {
            "schedule": schedule,
            "seed": seed,
            "steps": 200_000,
            "json": events,
            "decisions": decisions,
            "exitcode": 0,
            "quiet": 1,
            **more,
        }
        joined = ":".join(f"{name}={value}" for name, value in options.items())
        done = self._shell.run(f"./{self._name}", FENCEPOST_OPTIONS=joined)
        told = [json.loads(line) for line in events.read_text(encoding="utf-8").splitlines()]
        return Ran(done.returncode, done.stdout, done.stderr, told, decisions.read_text(encoding="utf-8"))

    def ok(self, schedule: str, seed: int = 1, **more: str | int | Path) -> Ran:
        ran = self.run(schedule, seed, **more)
        assert (ran.code, ran.errors) == (0, ""), ran
        return ran

    def keep(self, ran: Ran) -> Path:
        """The decisions of a run, in a file of their own."""
        return self._shell.write("kept.decisions", ran.decisions)


Build = Callable[..., Program]


@pytest.fixture
def toolchain() -> Toolchain:
    return INSTALLED[0]


@pytest.fixture
def build(tmp_path: Path, toolchain: Toolchain) -> Build:
    shell = Shell(tmp_path, toolchain)

    def compile_program(text: str, name: str = "program", *, cxx: bool = False) -> Program:
        source = shell.write(f"{name}.cpp" if cxx else f"{name}.c", text if cxx else C_HEAD + text)
        compiler = ["fencepost-c++", "-std=c++20"] if cxx else ["fencepost-cc", "-std=gnu11"]
        shell.ok(*compiler, "-O1", "-w", "-pthread", source, "-o", name, "-lm")
        return Program(shell, name)

    return compile_program


both_kinds = pytest.mark.parametrize("schedule", ["random", "pct"])


@with_each_compiler
@both_kinds
def test_the_same_seed_gives_the_same_run(build: Build, schedule: str) -> None:
    program = build(RACE)
    for seed in range(1, 6):
        first, second = program.ok(schedule, seed), program.ok(schedule, seed)
        assert (first.output, first.decisions) == (second.output, second.decisions)


@pytest.mark.parametrize(("schedule", "distinct"), [("random", 30), ("pct", 10)])
def test_different_seeds_give_different_runs(build: Build, schedule: str, distinct: int) -> None:
    program = build(RACE)
    assert len({program.ok(schedule, seed).output for seed in range(30)}) >= distinct


@both_kinds
def test_a_replay_repeats_the_run_whatever_the_seed(build: Build, schedule: str) -> None:
    program = build(RACE)
    first = program.ok(schedule, 3)
    again = program.ok("random", 99, replay=program.keep(first))
    assert (again.output, again.decisions) == (first.output, first.decisions)


def test_a_replay_repeats_chance_and_time_too(build: Build) -> None:
    program = build("""
int main(void) {
    unsigned char bytes[4];
    struct timespec now;
    getrandom(bytes, sizeof bytes, 0);
    clock_gettime(CLOCK_REALTIME, &now);
    printf("%d %d %ld.%09ld\\n", fp_choose(1000), bytes[0], now.tv_sec, now.tv_nsec);
    return 0;
}
""")
    first = program.ok("random", 3)
    assert program.ok("pct", 4, replay=program.keep(first)).output == first.output
    assert program.ok("random", 4).output != first.output


def test_a_replay_of_another_program_says_so_and_goes_on(build: Build) -> None:
    race = build(RACE)
    decisions = race.keep(race.ok("random", 3))
    ran = build(INVERSION, "other").run("random", 1, replay=decisions)
    assert "has left the recorded schedule" in ran.errors


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1\n", "kept.decisions:1: expected `fencepost decisions 1`"),
        ("fencepost decisions 1\nseed x\n", "kept.decisions:2: expected"),
        ("fencepost decisions 1\nseed 1\n0 1\n0 -1\n", "kept.decisions:4: expected a thread number"),
    ],
)
def test_a_file_that_is_not_one_of_decisions_is_refused(build: Build, text: str, message: str) -> None:
    program = build(RACE)
    ran = program.run("random", 1)
    ran = program.run("random", 1, replay=program.keep(ran._replace(decisions=text)), steps=100_000)
    assert ran.code != 0
    assert message in ran.errors


def test_threads_that_lock_in_opposite_order_are_a_deadlock(build: Build) -> None:
    program = build(INVERSION)
    for seed in range(100):
        ran = program.run("random", seed)
        if ran.code != 0:
            break
    blocked = {thread["thread"]: thread for thread in ran.event("deadlock")["threads"]}
    assert {number: thread["blocked_on"] for number, thread in blocked.items()} == {
        0: "end of a thread",
        1: "mutex",
        2: "mutex",
    }
    assert (blocked[1]["owner"], blocked[2]["owner"]) == (2, 1)
    assert all(thread["stack"] for thread in blocked.values())
    assert program.run("pct", 1, replay=program.keep(ran)).event("deadlock") == ran.event("deadlock")


@both_kinds
@pytest.mark.parametrize(
    "wait",
    {
        "a signal that came before the wait": "pthread_mutex_lock(&m); pthread_cond_wait(&c, &m);",
        "a mutex that the thread has": "pthread_mutex_lock(&m); pthread_mutex_lock(&m);",
        "a semaphore that nobody posts": "sem_wait(&s);",
        "a barrier that nobody else reaches": "pthread_barrier_wait(&b);",
        "a value that nobody writes": "fp_wait(&x, 1, memory_order_acquire);",
    }.items(),
    ids=lambda item: item[0],
)
def test_a_wait_that_nothing_can_end_is_a_deadlock(
    build: Build, schedule: str, wait: tuple[str, str]
) -> None:
    """The others end while one thread waits; it is the last of them that finds nobody to go on."""
    program = build(f"""
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t b;
static sem_t s;
static atomic_int x;
static void *waits(void *unused) {{ {wait[1]} return unused; }}
static void *ends(void *unused) {{ steps(5); return unused; }}
int main(void) {{
    sem_init(&s, 0, 0);
    pthread_barrier_init(&b, 0, 2);
    pthread_cond_signal(&c);
    for (int i = 0; i < 3; i++) start(i, i ? ends : waits);
    for (int i = 3; i-- > 0;) join(i);
    return 0;
}}
""")
    for seed in range(1, 6):
        told = program.run(schedule, seed).event("deadlock")["threads"]
        assert [thread["thread"] for thread in told] == [0, 1]


@both_kinds
def test_loops_that_spin_do_not_starve_the_others(build: Build, schedule: str) -> None:
    program = build("""
static atomic_int flag, lock, counted, tickets, served;
static void acquire(void) { while (atomic_exchange(&lock, 1)) {} }
static void release(void) { atomic_store(&lock, 0); }
static int raised(void) { return atomic_load_explicit(&flag, memory_order_relaxed); }
static void *on_flag(void *unused) { while (!raised()) {} return unused; }
static void *on_flag_politely(void *unused) { while (!raised()) sched_yield(); return unused; }
static void *counting(void *unused) { while (!raised()) atomic_fetch_add(&counted, 1); return unused; }
static void *by_exchange(void *unused) {
    for (int i = 0; i < 5; i++) { acquire(); release(); }
    return unused;
}
static void *by_ticket(void *unused) {
    for (int i = 0; i < 5; i++) {
        int const mine = atomic_fetch_add(&tickets, 1);
        while (atomic_load(&served) != mine) {}
        atomic_fetch_add(&served, 1);
    }
    return unused;
}
static void *raise_flag(void *unused) { steps(20); atomic_store(&flag, 1); return unused; }
int main(void) {
    void *(*bodies[])(void *) = {on_flag, on_flag_politely, counting, by_exchange, by_exchange,
                                 by_ticket, by_ticket, raise_flag};
    for (int i = 0; i < 8; i++) start(i, bodies[i]);
    for (int i = 0; i < 8; i++) join(i);
    return 0;
}
""")
    for seed in range(20):
        program.ok(schedule, seed)


def test_a_loop_without_end_is_given_up_at_the_limit_of_steps(build: Build) -> None:
    ran = build("int main(void) { for (;;) step(); }").run("random", steps=5000)
    assert ran.event("step-limit")["steps"] == 5000


@both_kinds
def test_condition_variables_hand_over_every_item(build: Build, schedule: str) -> None:
    program = build("""
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static int items, taken;
static void *produce(void *unused) {
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&m);
        while (items == 2) pthread_cond_wait(&emptied, &m);
        items++;
        pthread_mutex_unlock(&m);
        pthread_cond_signal(&filled);
    }
    return unused;
}
static void *consume(void *number) {
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&m);
        while (items == 0) pthread_cond_wait(&filled, &m);
        items--, taken++;
        note((int)(long)number);
        pthread_mutex_unlock(&m);
        pthread_cond_signal(&emptied);
    }
    return 0;
}
int main(void) {
    for (int i = 0; i < 6; i++) start(i, i % 2 ? consume : produce);
    for (int i = 0; i < 6; i++) join(i);
    assert(items == 0 && taken == 60);
    print_order();
    return 0;
}
""")
    assert len({program.ok(schedule, seed).output for seed in range(20)}) >= 8


@both_kinds
def test_sleeps_and_timed_waits_take_the_schedules_time(build: Build, schedule: str) -> None:
    """An hour passes at once, in the order of the clock, and not before it must."""
    program = build("""
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t s;
static struct timespec in_seconds(int seconds) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += seconds;
    return until;
}
static void *sleeps(void *unused) { sleep(3000); note(3); return unused; }
static void *naps(void *unused) { usleep(1000); note(1); return unused; }
static void *waits(void *unused) {
    struct timespec until = in_seconds(2000);
    pthread_mutex_lock(&m);
    assert(pthread_cond_timedwait(&c, &m, &until) == ETIMEDOUT);
    pthread_mutex_unlock(&m);
    note(2);
    return unused;
}
static void *is_posted(void *unused) {
    struct timespec until = in_seconds(3600);
    assert(sem_timedwait(&s, &until) == 0);
    note(4);
    return unused;
}
int main(void) {
    void *(*bodies[])(void *) = {sleeps, waits, naps, is_posted};
    struct timespec before, after;
    sem_init(&s, 0, 0);
    clock_gettime(CLOCK_MONOTONIC, &before);
    for (int i = 0; i < 4; i++) start(i, bodies[i]);
    join(0);
    sem_post(&s);
    for (int i = 1; i < 4; i++) join(i);
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert(after.tv_sec - before.tv_sec >= 2999 && after.tv_sec - before.tv_sec < 3600);
    print_order();
    return 0;
}
""")
    for seed in range(5):
        assert program.ok(schedule, seed).output == "1 2 3 4 \n"


def test_sixty_four_threads(build: Build) -> None:
    program = build("""
static void *body(void *number) { steps(50); note((int)(long)number); return 0; }
int main(void) {
    for (int i = 0; i < 64; i++) start(i, body);
    for (int i = 0; i < 64; i++) join(i);
    assert(clock_hand == 64 * 50);
    print_order();
    return 0;
}
""")
    by_seed = [program.ok("random", seed) for seed in (1, 1, 2)]
    assert by_seed[0].output == by_seed[1].output != by_seed[2].output
    assert len(by_seed[0].output.split()) == 64


def test_thread_local_destructors_run_under_the_schedule(build: Build) -> None:
    """Of C++, and of keys in several rounds; another thread can run in the middle of one."""
    program = build(
        """
#include <atomic>
#include <cstdio>
#include <pthread.h>
#include <thread>
std::atomic<int> place;
int order[256];
void note(int what) { order[place.fetch_add(1)] = what; }
struct Local {
    int number = 0;
    ~Local() { note(10 + number), note(20 + number); }
};
thread_local Local local;
pthread_key_t key;
void in_rounds(void *number) {
    note(30 + static_cast<int *>(number)[0]);
    static thread_local int rounds = 3;
    if (--rounds > 0) pthread_setspecific(key, number);
}
int main() {
    static int numbers[] = {0, 1, 2, 3};
    pthread_key_create(&key, in_rounds);
    auto body = [](int number) {
        local.number = number;
        pthread_setspecific(key, &numbers[number]);
        note(number);
    };
    std::thread a(body, 0), b(body, 1), c(body, 2), d(body, 3);
    a.join(), b.join(), c.join(), d.join();
    for (int i = 0; i < place; i++) std::printf("%d ", order[i]);
}
""",
        cxx=True,
    )
    expected = sorted(n + 10 * kind for n in range(4) for kind in (0, 1, 2, 3, 3, 3))
    interleaved = False
    for seed in range(20):
        notes = [int(word) for word in program.ok("random", seed).output.split()]
        assert sorted(notes) == expected
        destructors = [note for note in notes if 10 <= note < 30]
        interleaved |= any(b - a != 10 for a, b in zip(destructors[::2], destructors[1::2], strict=True))
    assert interleaved


def test_detached_threads_and_a_main_that_ends_first(build: Build) -> None:
    program = build("""
static atomic_int running;
static void *body(void *unused) {
    steps(10);
    if (atomic_fetch_sub(&running, 1) == 1) { puts("last"); exit(7); }
    return unused;
}
int main(void) {
    running = 20;
    for (int i = 0; i < 20; i++) {
        start(i, body);
        pthread_detach(threads[i]);
    }
    pthread_exit(0);
}
""")
    for switch in ("auto", "futex"):
        for seed in range(5):
            ran = program.run("random", seed, switch=switch)
            assert (ran.code, ran.output) == (7, "last\n")


EVERYTHING = (PROGRAMS / "single/every_wait.cpp").read_text(encoding="utf-8")


@with_each_compiler
@both_kinds
def test_futexes_and_user_space_decide_alike(build: Build, schedule: str) -> None:
    """A program with every kind of waiting: the way of switching changes nothing, nor does a replay."""
    program = build(EVERYTHING, cxx=True)
    outputs = set()
    for seed in range(1, 6):
        user, futex = program.ok(schedule, seed), program.ok(schedule, seed, switch="futex")
        assert (user.output, user.decisions) == (futex.output, futex.decisions)
        again = program.ok(schedule, 99, replay=program.keep(user))
        assert (again.output, again.decisions) == (user.output, user.decisions)
        outputs.add(user.output)
    assert len(outputs) == 5


def test_each_thread_keeps_its_own_identity(build: Build) -> None:
    """Thread-local variables, errno, rounding mode, handle, kernel's number, and registers."""
    program = build("""
static _Thread_local int mine;
static void *body(void *argument) {
    int const number = (int)(long)argument;
    double const third = number % 2 ? 0x1.5555555555556p-2 : 0x1.5555555555555p-2;
    volatile double one = 1, three = 3;
    pid_t const tid = gettid();
    mine = errno = number;
    fesetround(number % 2 ? FE_UPWARD : FE_DOWNWARD);
    for (int i = 0; i < 100; i++) {
        step();
        assert(mine == number && errno == number && one / three == third);
        assert(pthread_equal(pthread_self(), threads[number]) && gettid() == tid);
    }
    return 0;
}
int main(void) {
    for (int i = 0; i < 8; i++) start(i, body);
    for (int i = 0; i < 8; i++) join(i);
    assert(gettid() == getpid() && fegetround() == FE_TONEAREST);
    return 0;
}
""")
    for seed in range(5):
        program.ok("random", seed)


SIGNALS = (PROGRAMS / "single/signals.c").read_text(encoding="utf-8")

CANCELLATION = (PROGRAMS / "single/cancellation.c").read_text(encoding="utf-8")


@pytest.mark.parametrize("switch", ["auto", "futex"])
@both_kinds
def test_signals_to_threads_are_handled_by_them(build: Build, schedule: str, switch: str) -> None:
    program = build(SIGNALS)
    for seed in range(10):
        program.ok(schedule, seed, switch=switch)


@pytest.mark.parametrize("switch", ["auto", "futex"])
def test_cancelled_threads_leave_what_they_wait_for(build: Build, switch: str) -> None:
    program = build(CANCELLATION)
    for seed in range(10):
        assert program.ok("random", seed, switch=switch).output == "2 1 \n"


def test_a_thread_that_the_schedule_does_not_know_can_end_a_wait(build: Build) -> None:
    """The C library makes a thread for a timer by itself."""
    program = build("""
static sem_t s;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int rung;
static void ring(union sigval unused) {
    sem_post(&s);
    pthread_mutex_lock(&m);
    rung = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
}
static void *waits(void *unused) {
    pthread_mutex_lock(&m);
    while (!rung) pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return unused;
}
int main(void) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = ring};
    struct itimerspec soon = {.it_value = {.tv_nsec = 1000000}};
    timer_t timer;
    sem_init(&s, 0, 0);
    start(0, waits);
    assert(!timer_create(CLOCK_MONOTONIC, &event, &timer) && !timer_settime(timer, 0, &soon, 0));
    assert(!sem_wait(&s));
    join(0);
    return 0;
}
""")
    for seed in range(5):
        program.ok("random", seed)


def test_the_child_of_a_fork_has_a_schedule_of_its_own(build: Build) -> None:
    program = build("""
static void *body(void *unused) { steps(20); return unused; }
int main(void) {
    int status;
    start(0, body), start(1, body);
    steps(5);
    pid_t const child = fork();
    if (child == 0) {
        start(2, body), start(3, body);
        join(2), join(3);
        exit(5);
    }
    assert(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 5);
    join(0), join(1);
    return 3;
}
""")
    for switch in ("auto", "futex"):
        for seed in range(5):
            assert program.run("random", seed, switch=switch).code == 3


# The end is reached only if one thread makes a hundred steps and the other none.
UNLIKELY = """
static atomic_int written;
static void *reader(void *unused) {
    for (int i = 0; i < 50; i++) {
        step();
        if (atomic_load(&written)) return unused;
    }
    exit(9);
}
static void *writer(void *unused) { atomic_store(&written, 1); return unused; }
int main(void) {
    start(0, writer), start(1, reader);
    join(0), join(1);
    return 0;
}
"""

# The value is seen only if a thread is interrupted in a window of fifty steps out of five hundred.
WINDOW = """
static atomic_int open;
static void *opens(void *unused) {
    steps(400);
    atomic_store(&open, 1), steps(50), atomic_store(&open, 0);
    steps(50);
    return unused;
}
static void *looks(void *unused) { if (atomic_load(&open)) exit(9); return unused; }
int main(void) {
    start(0, opens), start(1, looks);
    join(0), join(1);
    return 0;
}
"""


def times_found(program: Program, schedule: str, runs: int, **more: int) -> int:
    return sum(program.run(schedule, seed, **more).code == 9 for seed in range(runs))


def test_pct_lets_one_thread_run_far_ahead(build: Build) -> None:
    program = build(UNLIKELY)
    assert times_found(program, "pct", 30) >= 3
    assert times_found(program, "random", 30) == 0


def test_pct_interrupts_anywhere_in_the_length_it_is_told(build: Build) -> None:
    program = build(WINDOW)
    assert times_found(program, "pct", 200, depth=2, length=500) >= 2
    assert times_found(program, "pct", 20, depth=1, length=500) == 0


@pytest.mark.parametrize("end", ["abort()", "raise(SIGKILL)", "exit(3)", "_exit(3)"])
def test_an_end_in_a_thread_leaves_the_decisions_so_far(build: Build, end: str) -> None:
    program = build(f"""
#include <signal.h>
static void *body(void *unused) {{ steps(10); {end}; return unused; }}
int main(void) {{
    start(0, body), start(1, body);
    join(0);
    return 0;
}}
""")
    crashed = program.run("random", 4)
    assert crashed.code != 0
    decisions = crashed.decisions.rstrip("\0")
    again = program.run("random", 99, replay=program.keep(crashed))
    assert len(decisions.splitlines()) > 5
    assert again.decisions.rstrip("\0") == decisions
    assert again.errors == crashed.errors
