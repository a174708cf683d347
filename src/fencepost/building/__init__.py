"""Programs built in Python rather than read from a file.

    from fencepost.building import Program

    program = Program("sb", max_value=1)
    x, y = program.atomic("x"), program.atomic("y")
    with program.thread("left") as left:
        left.store(x, 1, "rel")
        left.load(y, "acq")
    with program.thread("right") as right:
        right.store(y, 1, "rel")
        right.load(x, "acq")
    answer = fencepost.robust(program.build())

What is built is the text of a TPL program, and `build` reads it: reports have lines to name, repairs have a
text to change, and mistakes are told as those in a file are.
"""

from fencepost.building.program import Program
from fencepost.building.thread import Thread
from fencepost.building.values import Local, Location, Value, all_of, any_of, not_

__all__ = ["Local", "Location", "Program", "Thread", "Value", "all_of", "any_of", "not_"]
