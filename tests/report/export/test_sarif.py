"""Answers as SARIF: valid, complete, and with nothing in it that is not escaped."""

import json
from pathlib import Path

import pytest

import fencepost
from fencepost import __version__
from fencepost.errors import InputError
from fencepost.formats.tpl import read
from fencepost.report.export import sarif, sarif_log
from fencepost.sanitizer.answer.sarif import _RULES as SANITIZER_RULES
from tests.report.sarif_schema import checked_run
from tests.report.snapshot import assert_matches
from tests.report.witnesses import ANSWERS, not_robust, peterson_rounds

REPOSITORY = Path(__file__).parents[3]
ERROR = InputError("expected `)`", "examples/broken.tpl", 3, 7)


@pytest.fixture(autouse=True)
def _somewhere(monkeypatch):
    monkeypatch.setattr("os.getcwd", lambda: "/home/me/project")


def run_of(*answers):
    return checked_run(sarif.encode([(answer.file, answer) for answer in answers]))


def result_of(answer):
    (result,) = run_of(answer)["results"]
    return result


def lines_of(result):
    """The lines of the code flow in the order of the run."""
    (flow,) = result["codeFlows"]
    steps = [step for thread in flow["threadFlows"] for step in thread["locations"]]
    steps.sort(key=lambda step: step["executionOrder"])
    return [step["location"]["physicalLocation"]["region"]["startLine"] for step in steps]


@pytest.mark.parametrize("name", ANSWERS)
def test_every_answer_is_valid(name):
    run = run_of(ANSWERS[name])
    answer = ANSWERS[name]
    found = [answer.witness, answer.race, answer.assertion]
    assert len(run["results"]) == sum(part is not None for part in found)


def test_snapshot():
    answers = [ANSWERS[name] for name in ("sb", "tso-sb", "race", "assertion", "unknown", "hostile")]
    document = sarif.encode([(answer.file, answer) for answer in answers]).decode()
    assert_matches("export/answers.sarif", document.replace(__version__, "VERSION"))


@pytest.mark.parametrize(
    ("name", "levels"),
    [
        ("sb", ["warning"]),
        ("race", ["error"]),
        ("assertion", ["error"]),
        ("unsafe-mutex", ["error"]),
        ("tso-sb", ["warning"]),
    ],
)
def test_what_is_wrong_under_every_model_is_an_error(name, levels):
    assert [result["level"] for result in run_of(ANSWERS[name])["results"]] == levels


@pytest.mark.parametrize("rules", [sarif.RULES, SANITIZER_RULES])
def test_every_rule_links_to_a_page_that_is_there(rules):
    for described in sarif_log._described(rules):
        page = rules[described["id"]].page
        assert (REPOSITORY / page).is_file()
        assert f"]({page})" in described["help"]["markdown"]
        assert page in described["help"]["text"]
        assert described["defaultConfiguration"] == {"level": rules[described["id"]].level}


def test_the_run_is_a_code_flow_with_a_thread_flow_for_each_thread():
    result = result_of(ANSWERS["sb"])
    assert [flow["id"] for flow in result["codeFlows"][0]["threadFlows"]] == ["t1", "t2"]
    assert lines_of(result) == [5, 6, 11, 12]
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 12, "startColumn": 5}


def test_the_flow_of_a_long_run_is_cut():
    long = not_robust(peterson_rounds(200))
    assert len(long.witness.events) > sarif.LONGEST_FLOW
    assert len(lines_of(result_of(long))) < 20


def test_wrong_input_and_what_is_undecided_are_notifications():
    unknown = ANSWERS["unknown"]
    run = checked_run(sarif.encode([(ERROR.file, ERROR), (unknown.file, unknown)]))
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    wrong, undecided = invocation["toolExecutionNotifications"]
    assert (wrong["level"], wrong["message"]["text"]) == ("error", "expected `)`")
    assert wrong["locations"][0]["physicalLocation"]["region"] == {"startLine": 3, "startColumn": 7}
    assert undecided["level"] == "warning"
    assert undecided["message"]["text"].startswith("Not decided: ")


def test_a_path_that_is_not_utf8_and_one_that_is_not_ascii():
    run = run_of(not_robust(ANSWERS["sb"].witness, "a\udcff ü.tpl"))
    uri = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "a%FF%20%C3%BC.tpl"


def test_names_of_the_file_can_do_nothing():
    document = sarif.encode([("f", ANSWERS["hostile"])]).decode()
    assert all(character.isprintable() or character == "\n" for character in document)
    assert "\\u001b" not in document
    assert "<" not in document
    assert "<script>" in json.loads(document)["runs"][0]["results"][0]["message"]["text"]


def test_a_name_is_no_link():
    text = sarif_log.message("a[0] and [click](http://evil) in t[1] (line 3)")["text"]
    assert text == "a[0] and \\[click](http://evil) in t[1] (line 3)"


SB = """max_value 1;
global x, y;
fn t1 { local a;
    x.store(1);
    a = y.load();
}
fn t2 { local b; y.store(1); b = x.load(); }"""


def test_the_fix_of_a_finding_forbids_it():
    result = result_of(fencepost.robust(read(SB, "sb.tpl"), "ra"))
    fixed = with_fix(SB, result)
    assert "fence; a = y.load();" in fixed
    assert fencepost.robust(read(fixed, "sb.tpl"), "ra").holds


@pytest.mark.parametrize("model", ["ra", "rc20", "tso"])
@pytest.mark.parametrize(
    "text", [SB, SB + "\n", SB.replace("\n    ", " ")], ids=["open", "closed", "one line"]
)
def test_the_fix_of_a_repair_repairs(text, model):
    program = read(text, "sb.tpl")
    answer = fencepost.fix(program, model)
    result = result_of(answer)
    fixed = with_fix(text, result)
    assert fixed == answer.repaired
    assert "fence" in result["message"]["text"]


def test_a_program_that_needs_no_repair_has_no_result():
    assert run_of(fencepost.fix(read(SB.replace("(1);", "(1); fence;"), "sb.tpl"), "ra"))["results"] == []


def test_a_repair_of_a_program_in_another_language_has_no_fix_to_apply():
    program = fencepost.load("examples/litmus-c/3SB+ra+ra+ra.litmus")
    assert "fixes" not in result_of(fencepost.fix(program, "ra"))


def with_fix(text, result):
    """The text with the one fix of a result made, as an editor would."""
    ((change,),) = (fix["artifactChanges"] for fix in result["fixes"])
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def offset(line, column):
        return min(starts[line - 1] + column - 1, len(text)) if line <= len(starts) else len(text)

    for replacement in reversed(change["replacements"]):
        region = replacement["deletedRegion"]
        start = offset(region["startLine"], region["startColumn"])
        end = offset(region["endLine"], region["endColumn"])
        text = text[:start] + replacement["insertedContent"]["text"] + text[end:]
    return text


def test_ids_are_those_of_the_findings():
    first = json.loads(sarif.encode([("f", ANSWERS["sb"])]))["runs"][0]["results"][0]
    again = json.loads(sarif.encode([("f", ANSWERS["sb"])]))["runs"][0]["results"][0]
    assert first["partialFingerprints"] == again["partialFingerprints"]
