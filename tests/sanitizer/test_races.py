"""Mode races: ThreadSanitizer hears of exactly the synchronisation that C++20 has, fences included."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.sanitizer.building import Shell, Toolchain, with_each_compiler
from tests.sanitizer.race_scripts import RaceBook, races, random_race_script
from tests.sanitizer.scripts import Script, parse

# Each thread's part is in the order of the run. All of them are about `d`, which is not atomic.
WITHOUT_RACE = {
    "release and acquire": "0: write d; 0: store x 1 release; 1: load x acquire; 1: write d",
    "seq_cst accesses": "0: write d; 0: store x 1 seq_cst; 1: load x seq_cst; 1: write d",
    "two fences": "0: write d; 0: fence release; 0: store x 1; 1: load x; 1: fence acquire; 1: write d",
    "release fence, acquire read": "0: write d; 0: fence release; 0: store x 1; 1: load x acquire; 1: read d",
    "release write, acquire fence": (
        "0: write d; 0: store x 1 release; 1: load x; 1: fence acquire;1: read d"
    ),
    "two SC fences": "0: write d; 0: fence seq_cst; 0: store x 1; 1: load x; 1: fence seq_cst; 1: write d",
    "one fence for several flags": (
        "0: write d; 0: fence release; 0: store x 1; 0: store y 1;"
        "1: load x; 2: load y; 1: fence acquire; 2: fence acquire; 1: read d; 2: read d"
    ),
    "one fence for several reads": (
        "0: write d; 0: store x 1 release; 1: write e; 1: store y 1 release;"
        "2: load x; 2: load y; 2: fence acquire; 2: write d; 2: write e"
    ),
    "an old message is remembered": (
        "0: write d; 0: store x 1 release; 1: load x; 0: store x 2; 1: fence acquire; 1: write d"
    ),
    "an old message is remembered over newer ones": (
        "0: write d; 0: store x 1 release; 1: load x; 2: store x 2 release; 2: store x 3 release;"
        "1: fence acquire; 1: write d"
    ),
    "release sequence of another thread's RMW": (
        "0: write d; 0: store x 1 release; 1: add x 1; 2: load x acquire; 2: write d"
    ),
    "release sequence of a relaxed exchange": (
        "0: write d; 0: fence release; 0: store x 1; 1: exchange x 7; 2: load x; 2: fence acquire; 2: write d"
    ),
    "releases that add up": (
        "0: write d; 0: add x 1 release; 1: write e; 1: add x 1 release; 2: load x acquire;"
        "2: write d; 2: write e"
    ),
    "fences that add up": (
        "0: write d; 0: fence release; 0: add x 1; 1: write e; 1: fence release; 1: add x 1;"
        "2: load x; 2: fence acquire; 2: write d; 2: write e"
    ),
    "through a third thread": (
        "0: write d; 0: store x 1 release; 1: load x acquire; 1: store y 1 release;"
        "2: load y acquire; 2: write d"
    ),
    "mutex": "0: lock m; 0: write d; 0: unlock m; 1: lock m; 1: write d; 1: unlock m",
}
WITH_RACE = {
    "a message that is newer than the one that was read": (
        "0: store x 1 release; 1: load x; 2: write d; 2: store x 2 release; 1: fence acquire; 1: write d"
    ),
    "a release that is added after the read": (
        "0: store x 1 release; 1: load x; 2: write d; 2: add x 1 release; 1: fence acquire; 1: write d"
    ),
    "an RMW of a write that has ended a release sequence": (
        "0: write d; 0: store x 1 release; 0: store x 2; 1: add x 1 acq_rel; 1: write d"
    ),
    "relaxed flag": "0: write d; 0: store x 1; 1: load x; 1: write d",
    "relaxed write": "0: write d; 0: store x 1; 1: load x acquire; 1: write d",
    "relaxed read": "0: write d; 0: store x 1 release; 1: load x; 1: write d",
    "release fence too late": "0: write d; 0: store x 1; 0: fence release; 1: load x acquire; 1: write d",
    "access after the release fence": (
        "0: fence release; 0: write d; 0: store x 1; 1: load x acquire;1: read d"
    ),
    "acquire fence too early": "0: write d; 0: store x 1 release; 1: fence acquire; 1: load x; 1: write d",
    "fences of the wrong kind": (
        "0: write d; 0: fence acquire; 0: store x 1; 1: load x; 1: fence release; 1: write d"
    ),
    "only the first of two fences counts": (
        "0: fence release; 0: store x 1; 0: write d; 0: fence release; 0: store y 1;"
        "1: load x acquire; 1: write d"
    ),
    "a later message was not read": (
        "0: store x 1 release; 1: load x; 0: write d; 0: store x 2 release; 1: fence acquire; 1: write d"
    ),
    "SC fences with no atomic between": "0: write d; 0: fence seq_cst; 1: fence seq_cst; 1: write d",
    "seq_cst accesses of two locations": "0: write d; 0: store x 1 seq_cst; 1: load y seq_cst; 1: write d",
    "broken release sequence": (
        "0: write d; 0: store x 1 release; 1: store x 2; 2: load x acquire;2: write d"
    ),
    "release sequence broken by its own thread": (
        "0: write d; 0: store x 1 release; 0: store x 2; 1: load x acquire; 1: write d"
    ),
    "two mutexes are not one": ("0: lock m; 0: write d; 0: unlock m; 1: lock n; 1: write d; 1: unlock n"),
}

# Programs that use threads in all ways: nothing is to be found in them.
SOBER = """
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <semaphore.h>
#include <shared_mutex>
#include <thread>
#include <vector>
template <class... Body> void together(Body... body) {
    std::thread threads[] = {std::thread(body)...};
    for (auto& one : threads) one.join();
}
int data;
void join() { data = 1; together([] { data++; }); data++; }
void condition() {
    std::mutex mutex; std::condition_variable changed; bool ready = false;
    together([&] { { std::lock_guard held(mutex); ready = true; data = 1; } changed.notify_one(); },
             [&] { std::unique_lock held(mutex); changed.wait(held, [&] { return ready; }); data++; });
}
void readers() {
    std::shared_mutex mutex;
    together([&] { std::unique_lock held(mutex); data++; },
             [&] { std::shared_lock held(mutex); (void)data; },
             [&] { std::unique_lock held(mutex); data++; });
}
void semaphore() {
    sem_t ready; sem_init(&ready, 0, 0);
    together([&] { data = 1; sem_post(&ready); }, [&] { sem_wait(&ready); data++; });
}
void barrier() {
    std::barrier rounds(2);
    together([&] { data = 1; rounds.arrive_and_wait(); }, [&] { rounds.arrive_and_wait(); data++; });
}
void pthread_rounds() {
    pthread_barrier_t rounds; pthread_barrier_init(&rounds, nullptr, 2);
    together([&] { data = 1; pthread_barrier_wait(&rounds); },
             [&] { pthread_barrier_wait(&rounds); data++; });
}
struct Made { int value = 7; };
void once() {
    auto made = [] { static Made object; return object.value; };
    together(made, made, made);
}
thread_local std::vector<int> own;
std::atomic<int> last;
struct AtEnd { ~AtEnd() { last.fetch_add(1, std::memory_order_acq_rel); } };
void local() {
    auto body = [] { static thread_local AtEnd end; (void)&end; own.push_back(1); };
    for (int i = 0; i < 50; i++) together(body, body);
}
struct Counted { std::atomic<int> holders{2}; int value = 0; };
void references() {
    for (int i = 0; i < 200; i++) {
        auto* object = new Counted;
        auto let_go = [object] {
            if (object->holders.fetch_sub(1, std::memory_order_release) != 1) return;
            std::atomic_thread_fence(std::memory_order_acquire);
            object->value++;
            delete object;
        };
        together(let_go, let_go);
    }
}
std::atomic<int*> mailbox;
void heap() {
    together([] {
        for (int i = 1; i <= 500; i++) {
            while (mailbox.load(std::memory_order_relaxed)) std::this_thread::yield();
            std::atomic_thread_fence(std::memory_order_acquire);
            int* block = static_cast<int*>(malloc(64)); memset(block, i, 64);
            std::atomic_thread_fence(std::memory_order_release);
            mailbox.store(block, std::memory_order_relaxed);
        }
    }, [] {
        for (int i = 1; i <= 500; i++) {
            int* block;
            while (!(block = mailbox.load(std::memory_order_relaxed))) std::this_thread::yield();
            std::atomic_thread_fence(std::memory_order_acquire);
            free(block);
            std::atomic_thread_fence(std::memory_order_release);
            mailbox.store(nullptr, std::memory_order_relaxed);
        }
    });
}
struct Published { std::atomic<int> flag{1}; int value = 1; };
std::atomic<Published*> published;
void initialised() {  // the constructor writes the atomic without being one
    together([] { published.store(new Published, std::memory_order_release); }, [] {
        Published* seen;
        while (!(seen = published.load(std::memory_order_acquire))) std::this_thread::yield();
        seen->flag.fetch_add(1, std::memory_order_relaxed);
    });
    delete published.load();
}
// Locks and waits with a limit on a clock that does not jump, which ThreadSanitizer does not know.
auto soon() { return std::chrono::steady_clock::now() + std::chrono::minutes(1); }
timespec minute() { timespec t; clock_gettime(CLOCK_MONOTONIC, &t); t.tv_sec += 60; return t; }
void timed_mutex() {
    std::timed_mutex mutex;
    auto body = [&] {
        for (int i = 0; i < 100; i++)
            if (mutex.try_lock_until(soon())) { data++; mutex.unlock(); }
    };
    together(body, body);
}
void timed_readers() {
    std::shared_timed_mutex mutex;
    auto write = [&] { if (mutex.try_lock_until(soon())) { data++; mutex.unlock(); } };
    auto read = [&] { if (mutex.try_lock_shared_until(soon())) { (void)data; mutex.unlock_shared(); } };
    for (int i = 0; i < 50; i++) together(write, read, write);
}
void timed_condition() {
    std::mutex mutex; std::condition_variable changed; bool ready = false;
    together([&] { { std::lock_guard held(mutex); ready = true; data = 1; } changed.notify_one(); },
             [&] {
                 std::unique_lock held(mutex);
                 changed.wait_until(held, soon(), [&] { return ready; });
                 data++;
             });
}
void timed_semaphore() {
    sem_t ready; sem_init(&ready, 0, 0);
    together([&] { data = 1; sem_post(&ready); },
             [&] { auto t = minute(); sem_clockwait(&ready, CLOCK_MONOTONIC, &t); data++; });
}
void joins() {
    auto body = [](void* p) { data++; return p; };
    pthread_t thread;
    auto const limit = minute();
    pthread_create(&thread, nullptr, body, nullptr);
    if (pthread_clockjoin_np(thread, nullptr, CLOCK_MONOTONIC, &limit)) abort();
    data++;
    pthread_create(&thread, nullptr, body, nullptr);
    while (pthread_tryjoin_np(thread, nullptr)) std::this_thread::yield();
    data++;
    pthread_create(&thread, nullptr, body, nullptr);
    if (pthread_timedjoin_np(thread, nullptr, nullptr)) abort();
    data++;
}
int main(int, char** words) {
    struct { char const* name; void (*run)(); } const all[] = {
        {"join", join}, {"condition", condition}, {"readers", readers}, {"semaphore", semaphore},
        {"barrier", barrier}, {"pthread_rounds", pthread_rounds}, {"once", once}, {"local", local},
        {"references", references}, {"heap", heap}, {"initialised", initialised},
        {"timed_mutex", timed_mutex}, {"timed_readers", timed_readers}, {"timed_condition", timed_condition},
        {"timed_semaphore", timed_semaphore}, {"joins", joins}};
    for (auto& one : all) if (!strcmp(one.name, words[1])) { one.run(); return 5; }
    return 1;
}
"""
SOBER_PARTS = tuple(re.findall(r'\{"(\w+)", ', SOBER))

# A race, and a robustness violation in the same run.
BOTH = """#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_int x, y;
static int plain;
static void *left(void *unused) {
    atomic_store_explicit(&x, 1, memory_order_release);
    plain++;
    atomic_load_explicit(&y, memory_order_acquire);
    return unused;
}
static void *right(void *unused) {
    atomic_store_explicit(&y, 1, memory_order_release);
    plain++;
    atomic_load_explicit(&x, memory_order_acquire);
    return unused;
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, left, 0);
    usleep(100000);  // if both write before one reads, nothing can be missed
    pthread_create(&threads[1], 0, right, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 3;
}
"""
LEAK = """#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int main(void) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_destroy(&mutex);
    return 0;
}
"""
# A location is freed between the relaxed read of it and the acquire fence.
FREED = """#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
static int data;
static atomic_int *flag;
static atomic_int has_read, is_free;
static void *tell(void *unused) {
    data = 1;
    atomic_store_explicit(flag, 1, memory_order_release);
    return unused;
}
static void *hear(void *unused) {
    while (!atomic_load_explicit(flag, memory_order_relaxed)) sched_yield();
    atomic_store_explicit(&has_read, 1, memory_order_release);
    while (!atomic_load_explicit(&is_free, memory_order_relaxed)) sched_yield();
    atomic_thread_fence(memory_order_acquire);
    return data++ == 1 ? unused : 0;
}
int main(void) {
    pthread_t threads[2];
    flag = calloc(1, sizeof *flag);
    pthread_create(&threads[0], 0, tell, 0);
    pthread_create(&threads[1], 0, hear, 0);
    while (!atomic_load_explicit(&has_read, memory_order_acquire)) sched_yield();
    pthread_join(threads[0], 0);
    free(flag);
    atomic_store_explicit(&is_free, 1, memory_order_relaxed);
    pthread_join(threads[1], 0);
    return 3;
}
"""
# A fence that is passed often and has a relaxed write after it at last. What is done between the two is not
# published by them.
RARELY_TOLD = """#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
static int before, between;
static atomic_int flag;
__attribute__((noinline)) static void fence(void) { atomic_thread_fence(memory_order_release); }
static void *tell(void *unused) {
    for (int i = 0; i < 500; i++) fence();
    before = 1;
    fence();
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    while (atomic_load_explicit(&flag, memory_order_relaxed) != 2) sched_yield();
    fence();
    between = 1;
    atomic_store_explicit(&flag, 3, memory_order_relaxed);
    return unused;
}
static void await(int value) {
    while (atomic_load_explicit(&flag, memory_order_relaxed) != value) sched_yield();
    atomic_thread_fence(memory_order_acquire);
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, tell, 0);
    await(1);
    before++;
    atomic_store_explicit(&flag, 2, memory_order_relaxed);
    await(3);
    between++;
    pthread_join(thread, 0);
    return 3;
}
"""

pytestmark = with_each_compiler


@pytest.fixture
def shell(tmp_path: Path, toolchain: Toolchain) -> Shell:
    return Shell(tmp_path, toolchain)


def built(shell: Shell, text: str) -> None:
    shell.write("program.c", text)
    shell.ok("fencepost-cc", "--mode", "races", "-O1", "program.c", "-o", "program")


def test_well_known_shapes(shell: Shell) -> None:
    shapes: dict[str, Script] = {name: parse(text) for name, text in (WITHOUT_RACE | WITH_RACE).items()}
    book = RaceBook(list(shapes.values()))
    program = book.compile(shell)
    for number, (name, script) in enumerate(shapes.items()):
        found = book.run(shell, program, number)
        assert bool(found) == (name in WITH_RACE), name
        assert found <= races(script), name


def test_thread_sanitizer_alone_does_not_know_fences(shell: Shell, toolchain: Toolchain) -> None:
    text = RaceBook([parse(WITHOUT_RACE["two fences"]), parse(WITH_RACE["broken release sequence"])]).text
    shell.write("book.c", text)
    shell.ok(toolchain.cc, "-fsanitize=thread", "-w", "-O1", "-pthread", "book.c", "-o", "book")
    assert "WARNING: ThreadSanitizer: data race" in shell.run("./book", "0").stderr
    assert shell.ok("./book", "1") == ""


def test_what_was_heard_of_a_location_outlives_it(shell: Shell) -> None:
    built(shell, FREED)
    done = shell.run("./program")
    assert (done.returncode, done.stderr) == (3, "")


def test_a_fence_with_a_relaxed_write_after_long(shell: Shell) -> None:
    built(shell, RARELY_TOLD)
    answer = json.loads(shell.run("fencepost", "run", "--json", "./program").stdout)
    found = [one for one in answer["findings"] if one["kind"] == "race"]
    assert [one["location"]["name"] for one in found] == ["between"]


@pytest.mark.parametrize("seed", [0, 1])
def test_random_scripts(shell: Shell, seed: int) -> None:
    compare_random_scripts(shell, range(1000 * seed, 1000 * seed + 50))


@pytest.mark.slow
def test_many_random_scripts(shell: Shell) -> None:
    compare_random_scripts(shell, range(10_000, 12_000))


def compare_random_scripts(shell: Shell, seeds: range) -> None:
    """No race is invented, and one is found wherever there are some."""
    scripts = [random_race_script(seed) for seed in seeds]
    book = RaceBook(scripts)
    program = book.compile(shell)
    racy = 0
    for number, script in enumerate(scripts):
        expected, found = races(script), book.run(shell, program, number)
        assert found <= expected, f"seed {seeds[number]}"
        assert bool(found) == bool(expected), f"seed {seeds[number]}"
        racy += bool(expected)
    assert racy > len(scripts) / 5


def test_threads_used_well_are_silent_and_keep_the_exit_code(shell: Shell) -> None:
    shell.write("sober.cpp", SOBER)
    shell.ok("fencepost-c++", "--mode", "races", "-std=c++20", "-O1", "sober.cpp", "-o", "sober")
    for part in SOBER_PARTS:
        done = shell.run("./sober", part)
        assert (done.returncode, done.stderr) == (5, ""), part


class TestReports:
    def test_both_kinds_in_one_run(self, shell: Shell) -> None:
        """The race is seen in every run, the robustness violation only where one thread overtakes."""
        built(shell, BOTH)
        done = shell.run("fencepost", "run", "--runs", "50", "--json", "./program")
        assert done.returncode == 1
        answer = json.loads(done.stdout)
        kinds = {finding["kind"]: finding for finding in answer["findings"]}
        assert set(kinds) == {"robustness", "race"}
        assert answer["verdict"] == "not-robust"
        race = kinds["race"]
        assert race["location"]["name"] == "plain"
        assert {race["access"]["what"], race["missed"]["what"]} <= {"read", "write"}
        assert {race["access"]["stack"][0]["line"], race["missed"]["stack"][0]["line"]} == {8, 14}
        assert {len(race["access"]["stack"]), len(race["missed"]["stack"])} == {1}

    def test_text_of_a_race(self, shell: Shell) -> None:
        built(shell, BOTH)
        done = shell.run("fencepost", "run", "./program")
        assert "WARNING: fencepost: data race\n" in done.stdout
        assert "Location is global 'plain' of size 4" in done.stdout
        assert "1 data race in 1 run" in done.stdout
        assert "ThreadSanitizer" not in done.stdout + done.stderr

    def test_the_place_of_an_atomic_access_is_the_programs(self, shell: Shell) -> None:
        built(shell, BOTH.replace("    plain++;", "    *(volatile int *)&y;", 1))
        answer = json.loads(shell.run("fencepost", "run", "--json", "./program").stdout)
        races_found = [one for one in answer["findings"] if one["kind"] == "race"]
        accesses = [one[side] for one in races_found for side in ("access", "missed")]
        assert {"atomic write"} == {one["what"] for one in accesses if one["stack"][0]["line"] == 13}

    def test_a_wrong_use_of_a_mutex(self, shell: Shell) -> None:
        built(shell, LEAK)
        done = shell.run("fencepost", "run", "./program")
        assert done.returncode == 1
        assert "wrong use of threads: locked-mutex-destroy" in done.stdout

    def test_a_race_can_be_suppressed(self, shell: Shell) -> None:
        built(shell, BOTH)
        shell.write("quiet", "race:^plain$\nrobustness:*\n")
        done = shell.run("fencepost", "run", "--suppressions", "quiet", "./program")
        assert done.returncode == 0, done.stdout
        assert "suppressed" in done.stdout

    def test_started_directly(self, shell: Shell) -> None:
        built(shell, BOTH)
        done = shell.run("setarch", "-R", "./program")
        assert done.returncode == 66
        assert "WARNING: ThreadSanitizer: data race" in done.stderr
        assert "WARNING: fencepost: not robust" in done.stderr

    def test_exit_code_of_its_own_on_request(self, shell: Shell) -> None:
        built(shell, BOTH)
        done = shell.run("./program", FENCEPOST_OPTIONS="exitcode=0", TSAN_OPTIONS="exitcode=0")
        assert done.returncode == 3

    def test_schedules_are_refused(self, shell: Shell) -> None:
        built(shell, BOTH)
        done = shell.run("fencepost", "run", "--schedule", "random", "--runs", "2", "./program")
        assert done.returncode == 3
        assert "mode races has no schedules" in done.stdout


PLUG_IN = """#include <stdatomic.h>
static atomic_int x;
static int plain;
void touch(void) {
    plain++;
    atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);
}
"""
HOST = """#include <dlfcn.h>
#include <pthread.h>
static void (*touch)(void);
static void *body(void *unused) { touch(); return unused; }
int main(void) {
    touch = (void (*)(void))dlsym(dlopen("./plug.so", RTLD_NOW), "touch");
    pthread_t one, two;
    pthread_create(&one, 0, body, 0);
    pthread_create(&two, 0, body, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
"""
FORK = """#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>
static atomic_int x;
int main(void) {
    atomic_fetch_add(&x, 1);
    if (fork() == 0) _exit(atomic_load(&x));
    int status;
    wait(&status);
    return WEXITSTATUS(status) == 1 ? 0 : 2;
}
"""
SIGNAL = """#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
static atomic_int came, other;
static void note(int signal) { (void)signal; came = 1; }
int main(void) {
    signal(SIGALRM, note);
    struct itimerval const soon = {{0, 0}, {0, 10000}};
    setitimer(ITIMER_REAL, &soon, 0);
    while (!atomic_load_explicit(&came, memory_order_relaxed)) {
        atomic_fetch_add_explicit(&other, 1, memory_order_relaxed);
        atomic_store_explicit(&other, 0, memory_order_relaxed);
    }
    return 7;
}
"""


def test_a_plug_in_is_watched(shell: Shell) -> None:
    shell.write("plug.c", PLUG_IN)
    shell.write("host.c", HOST)
    shell.ok("fencepost-cc", "--mode", "races", "-fPIC", "-shared", "plug.c", "-o", "plug.so")
    shell.ok("fencepost-cc", "--mode", "races", "host.c", "-o", "host")
    answer = json.loads(shell.run("fencepost", "run", "--json", "./host").stdout)
    assert [one["kind"] for one in answer["findings"]] == ["race"]
    assert answer["atomics"] == 2


def test_the_child_of_a_fork_goes_on(shell: Shell) -> None:
    built(shell, FORK)
    done = shell.run("./program")
    assert (done.returncode, done.stderr) == (0, "")


def test_signals_that_are_kept_back_come_while_the_program_only_uses_atomics(shell: Shell) -> None:
    built(shell, SIGNAL)
    done = shell.run("./program")
    assert (done.returncode, done.stderr) == (7, "")
