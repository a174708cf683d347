"""What the playground answers, without a browser."""

import json

import pytest

from fencepost.formats import FORMATS
from fencepost.playground.gallery import examples
from fencepost.playground.questions import QUESTIONS

from .serving import BOTH_IN, ENDLESS, SB, playground

FENCED = BOTH_IN.replace("; r =", "; fence; r =")


def test_every_question_is_answered(serving):
    for question in QUESTIONS:
        answer = serving.answer(BOTH_IN, question=question.name)
        refuted = None if question.name.startswith("observational") else False  # that is only ever proven
        holds = True if question.name in ("verify-sc", "races", "outcomes") else refuted
        assert answer["holds"] is holds, question.name
        assert ("fp-picture" in answer["html"]) is not answer["holds"]
        assert serving.answer(FENCED, question=question.name)["holds"] is True


def test_outcomes_are_a_table(serving):
    answer = serving.answer(SB, question="outcomes")
    assert answer["verdict"] == "4 outcomes"
    assert "fp-outcomes" in answer["html"]


def test_a_data_race_is_a_bad_state_and_an_answer(serving):
    plain = BOTH_IN.replace("// mutex: cs", "").replace("y, z;", "y; na z;").replace("z.store", "z.nastore")
    for question in ("verify-sra", "races"):
        answer = serving.answer(plain, question=question)
        assert answer["holds"] is False
        assert "Data race on" in answer["html"]


def test_every_question_that_can_be_repaired_is(serving):
    for question in QUESTIONS:
        if question.repair is not None:
            repaired = serving.answer(SB, question=question.name, task="repair")["repaired"]
            assert "fence" in repaired or "seq_cst" in repaired
            assert serving.answer(repaired, question=question.name)["holds"] is True


SIDES = """global x, y;
fn side[*] {
    local r;
    oneof ({ x.store(1, rel); r = y.load(acq); }{ y.store(1, rel); r = x.load(acq); });
}
"""


def test_any_number_of_threads_is_asked_about_and_repaired(serving):
    answer = serving.answer(SIDES, question="robust-rc20")
    assert answer["verdict"] == "not robust with 2 threads `side`"
    assert "fp-picture" in answer["html"]
    assert "side[1]" in answer["html"]
    repaired = serving.answer(SIDES, question="robust-rc20", task="repair")["repaired"]
    assert "fn side[*]" in repaired
    answer = serving.answer(repaired, question="robust-rc20")
    assert answer["verdict"] == "robust for every number of threads"
    (said,) = serving.search(SIDES, question="persist")
    assert "any number" in said["mistake"]["message"]


def test_a_verdict_with_a_race_is_not_good(serving):
    racy = serving.answer("na d; fn a { d.nastore(1); } fn b { d.nastore(2); }", question="robust-ra")
    assert (racy["verdict"], racy["mood"]) == ("robust, but it has a data race", "bad")
    assert 'fp-verdict fp-bad">robust, but it has a data race<' in racy["html"]
    assert serving.answer(FENCED, question="robust-ra")["mood"] == "good"


def test_a_mistake_is_told_with_its_place(serving):
    (said,) = serving.search("global x;\nfn t { x.stor(1); }", task="read")
    assert said["mistake"]["line"] == 2
    assert said["mistake"]["column"] == 10
    assert "did you mean `store`?" in said["mistake"]["message"]


def test_an_empty_program_is_a_mistake(serving):
    assert serving.search("  \n", task="read")[-1]["mistake"]["message"] == "the program is empty"


@pytest.mark.parametrize("format", [known.name for known in FORMATS])
def test_every_format_can_be_read(serving, format):
    example = next((example for example in examples() if example.format == format), None)
    if example is None:
        assert "mistake" in serving.search("x", format=format, task="read")[-1]
    else:
        assert "answer" in serving.search(example.text, format=format, task="read")[-1]


def test_the_start_lists_what_there_is(serving):
    start = json.loads(serving.get("/api/start")[1])
    assert [question["name"] for question in start["questions"]] == [q.name for q in QUESTIONS]
    assert len(start["examples"]) == len(examples()) > 100
    for number in (0, len(examples()) - 1):
        text = serving.get(f"/api/examples/{number}")[1].decode()
        assert text == examples()[number].text
    assert serving.get(f"/api/examples/{len(examples())}")[0].status == 404


def test_a_long_search_tells_how_far_it_is():
    with playground("--timeout", "2") as short:
        *progress, last = short.search(ENDLESS)
    assert all("states" in said["progress"] for said in progress)
    assert len(progress) > 3
    assert last["answer"]["verdict"] == "unknown"
    assert "the time limit of 2 s was reached" in last["answer"]["html"]


def test_a_port_that_is_taken_is_told(serving):
    from click.testing import CliRunner

    from fencepost.cli.main import main

    result = CliRunner().invoke(main, ["serve", "--port", str(serving.port)])
    assert result.exit_code == 2
    assert f"cannot listen at 127.0.0.1, port {serving.port}" in result.output
