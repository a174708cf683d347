"""From a `Program` to a program in C11, with a thread for each of its threads.

Locations become `_Atomic` or plain variables, the atomic ones volatile so that no compiler leaves an access
out; registers become variables of their function. Each instruction is one statement under a `#line`
directive, so that compilers, debuggers and the sanitizer speak of the lines of the file that the program was
read from. An access without a mode is relaxed, as in RC20. Blocking instructions, choices and
compare-exchanges are calls of <fencepost.h>, which tell the sanitizer what is awaited or expected.

The program ends when its threads have ended, with exit code 1 if an assertion failed. `values.py` says how
values are kept, `spelling.py` spells single instructions. The final condition of a litmus test is left out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fencepost.formats.c.prelude import prelude
from fencepost.formats.c.spelling import CSpelling
from fencepost.formats.c.values import Kept, Values
from fencepost.formats.text.names import is_c_name, spellings
from fencepost.program import (
    Assert,
    Assume,
    Branch,
    CellAccess,
    Choose,
    Goto,
    Instruction,
    Location,
    Program,
    Skip,
    Thread,
    Verify,
    jump_targets,
)

# Linux keeps this much of a thread's name.
_LONGEST_NAME = 15

_HEADERS = """\
#define _GNU_SOURCE
#include <fencepost.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
"""

# Expressions are written as they stand in the program, however odd they look to a compiler. The first two are
# about names of the others that one compiler knows and the other does not.
_ODDITIES = (
    "pragmas",
    "unknown-warning-option",
    "bool-compare",
    "constant-logical-operand",
    "int-in-bool-context",
    "invalid-memory-model",  # a compare-exchange whose order for failure is the stronger one, as C++17 allows
    "self-assign",
    "tautological-compare",
    "type-limits",
    "xor-used-as-pow",
)

_START = """\
static void fp_start(pthread_t *thread, void *(*function)(void *), intptr_t tid, const char *name) {
    if (pthread_create(thread, NULL, function, (void *)tid) != 0) {
        perror("pthread_create");
        exit(2);
    }
    pthread_setname_np(*thread, name);
}
"""


class _Function(NamedTuple):
    """A function of C, and the threads that run it."""

    name: str
    threads: tuple[Thread, ...]


def write(program: Program) -> str:
    """The program in C11; raises `InputError` where C cannot say what it does."""
    values = Values(program)
    accessed = _accessed(program)
    kept = {location.name: values.kept(location) for location in accessed}
    locations = spellings((location.name for location in accessed), is_c_name)
    functions = _functions(program, frozenset(locations.values()))
    bodies = "\n".join(
        "\n".join(_Body(values, kept, locations, function).lines()) + "\n" for function in functions
    )
    declared = [
        _declared(location, locations[location.name], kept[location.name], values.modulus)
        for location in accessed
    ]
    prototypes = [f"static void *{function.name}(void *argument);\n" for function in functions]
    oddities = [f'#pragma GCC diagnostic ignored "-W{name}"\n' for name in _ODDITIES]
    head = [_title(program), _HEADERS, "".join(oddities), "".join(declared), *prelude(bodies, values)]
    return "\n".join(filter(None, [*head, "".join(prototypes), _START, _main(functions), bodies]))


def _accessed(program: Program) -> list[Location]:
    names = {
        instruction.cell.name
        for thread in program.threads
        for instruction in thread.code
        if isinstance(instruction, CellAccess)
    }
    return [location for location in program.locations if location.name in names]


def _functions(program: Program, taken: frozenset[str]) -> list[_Function]:
    """Threads that differ in nothing but their number share a function."""
    groups: list[list[Thread]] = []
    for thread in program.threads:
        same = groups and (thread.family, thread.code) == (groups[-1][0].family, groups[-1][0].code)
        if same and thread.registers == groups[-1][0].registers:
            groups[-1].append(thread)
        else:
            groups.append([thread])
    families = [group[0].family for group in groups]
    names = [
        f"run_{family}" if families.count(family) == 1 else f"run_{group[0].name}"
        for family, group in zip(families, groups, strict=True)
    ]
    spelled = spellings(names, is_c_name, taken)
    return [_Function(spelled[name], tuple(group)) for name, group in zip(names, groups, strict=True)]


def _title(program: Program) -> str:
    name = os.path.basename(program.file).replace("*/", "")
    return f"/* Written by fencepost from {name}. Values are 0 to {program.max_value}. */\n"


def _declared(location: Location, name: str, kept: Kept, modulus: int) -> str:
    kind = f"volatile _Atomic {kept.type}" if location.atomic else kept.type
    initial = ", ".join(str(value * kept.unit) + "U" * (kept.unit > 1) for value in location.initial)
    size, values = (f"[{len(location.initial)}]", f"{{{initial}}}") if location.is_array else ("", initial)
    note = ""
    if kept.counted:
        note = f"  /* counts on, and is read modulo {modulus} */"
    elif kept.unit > 1:
        note = f"  /* {kept.unit} times its value, so that it wraps around at {modulus} */"
    return f"static {kind} {name}{size} = {values};{note}\n"


def _main(functions: list[_Function]) -> str:
    threads = [(function.name, thread) for function in functions for thread in function.threads]
    starts = [
        f"    fp_start(&threads[{number}], {name}, {thread.tid}, {_quoted(thread.name[:_LONGEST_NAME])});"
        for number, (name, thread) in enumerate(threads)
    ]
    return "\n".join(
        [
            "int main(void) {",
            f"    pthread_t threads[{len(threads)}];",
            "    intptr_t failed = 0;",
            *starts,
            f"    for (int i = 0; i < {len(threads)}; i++) {{",
            "        void *result;",
            "        pthread_join(threads[i], &result);",
            "        failed |= (intptr_t)result;",
            "    }",
            "    return failed != 0;",
            "}\n",
        ]
    )


def _labels(thread: Thread) -> dict[int, str]:
    """The label of each place that something jumps to: one of the program's own where there is one."""
    targets = {target for instruction in thread.code for target in jump_targets(instruction)}
    own = spellings(thread.labels, is_c_name)
    made_up = spellings((f"at_{target}" for target in targets), is_c_name, own.values())
    labels = {target: made_up[f"at_{target}"] for target in targets}
    return labels | {index: own[label] for label, index in thread.labels.items() if index in targets}


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


class _Body:
    """One function: a statement for each instruction, labels where something jumps to."""

    def __init__(
        self, values: Values, kept: Mapping[str, Kept], locations: Mapping[str, str], function: _Function
    ) -> None:
        self._function = function
        self._thread = thread = function.threads[0]
        self._file = values.program.file
        registers = spellings(thread.registers, is_c_name, locations.values())
        self._spelling = CSpelling(values, function.threads, locations, registers, kept)
        self._labels = _labels(thread)

    def lines(self) -> Iterator[str]:
        number, registers = self._spelling.values.number, self._spelling.registers.values()
        yield f"static void *{self._function.name}(void *argument) {{"
        if len(self._function.threads) > 1:
            yield "    const int tid = (int)(intptr_t)argument;"
        yield "    intptr_t failed = 0;"
        if registers:
            yield f"    {number} {', '.join(f'{register} = 0' for register in registers)};"
        unused = ["tid" if len(self._function.threads) > 1 else "argument", *registers]
        yield f"    {' '.join(f'(void){name};' for name in unused)}"
        file = f" {_quoted(self._file)}"
        for index, instruction in enumerate(self._thread.code):
            yield from self._label(index)
            statement = self._statement(instruction)
            if statement and instruction.at.line:
                yield f"#line {instruction.at.line}{file}"
                file = ""  # stays the same from here on
            if statement:
                yield f"    {statement}"
        yield from self._label(len(self._thread.code))
        yield "    return (void *)failed;"
        yield "}"

    def _label(self, index: int) -> Iterator[str]:
        if index in self._labels:
            yield f"{self._labels[index]}:;"

    def _statement(self, instruction: Instruction) -> str:
        condition = self._spelling.condition
        match instruction:
            case Skip() | Verify():
                return ""
            case Branch(test, target):
                return f"if ({condition(test)}) goto {self._labels[target]};"
            case Goto(target):
                return f"goto {self._labels[target]};"
            case Choose(targets):
                *others, last = (self._labels[target] for target in targets)
                cases = "".join(f"case {number}: goto {label}; " for number, label in enumerate(others))
                return f"switch (fp_choose({len(targets)})) {{ {cases}default: goto {last}; }}"
            case Assert(test):
                return f"FP_ASSERT({condition(test)});"
            case Assume(test):
                return f"if (!({condition(test)})) return (void *)failed;"
            case _:
                return self._spelling.statement(instruction)
