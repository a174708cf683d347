"""Locks with atomic read-writes, and records with versions. Under SC, no run comes to a place `wrong`."""

from __future__ import annotations

from automaton import Program, Thread


def spinlock(n: int) -> Program:
    """A test-and-set lock around a shared cell: each thread writes its name there and must find it."""
    program = Program()
    lock, owner = program.cell("lock"), program.cell("owner")
    for me in range(1, n + 1):
        t = program.thread(f"p{me}")
        t.at("start").swap(lock, 0, 1)
        t.at("cs").write(me, owner).read("r", owner).when(f"!= r {me}", "wrong")
        t.write(0, lock, to="start")
    return program


def tspinlock(n: int) -> Program:
    """A ticket lock (Reed and Kanodia 1979; the spin lock of Linux since 2.6.25) around a shared cell.
    Bounded: tickets are numbers modulo the first power of two that is at least n.
    """
    program = Program()
    free, serving, owner = program.cell("free"), program.cell("serving"), program.cell("owner")
    tickets = 1 << (n - 1).bit_length()
    for me in range(1, n + 1):
        t = program.thread(f"p{me}")
        t.at("start").increment("mine", free, tickets).spin("r", serving, until="== r mine")
        t.at("cs").write(me, owner).read("r", owner).when(f"!= r {me}", "wrong")
        t.write(f"& + mine 1 {tickets - 1}", serving, to="start")
    return program


def dclock(n: int) -> Program:
    """Double-checked locking (Schmidt and Harrison 1997): the first thread to come sets up the data under a
    lock, the others find a flag and do not lock.
    """
    program = Program()
    lock, ready, data = program.cell("lock"), program.cell("ready"), program.cell("data")
    t = program.thread("user", copies=n)
    t.at("start").read("r", ready).when("!= r 0", "use")
    t.swap(lock, 0, 1).read("r", ready).when("!= r 0", "unlock")
    t.write(1, data).write(1, ready)
    t.at("unlock").write(0, lock)
    t.at("use").read("r", data).when("== r 0", "wrong").at("start")
    return program


def clhlock(n: int) -> Program:
    """The queue lock of Craig (1993) and of Landin and Hagersten (1994). Nodes are numbers, and the cell of
    that number says whether the node's owner holds or awaits the lock. The exchange on the tail is a loop of
    a read and a compare-and-swap, since the language of Abdulla, Atig and Ngo has no other atomic read-write;
    with an atomic exchange no fence is needed.
    """
    program = Program()
    _, tail = program.array("node", n + 1), program.cell("tail")
    for me in range(1, n + 1):
        t = program.thread(f"p{me}")
        t.at("start").local("mine", me)
        t.at("queue").write(1, "mine").fence()
        t.at("enter").read("before", tail).swap(tail, "before", "mine", otherwise="enter")
        t.spin("r", "before", until="== r 0")
        t.at("cs").write(0, "mine").local("mine", "before", to="queue")
    return program


def seqlock(n: int, rounds: int = 2) -> Program:
    """A sequence lock (Linux; Boehm, Can seqlocks get along with programming language memory models?, 2012):
    an odd version is the writers' lock, and a reader starts again if the version has moved. Bounded: the
    writers stop after a few rounds, since a reader must not sleep while the version goes once around.
    """
    program = Program()
    version, left, right = program.cell("version"), program.cell("left"), program.cell("right")
    writers = max(1, n // 2)
    t = program.thread("writer", writers)
    t.at("start").read("v", version).when("& v 1", "start").only_if(f"< v {2 * rounds}")
    t.swap(version, "v", "+ v 1", otherwise="start")
    t.write("+ v 1", left).write("+ v 1", right).write("+ v 2", version, to="start")
    _reader(program.thread("reader", n - writers), version, left, right)
    return program


def _reader(t: Thread, version: int, left: int, right: int, then: str = "start") -> None:
    t.at("start").read("v", version).when("& v 1", "start")
    t.read("l", left).read("r", right).local("torn", "!= l r")
    t.read("now", version).when("!= now v", "start").when("torn", "wrong").at(then)


def nbw_w_wr(rounds: int = 2) -> Program:
    """The non-blocking write protocol (Kopetz and Reisinger, The non-blocking write protocol NBW, 1993) with
    two writers, one of which also reads. The protocol is for one writer at a time, so a lock orders the two.
    Bounded: together they write a few times only.
    """
    program = Program()
    version, left, right = program.cell("version"), program.cell("left"), program.cell("right")
    lock = program.cell("lock")
    for name in ("w", "wr"):
        t = program.thread(name)
        t.at("write").swap(lock, 0, 1).read("v", version).when(f">= v {2 * rounds}", "unlock")
        t.write("+ v 1", version).write("+ v 1", left).write("+ v 1", right).write("+ v 2", version)
        t.at("unlock").write(0, lock, to="write" if name == "w" else "start")
    _reader(t, version, left, right, then="write")
    return program


def nbw_w_readers(n: int, rounds: int = 2) -> Program:
    """The non-blocking write protocol (Kopetz and Reisinger, The non-blocking write protocol NBW, 1993) with
    one writer. A reader starts again if the version was odd or has moved. Bounded: the writer writes a few
    times only, since a reader must not sleep while the version goes once around.
    """
    program = Program()
    version, left, right = program.cell("version"), program.cell("left"), program.cell("right")
    t = program.thread("writer")
    t.at("start").only_if(f"< v {2 * rounds}").write("+ v 1", version)
    t.write("+ v 1", left).write("+ v 1", right).local("v", "+ v 2").write("v", version, to="start")
    _reader(program.thread("reader", n - 1), version, left, right)
    return program
