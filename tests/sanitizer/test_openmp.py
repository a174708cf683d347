"""Libraries that are not instrumented: what libgomp orders is known, others are named in the answer."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.sanitizer.building import INSTALLED, PROGRAMS, Shell, head_of, named

SOURCE = PROGRAMS / "openmp" / "ordered_by_openmp.c"
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")


def built(tmp_path: Path, mode: str) -> Shell:
    shell = Shell(tmp_path, named("gcc"))
    done = shell.run("fencepost-cc", "--mode", mode, "-fopenmp", "-O1", SOURCE, "-o", "program")
    if "libgomp" in done.stderr:
        pytest.skip("libgomp is not installed")
    assert done.returncode == 0, done.stderr
    return shell


@needs_gcc
def test_what_openmp_orders_is_not_reported(tmp_path: Path) -> None:
    shell = built(tmp_path, "atomics")
    for _ in range(3):
        done = shell.run("setarch", "-R", "./program")
        assert (done.returncode, done.stdout, done.stderr) == (0, head_of(SOURCE)["prints"], "")


@needs_gcc
def test_mode_races_reports_nothing_of_the_program_itself(tmp_path: Path) -> None:
    """Only of memory that libgomp allocates in one thread and frees in another."""
    shell = built(tmp_path, "races")
    for _ in range(3):
        done = shell.run("setarch", "-R", "./program")
        assert done.stdout == head_of(SOURCE)["prints"]
        assert SOURCE.name not in done.stderr


@pytest.mark.slow
@needs_gcc
@pytest.mark.parametrize("mode", ["atomics", "full"])
def test_what_openmp_orders_is_not_reported_under_a_schedule(tmp_path: Path, mode: str) -> None:
    shell = built(tmp_path, mode)
    for schedule in ("random", "pct"):
        done = shell.run("./program", FENCEPOST_OPTIONS=f"schedule={schedule}:stall=200")
        assert (done.returncode, done.stdout, done.stderr) == (0, head_of(SOURCE)["prints"], "")


@pytest.mark.skipif(shutil.which("clang") is None, reason="clang is not installed")
def test_what_clangs_openmp_orders_is_not_reported(tmp_path: Path) -> None:
    """Archer, which libomp comes with, tells of it."""
    shell = Shell(tmp_path, named("clang"))
    done = shell.run("fencepost-cc", "--mode", "atomics", "-fopenmp", "-O1", SOURCE, "-o", "program")
    if "omp.h" in done.stderr:
        pytest.skip("libomp is not installed")
    assert done.returncode == 0, done.stderr
    library = shell.ok("ldd", "./program").partition("libomp.so.5 => ")[2].split()[0]
    if not Path(library).resolve().with_name("libarcher.so").exists():
        pytest.skip("Archer is not installed")
    for _ in range(3):
        done = shell.run("setarch", "-R", "./program")
        assert (done.returncode, done.stdout, done.stderr) == (0, head_of(SOURCE)["prints"], "")
    done = shell.run("setarch", "-R", "./program", OMP_TOOL_LIBRARIES="none")  # so it is Archer that tells
    assert "not robust" in done.stderr


POOL = """#include <pthread.h>
static void* (*body)(void*);
static void* call(void* argument) { void* const result = body(argument); return result; }
void run_twice(void* (*f)(void*)) {
    pthread_t threads[2];
    body = f;
    for (long i = 0; i < 2; ++i) pthread_create(&threads[i], 0, call, (void*)i);
    for (long i = 0; i < 2; ++i) pthread_join(threads[i], 0);
}
"""
STORE_BUFFERING = """#include <stdatomic.h>
void run_twice(void* (*f)(void*));
static atomic_int flag[2];
static void* body(void* argument) {
    long const me = (long)argument;
    atomic_store_explicit(&flag[me], 1, memory_order_relaxed);
    return atomic_load_explicit(&flag[1 - me], memory_order_relaxed) ? argument : 0;
}
int main(void) { run_twice(body); }
"""


def test_a_library_that_is_not_instrumented_is_named(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    pool, program = shell.write("pool.c", POOL), shell.write("program.c", STORE_BUFFERING)
    compiler = INSTALLED[0].cc
    shell.ok(compiler, "-shared", "-fPIC", "-fno-omit-frame-pointer", "-O0", pool, "-o", "libpool.so")
    shell.ok("fencepost-cc", "-O1", program, "./libpool.so", "-o", "program")
    done = shell.run("fencepost", "run", "--schedule", "random", "--runs", "10", "--json", "./program")
    assert done.returncode == 1
    assert any("libpool.so" in warning for warning in json.loads(done.stdout)["warnings"])
