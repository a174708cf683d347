"""Threads that signal to each other: latches, parking, messages, tasks."""

from __future__ import annotations

from automaton import Program


def pgsql(n: int) -> Program:
    """The latch of PostgreSQL (the lost wake-up of its mailing list, 2011, and of Alglave, Kroening, Nimal
    and Tautschnig, Software verification for weak memory via program transformation, 2013). One process waits
    for its latch, resets it and looks for work; n-1 others make work and set the latch, unless it is set
    already.
    """
    program = Program()
    work, latch = program.cell("work"), program.cell("latch")
    t = program.thread("waiter")
    t.at("wait").spin("r", latch, until="!= r 0").write(0, latch).fence()
    t.read("r", work).when("== r 0", "wait").write(0, work, to="wait").fence()
    for number in range(1, n):
        t = program.thread(f"setter{number}")
        t.at("make").write(1, work).fence().read("r", latch).when("!= r 0", "make").write(1, latch, to="make")
    return program


def inlinepgsql(n: int) -> Program:
    """The latch of PostgreSQL, repaired: as in `pgsql`, but work and latch are written with an atomic
    exchange, in inline assembly, wherever a read follows.
    """
    program = Program()
    work, latch = program.cell("work"), program.cell("latch")
    t = program.thread("waiter")
    t.at("wait").spin("r", latch, until="!= r 0").exchange(latch, 0)
    t.read("r", work).when("== r 0", "wait").exchange(work, 0, to="wait")
    t = program.thread("setter", copies=n - 1)
    t.at("make").exchange(work, 1).read("r", latch).when("!= r 0", "make").write(1, latch, to="make")
    return program


def parker(n: int) -> Program:
    """Parking in the HotSpot virtual machine (Dice, A race in LockSupport park() arising from weak memory
    models, 2009): a thread waits for n-1 flags one after the other, and parks while a flag is not set; each
    other thread sets its flag and unparks it. The mutex is taken and released with atomic read-writes. A wait
    for the condition variable may end at any time, so nobody needs to signal it. Bounded: each flag is set
    once.
    """
    program = Program()
    permit, mutex = program.cell("permit"), program.cell("mutex")
    flag = program.array("flag", n - 1)
    t = program.thread("parker").local("k", flag[0])
    t.at("test").read("r", "k").when("!= r 0", "found")
    t.at("park").read("r", permit).when("== r 0", "slowly")
    t.write(0, permit, to="test").fence()
    t.at("slowly").swap(mutex, 0, 1, otherwise="test").read("r", permit).when("!= r 0", "consume")
    t.at("condition_wait").exchange(mutex, 0).swap(mutex, 0, 1)
    t.at("consume").write(0, permit).exchange(mutex, 0, to="test")
    t.at("found").when(f"== k {flag[-1]}", "end").local("k", "+ k 1", to="test")
    for number in range(n - 1):
        t = program.thread(f"unparker{number}")
        t.at("start").write(1, flag[number]).swap(mutex, 0, 1).write(1, permit).exchange(mutex, 0)
    return program


def alternatingbit() -> Program:
    """The alternating bit protocol (Bartlett, Scantlebury and Wilkinson 1969) over two cells, one for
    messages and one for acknowledgements, which both sides write again and again until they see the other's
    answer.
    """
    program = Program()
    message, acknowledged = program.cell("message"), program.cell("acknowledged")
    sender, receiver = program.thread("sender"), program.thread("receiver")
    for bit in (1, 0):
        sender.at(f"send{bit}").write(bit, message).fence()
        sender.read("r", acknowledged).when(f"!= r {bit}", f"send{bit}")
        receiver.at(f"await{bit}").write(1 - bit, acknowledged).fence()
        receiver.read("r", message).when(f"!= r {bit}", f"await{bit}")
    sender.at("send1")
    receiver.at("await1")
    return program


def incsequence(n: int, last: int = 4) -> Program:
    """An increasing sequence: one thread writes 1, 2, … to a cell, and n-1 others must never see it decrease.
    Bounded: the sequence ends.
    """
    program = Program()
    x = program.cell("x")
    t = program.thread("writer")
    for number in range(1, last + 1):
        t.write(number, x)
    t = program.thread("reader", copies=n - 1)
    t.at("start").read("now", x).when("< now before", "wrong").local("before", "now", to="start")
    return program


def taskschedule(n: int) -> Program:
    """A task scheduler: in each round, one thread lets n-1 workers do their tasks and waits until all are
    done. Rounds are numbered modulo 2; a worker that has done its task leaves the number of the round in its
    cell.
    """
    program = Program()
    current, done = program.cell("round"), program.array("done", n - 1)
    scheduler = program.thread("scheduler")
    workers = [program.thread(f"worker{number}") for number in range(1, n)]
    for number in (1, 0):
        scheduler.at(f"round{number}").write(number, current)
        for worker, mine in zip(workers, done, strict=True):
            scheduler.spin("r", mine, until=f"== r {number}")
            worker.at(f"await{number}").spin("r", current, until=f"== r {number}").write(number, mine)
    for thread in program.threads:
        thread.at("round1" if thread is scheduler else "await1")
    return program
