"""Loops that wait, where they end in their first round: what one run sees of a loop holds in the others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.sanitizer.building import Shell

# The reader comes to its loop with or without knowing of the flag, but never through what the orders promise.
PROGRAM = """\
#include <pthread.h>
#include <stdatomic.h>
static atomic_int flag, hint;
static void* writer(void* _) {
#ifdef TWICE
    atomic_store_explicit(&flag, 2, memory_order_relaxed);
#endif
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&hint, 1, memory_order_relaxed);
    return _;
}
int main(void) {
    pthread_t handle;
    pthread_create(&handle, 0, writer, 0);
    atomic_fetch_add_explicit(&hint, 1, memory_order_relaxed);
#ifdef TWICE
    while (atomic_load_explicit(&flag, memory_order_relaxed) == 2) { }
#else
    while (atomic_load_explicit(&flag, memory_order_relaxed) != 1) { }
#endif
    pthread_join(handle, 0);
}
"""
LOOPS = [number for number, text in enumerate(PROGRAM.splitlines(), 1) if "while" in text]
LOOP = dict(zip(("-DTWICE", ""), LOOPS, strict=True))


# In some runs 0 prolongs the loop, in others it ends it. In a third kind it is an older value that would.
BOTH = """\
#include <fencepost.h>
#include <stdatomic.h>
#include <pthread.h>
static atomic_int x, y = 1, z, hint;
static __attribute__((noinline)) void spin(atomic_int* a, int value) {
    while (atomic_load_explicit(a, memory_order_relaxed) == value) { }
}
static void* writer(void* _) {
    atomic_store_explicit(&z, 2, memory_order_relaxed);
    atomic_fetch_add_explicit(&hint, 1, memory_order_relaxed);
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_store_explicit(&y, 0, memory_order_relaxed);
    return _;
}
int main(void) {
    int const kind = fp_choose(3);
    pthread_t handle;
    pthread_create(&handle, 0, writer, 0);
    if (kind == 0) spin(&x, 0);
    if (kind == 1) spin(&y, 1);
    atomic_fetch_add_explicit(&hint, 1, memory_order_relaxed);
    if (kind == 2) spin(&z, 1);
    pthread_join(handle, 0);
}
"""


def built(shell: Shell, text: str, *options: str) -> None:
    shell.write("program.c", text)
    shell.ok("fencepost-cc", "--mode", "atomics", "-O1", *options, "program.c", "-o", "program")


def answer(shell: Shell, runs: int, seed: int = 1) -> Any:
    command = ("fencepost", "run", "--json", "--schedule", "random", "--seed", str(seed))
    return json.loads(shell.run(*command, "--runs", str(runs), "./program").stdout)


def lines(found: Any) -> set[int]:
    return {finding["access"]["stack"][0]["line"] for finding in found["findings"]}


def test_a_run_that_went_round_speaks_for_those_that_did_not(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    built(shell, PROGRAM)
    assert any(lines(answer(shell, 1, seed)) == {LOOP[""]} for seed in range(1, 31))  # none has seen it wait
    assert lines(answer(shell, 30)) == set()


def test_a_value_that_would_end_the_loop_stays_a_finding(tmp_path: Path) -> None:
    """2 prolongs the loop, but the reader can read 0."""
    shell = Shell(tmp_path)
    built(shell, PROGRAM, "-DTWICE")
    assert lines(answer(shell, 30)) == {LOOP["-DTWICE"]}


def test_a_value_that_has_ended_the_loop_in_another_run_stays_a_finding(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    built(shell, BOTH)
    assert {one["location"]["name"] for one in answer(shell, 50)["findings"]} == {"z"}
