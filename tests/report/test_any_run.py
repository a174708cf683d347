"""Every face takes whatever run the engine may find."""

import random
from xml.etree import ElementTree

import pytest

from fencepost.report.export import as_json
from fencepost.report.html import notebook
from fencepost.report.picture import svg
from fencepost.report.printable import columns
from fencepost.report.text import answer as text
from tests.report.witnesses import Step, fragile, not_robust, tso_witness, witness


def random_run(choose, threads):
    """The initial values, and a run of random accesses."""
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
    return initial, steps


def random_witness(seed):
    """A run that ends in a store buffering between two of its threads."""
    choose = random.Random(seed)
    threads = choose.randint(2, 7)
    initial, steps = random_run(choose, threads)
    one, other = choose.sample(range(threads), 2)
    steps += [
        Step(one, "W p=1", 91),
        Step(one, "R q=0", 92),
        Step(other, "W q=1", 93),
        Step(other, "R p=0", 94),
    ]
    return witness([f"thread{i}" for i in range(threads)], initial, steps, stale=list(initial).index("p"))


def random_tso_witness(seed):
    """A run that ends with some writes in a store buffer, a read that overtakes them, and who shows it."""
    choose = random.Random(seed)
    threads = choose.randint(2, 7)
    initial, steps = random_run(choose, threads)
    one, other = choose.sample(range(threads), 2)
    write, behind = len(steps), choose.choice([0, 1, 50])
    steps += [Step(one, "W p=1", 91), *(Step(one, f"W c0={i % 3}", 92) for i in range(behind))]
    steps += [Step(one, "R q=0", 93), Step(other, "W q=1", 94)]
    by_stores = behind == 0 and choose.random() < 0.5
    if not by_stores:
        steps.append(
            choose.choice([Step(other, "R p=0", 95), Step(other, "RMW p 0 2"), Step(other, "W p=2")])
        )
    names = [f"thread{i}" for i in range(threads)]
    read = write + behind + 1
    return tso_witness(names, initial, steps, write=write, read=read, stores_ordered=by_stores)


RUNS = [(random_witness, not_robust), (random_tso_witness, fragile)]


@pytest.mark.parametrize("seed", range(16))
@pytest.mark.parametrize(("any_run", "answer_with"), RUNS, ids=["graph", "store buffers"])
def test_every_face_takes_any_run(seed, any_run, answer_with):
    run = any_run(seed)
    answer = answer_with(run)
    for verbose in (False, True):
        lines = text.render(answer, color=False, width=80, verbose=verbose).splitlines()
        assert max(map(columns, lines)) <= 80
    ElementTree.fromstring(svg.render(run))
    ElementTree.fromstring(notebook.answer_html(answer))
    assert as_json.encode(answer)
