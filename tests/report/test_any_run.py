"""Every face takes whatever run the engine may find."""

import random
from xml.etree import ElementTree

import pytest

from holdfast.report import as_json, notebook, svg, text
from holdfast.report.printable import columns

from .witnesses import Step, not_robust, witness


def random_witness(seed):
    """A run of random accesses that ends in a store buffering between two of its threads."""
    choose = random.Random(seed)
    threads = choose.randint(2, 7)
    memory = {f"c{i}": choose.randrange(3) for i in range(choose.randint(1, 6))}
    initial = {**memory, "p": 0, "q": 0, "fence": 0}
    steps = []
    for i in range(choose.randint(0, 60)):
        thread, cell = choose.randrange(threads), choose.choice(list(memory))
        line, value = choose.choice([0, i + 3]), choose.randrange(3)
        statement = choose.choice(["", f"{cell}.access({value}, some_long_argument, another_one)"])
        match choose.randrange(4):
            case 0:
                steps.append(Step(thread, f"R {cell}={memory[cell]}", line, statement))
            case 1:
                steps.append(Step(thread, f"W {cell}={value}", line, statement))
                memory[cell] = value
            case 2:
                steps.append(Step(thread, f"RMW {cell} {memory[cell]} {value}", line, statement))
                memory[cell] = value
            case 3:
                steps.append(Step(thread, "F", line, "fence"))
    one, other = choose.sample(range(threads), 2)
    steps += [
        Step(one, "W p=1", 91),
        Step(one, "R q=0", 92),
        Step(other, "W q=1", 93),
        Step(other, "R p=0", 94),
    ]
    return witness([f"thread{i}" for i in range(threads)], initial, steps, stale=list(initial).index("p"))


@pytest.mark.parametrize("seed", range(16))
def test_every_face_takes_any_run(seed):
    run = random_witness(seed)
    answer = not_robust(run)
    for verbose in (False, True):
        lines = text.render(answer, color=False, width=80, verbose=verbose).splitlines()
        assert max(map(columns, lines)) <= 80
    ElementTree.fromstring(svg.render(run))
    ElementTree.fromstring(notebook.answer_html(answer))
    assert as_json.encode(answer)
