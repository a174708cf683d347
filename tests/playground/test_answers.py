"""What the playground answers, without a browser."""

import gzip
import json
import re

import pytest

from fencepost.formats import FORMATS
from fencepost.playground.gallery import about, examples
from fencepost.playground.manual import pages
from fencepost.playground.questions import QUESTIONS
from fencepost.playground.search import Settings

from .serving import BOTH_IN, ENDLESS, SB, playground

FENCED = BOTH_IN.replace("; r =", "; fence; r =")


def test_every_question_is_answered(serving):
    for question in QUESTIONS:
        answer = serving.answer(BOTH_IN, question=question.name)
        holds = question.name in ("verify-sc", "races", "outcomes")
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
    (said,) = serving.search(SIDES, question="outcomes")
    assert said["failure"].endswith("`side[*]` is any number; write, for example, `[3]` for three of them")


def test_a_verdict_with_a_race_is_not_good(serving):
    racy = serving.answer("na d; fn a { d.nastore(1); } fn b { d.nastore(2); }", question="robust-ra")
    assert (racy["verdict"], racy["mood"]) == ("robust, but it has a data race", "warn")
    assert 'fp-verdict fp-warn">robust, but it has a data race<' in racy["html"]
    assert serving.answer(FENCED, question="robust-ra")["mood"] == "good"


def test_a_program_that_asks_nothing_is_told_so_without_options_of_the_command_line(serving):
    (said,) = serving.search(SB, question="verify-sra")
    assert said["unasked"].startswith("nothing was asked")
    assert "--" not in said["unasked"]


def test_lines_at_fault_and_the_reason_are_told(serving):
    answer = serving.answer(SB, question="robust-ra")
    assert {(mark["line"], mark["part"]) for mark in answer["marks"]} >= {(2, "latest"), (3, "access")}
    assert answer["reason"].startswith("Thread `right` can read the initial value 0")
    assert serving.answer(FENCED, question="robust-ra")["marks"] == []


def test_the_files_are_those_of_the_command_line(serving):
    files = serving.answer(SB, name="mine+1")["files"]
    assert json.loads(files["json"])["file"] == "mine+1.tpl"
    assert "mine+1.tpl" in files["html"]
    assert files["svg"].startswith("<svg")
    assert json.loads(files["sarif"])["version"] == "2.1.0"
    assert "svg" not in serving.answer(FENCED)["files"]


class TestSettings:
    def test_the_criterion(self, serving):
        asked = serving.answer(SB, question="robust-ra", settings={"criterion": "observational"})
        assert asked["verdict"] == "observationally robust"
        asked = serving.answer(SB, question="robust-tso", settings={"criterion": "trf"})
        assert asked["verdict"] == "triangular race"

    def test_one_that_the_question_does_not_have_is_refused(self, serving):
        (said,) = serving.search(SB, question="robust-ra", settings={"criterion": "trf"})
        assert "there is no criterion `trf` here" in said["failure"]

    def test_a_repair_by_a_criterion_without_repairs_is_refused(self, serving):
        settings = {"criterion": "observational"}
        (said,) = serving.search(SB, question="robust-ra", task="repair", settings=settings)
        assert "repairs are for robustness" in said["failure"]

    def test_limits_are_at_most_those_of_the_server(self, serving):
        asked = serving.answer(BOTH_IN, settings={"states": 2})
        assert asked["verdict"] == "unknown"
        assert serving.answer(SB, settings={"seconds": 1e9, "memory_mb": 1e9})["holds"] is False

    def test_costs(self, serving):
        settings = {"costs": {"sc-fence": 3}}
        assert "costs 6" in serving.answer(SB, task="repair", settings=settings)["html"]
        (said,) = serving.search(SB, task="repair", settings={"costs": {"nothing": 1}})
        assert "there is no change `nothing`" in said["failure"]
        (said,) = serving.search(SB, task="repair", settings={"costs": {"sc-fence": -1}})
        assert "expected a number between 0" in said["failure"]

    @pytest.mark.parametrize(
        "settings",
        [
            *({"seconds": 0}, {"seconds": "1"}, {"memory_mb": 1}, {"states": 0}, {"unroll": 1000}),
            *({"loop_weight": 0}, {"file": "/etc/passwd"}, {"costs": {str(n): 1 for n in range(50)}}, 3),
        ],
        ids=str,
    )
    def test_senseless_ones_are_no_request(self, serving, settings):
        assert serving.post({"task": "ask", "text": SB, "settings": settings})[0].status == 400

    @pytest.mark.parametrize("name", ["", "../x", "a/b", "<b>", "x" * 81, "a\n"])
    def test_nor_are_names_that_are_paths(self, serving, name):
        assert serving.post({"task": "ask", "text": SB, "name": name})[0].status == 400


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
    assert all(example["about"] for example in start["examples"])
    assert start["unroll"] == Settings().unroll
    for number in (0, len(examples()) - 1):
        text = serving.get(f"/api/examples/{number}")[1].decode()
        assert text == examples()[number].text
    assert serving.get(f"/api/examples/{len(examples())}")[0].status == 404


def test_files_are_packed_for_browsers_that_take_it(serving):
    plain, text = serving.get("/assets/report.js")
    packed, content = serving.get("/assets/report.js", **{"Accept-Encoding": "br, gzip"})
    assert plain.headers["Content-Encoding"] is None
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(content) == text


def test_links_of_the_documentation_lead_to_its_pages(serving):
    names = set(pages())
    assert {"tutorial", "tpl", "models/ra"} <= names
    for name, page in pages().items():
        for link in re.findall(r'href="/docs/([^"#]*)', page):
            assert link in names, (name, link)
    assert serving.get("/docs/models/ra")[0].status == 200
    assert serving.get("/docs/pictures/report.png")[0].headers["Content-Type"] == "image/png"
    assert serving.get("/docs/nothing")[0].status == 404


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("x", "// One thing. And another.\nglobal x;", "One thing"),
        (
            "x",
            "// expect: robust ra=no\n// A lock (Dekker, 1965), in\n// two lines.\n",
            "A lock, in two lines",
        ),
        ("SB+a+b", "C SB+a+b\n// expect: robust ra=no\n", "Store buffering"),
        ("SB+a+b", "C SB\n// The outcome below: allowed under ra.\n", "Store buffering: allowed under ra"),
        (
            "Z6.3+a",
            "// Computed. Of the mixtures in x, no weaker one is robust.\n",
            "Three threads in a ring",
        ),
        ("x", "# A scheduler: rounds.\nthread a\n# not this", "A scheduler: rounds"),
        ("x", "global x;", ""),
    ],
)
def test_the_line_about_an_example_is_its_first_sentence(name, text, said):
    assert about(name, text).startswith(said)
    assert bool(about(name, text)) == bool(said)


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
