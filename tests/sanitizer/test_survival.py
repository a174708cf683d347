"""What real programs do, and the sanitizer survives: each program here is robust, checks itself, and must
exit with its own code and print nothing but its own words, as it does without the sanitizer."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.sanitizer.building import Shell, Toolchain, with_each_compiler

C_HEAD = """\
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#define RELAXED memory_order_relaxed
#define SEQ memory_order_seq_cst
"""
CXX_HEAD = """\
#include <atomic>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>
"""

schedules = pytest.mark.parametrize("schedule", ["os", "random", "pct"])


def _build(shell: Shell, text: str, *options: str, plus_plus: bool = False, name: str = "program") -> Path:
    head, suffix, compiler = (
        (CXX_HEAD, "cpp", "fencepost-c++") if plus_plus else (C_HEAD, "c", "fencepost-cc")
    )
    shell.write(f"{name}.{suffix}", head + text)
    standard = "-std=c++20" if plus_plus else "-std=gnu11"
    shell.ok(compiler, standard, "-O1", *options, f"{name}.{suffix}", "-o", name)
    return shell.directory / name


def _survives(
    shell: Shell, program: Path, says: str = "", schedule: str = "os", code: int = 0, *, options: str = ""
) -> None:
    done = shell.run(program, FENCEPOST_OPTIONS=f"schedule={schedule}{options}")
    assert (done.returncode, done.stdout, done.stderr) == (code, says, "")


@with_each_compiler
def test_exit_code_and_output_are_the_programs_own(tmp_path: Path, toolchain: Toolchain) -> None:
    shell = Shell(tmp_path, toolchain)
    program = _build(
        shell,
        """
atomic_int x;
int main(void) { atomic_fetch_add(&x, 41); printf("%d", x + 1); return 42; }
""",
    )
    _survives(shell, program, "42", code=42)


@with_each_compiler
@schedules
def test_atomics_before_main_and_after_exit(tmp_path: Path, toolchain: Toolchain, schedule: str) -> None:
    shell = Shell(tmp_path, toolchain)
    program = _build(
        shell,
        """
std::atomic<int> count;
struct Counting {
    Counting() { ++count; }
    ~Counting() { std::printf("%d", ++count); std::fflush(stdout); }
} counting;
__attribute__((constructor(101))) void first() { ++count; }
__attribute__((destructor(101))) void last() { std::printf("%d", ++count); std::fflush(stdout); }
void at_exit() { ++count; }
int main() {
    std::atexit(at_exit);
    std::thread([] { ++count; }).join();
    std::printf("%d", count.load());
}
""",
        plus_plus=True,
    )
    _survives(shell, program, "356", schedule)


@with_each_compiler
@schedules
def test_atomics_in_thread_local_destructors(tmp_path: Path, toolchain: Toolchain, schedule: str) -> None:
    shell = Shell(tmp_path, toolchain)
    program = _build(
        shell,
        """
std::atomic<int> destroyed;
struct Counting {
    int rounds = 0;
    ~Counting() { destroyed.fetch_add(1, std::memory_order_relaxed); }
};
thread_local Counting counting;
pthread_key_t key;
void again(void* round) {
    destroyed.fetch_add(10, std::memory_order_relaxed);
    if (round != reinterpret_cast<void*>(3)) pthread_setspecific(key, static_cast<char*>(round) + 1);
}
int main() {
    pthread_key_create(&key, again);
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([] {
            counting.rounds = 1;
            pthread_setspecific(key, reinterpret_cast<void*>(1));
        });
    for (auto& t : threads) t.join();
    std::printf("%d", destroyed.load());
}
""",
        plus_plus=True,
    )
    _survives(shell, program, "248", schedule)


@with_each_compiler
@schedules
def test_atomics_in_signal_handlers(tmp_path: Path, toolchain: Toolchain, schedule: str) -> None:
    shell = Shell(tmp_path, toolchain)
    program = _build(
        shell,
        """
static atomic_long handled, worked;
static void handle(int s) { (void)s; atomic_fetch_add(&handled, 1); atomic_thread_fence(SEQ); }
static void* work(void* _) {
    while (atomic_load(&handled) < 200) { atomic_fetch_add(&worked, 1); free(malloc(16)); }
    return _;
}
int main(void) {
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    sigaction(SIGPROF, &action, NULL);
    struct itimerval every = {{0, 500}, {0, 500}};
    setitimer(ITIMER_PROF, &every, NULL);
    pthread_t threads[2];
    for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, work, NULL);
    work(NULL);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
    return 0;
}
""",
    )
    # It goes on until so much time has passed, with as many steps as the machine does in it.
    _survives(shell, program, schedule=schedule, options=":steps=1000000000")


@with_each_compiler
def test_fork_while_other_threads_use_atomics(tmp_path: Path, toolchain: Toolchain) -> None:
    shell = Shell(tmp_path, toolchain)
    program = _build(
        shell,
        """
static atomic_int stop, count;
static void* work(void* _) {
    while (!atomic_load(&stop)) { atomic_fetch_add(&count, 1); free(malloc(100)); }
    return _;
}
static void* child_work(void* _) { atomic_fetch_add(&count, 1); return _; }
int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 40; ++i) {
        pid_t child = fork();
        if (child == 0) {
            pthread_t t;
            pthread_create(&t, NULL, child_work, NULL);
            pthread_join(t, NULL);
            for (int k = 0; k < 100; ++k) atomic_fetch_add(&count, 1);
            if (i % 2) exit(7);
            _exit(7);
        }
        int status = 0;
        assert(waitpid(child, &status, 0) == child);
        assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
    return 0;
}
""",
    )
    _survives(shell, program)


@with_each_compiler
@schedules
def test_fork_and_exec_under_a_schedule(tmp_path: Path, toolchain: Toolchain, schedule: str) -> None:
    shell = Shell(tmp_path, toolchain)
    program = _build(
        shell,
        """
static atomic_int count;
static void* work(void* _) { for (int i = 0; i < 100; ++i) atomic_fetch_add(&count, 1); return _; }
int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    assert(system("exit 3") == 3 << 8);
    pid_t child = fork();
    if (child == 0) { atomic_fetch_add(&count, 1); exit(5); }
    int status = 0;
    waitpid(child, &status, 0);
    pthread_join(t, NULL);
    return WEXITSTATUS(status);
}
""",
    )
    _survives(shell, program, schedule=schedule, code=5)


@with_each_compiler
@schedules
def test_an_instrumented_plug_in(tmp_path: Path, toolchain: Toolchain, schedule: str) -> None:
    shell = Shell(tmp_path, toolchain)
    shell.write(
        "plug_in.c",
        """
#include <stdatomic.h>
static atomic_int calls;
__attribute__((constructor)) static void loaded(void) { atomic_fetch_add(&calls, 1); }
int count(atomic_int* total) { atomic_fetch_add(total, 1); return atomic_fetch_add(&calls, 1); }
""",
    )
    shell.ok("fencepost-cc", "-shared", "-fPIC", "-O1", "plug_in.c", "-o", "plug_in.so")
    program = _build(
        shell,
        """
static atomic_int total;
static void* work(void* function) {
    for (int i = 0; i < 50; ++i) ((int (*)(atomic_int*))function)(&total);
    return NULL;
}
int main(void) {
    for (int i = 0; i < 3; ++i) {
        void* module = dlopen("./plug_in.so", RTLD_NOW);
        assert(module != NULL);
        void* function = dlsym(module, "count");
        pthread_t t;
        pthread_create(&t, NULL, work, function);
        work(function);
        pthread_join(t, NULL);
        dlclose(module);
    }
    printf("%d", atomic_load(&total));
    return 0;
}
""",
    )
    _survives(shell, program, "300", schedule)


@with_each_compiler
@schedules
def test_exceptions_across_instrumented_frames(tmp_path: Path, toolchain: Toolchain, schedule: str) -> None:
    shell = Shell(tmp_path, toolchain)
    program = _build(
        shell,
        """
std::atomic<int> caught;
std::mutex mutex;
std::once_flag once;
int deep(int n) {
    caught.load();
    std::lock_guard<std::mutex> held(mutex);
    if (n == 0) throw std::runtime_error("deep");
    throw n;
}
int initialised() { static int const value = caught.load() < 0 ? throw 1 : 5; return value; }
int main() {
    auto const work = [] {
        for (int i = 0; i < 100; ++i) {
            try { deep(i % 2); } catch (std::exception const&) { ++caught; } catch (int) { ++caught; }
            try { std::call_once(once, [] { if (caught < 10) throw 1; }); } catch (int) { }
        }
    };
    std::thread other(work);
    work();
    other.join();
    std::printf("%d %d", caught.load(), initialised());
}
""",
        plus_plus=True,
    )
    _survives(shell, program, "200 5", schedule)


@with_each_compiler
@schedules
def test_a_thousand_short_lived_threads(tmp_path: Path, toolchain: Toolchain, schedule: str) -> None:
    shell = Shell(tmp_path, toolchain)
    program = _build(
        shell,
        """
static atomic_int count;
static void* work(void* _) { atomic_fetch_add_explicit(&count, 1, RELAXED); return _; }
int main(void) {
    for (int i = 0; i < 100; ++i) {
        pthread_t threads[10];
        for (int k = 0; k < 10; ++k) assert(pthread_create(&threads[k], NULL, work, NULL) == 0);
        for (int k = 0; k < 10; ++k) pthread_join(threads[k], NULL);
    }
    printf("%d", atomic_load(&count));
    return 0;
}
""",
    )
    _survives(shell, program, "1000", schedule)


@with_each_compiler
@schedules
def test_detached_threads(tmp_path: Path, toolchain: Toolchain, schedule: str) -> None:
    shell = Shell(tmp_path, toolchain)
    program = _build(
        shell,
        """
static atomic_int count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static int ended;
static void* work(void* _) {
    atomic_int own = 0;  /* on a stack that the next thread will have */
    atomic_fetch_add_explicit(&own, 1, RELAXED);
    atomic_fetch_add_explicit(&count, own, RELAXED);
    pthread_mutex_lock(&mutex);
    ++ended;
    pthread_cond_signal(&done);
    pthread_mutex_unlock(&mutex);
    return _;
}
int main(void) {
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 300; ++i) {
        pthread_t t;
        assert(pthread_create(&t, i % 2 ? &detached : NULL, work, NULL) == 0);
        if (i % 2 == 0) pthread_detach(t);
        pthread_mutex_lock(&mutex);
        while (ended <= i) pthread_cond_wait(&done, &mutex);
        pthread_mutex_unlock(&mutex);
    }
    printf("%d", atomic_load_explicit(&count, RELAXED));
    return 0;
}
""",
    )
    _survives(shell, program, "300", schedule)


@with_each_compiler
@schedules
def test_atomics_on_the_stack_and_in_mapped_files(
    tmp_path: Path, toolchain: Toolchain, schedule: str
) -> None:
    shell = Shell(tmp_path, toolchain)
    program = _build(
        shell,
        """
static void* add(void* x) { atomic_fetch_add((atomic_int*)x, 1); return x; }
static int on_stack(void) {
    atomic_int x = 0;
    pthread_t t;
    pthread_create(&t, NULL, add, &x);
    add(&x);
    pthread_join(t, NULL);
    return x;
}
int main(void) {
    for (int i = 0; i < 20; ++i) assert(on_stack() == 2);
    FILE* file = tmpfile();
    assert(ftruncate(fileno(file), 8192) == 0);
    for (int i = 1; i <= 20; ++i) {
        atomic_int* x = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
        assert(x != MAP_FAILED);
        pthread_t t;
        pthread_create(&t, NULL, add, x);
        pthread_join(t, NULL);
        assert(atomic_load(x) == i);
        munmap(x, 8192);
    }
    fclose(file);
    return 0;
}
""",
    )
    _survives(shell, program, schedule=schedule)


@with_each_compiler
@schedules
def test_mixed_sizes_at_one_address(tmp_path: Path, toolchain: Toolchain, schedule: str) -> None:
    shell = Shell(tmp_path, toolchain)
    program = _build(
        shell,
        """
static union { uint8_t bytes[8]; uint16_t half; uint32_t word; uint64_t all; } u;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* work(void* _) {
    for (int i = 0; i < 1000; ++i) {
        pthread_mutex_lock(&mutex);
        uint64_t before = __atomic_fetch_add(&u.all, 0x100000000, __ATOMIC_RELAXED);
        __atomic_fetch_add(&u.word, 1, __ATOMIC_RELAXED);
        assert(__atomic_load_n(&u.all, __ATOMIC_RELAXED) == before + 0x100000001);
        __atomic_store_n(&u.half, (uint16_t)(before + 1), __ATOMIC_RELAXED);
        (void)__atomic_load_n(&u.bytes[i % 8], __ATOMIC_RELAXED);
        pthread_mutex_unlock(&mutex);
    }
    return _;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    work(NULL);
    pthread_join(t, NULL);
    printf("%x %x", (unsigned)(u.all >> 32), u.word);
    return 0;
}
""",
    )
    _survives(shell, program, "7d0 7d0", schedule=schedule)


@with_each_compiler
@schedules
def test_an_instrumented_malloc(tmp_path: Path, toolchain: Toolchain, schedule: str) -> None:
    shell = Shell(tmp_path, toolchain)
    program = _build(
        shell,
        """
#include <fencepost.h>
static _Alignas(64) char heap[1 << 24];
static atomic_size_t used;
static atomic_int busy;
static struct block { struct block* next; size_t size; } *blocks;
static void acquire(void) { fp_bcas(&busy, 0, 1, memory_order_acquire); }
static void release(void) { atomic_store_explicit(&busy, 0, memory_order_release); }
void* malloc(size_t size) {
    size = (size + 31) / 16 * 16;
    acquire();
    struct block* block = blocks;
    if (block != NULL && block->size >= size) blocks = block->next; else block = NULL;
    release();
    if (block != NULL) return block + 1;
    size_t at = atomic_fetch_add_explicit(&used, size + sizeof *block, RELAXED);
    if (at + size + sizeof *block > sizeof heap) abort();
    block = (struct block*)(heap + at);
    block->size = size;
    return block + 1;
}
void free(void* p) {
    if (p == NULL) return;
    struct block* block = (struct block*)p - 1;
    acquire();
    block->next = blocks;
    blocks = block;
    release();
}
void* calloc(size_t n, size_t size) { void* p = malloc(n * size); return memset(p, 0, n * size); }
void* realloc(void* p, size_t size) {
    void* q = malloc(size);
    if (p != NULL) {
        size_t old = ((struct block*)p - 1)->size;
        memcpy(q, p, old < size ? old : size);
        free(p);
    }
    return q;
}
void* memalign(size_t a, size_t size) { char* p = malloc(size + a); return p + (-(uintptr_t)p & (a - 1)); }
size_t malloc_usable_size(void* p) { return p == NULL ? 0 : ((struct block*)p - 1)->size; }
static atomic_int sum;
static void* work(void* _) {
    for (int i = 0; i < 100; ++i) {
        atomic_int* p = malloc(64);
        atomic_init(p, 1);
        atomic_fetch_add_explicit(&sum, atomic_fetch_add(p, 1), RELAXED);
        free(p);
    }
    return _;
}
int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    char text[16];
    write(1, text, (size_t)snprintf(text, sizeof text, "%d", sum));
    return 0;
}
""",
        "-fno-builtin",
        "-Wno-unused-result",
    )
    _survives(shell, program, "400", schedule)


@with_each_compiler
def test_memory_that_is_freed_and_used_again_begins_anew(tmp_path: Path, toolchain: Toolchain) -> None:
    """The block goes from one thread to the other through the allocator, which orders nothing that we see."""
    shell = Shell(tmp_path, toolchain)
    program = _build(
        shell,
        """
static atomic_int turn;
static volatile int shown;
static void* first(void* _) {
    atomic_int* p = calloc(1, 64);
    atomic_store_explicit(p, 5, RELAXED);
    atomic_store_explicit(&turn, 1, RELAXED);
    free(p);
    shown = 1;
    return _;
}
static void* second(void* _) {
    while (!shown) usleep(100);
    (void)atomic_load_explicit(&turn, RELAXED);  /* now it comes after the store, under SC */
    atomic_int* p = calloc(1, 64);
    (void)atomic_load_explicit(p, RELAXED);
    atomic_store_explicit(p, 6, RELAXED);
    free(p);
    return _;
}
int main(void) {
    pthread_t a, b;
    mallopt(-8, 1);  /* one arena, so that the block is the same */
    pthread_create(&b, NULL, second, NULL);
    pthread_create(&a, NULL, first, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
""".replace("static atomic_int turn;", "#include <malloc.h>\nstatic atomic_int turn;"),
    )
    _survives(shell, program)


@with_each_compiler
@schedules
def test_threads_that_are_cancelled_or_exit(tmp_path: Path, toolchain: Toolchain, schedule: str) -> None:
    shell = Shell(tmp_path, toolchain)
    program = _build(
        shell,
        """
static atomic_int cleaned;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static void clean(void* _) { (void)_; atomic_fetch_add(&cleaned, 1); pthread_mutex_unlock(&mutex); }
static void* waits(void* _) {
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(clean, NULL);
    for (;;) pthread_cond_wait(&never, &mutex);
    pthread_cleanup_pop(1);
    return _;
}
static void* exits(void* _) { atomic_fetch_add(&cleaned, 1); pthread_exit(_); }
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, waits, NULL);
    pthread_create(&b, NULL, exits, &a);
    usleep(1000);
    pthread_cancel(a);
    void* result;
    pthread_join(a, &result);
    assert(result == PTHREAD_CANCELED);
    pthread_join(b, &result);
    assert(result == &a);
    printf("%d", cleaned);
    return 0;
}
""",
    )
    _survives(shell, program, "2", schedule=schedule)


@with_each_compiler
@schedules
def test_shared_pointers_across_an_uninstrumented_library(
    tmp_path: Path, toolchain: Toolchain, schedule: str
) -> None:
    """Some of the counting is done in libstdc++.so, which is not instrumented."""
    shell = Shell(tmp_path, toolchain)
    program = _build(
        shell,
        """
#include <future>
#include <sstream>
#include <locale>
int main() {
    int sum = 0;
    for (int i = 0; i < 50; ++i) {
        auto shared = std::make_shared<int>(i);
        auto future = std::async(std::launch::async, [shared] {
            std::ostringstream text;
            text.imbue(std::locale::classic());
            text << *shared;
            return std::stoi(text.str());
        });
        sum += future.get() == *shared;
    }
    std::printf("%d", sum);
}
""",
        plus_plus=True,
    )
    _survives(shell, program, "50", schedule=schedule)


@with_each_compiler
@schedules
def test_joins_of_all_kinds(tmp_path: Path, toolchain: Toolchain, schedule: str) -> None:
    """Who has joined a thread knows what it did: the loads after it are no violations."""
    shell = Shell(tmp_path, toolchain)
    program = _build(
        shell,
        """
#include <errno.h>
#include <sched.h>
#include <time.h>
static atomic_int x, go;
static void* work(void* p) { atomic_fetch_add_explicit(&x, 1, RELAXED); return p; }
static void* late(void* p) {
    while (!atomic_load_explicit(&go, memory_order_acquire)) usleep(10);
    return work(p);
}
static pthread_t made(void* (*body)(void*)) {
    pthread_t t;
    assert(pthread_create(&t, NULL, body, &x) == 0);
    return t;
}
static int seen(void) { return atomic_load_explicit(&x, RELAXED); }
static struct timespec in(clockid_t clock, long milliseconds) {
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_sec += (t.tv_nsec + milliseconds * 1000000) / 1000000000;
    t.tv_nsec = (t.tv_nsec + milliseconds * 1000000) % 1000000000;
    return t;
}
int main(void) {
    void* result;
    pthread_t t = made(work);
    while (pthread_tryjoin_np(t, &result) == EBUSY) sched_yield();
    assert(result == &x && seen() == 1);
    struct timespec limit = in(CLOCK_REALTIME, 60000);
    assert(pthread_timedjoin_np(made(work), &result, &limit) == 0 && seen() == 2);
    limit = in(CLOCK_MONOTONIC, 60000);
    assert(pthread_clockjoin_np(made(work), &result, CLOCK_MONOTONIC, &limit) == 0 && seen() == 3);
    assert(pthread_timedjoin_np(made(work), NULL, NULL) == 0 && seen() == 4);
    t = made(late);
    assert(pthread_tryjoin_np(t, NULL) == EBUSY);
    limit = in(CLOCK_REALTIME, 20);
    assert(pthread_timedjoin_np(t, NULL, &limit) == ETIMEDOUT);
    limit = in(CLOCK_MONOTONIC, 20);
    assert(pthread_clockjoin_np(t, NULL, CLOCK_MONOTONIC, &limit) == ETIMEDOUT);
    atomic_store_explicit(&go, 1, memory_order_release);
    assert(pthread_join(t, NULL) == 0 && seen() == 5);
    return 0;
}
""",
    )
    _survives(shell, program, schedule=schedule)


@with_each_compiler
@schedules
def test_a_mutex_made_of_system_calls(tmp_path: Path, toolchain: Toolchain, schedule: str) -> None:
    shell = Shell(tmp_path, toolchain)
    program = _build(
        shell,
        """
#include <linux/futex.h>
#include <sys/syscall.h>
static atomic_uint word;  /* 0: free, 1: locked, 2: others wait */
static int count;
static long futex(int operation, unsigned value) {
    return syscall(SYS_futex, &word, operation, value, NULL, NULL, 0);
}
static void lock(void) {
    unsigned seen = 0;
    if (atomic_compare_exchange_strong_explicit(&word, &seen, 1, memory_order_acquire, RELAXED)) return;
    while (atomic_exchange_explicit(&word, 2, memory_order_acquire) != 0) futex(FUTEX_WAIT_PRIVATE, 2);
}
static void unlock(void) {
    if (atomic_exchange_explicit(&word, 0, memory_order_release) == 2) futex(FUTEX_WAKE_PRIVATE, 1);
}
static void* work(void* _) {
    for (int i = 0; i < 100; ++i) {
        lock();
        ++count;
        if (i % 10 == 0) syscall(SYS_sched_yield);
        unlock();
    }
    return _;
}
int main(void) {
    assert(syscall(SYS_gettid) == getpid());
    pthread_t threads[3];
    for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
    printf("%d", count);
    return 0;
}
""",
    )
    _survives(shell, program, "300", schedule)


_MESSAGE_PASSING = """
static atomic_long x, flag;
static void* writes(void* n) {
    for (long i = 1; i <= (long)(intptr_t)n; ++i) atomic_store_explicit(&x, i, RELAXED);
    atomic_store_explicit(&flag, 1, memory_order_release);
    return NULL;
}
static void* reads(void* _) {
    while (atomic_load_explicit(&flag, memory_order_acquire) == 0) sched_yield();
    (void)atomic_load_explicit(&x, RELAXED);
    return _;
}
int main(int count, char** words) {
    pthread_t a, b;
    pthread_create(&a, NULL, writes, (void*)(intptr_t)(count > 1 ? atol(words[1]) : 1));
    pthread_create(&b, NULL, reads, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    char line[256];
    FILE* status = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0) printf("%ld", atol(line + 6));
    fclose(status);
    return 0;
}
"""


def _memory(shell: Shell, program: Path, writes: int) -> int:
    return int(shell.ok(program, str(writes)))


@with_each_compiler
def test_memory_does_not_grow_with_the_length_of_the_run(tmp_path: Path, toolchain: Toolchain) -> None:
    shell = Shell(tmp_path, toolchain)
    program = _build(shell, "#include <sched.h>" + _MESSAGE_PASSING)
    few, many = _memory(shell, program, 10_000), _memory(shell, program, 1_000_000)
    assert many < few + 1024, f"{few} KiB for 10,000 writes, {many} KiB for 1,000,000"


@pytest.mark.slow
@with_each_compiler
def test_memory_is_constant_for_ten_million_writes(tmp_path: Path, toolchain: Toolchain) -> None:
    shell = Shell(tmp_path, toolchain)
    program = _build(shell, "#include <sched.h>" + _MESSAGE_PASSING)
    few, many = _memory(shell, program, 10_000), _memory(shell, program, 10_000_000)
    assert many < few + 1024, f"{few} KiB for 10,000 writes, {many} KiB for 10,000,000"


@with_each_compiler
def test_findings_are_written_before_a_crash(tmp_path: Path, toolchain: Toolchain) -> None:
    shell = Shell(tmp_path, toolchain)
    program = _build(
        shell,
        """
atomic_int x, y;  /* not static: the compiler must not leave them out */
static volatile int turn;
static void* first(void* _) {
    atomic_store_explicit(&x, 1, RELAXED);
    atomic_store_explicit(&y, 2, RELAXED);
    turn = 1;
    return _;
}
static void* second(void* _) {
    while (turn == 0) usleep(100);
    atomic_store_explicit(&y, 1, RELAXED);
    atomic_store_explicit(&x, 2, RELAXED);
    raise(SIGKILL);
    return _;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
""",
    )
    done = shell.run(program, FENCEPOST_OPTIONS="json=events.json:quiet=1")
    assert done.returncode == -signal.SIGKILL
    events = [json.loads(line) for line in (shell.directory / "events.json").read_text().splitlines()]
    assert [event["event"] for event in events] == ["finding"]
