"""The steps of a suite: each is a process that runs its tests with the mutants that the step before left.

Tests of the engine are run in forks of a process that has run them without a mutant before. That finds out
whether they pass and how long they take. It also remembers what the definitions say of each program, which no
change of the engine can change, and which is what takes long. The next step begins with the first mutant that
survives, beside this one.
"""

from __future__ import annotations

import math
import os
import resource
import select
import signal
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from tests.mutants.asking import prepare_tests, put_in_force, remember_definitions, run_tests
from tests.mutants.forks import Fork, Jobs, dies_with_its_parent
from tests.mutants.listed import Mutant
from tests.mutants.suites import SUITES


@dataclass
class Asked:
    """What all steps of all suites share."""

    mutants: dict[int, Mutant]
    jobs: Jobs
    record: Callable[[Mutant, str, bool], None]  # by what it was killed, and whether there are steps left
    first: int = 1
    most: int = 9


class Step:
    """A process with mutants to run, one number a line."""

    def __init__(self, asked: Asked, suite: str, number: int, in_python: bool) -> None:
        self._asked, self._suite, self._number, self._in_python = asked, suite, number, in_python
        self._incoming, self._outgoing = os.pipe()
        self._next: Step | None = None
        self._pid = os.fork()
        if self._pid == 0:
            dies_with_its_parent()
            os.close(self._outgoing)
            try:
                self._run()
            except SystemExit as end:
                print(end, flush=True)
                os._exit(1)
            except BaseException as error:
                print(f"{self.name}: {error!r}", flush=True)
                os._exit(1)
            os._exit(0)
        os.close(self._incoming)

    @property
    def name(self) -> str:
        return f"{self._suite}, {self._number}"

    @property
    def is_last(self) -> bool:
        return self._number >= min(len(SUITES[self._suite]), self._asked.most)

    def add(self, mutant: Mutant) -> None:
        os.write(self._outgoing, b"%d\n" % mutant.number)

    def end(self) -> None:
        """No more mutants come."""
        os.close(self._outgoing)

    def went_well(self, until: float = math.inf) -> bool:
        """Waits for its end, and ends it if it takes too long."""
        done, status = os.waitpid(self._pid, os.WNOHANG)
        while not done:
            if time.monotonic() > until:
                os.kill(self._pid, signal.SIGKILL)
            time.sleep(0.05)
            done, status = os.waitpid(self._pid, os.WNOHANG)
        return status == 0

    def _run(self) -> None:
        tests = SUITES[self._suite][self._number - 1]
        with self._asked.jobs.one():
            usual = self._without_a_mutant(tests)
        waiting: deque[Mutant] = deque()
        running: list[_Running] = []
        rest, more = b"", True
        while more or waiting or running:
            if more and select.select([self._incoming], [], [], 0)[0]:
                read = os.read(self._incoming, 4096)
                more = bool(read)
                *lines, rest = (rest + read).split(b"\n")
                waiting.extend(self._asked.mutants[int(line)] for line in lines)
            while waiting and self._asked.jobs.take():
                running.append(_Running(waiting.popleft(), tests, 15 + 3 * usual))
            for one in list(running):
                if (by := one.fork.ended()) is not None:
                    running.remove(one)
                    self._asked.jobs.give()
                    self._note(one, by)
            time.sleep(0.02)
        if self._next is not None:
            self._next.end()
            if not self._next.went_well():
                raise SystemExit(1)

    def _without_a_mutant(self, tests: list[str]) -> float:
        """The processor time they take."""
        if self._number == self._asked.first:
            prepare_tests()
            if not self._in_python:
                import fencepost.engine._native  # noqa: F401

                remember_definitions()
        start = _processor_seconds()
        told = Fork(lambda: run_tests(tests), 3600).result() if self._in_python else run_tests(tests)
        usual = _processor_seconds() - start
        if not told and not self._in_python:  # what only fails the second time, Hypothesis in a class
            told = Fork(lambda: run_tests(tests), 3600).result()
        if told:
            raise SystemExit(f"{self.name}: without a mutant: {told}")
        print(f"{self.name}: passes without mutants, {usual:.0f} s of processor time", flush=True)
        return usual

    def _note(self, one: _Running, by: str) -> None:
        if by.startswith("error"):
            raise SystemExit(f"{one.mutant.listed_at}: {by}")
        verdict = f"killed by {by}" if by else "survived"
        seconds = time.monotonic() - one.begun
        print(f"{self.name}: {one.mutant.listed_at} ({seconds:.0f} s): {verdict}", flush=True)
        if by or self.is_last:
            self._asked.record(one.mutant, by, self._number < len(SUITES[self._suite]))
            return
        if self._next is None:
            self._next = Step(self._asked, self._suite, self._number + 1, self._in_python)
        self._next.add(one.mutant)


class _Running:
    def __init__(self, mutant: Mutant, tests: list[str], seconds: float) -> None:
        def with_it() -> str:
            put_in_force(mutant)
            return run_tests(tests)

        self.mutant, self.begun = mutant, time.monotonic()
        self.fork = Fork(with_it, seconds)


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime + children.ru_utime + children.ru_stime
