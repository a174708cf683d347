"""The web page of an answer: complete, well-formed, without a network, and closed against hostile text."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

import fencepost
from fencepost.cli.main import main
from fencepost.formats.tpl import read
from fencepost.report.html.page import fragment, page
from tests.report.snapshot import assert_matches, page_of
from tests.report.test_any_run import random_tso_witness, random_witness
from tests.report.witnesses import ANSWERS, fragile, not_robust

SB = """global x, y;
fn left { local r; x.store(1); r = y.load(); }
fn right { local r; y.store(1); r = x.load(); } // <script>alert("&")</script>
"""
SVG = "{http://www.w3.org/2000/svg}"


def elements(html, name):
    return [element for element in ElementTree.fromstring(html).iter() if name in element.get("class", "")]


def test_snapshot():
    names = ("sb", "race", "assertion", "unknown", "tso-sb", "hostile")
    assert_matches("html/reports.html", page_of({name: fragment(ANSWERS[name]) for name in names}))


@pytest.mark.parametrize("name", ANSWERS)
def test_it_is_well_formed_and_has_a_run_for_each_finding(name):
    answer = ANSWERS[name]
    root = ElementTree.fromstring(fragment(answer))
    findings = [f for f in (answer.witness, answer.race, answer.assertion) if f is not None]
    played = [json.loads(e.text) for e in root.iter("script") if e.get("class") == "fp-playback"]
    assert len(played) == len(findings)
    assert len(list(root.iter(f"{SVG}svg"))) == (answer.witness is not None)


@pytest.mark.parametrize("seed", range(20))
def test_it_takes_whatever_run_the_engine_may_find(seed):
    ElementTree.fromstring(fragment(not_robust(random_witness(seed))))
    ElementTree.fromstring(fragment(fragile(random_tso_witness(seed))))


@pytest.mark.parametrize("name", ["sb", "iriw", "peterson-40", "tso-several"])
def test_every_row_of_the_run_is_a_frame(name):
    html = fragment(ANSWERS[name])
    rows = re.findall(r'<tr data-step="(\d+)"', html)
    (played,) = elements(html, "fp-playback")
    assert list(map(int, rows)) == list(range(1, len(json.loads(played.text)["frames"])))


@pytest.mark.parametrize("name", ["sb", "iriw", "2+2w", "tso-sb", "tso-detour"])
def test_every_arrow_says_what_it_means_and_which_rule_gave_it(name):
    edges = elements(fragment(ANSWERS[name]), "edge")
    assert edges
    for edge in edges:
        note = edge.find(f"{SVG}title").text
        for relation in edge.get("data-relations").split():
            assert f"{relation}, " in note
        assert note.count(".") >= 2


def test_the_arrows_of_the_cycle_say_where_ordering_is_missing():
    program = read(SB, "sb.tpl")
    notes = [edge.find(f"{SVG}title").text for edge in elements(fragment(fencepost.robust(program)), "edge")]
    assert sum("here ordering is missing" in note for note in notes) == 2
    notes = [edge.find(f"{SVG}title").text for edge in elements(fragment(fencepost.persist(program)), "edge")]
    assert sum("here a fence is missing" in note for note in notes) == 1


def test_the_source_is_there_with_the_threads_that_run_each_line():
    program = read(SB, "sb.tpl")
    html = fragment(fencepost.robust(program), program)
    lines = [row for row in ElementTree.fromstring(html).iter("tr") if row.get("data-line")]
    assert ["".join(line[1].find("pre").itertext()) for line in lines] == SB.rstrip().split("\n")
    assert [[tag.text for tag in line.iter("i")] for line in lines] == [[], ["left"], ["right"]]
    assert "fp-columns" not in fragment(fencepost.robust(program), program, with_source=False)


def test_a_repair_is_shown_as_a_diff():
    program = read(SB, "sb.tpl")
    added = ElementTree.fromstring(fragment(fencepost.fix(program), program)).iter("ins")
    assert sum("fence;" in line.text for line in added) == 2


def test_what_is_left_after_all_changes_is_not_said_of_the_program_as_it_is():
    program = read("na d; fn a { d.nastore(1); } fn b { d.nastore(2); }", "race.tpl")
    html = fragment(fencepost.fix(program, "ra"), program)
    card, _, rest = html.partition("</header>")
    assert "fp-claim" not in card
    assert "fp-claim" in rest


def test_the_card_says_what_was_found_and_nothing_twice():
    program = read(SB, "sb.tpl")
    html = fragment(fencepost.robust(program), program)
    card, _, rest = html.partition("</header>")
    assert card.count("fp-claim") == 1
    assert "fp-claim" not in rest


@pytest.mark.parametrize("name", ["hostile", "tso-hostile"])
def test_text_of_the_file_stays_text(name):
    html = page(ANSWERS[name])
    body = html.partition("<body")[2]
    assert "\x1b" not in html
    assert "<img" not in html
    # The data of the player and the script of the page, and none that the program brought.
    assert re.findall(r"<script[^>]*>", body) == [
        '<script type="application/json" class="fp-playback">',
        '<script type="module">',
    ]


def test_script_in_the_source_stays_text():
    program = read(SB, "<b>.tpl")
    html = page(fencepost.robust(program), program)
    assert html.count("<script") == 2
    assert "&lt;script&gt;alert(&quot;&amp;&quot;)" in html
    assert "<b>" not in html


def test_the_policy_allows_this_script_and_this_style_and_nothing_else():
    html = page(ANSWERS["sb"])
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', html)[1]
    allowed = dict(part.split(" ", 1) for part in policy.split("; "))
    assert allowed["default-src"] == "'none'"
    for name, pattern in (("style-src", r"<style>(.*?)</style>"), ("script-src", r"module\">(.*?)</script>")):
        text = re.search(pattern, html, re.DOTALL)[1]
        assert allowed[name] == f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def test_the_page_refers_to_nothing_outside():
    html = page(ANSWERS["sb"])
    assert not re.search(r"\b(src|href)=", html)
    assert not re.findall(r"url\((?!#)", html)
    assert set(re.findall(r"https?://[^\s\"']+", html)) == {"http://www.w3.org/2000/svg"}


class TestOption:
    def invoke(self, *arguments):
        return CliRunner().invoke(main, [str(a) for a in arguments], catch_exceptions=False)

    @pytest.fixture
    def sb(self, tmp_path):
        path = tmp_path / "sb.tpl"
        path.write_text(SB, encoding="utf-8")
        return path

    @pytest.mark.parametrize(("command", "code"), [("robust", 1), ("persist", 1), ("fix", 0)])
    def test_commands_write_the_page(self, sb, command, code):
        html = sb.with_suffix(".html")
        assert self.invoke(command, sb, "--html", html).exit_code == code
        text = html.read_text(encoding="utf-8")
        assert text.startswith("<!doctype html>")
        assert 'data-line="2"' in text

    def test_it_takes_one_program(self, sb):
        result = self.invoke("robust", sb, sb, "--html", "out.html")
        assert result.exit_code == 2
        assert "--html takes exactly one program" in result.output

    def test_a_file_that_cannot_be_written_is_wrong_input(self, sb):
        result = self.invoke("robust", sb, "--html", sb / "out.html")
        assert result.exit_code == 2
        assert "cannot write the page" in result.output
