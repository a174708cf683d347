"""Litmus tests in which a read takes a detour: another thread writes once more the value that it reads.

A read that overtakes a write of its own thread then reads what it would have read in its place as well. So
the program order and the order of the stores are those of an SC run and the program is persistent, but the
read takes its value from another write than in any SC run, and so the program is not robust.
"""

from __future__ import annotations

from automaton import Program


def _reader(program: Program, name: str, seen: int, written: int, value: int) -> None:
    """Once a cell is 1: write another one, then read the first again."""
    t = program.thread(name)
    t.at("start").spin("r", seen, until="== r 1").write(value, written).read("r", seen)


def _writer(program: Program, name: str, *cells: int) -> None:
    t = program.thread(name)
    for cell in cells:
        t.write(1, cell)


def write_r(n: int) -> Program:
    """The litmus test R, in which the reads of x take a detour (see README.md): x is written twice."""
    program = Program()
    x, y = program.cell("x"), program.cell("y")
    _writer(program, "writer", x, x, y)
    for number in range(1, n):
        _reader(program, f"reader{number}", x, y, 2)
    return program


def r_detour(n: int) -> Program:
    """The litmus test R, in which the reads of x take a detour (see README.md): two threads write x."""
    program = Program()
    x, y = program.cell("x"), program.cell("y")
    _writer(program, "writer", x, y)
    _writer(program, "detour", x)
    for number in range(2, n):
        _reader(program, f"reader{number}", x, y, 2)
    return program


def r_detours(n: int) -> Program:
    """The litmus test R, in which the reads of x take a detour (see README.md): two threads write x and y."""
    program = Program()
    x, y = program.cell("x"), program.cell("y")
    _writer(program, "writer0", x, y)
    _writer(program, "writer1", x, y)
    for number in range(2, n):
        _reader(program, f"reader{number}", x, y, 2)
    return program


def write_r_co(n: int) -> Program:
    """As write+r, but the cycle that shows the reads goes through the order of the writes of z as well."""
    program = Program()
    x, y, z = program.cell("x"), program.cell("y"), program.cell("z")
    _writer(program, "writer", x, x, z)
    program.thread("co").write(2, z).write(1, y)
    for number in range(2, n):
        _reader(program, f"reader{number}", x, y, 2)
    return program


def sb_detours(n: int) -> Program:
    """Store buffering, and next to it threads whose reads of x take a detour (see README.md)."""
    program = Program()
    x, y, z = program.cell("x"), program.cell("y"), program.cell("z")
    program.thread("sb0").write(1, x).fence().read("r", y)
    program.thread("sb1").write(1, y).fence().read("r", x)
    program.thread("detour").at("start").spin("r", x, until="== r 1").write(1, x).write(1, z)
    for number in range(3, n):
        _reader(program, f"reader{number}", x, z, 2)
    return program


def sb_detour_co(n: int) -> Program:
    """Store buffering in which all reads take a detour (see README.md), and threads that read x as well."""
    program = Program()
    x, y, z = program.cell("x"), program.cell("y"), program.cell("z")
    _writer(program, "writer", x, y)
    _reader(program, "sb0", x, y, 1)
    _reader(program, "sb1", y, x, 1)
    program.thread("detour").at("start").spin("r", x, until="== r 1").write(1, x).write(1, z)
    for number in range(4, n):
        _reader(program, f"reader{number}", x, z, 2)
    return program
