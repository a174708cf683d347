"""The frames of a run: memory, registers, store buffers, and what each thread can still see."""

import random
from collections import Counter

import pytest

import fencepost
from fencepost.formats.tpl import read
from fencepost.models.definition import definition, program_lts
from fencepost.models.graphs import NOTHING, initial_graph
from fencepost.models.threads import NO_CELL, Label
from fencepost.program import Mode
from fencepost.report.playback import LONGEST, playback
from fencepost.verdicts import BadState, Edge, Run, SafetyWitness
from tests.fenced_rings import fenced_ring
from tests.report.witnesses import ANSWERS, BUFFERED, SB, TSO_SEVERAL, Step, events
from tests.strategies import random_program

SB_TEXT = """max_value 1;
global x, y;
fn left { local r; x.store(1, rel); r = y.load(acq); }
fn right { local r; y.store(1, rel); r = x.load(acq); r = r + 1; }
"""


def folded(played, step, part):
    """All changes of a part up to a step."""
    result = {}
    for frame in played.frames[: step + 1]:
        for key, value in getattr(frame, part).items():
            result[key] = {**result.get(key, {}), **value} if isinstance(value, dict) else value
    return result


def test_frames_of_store_buffering():
    program = read(SB_TEXT, "sb.tpl")
    witness = fencepost.robust(program).witness
    played = playback(witness, "ra", program)
    assert [(frame.thread, frame.line, frame.says) for frame in played.frames] == [
        (None, 0, ""),
        (0, 3, "x.store(1, rel)"),
        (0, 3, "r = y.load(acq) → 0"),
        (1, 4, "y.store(1, rel)"),
        (1, 4, "r = x.load(acq) → 0"),
    ]
    assert folded(played, 4, "memory") == {"x": "1", "y": "1"}
    assert folded(played, 4, "sees") == {0: {"x": ["1"], "y": ["0", "1"]}, 1: {"x": ["0", "1"], "y": ["1"]}}


def test_a_write_leaves_its_store_buffer_in_the_middle_of_a_run():
    played = playback(BUFFERED, "tso", None)
    assert played.weak == "buffers"
    assert [frame.says for frame in played.frames[1:]] == [
        "z.store(1) (buffered)",
        "x.store(1) (buffered)",
        "a = y.load() → 0",
        "z = 1 reaches memory",
        "y.store(1)",
        "b = x.load() → 0",
        "x = 1 reaches memory",
    ]
    assert folded(played, 3, "buffers") == {0: ["x = 1"], 1: ["z = 1"]}
    assert folded(played, 4, "buffers") == {0: ["x = 1"], 1: []}
    assert folded(played, 7, "memory") == {"x": "1", "y": "1", "z": "1"}


def test_registers_are_those_of_the_code_between_the_accesses():
    program = read(SB_TEXT, "sb.tpl")
    played = playback(fencepost.robust(program).witness, "ra", program)
    assert played.frames[3].stands[1].registers == {"r": "0"}
    assert played.frames[4].stands[1].registers == {"r": "1"}  # r = r + 1 comes after the load
    assert played.frames[4].stands[1].line == 0


def test_a_choice_is_followed_as_the_run_made_it():
    text = """max_value 7; global x, y;
    fn left { local k, r; oneof({ k = 1; }{ k = 2; }); x.store(k, rel); r = y.load(acq); }
    fn right { local r; y.store(1, rel); r = x.load(acq); }"""
    program = read(text, "choice.tpl")
    witness = fencepost.robust(program).witness
    played = playback(witness, "ra", program)
    stored = next(event for event in witness.events if event.thread == 0 and event.kind == "W")
    assert played.frames[0].stands[0].registers["k"] == str(stored.written)


def test_a_write_in_the_store_buffer_reaches_memory_in_the_end():
    played = playback(TSO_SEVERAL, "tso", None)
    waiting = [frame for frame in played.frames if frame.buffers]
    delayed = len(TSO_SEVERAL.delayed)
    assert [len(next(iter(frame.buffers.values()))) for frame in waiting] == [
        *range(1, delayed + 1),
        *reversed(range(delayed)),
    ]
    for frame in played.frames:
        if frame.says.endswith("(buffered)"):
            assert not frame.memory
    assert all(frame.memory for frame in played.frames[-delayed:])


def test_without_the_program_there_are_no_registers():
    played = playback(SB, "ra", None)
    assert not any(frame.stands for frame in played.frames)
    assert len(played.frames) == 5


def test_large_values_are_exact():
    large = 2**64 - 1
    run = Run(threads=("t",), events=events({"x": 0}, [Step(0, f"W x={large}", 3)]))
    assert playback(run, "ra", None).frames[1].memory == {"x": str(large)}


def test_a_run_that_is_too_long_is_not_played():
    run = Run(threads=("t",), events=events({"x": 0}, [Step(0, "W x=1", 3)] * (LONGEST + 1)))
    assert playback(run, "ra", None).frames == ()


@pytest.mark.parametrize("name", [name for name, answer in ANSWERS.items() if answer.witness is not None])
def test_memory_ends_as_the_newest_writes_left_it(name):
    witness = ANSWERS[name].witness
    played = playback(witness, ANSWERS[name].model, None)
    successors = {edge.source for edge in witness.edges if edge.relation == "mo"}
    newest = [e for e in witness.events if e.written is not None and e.id not in successors]
    memory = folded(played, len(played.frames), "memory")
    shown = Counter(memory.values())
    assert shown == Counter(str(event.written) for event in newest if event.cell != "fence")


@pytest.mark.parametrize("model", ["ra", "rc20", "cpp20"])
def test_a_thread_sees_what_the_definition_lets_it_read(model):
    """On random programs, after each event of the witness, for each thread and atomic location."""
    witnesses = 0
    for seed in range(120):
        program = random_program(random.Random(seed), modes=model == "rc20", most_accesses=4)
        if model == "cpp20":
            program = fenced_ring(seed, sc_percent=60)
        witness = fencepost.robust(program, model).witness
        if witness is None:
            continue
        witnesses += 1
        played = playback(witness, model, program)
        run = [event for event in witness.events if event.thread is not None]
        seen = {(t, c): [str(v)] for t in range(len(program.threads)) for c, v in initial_values(program)}
        for step, graph in enumerate(graphs(program, model, witness)):
            for thread, cells in played.frames[step].sees.items():
                seen |= {(thread, cell): values for cell, values in cells.items()}
            if model == "cpp20" and step == len(run):
                continue  # what S says of a run that has left sequential consistency is not shown
            for (thread, cell), values in seen.items():
                next_one = (e.mode for e in run[step:] if (e.thread, e.cell) == (thread, cell))
                mode = Mode.SC if next(next_one, "") == "seq_cst" else Mode.RLX
                assert set(values) == readable(program, model, graph, thread, cell, mode=mode), (seed, step)
    assert witnesses > 20


def test_reads_of_old_values_anywhere_in_a_run_to_a_bad_state():
    """Message passing through `f`: who reads the old `f` learns nothing, who reads the new one learns `d`."""
    initial = {"d": 0, "f": 0}
    steps = [
        Step(0, "W d=1", 1, mode="rel"),
        Step(0, "W f=1", 2, mode="rel"),
        Step(1, "R f=0", 3, mode="acq"),
        Step(2, "R f=1", 4, mode="acq"),
        Step(1, "R d=0", 5, mode="acq"),
    ]
    rf = [(1, 4), (3, 5), (0, 6)]
    witness = SafetyWitness(
        threads=("writer", "early", "late"),
        events=events(initial, steps),
        edges=tuple(Edge(source, target, "rf") for source, target in rf),
        cycle=(),
        bad=BadState(kind="bad"),
    )
    played = playback(witness, "sra", None)
    assert played.weak == "views"
    sees = folded(played, len(steps), "sees")
    assert sees[0] == {"d": ["1"], "f": ["1"]}
    assert sees[1] == {"d": ["0", "1"], "f": ["0", "1"]}
    assert sees[2] == {"d": ["1"], "f": ["1"]}
    assert playback(witness, "sc", None).weak == ""


def test_a_run_to_a_bad_state_is_seen_as_the_same_run_against_robustness():
    compared = 0
    for seed in range(60):
        program = random_program(random.Random(seed), most_accesses=4)
        witness = fencepost.robust(program).witness
        if witness is None or witness.access.kind != "R":
            continue
        compared += 1
        parts = {name: getattr(witness, name) for name in ("threads", "events", "edges", "cycle")}
        same = SafetyWitness(**parts, bad=BadState(kind="bad"))
        sees = [[frame.sees for frame in playback(w, "ra", program).frames] for w in (witness, same)]
        assert sees[0] == sees[1], seed
    assert compared > 5


@pytest.mark.parametrize("model", ["ra", "rc20", "tso"])
def test_registers_are_known_in_every_witness_of_random_programs(model):
    witnesses = 0
    for seed in range(150):
        program = random_program(random.Random(seed), modes=model == "rc20", most_accesses=5)
        witness = fencepost.robust(program, model).witness
        if witness is not None:
            witnesses += 1
            played = playback(witness, model, program)
            for frame in played.frames[1:]:
                assert frame.stands or frame.says.endswith("reaches memory"), seed
    assert witnesses > 10


def initial_values(program):
    cells = zip(program.cells, program.initial_memory, program.atomic_cells, strict=True)
    return [(cell, value) for cell, value, atomic in cells if atomic]


def graphs(program, model, witness):
    """The execution graph at the start and after each event."""
    graph = initial_graph(program_lts(program, model))
    yield graph
    names = (*program.cells, "fence")
    for event in witness.events:
        if event.thread is None:
            continue
        cell = names.index(event.cell) if event.cell else NO_CELL
        label = Label(event.kind, cell, event.read, event.written, *modes(event))
        if event.kind == "F" and event.cell:
            label = label._replace(kind="RMW")
        if cell == NO_CELL:
            graph = graph.add(event.thread, label, NOTHING)
        elif event is witness.access:
            stale = witness.events[witness.stale]
            place = [e.id for e in witness.events if e.cell == stale.cell and e.written is not None]
            graph = graph.add(event.thread, label, graph.mo_lists[cell][place.index(stale.id)])
        else:
            graph = graph.add(event.thread, label, graph.latest(cell))
        yield graph


def modes(event):
    if event.mode == "seq_cst":
        return Mode.SC, Mode.SC
    given = event.mode.replace("_", ",").split(",")
    reads, writes = event.kind in ("R", "RMW", "F"), event.kind in ("W", "RMW", "F")
    load = Mode.ACQ if "acq" in given else Mode.RLX if reads and event.kind != "F" else None
    store = Mode.REL if "rel" in given else Mode.RLX if writes and event.kind != "F" else None
    if event.mode == "na":
        return (Mode.NA if event.kind == "R" else None), (Mode.NA if event.kind == "W" else None)
    return load, store


def readable(program, model, graph, thread, cell, *, mode):
    number = program.cells.index(cell)
    memory = definition(model).memory

    def reads(write):
        return Label("R", number, graph.written(write), None, mode)

    return {
        str(graph.written(write))
        for write in graph.mo_lists[number]
        if memory.step(graph, thread, reads(write), write) is not None
    }
