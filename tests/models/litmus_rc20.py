"""Litmus tests in which modes and fences decide, with their verdicts under RC20.

The shapes are functions of how strong they are: `w` and `r` are the modes of all stores and loads, and `f`,
if given, stands between the two accesses of a thread.
"""

from __future__ import annotations

from fencepost.program import Fence, Instruction, Mode, Program
from tests.models.litmus import fadd, na_read, na_write, program, read, wait, write

RLX, ACQ, REL = Mode.RLX, Mode.ACQ, Mode.REL
ACQUIRE, RELEASE, ACQ_REL, SC_FENCE = (Fence(m) for m in (Mode.ACQ, Mode.REL, Mode.ACQ_REL, Mode.SC))


def between(first: Instruction, fence: Fence | None, second: Instruction) -> list[Instruction]:
    return [first, second] if fence is None else [first, fence, second]


def sb(w: Mode = RLX, r: Mode = RLX, f: Fence | None = None) -> Program:
    return program(
        between(write("x", 1, w), f, read("a", "y", r)), between(write("y", 1, w), f, read("a", "x", r))
    )


def mp(w: Mode = RLX, r: Mode = RLX, f: Fence | None = None, g: Fence | None = None) -> Program:
    return program(
        between(write("x", 1, w), f, write("y", 1, w)), between(read("a", "y", r), g or f, read("b", "x", r))
    )


def lb(w: Mode = RLX, r: Mode = RLX) -> Program:
    return program([read("a", "x", r), write("y", 1, w)], [read("a", "y", r), write("x", 1, w)])


def iriw(w: Mode = RLX, r: Mode = RLX, f: Fence | None = None) -> Program:
    return program(
        [write("x", 1, w)],
        between(read("a", "x", r), f, read("b", "y", r)),
        between(read("a", "y", r), f, read("b", "x", r)),
        [write("y", 1, w)],
    )


def wrc(w: Mode = RLX, r: Mode = RLX, f: Fence | None = None) -> Program:
    return program(
        [write("x", 1, w)],
        between(read("a", "x", r), f, write("y", 1, w)),
        between(read("a", "y", r), f, read("b", "x", r)),
    )


def isa2(w: Mode = RLX, r: Mode = RLX, f: Fence | None = None) -> Program:
    return program(
        between(write("x", 1, w), f, write("y", 1, w)),
        between(read("a", "y", r), f, write("z", 1, w)),
        between(read("a", "z", r), f, read("b", "x", r)),
    )


def two_plus_two_w(w: Mode = RLX, f: Fence | None = None) -> Program:
    return program(
        between(write("x", 1, w), f, write("y", 2, w)), between(write("y", 1, w), f, write("x", 2, w))
    )


def r(w: Mode = RLX, r: Mode = RLX, f: Fence | None = None) -> Program:
    return program(
        between(write("x", 1, w), f, write("y", 1, w)), between(write("y", 2, w), f, read("a", "x", r))
    )


def s(w: Mode = RLX, r: Mode = RLX, f: Fence | None = None) -> Program:
    return program(
        between(write("x", 2, w), f, write("y", 1, w)), between(read("a", "y", r), f, write("x", 1, w))
    )


SHAPES = {
    # Robust: relaxed, release/acquire, acq_rel fences, SC fences.
    "SB": (sb, "no no no yes"),
    "MP": (mp, "no yes yes yes"),
    "IRIW": (iriw, "no no no yes"),
    "WRC": (wrc, "no yes yes yes"),
    "ISA2": (isa2, "no yes yes yes"),
    "2+2W": (two_plus_two_w, "no no no yes"),
    "R": (r, "no no no yes"),
    "S": (s, "no yes yes yes"),
}


def _shaped() -> dict[str, tuple[Program, bool]]:
    result = {}
    for name, (shape, verdicts) in SHAPES.items():
        strengths = {
            "relaxed": {},
            "release/acquire": {"w": REL} if name == "2+2W" else {"w": REL, "r": ACQ},
            "acq_rel fences": {"f": ACQ_REL},
            "SC fences": {"f": SC_FENCE},
        }
        for (strength, modes), verdict in zip(strengths.items(), verdicts.split(), strict=True):
            result[f"{name} {strength}"] = shape(**modes), verdict == "yes"
    return result


# How the flag of message passing is published, whether by a store, a fence, or a release sequence.
PAYLOAD = [write("x", 1)]
PUBLISH = [write("y", 1, REL)]

VERDICTS = _shaped() | {
    "LB relaxed": (lb(), True),
    "LB release/acquire": (lb(REL, ACQ), True),
    "MP release only": (mp(w=REL), False),
    "MP acquire only": (mp(r=ACQ), False),
    "MP release and acquire fence": (mp(w=REL, g=ACQUIRE), True),
    "MP release fence and acquire": (mp(r=ACQ, f=RELEASE), True),
    "MP release and acquire fences": (mp(f=RELEASE, g=ACQUIRE), True),
    "MP acquire and release fences": (mp(f=ACQUIRE, g=RELEASE), False),
    "MP release fence only": (mp(f=RELEASE), False),
    "MP SC and acquire fence": (mp(f=SC_FENCE, g=ACQUIRE), True),
    "MP release and SC fence": (mp(f=RELEASE, g=SC_FENCE), True),
    "MP release fence after the flag": (
        program([*PAYLOAD, write("y", 1), RELEASE], [read("a", "y", ACQ), read("b", "x")]),
        False,
    ),
    "MP release fence well before the flag": (
        program([*PAYLOAD, RELEASE, read("c", "z"), write("y", 1)], [read("a", "y", ACQ), read("b", "x")]),
        True,
    ),
    "MP acquire fence before the flag is read": (
        program([*PAYLOAD, *PUBLISH], [ACQUIRE, read("a", "y"), read("b", "x")]),
        False,
    ),
    "MP release sequence over an RMW": (
        program([*PAYLOAD, *PUBLISH], [fadd("y", 1)], [wait("y", 2, mode=ACQ), read("a", "x")]),
        True,
    ),
    "MP release sequence over two RMWs": (
        program(
            [*PAYLOAD, *PUBLISH],
            [wait("y", 1), fadd("y", 1)],
            [wait("y", 2), fadd("y", 1)],
            [wait("y", 3, mode=ACQ), read("a", "x")],
        ),
        True,
    ),
    "MP release sequence broken by a store": (
        program(
            [*PAYLOAD, *PUBLISH], [wait("y", 1), write("y", 2)], [wait("y", 2, mode=ACQ), read("a", "x")]
        ),
        False,
    ),
    "MP release sequence broken by a store of the releasing thread": (
        program([*PAYLOAD, *PUBLISH, write("y", 2)], [wait("y", 2, mode=ACQ), read("a", "x")]),
        False,  # in C++11 it went on, in C++20 it does not
    ),
    "CoRR": (program([write("x", 1)], [read("a", "x"), read("b", "x")]), True),
    "CoRR of two writers": (
        program([write("x", 1)], [write("x", 2)], [read("a", "x"), read("b", "x")]),
        True,
    ),
    "CoRW": (program([write("x", 1)], [read("a", "x"), write("x", 2)]), True),
    "CoWR": (program([write("x", 1)], [write("x", 2), read("a", "x")]), True),
    "CoWW": (program([write("x", 1), write("x", 2)], [read("a", "x"), read("b", "x")]), True),
    "two relaxed FADDs": (program([fadd("x", 1), fadd("x", 1)], [fadd("x", 1)]), True),
    "SB with relaxed RMWs between": (
        program([write("x", 1), fadd("f"), read("a", "y")], [write("y", 1), fadd("f"), read("a", "x")]),
        False,
    ),
    "SB with acquire-release RMWs between": (
        program(
            [write("x", 1), fadd("f", 0, ACQ, REL), read("a", "y")],
            [write("y", 1), fadd("f", 0, ACQ, REL), read("a", "x")],
        ),
        True,
    ),
    "SB with one SC fence": (
        program([write("x", 1), SC_FENCE, read("a", "y")], [write("y", 1), read("b", "x")]),
        False,
    ),
}


# Non-atomic payload p, flag y: whether there is a race.


def passing(sender: list[Instruction], *others: list[Instruction]) -> Program:
    return program([na_write("p", 1), *sender], *others, atomic="yz", non_atomic="p")


READ = na_read("a", "p")

RACES = {
    "relaxed flag": (passing([write("y", 1)], [wait("y", 1), READ]), True),
    "release/acquire flag": (passing([write("y", 1, REL)], [wait("y", 1, mode=ACQ), READ]), False),
    "flag that is only released": (passing([write("y", 1, REL)], [wait("y", 1), READ]), True),
    "flag that is only acquired": (passing([write("y", 1)], [wait("y", 1, mode=ACQ), READ]), True),
    "flag that is not waited for": (passing([write("y", 1, REL)], [read("a", "y", ACQ), READ]), True),
    "fence pair": (passing([RELEASE, write("y", 1)], [wait("y", 1), ACQUIRE, READ]), False),
    "fences the wrong way round": (passing([ACQUIRE, write("y", 1)], [wait("y", 1), RELEASE, READ]), True),
    "SC fence pair": (passing([SC_FENCE, write("y", 1)], [wait("y", 1), SC_FENCE, READ]), False),
    "release fence and acquire": (passing([RELEASE, write("y", 1)], [wait("y", 1, mode=ACQ), READ]), False),
    "release and acquire fence": (passing([write("y", 1, REL)], [wait("y", 1), ACQUIRE, READ]), False),
    "acquire fence too early": (passing([write("y", 1, REL)], [ACQUIRE, wait("y", 1), READ]), True),
    "release fence too late": (passing([write("y", 1), RELEASE], [wait("y", 1, mode=ACQ), READ]), True),
    "release sequence": (
        passing([write("y", 1, REL)], [wait("y", 1), fadd("y", 1)], [wait("y", 2, mode=ACQ), READ]),
        False,
    ),
    "release sequence broken by a store": (
        passing([write("y", 1, REL)], [wait("y", 1), write("y", 2)], [wait("y", 2, mode=ACQ), READ]),
        True,
    ),
    "release sequence broken by a store of the sender": (
        passing([write("y", 1, REL), write("y", 2)], [wait("y", 2, mode=ACQ), READ]),
        True,
    ),
    "two flags": (
        passing(
            [write("y", 1, REL)],
            [wait("y", 1, mode=ACQ), write("z", 1, REL)],
            [wait("z", 1, mode=ACQ), READ],
        ),
        False,
    ),
    "two flags, the second relaxed": (
        passing(
            [write("y", 1, REL)], [wait("y", 1, mode=ACQ), write("z", 1)], [wait("z", 1, mode=ACQ), READ]
        ),
        True,
    ),
    "payload read before it is given back": (
        program(
            [na_read("a", "p"), write("y", 1)], [wait("y", 1), na_write("p", 1)], atomic="y", non_atomic="p"
        ),
        True,
    ),
    "payload given back": (
        program(
            [na_read("a", "p"), write("y", 1, REL)],
            [wait("y", 1, mode=ACQ), na_write("p", 1)],
            atomic="y",
            non_atomic="p",
        ),
        False,
    ),
    "two readers of one message": (
        passing([write("y", 1, REL)], [wait("y", 1, mode=ACQ), READ], [wait("y", 1, mode=ACQ), READ]),
        False,
    ),
    "two writers after one message": (
        passing(
            [write("y", 1, REL)],
            [wait("y", 1, mode=ACQ), na_write("p", 2)],
            [wait("y", 1, mode=ACQ), na_write("p", 3)],
        ),
        True,
    ),
    "readers only": (program([READ], [READ], atomic="y", non_atomic="p"), False),
}
