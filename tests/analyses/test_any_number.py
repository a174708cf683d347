"""Robustness for any number of threads: a claim for all numbers holds for each, and a violation is one."""

import random
from pathlib import Path

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from fencepost.analyses import any_number
from fencepost.analyses.repair.fix import fix
from fencepost.analyses.repair.relax import relax
from fencepost.analyses.robustness import robust
from fencepost.analyses.tso_any_number import tso_views_of
from fencepost.engine.search import Limits
from fencepost.errors import InputError
from fencepost.formats import load
from fencepost.formats.headers import expectations
from fencepost.formats.registry import write
from fencepost.formats.tpl.reader import read
from fencepost.models.tso import on_x86
from fencepost.models.tso_witnesses import replay_tso
from fencepost.models.witnesses import replay
from fencepost.program import Program, Thread
from fencepost.program.expressions import ThreadId, subexpressions
from fencepost.program.instructions import expressions_of
from fencepost.verdicts import NotRobust, Robust, TsoWitness, Unknown
from fencepost.verdicts.relax import Relaxed
from fencepost.verdicts.repair import Repaired, RepairUnknown
from tests.strategies import random_program

FILES = sorted((Path(__file__).parents[2] / "examples" / "any-number").glob("*.tpl"))
MODELS = ("ra", "rc20", "cpp20")
ALL_MODELS = (*MODELS, "tso")
LOCK = """
global x; na d;
fn worker[*] { local r; BCAS(x, 0, 1, acq, rlx); r = d.naload(); d.nastore(r); x.store(0, rel); }
"""


def test_there_are_examples() -> None:
    assert FILES


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
@pytest.mark.parametrize("model", ["ra", "rc20", "tso"])
def test_examples_are_as_they_say(file: Path, model: str) -> None:
    program = load(file)
    expected = expectations(program.source or "")
    answer = robust(program, model)
    assert isinstance(answer, Robust if expected["robust", model] else NotRobust)
    if isinstance(answer, Robust):
        assert (answer.race is not None) == expected.get(("race", model), False)
        assert answer.assertion is None
    else:
        check_smallest(program, model, answer)


def check_smallest(program: Program, model: str, answer: NotRobust) -> None:
    """The witness is a run of the definition, and with one thread fewer there is none."""
    copies = min(answer.any_number.copies.values())
    if isinstance(answer.witness, TsoWitness):
        replay_tso(on_x86(program.with_instances(copies)), answer.witness, "robust")
    else:
        assert answer.witness is not None
        replay(program.with_instances(copies), answer.witness, model)
    for fewer in range(1, copies):
        assert isinstance(robust(program.with_instances(fewer), model), Robust)


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
@pytest.mark.parametrize("model", ALL_MODELS)
def test_claims_about_examples_agree_with_the_exact_engine(file: Path, model: str) -> None:
    program = load(file)
    answer = robust(program, model)
    assert answer.any_number is not UNSET
    for copies in range(1, 5):
        exact = robust(program.with_instances(copies), model, limits=Limits(states=500_000))
        fewer = isinstance(answer, NotRobust) and copies < min(answer.any_number.copies.values())
        if not isinstance(exact, Unknown):
            assert isinstance(exact, Robust) == (isinstance(answer, Robust) or fewer)
        if isinstance(answer, Robust):
            assert exact.race is None or answer.race is not None
            assert exact.assertion is None


@pytest.mark.parametrize("left", ["left", "left[*]"])
def test_a_write_is_attacked_by_each_read_that_overtakes_it(left: str) -> None:
    """Only the second of the two reads makes a cycle."""
    program = read(f"""max_value 1; global x, y, z;
        fn {left} {{ local r; x.store(1); r = z.load(); r = y.load(); }}
        fn right {{ local r; y.store(1); fence; r = x.load(); }}
        fn other[*] {{ z.store(1); }}""")
    answer = robust(program, "tso")
    assert isinstance(answer, NotRobust)
    check_smallest(program, "tso", answer)


def test_what_some_threads_have_done_in_an_attack_is_not_done_by_all() -> None:
    """What has joined may write y; what has not may only read what the others have written."""
    program = read("global x, y; fn f[*] { local r; y.store(0); r = x.load(); x.store(r); }")
    assert isinstance(robust(program, "tso", limits=Limits(states=20_000)), Robust)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_views_of_an_attack_are_found_whatever_came_first_in_its_first_half(k: int) -> None:
    """It takes three others, each in a state that is found at another time before and in the attack."""
    program = read("""max_value 1; global v, w, x, y, z, u, q;
        fn attacker { local r; v.store(1); x.store(1); fence; y.store(1); r = z.load(); }
        fn other[*] {
            local a, b;
            a = x.load();
            if (a == 0) { b = w.load(); b = u.load(); b = y.load(); } else { b = q.load(); u.store(1); }
        }
        fn late[*] {
            local b;
            b = w.load(); b = w.load(); b = w.load(); b = w.load(); b = w.load();
            z.store(1); q.store(1);
        }""")
    assert tso_views_of(on_x86(program), k, Limits(states=200_000), None).violation


def random_templates(source: random.Random, model: str) -> Program:
    """One or two functions, of which at least one stands for any number of threads."""
    while True:
        program = random_program(
            source,
            loop_free=source.random() < 0.5,
            threads=(1, 2),
            most_accesses=4,
            modes=model != "ra",
            sc_accesses=model == "cpp20" and source.random() < 0.7,
        )
        threads = [replace(t, copies=None, tid=0, family=f"f{n}") for n, t in enumerate(program.threads)]
        if any(_uses_its_number(thread) for thread in threads):
            continue
        chosen = [source.random() < 0.6 for _ in threads]
        chosen[0] = chosen[0] or not any(chosen)
        return replace(
            program,
            threads=tuple(
                replace(t, least=1) if many else t for t, many in zip(threads, chosen, strict=True)
            ),
        )


def _uses_its_number(thread: Thread) -> bool:
    expressions = (e for i in thread.code for e in expressions_of(i))
    return any(isinstance(part, ThreadId) for e in expressions for part in subexpressions(e))


def check_claims(seed: int, model: str) -> str:
    program = random_templates(random.Random(seed), model)
    answer = robust(program, model, limits=Limits(states=20_000))
    if isinstance(answer, NotRobust):
        check_smallest(program, model, answer)
    elif isinstance(answer, Robust):
        for copies in range(1, 5):
            exact = robust(program.with_instances(copies), model, limits=Limits(states=50_000))
            assert not isinstance(exact, NotRobust), write(program)
            assert exact.race is None or answer.race is not None, write(program)
            assert exact.assertion is None or answer.assertion is not None, write(program)
    return answer.verdict


@pytest.mark.parametrize("model", ALL_MODELS)
def test_claims_agree_with_the_exact_engine(model: str) -> None:
    verdicts = [check_claims(seed, model) for seed in range(120)]
    assert {"robust", "not-robust"} <= set(verdicts)
    assert verdicts.count("unknown") <= 6


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(5))
@pytest.mark.parametrize("model", ALL_MODELS)
def test_claims_agree_with_the_exact_engine_by_the_thousand(model: str, batch: int) -> None:
    for seed in range(1000 + batch * 400, 1000 + (batch + 1) * 400):
        check_claims(seed, model)


def check_repair(seed: int, model: str) -> str:
    """The repair is one for each number of threads, and as cheap as the dearest of their repairs."""
    program = random_templates(random.Random(seed), model)
    answer = fix(program, model, criterion="robust", limits=Limits(states=5_000, seconds=30))
    if not isinstance(answer, Repaired):
        return answer.verdict
    assert answer.repaired is not None
    repaired = read(answer.repaired)
    for copies in range(1, 4):
        assert isinstance(robust(repaired.with_instances(copies), model), Robust), write(program)
    # A limit leaves no cost. What fewer threads need, more need too.
    limits = Limits(states=50_000, seconds=30)
    few = fix(program.with_instances(2), model, criterion="robust", limits=limits)
    assert few.cost is None or few.cost <= answer.cost, write(program)
    if few.cost != answer.cost:
        limits = Limits(states=200_000, seconds=60)
        more = fix(program.with_instances(4), model, criterion="robust", limits=limits)
        assert isinstance(more, RepairUnknown) or more.cost == answer.cost, write(program)
    return "repaired" if answer.cost else "as it is"


@pytest.mark.parametrize("model", ALL_MODELS)
def test_repairs_are_for_every_number_and_no_dearer_than_they_must_be(model: str) -> None:
    seeds = 120 if model == "tso" else 40  # many are robust against TSO as they are
    verdicts = [check_repair(seed, model) for seed in range(seeds)]
    assert verdicts.count("repaired") >= 2


@pytest.mark.parametrize("model", ["ra", "rc20", "tso"])
@pytest.mark.parametrize("name", ["store-buffering", "three-to-see-it", "four-to-see-it", "relaxed-unlock"])
def test_examples_that_are_wrong_can_be_repaired(name: str, model: str) -> None:
    program = load(next(file for file in FILES if file.stem == name))
    answer = fix(program, model)
    assert isinstance(answer, Repaired)
    assert answer.repaired is not None
    assert answer.any_number is not UNSET
    checked = robust(read(answer.repaired), model)
    assert isinstance(checked, Robust)
    assert checked.race is None
    assert answer.edits or isinstance(robust(program, model), Robust)


def test_orders_that_every_number_needs_are_not_relaxed() -> None:
    """With one thread the lock would need no order at all."""
    answer = relax(read(LOCK), "cpp20")
    assert isinstance(answer, Relaxed)
    assert answer.relaxed is not None
    assert "BCAS(x, 0, 1, acq, rlx)" in answer.relaxed
    assert "x.store(0, rel)" in answer.relaxed
    alone = relax(read(LOCK).with_instances(1), "cpp20")
    assert isinstance(alone, Relaxed)
    assert alone.cost == 0


def test_a_limit_is_no_verdict() -> None:
    answer = robust(read(LOCK), "rc20", limits=Limits(states=20))
    assert isinstance(answer, Unknown)
    assert "looking at" in answer.why


def test_a_race_between_readers_of_a_template_and_a_writer_needs_the_reader_apart() -> None:
    """Under RC20 the writer must know the last read of every reader, not only of one."""
    text = """
    global x; na d;
    fn reader[*] { local r; r = d.naload(); x.store(1, rel); }
    fn writer { wait(x, 1, acq); d.nastore(1); }
    """
    answer = robust(read(text), "rc20")
    assert isinstance(answer, Robust)
    assert answer.race is not None
    assert robust(read(text).with_instances(1), "rc20").race is None


@pytest.mark.parametrize("model", ["rc20", "cpp20"])
def test_readers_of_each_template_are_told_apart(model: str) -> None:
    """The writer knows of the last reader, but not of the one before. Nobody writes to `e`."""
    program = read("""
    global x; na d, e;
    fn other[*] { local r; r = e.naload(); }
    fn reader[*] { local r; BCAS(x, 0, 1, acq, rlx); r = d.naload(); x.store(2, rel); }
    fn writer { wait(x, 2, rlx); x.store(0, rlx); wait(x, 2, acq); d.nastore(1); }
    """)
    assert robust(program.with_instances(1), model).race is None
    assert robust(program.with_instances(2), model).race is not None
    for k in (1, 2):
        assert any_number.views_of(program, model, k, Limits(), None).race


def test_what_was_seen_of_too_many_views_is_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """The views that were looked at before the limit show nothing wrong, nor do two copies; three do."""
    text = """
    max_value 3; global c, x, y;
    fn worker[*] {
        local n, r;
        n = FADD(c, 1);
        if (n == 1) { x.store(1); r = y.load(); }
        if (n == 2) { y.store(1); r = x.load(); }
    }
    """
    monkeypatch.setattr(any_number, "FEW_VIEWS", 1)
    monkeypatch.setattr(any_number, "MORE_STATES", 1)
    answer = robust(read(text), "ra")
    assert isinstance(answer, NotRobust)
    assert answer.any_number
    assert answer.any_number.copies == {"worker": 3}
    assert answer.any_number.k == 2


@pytest.mark.parametrize(("model", "criterion"), [("tso", "trf"), ("ra", "observational")])
def test_other_criteria_ask_for_a_fixed_number(model: str, criterion: str) -> None:
    with pytest.raises(InputError, match=r"--instances N"):
        robust(read(LOCK), model, criterion=criterion)


@pytest.mark.parametrize("criterion", ["either", "persistent", "trf"])
def test_repairs_for_other_criteria_ask_for_a_fixed_number(criterion: str) -> None:
    with pytest.raises(InputError, match=r"--instances N"):
        fix(read(LOCK), "tso", criterion=criterion)


def test_a_limit_is_no_verdict_under_tso() -> None:
    answer = robust(read(LOCK), "tso", limits=Limits(states=20))
    assert isinstance(answer, Unknown)


@pytest.mark.parametrize("model", ["rc20", "tso"])
def test_a_thread_that_never_gets_to_an_access_is_named(model: str) -> None:
    """The search has each template twice, and one of its threads apart: its numbers are not the program's."""
    counting = "max_value 60000; global x; na d; fn worker[*] { local r; r = d.naload(); x.store(1); }"
    loop = "while (a < 60000) { a = a + 1; b = 0; while (b < 60000) { b = b + 1; } }"
    endless = f"fn owner {{ local a, b; x.store(2); {loop} }}"
    answer = robust(read(f"{counting} {endless}"), model)
    assert isinstance(answer, Unknown)
    assert "thread `owner` runs too long" in answer.why


def test_a_thread_of_a_template_has_no_number() -> None:
    with pytest.raises(InputError, match="there is no `tid` in"):
        read("global x; fn worker[*] { x.store(tid); }")


def test_templates_are_written_as_they_were_read() -> None:
    program = read(LOCK.replace("[*]", "[2..*]"))
    assert program.templates[0].least == 2
    assert read(write(program)) == program


def test_other_formats_ask_for_a_fixed_number() -> None:
    with pytest.raises(InputError, match="the format c needs a fixed number of threads"):
        write(read(LOCK), "c")
