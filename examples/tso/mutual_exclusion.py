"""Mutual exclusion with reads and writes alone. Threads compete for ever; `cs` is the critical section."""

from __future__ import annotations

from automaton import Program


def others(n: int, me: int) -> list[int]:
    return [other for other in range(n) if other != me]


def simdekker(n: int) -> Program:
    """Dekker's mutual exclusion (Dijkstra 1965) without the turn: whoever sees another flag steps back."""
    program = Program()
    flag = program.array("flag", n)
    for me in range(n):
        t = program.thread(f"p{me}")
        t.at("start").write(1, flag[me]).fence()
        for other in others(n, me):
            t.read("r", flag[other]).when("!= r 0", "retreat")
        t.at("cs").write(0, flag[me], to="start")
        t.at("retreat").write(0, flag[me], to="start")
    return program


def dekker(n: int) -> Program:
    """Dekker's mutual exclusion (Dijkstra 1965) for n threads: the turn is one thread's, or nobody's (0).
    Compare Martin, A new generalization of Dekker's algorithm for mutual exclusion, 1986.
    """
    program = Program()
    flag, turn = program.array("flag", n), program.cell("turn")
    for me in range(n):
        t = program.thread(f"p{me}")
        t.at("start").write(1, flag[me]).fence()
        t.at("look")
        for other in others(n, me):
            t.read("r", flag[other]).when("!= r 0", "conflict")
        t.at("cs").write(0, turn).write(0, flag[me], to="start")
        t.at("conflict").read("r", turn).when(f"== r {me + 1}", "look")
        t.write(0, flag[me]).fence().spin("r", turn, until="== r 0").write(me + 1, turn, to="start")
    return program


def peterson(n: int) -> Program:
    """Peterson's mutual exclusion for n threads (Peterson, Myths about the mutual exclusion problem, 1981):
    n-1 levels, on each of which the last thread to arrive waits.
    """
    program = Program()
    level, last = program.array("level", n), program.array("last", n - 1)
    for me in range(n):
        t = program.thread(f"p{me}")
        last_here = f"+ {last[0] - 1} k"
        t.at("start").local("k", 1)
        t.at("climb").write("k", level[me]).write(me + 1, last_here).fence()
        t.at("wait").read("r", last_here).when(f"!= r {me + 1}", "passed")
        for other in others(n, me):
            t.read("r", level[other]).when(">= r k", "wait")
        t.at("passed").when(f"== k {n - 1}", "cs").local("k", "+ k 1", to="climb")
        t.at("cs").write(0, level[me], to="start")
    return program


def lambak(n: int) -> Program:
    """Lamport's bakery (Lamport, A new solution of Dijkstra's concurrent programming problem, 1974). Bounded:
    tickets end at n, and a thread that finds that one taken starts again.
    """
    program = Program()
    choosing, number = program.array("choosing", n), program.array("number", n)
    for me in range(n):
        t = program.thread(f"p{me}")
        t.at("start").write(1, choosing[me]).fence().local("mine", 0)
        for other in others(n, me):
            t.read("r", number[other]).when("<= r mine", f"max{other}").local("mine", "r")
            t.at(f"max{other}")
        t.when(f"== mine {n}", "give_up").local("mine", "+ mine 1")
        t.write("mine", number[me]).write(0, choosing[me]).fence()
        for other in others(n, me):
            earlier = "<=" if other < me else "<"
            t.at(f"choosing{other}").spin("r", choosing[other], until="== r 0")
            t.at(f"number{other}").spin("r", number[other], until=f"! && != r 0 {earlier} r mine")
        t.at("cs").write(0, number[me], to="start")
        t.at("give_up").write(0, choosing[me], to="start")
    return program


def dijkstra(n: int) -> Program:
    """Dijkstra's mutual exclusion (Dijkstra, Solution of a problem in concurrent programming control, 1965),
    with its two flags per thread as one of three values: idle, wants, is looking (Lynch, Distributed
    Algorithms, 1996).
    """
    program = Program()
    flag, turn = program.array("flag", n), program.cell("turn")
    for me in range(n):
        t = program.thread(f"p{me}")
        t.at("start").write(1, flag[me]).fence()
        t.at("turn").read("k", turn).when(f"== k {me}", "mine")
        t.read("r", f"+ {flag[0]} k").when("!= r 0", "turn").write(me, turn, to="turn")
        t.at("mine").write(2, flag[me]).fence()
        for other in others(n, me):
            t.read("r", flag[other]).when("== r 2", "start")
        t.at("cs").write(0, flag[me], to="start")
    return program


def burns(n: int) -> Program:
    """The mutual exclusion of Burns with one bit per thread (Burns and Lynch, Mutual exclusion using
    indivisible reads and writes, 1980).
    """
    program = Program()
    flag = program.array("flag", n)
    for me in range(n):
        t = program.thread(f"p{me}")
        t.at("start").write(0, flag[me])
        if me > 0:
            t.fence()
        for other in range(me):
            t.read("r", flag[other]).when("!= r 0", "start")
        t.write(1, flag[me]).fence()
        for other in range(me):
            t.read("r", flag[other]).when("!= r 0", "start")
        for other in range(me + 1, n):
            t.spin("r", flag[other], until="== r 0")
        t.at("cs").write(0, flag[me], to="start")
    return program


def szymanski(n: int) -> Program:
    """Szymanski's mutual exclusion (Szymanski, A simple solution to Lamport's concurrent programming problem
    with linear wait, 1988).
    """
    program = Program()
    flag = program.array("flag", n)
    for me in range(n):
        t = program.thread(f"p{me}")
        t.at("start").write(1, flag[me]).fence()
        for other in others(n, me):
            t.spin("r", flag[other], until="< r 3")
        t.write(3, flag[me]).fence()
        for other in others(n, me):
            t.read("r", flag[other]).when("== r 1", "wait")
        t.at("enter").write(4, flag[me]).fence()
        for other in range(me):
            t.spin("r", flag[other], until="< r 2")
        t.at("cs")
        for other in range(me + 1, n):
            t.spin("r", flag[other], until="|| < r 2 == r 4")
        t.write(0, flag[me], to="start")
        t.at("wait").write(2, flag[me]).fence()
        t.at("inside")
        for other in others(n, me):
            t.read("r", flag[other]).when("== r 4", "enter")
        t.at("inside")
    return program


def lamfast2(n: int) -> Program:
    """Lamport's fast mutual exclusion (Lamport, A fast mutual exclusion algorithm, 1987, Algorithm 2)."""
    program = Program()
    x, y, b = program.cell("x"), program.cell("y"), program.array("b", n)
    for me in range(n):
        t = program.thread(f"p{me}")
        t.at("start").write(1, b[me]).write(me + 1, x).fence().read("r", y).when("== r 0", "open")
        t.write(0, b[me]).fence()
        t.at("closed").spin("r", y, until="== r 0").at("start")
        t.at("open").write(me + 1, y).fence().read("r", x).when(f"== r {me + 1}", "cs")
        t.write(0, b[me]).fence()
        for other in others(n, me):
            t.spin("r", b[other], until="== r 0")
        t.read("r", y).when(f"!= r {me + 1}", "closed")
        t.at("cs").write(0, y).at("leave").write(0, b[me], to="start")
    return program
