"""Work stealing: an owner puts tasks into a queue and takes them out, a thief steals them.

A task is a 1 in a slot. Whoever finds a 0 where a task must be goes to `wrong`; under SC nobody does.
"""

from __future__ import annotations

from automaton import Program


def cilk_wsq(size: int = 3) -> Program:
    """The THE protocol of Cilk (Frigo, Leiserson and Randall, The implementation of the Cilk-5 multithreaded
    language, 1998). Whoever gets a task empties its slot, so each must be had exactly once. Bounded: three
    slots; those at the head are not used again.
    """
    program = Program()
    head, tail, lock = program.cell("head"), program.cell("tail"), program.cell("lock")
    slots = program.array("slot", size)
    slot, stolen = f"+ {slots[0]} t", f"+ {slots[0]} h"
    t = program.thread("owner")
    t.at("idle").only_if(f"< t {size}").write(1, slot).local("t", "+ t 1").write("t", tail, to="idle")
    t.at("idle").only_if("> t 0").local("t", "- t 1").write("t", tail).fence()
    t.read("h", head).when("<= h t", "have")
    t.write("+ t 1", tail).swap(lock, 0, 1).write("t", tail).read("h", head).when("<= h t", "unlock")
    t.local("t", "+ t 1").write("t", tail).write(0, lock, to="idle")
    t.at("unlock").write(0, lock)
    t.at("have").read("r", slot).when("== r 0", "wrong").write(0, slot, to="idle")
    t = program.thread("thief")
    t.at("start").swap(lock, 0, 1).read("h", head).when(f">= h {size}", "unlock")
    t.write("+ h 1", head).fence().read("t", tail).when(">= h t", "empty")
    t.write(0, lock).read("r", stolen).when("== r 0", "wrong").write(0, stolen, to="start")
    t.at("empty").write("h", head)
    t.at("unlock").write(0, lock, to="start")
    return program


def cl_wsq(size: int = 3) -> Program:
    """The deque of Chase and Lev (Dynamic circular work-stealing deque, 2005), on an array that
    neither grows nor is a ring. Bounded: three slots; those at the top are not used again.
    """
    program = Program()
    top, bottom = program.cell("top"), program.cell("bottom")
    slots = program.array("slot", size)
    slot, stolen = f"+ {slots[0]} b", f"+ {slots[0]} t"
    t = program.thread("owner")
    t.at("idle").only_if(f"< b {size}").write(1, slot).local("b", "+ b 1").write("b", bottom, to="idle")
    t.at("idle").only_if("> b 0").local("b", "- b 1").write("b", bottom).fence()
    t.read("t", top).when("> t b", "empty").read("r", slot).when("== r 0", "wrong").when("< t b", "idle")
    t.swap(top, "t", "+ t 1", otherwise="empty")
    t.at("empty").local("b", "+ b 1").write("b", bottom, to="idle")
    t = program.thread("thief")
    t.at("start").read("t", top).read("b", bottom).when(">= t b", "start").read("r", stolen)
    t.swap(top, "t", "+ t 1", otherwise="start").when("== r 0", "wrong").at("start")
    return program


def fifo_iwsq(last: int = 4) -> Program:
    """The idempotent FIFO queue (Michael, Vechev and Saraswat, Idempotent work stealing, 2009) on a ring of
    two slots: a task may be had more than once, but not lost. Bounded: the indices end, and the ring does not
    grow when it is full.
    """
    program = Program()
    head, tail = program.cell("head"), program.cell("tail")
    slots = program.array("slot", 2)
    t = program.thread("owner")
    t.at("idle").only_if(f"< t {last}").read("h", head).when("== - t h 2", "idle")
    t.write(1, f"+ {slots[0]} & t 1").local("t", "+ t 1").write("t", tail, to="idle").fence()
    t.at("idle").read("h", head).when(">= h t", "idle")
    t.read("r", f"+ {slots[0]} & h 1").when("== r 0", "wrong").write("+ h 1", head, to="idle")
    t = program.thread("thief")
    t.at("start").read("h", head).read("t", tail).when(">= h t", "start").read("r", f"+ {slots[0]} & h 1")
    t.swap(head, "h", "+ h 1", otherwise="start").when("== r 0", "wrong").at("start")
    return program


def lifo_iwsq(puts: int = 3) -> Program:
    """The idempotent LIFO queue (Michael, Vechev and Saraswat, Idempotent work stealing, 2009): a task may be
    had more than once, but not lost. The anchor is one cell, size + 4 * tag. The array has two slots and
    grows to three; there, and nowhere else, a fence is needed. Bounded: it grows once, and the owner puts a
    few tasks only, so that the tag does not wrap around.
    """
    program = Program()
    small, large = program.array("small", 2), program.array("large", 3)
    array, anchor = program.cell("array"), program.cell("anchor")
    top = "- + array size 1"
    t = program.thread("owner")
    t.at("idle").read("a", anchor).local("size", "& a 3").when("== size 0", "idle")
    t.read("r", top).when("== r 0", "wrong").write("- a 1", anchor, to="idle")
    t.at("idle").read("a", anchor).when(f">= a {4 * puts}", "idle").local("size", "& a 3")
    t.when(f"&& == size 2 == array {small[0]}", "grow")
    t.write(1, "+ array size").write("+ a 5", anchor, to="idle")
    t.at("grow")
    for old, new in zip(small, large, strict=False):
        t.read("r", old).write("r", new)
    t.local("array", large[0]).write("array", array, to="idle").fence()
    t = program.thread("thief")
    t.at("start").read("a", anchor).local("size", "& a 3").when("== size 0", "start")
    t.read("array", array).read("r", top)
    t.swap(anchor, "a", "- a 1", otherwise="start").when("== r 0", "wrong").at("start")
    return program


def anchor_iwsq(puts: int = 3) -> Program:
    """The idempotent double-ended queue (Michael, Vechev and Saraswat, Idempotent work stealing, 2009): the
    owner works at the tail and the thief at the head; a task may be had more than once, but not lost. The
    anchor is one cell, size + 4 * head + 16 * tag. The array is a ring of two slots and grows to four;
    there, and nowhere else, a fence is needed. Bounded: it grows once, and the owner puts a few tasks only,
    so that neither the head nor the tag wrap around.
    """
    program = Program()
    small, large = program.array("small", 2), program.array("large", 4)
    array, anchor = program.cell("array"), program.cell("anchor")
    head = "+ >= & a 12 4 + >= & a 12 8 == & a 12 12"
    t = program.thread("owner").local("last", 1)
    t.at("idle").read("a", anchor).local("size", "& a 3").when("== size 0", "idle").local("head", head)
    t.read("r", "+ array & last + head - size 1").when("== r 0", "wrong").write("- a 1", anchor, to="idle")
    t.at("idle").read("a", anchor).when(f">= a {16 * puts}", "idle")
    t.local("size", "& a 3").local("head", head).when("&& == size 2 == last 1", "grow")
    t.write(1, "+ array & last + head size").write("+ a 17", anchor, to="idle")
    t.at("grow")
    for _ in small:
        t.read("r", f"+ {small[0]} & 1 head").write("r", f"+ {large[0]} & 3 head").local("head", "+ head 1")
    t.local("last", 3).local("array", large[0]).write("array", array, to="idle").fence()
    t = program.thread("thief")
    t.at("start").read("a", anchor).when("== 0 & a 3", "start").local("head", head)
    t.read("array", array).local("last", 3).when(f"!= array {small[0]}", "steal").local("last", 1)
    t.at("steal").read("r", "+ array & last head").swap(anchor, "a", "& 63 + a 3", otherwise="start")
    t.when("== r 0", "wrong").at("start")
    return program
