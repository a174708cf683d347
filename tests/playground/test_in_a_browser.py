"""The playground as its visitors see it: every way through the page, in a headless Chromium."""

from __future__ import annotations

import pytest

import fencepost
from fencepost.formats.tpl import read
from fencepost.playground.questions import QUESTIONS
from fencepost.report.html.page import page as report_page

from .browsing import chromium, visit
from .serving import BOTH_IN, ENDLESS, SB, wait_until

# Drawn as an element it would open a dialog, and `visit` fails at that.
MARKUP = "<img src=x onerror=alert(1)><script>alert(2)</script>"


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture
def page(browser, serving):
    with visit(browser, serving.url) as opened:
        opened.wait_for_selector("body[data-ready=yes]")
        yield opened


def write(page, text):
    """Put another program in place of the one that is there.

    Chromium would give text typed over a selection the style of that, which the policy does not let it do;
    the editor does not care, but the message would count as an error.
    """
    page.click(".cm-content")
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(text)


def text_of(page):
    return "\n".join(line.inner_text().rstrip("\n") for line in page.query_selector_all("#editor .cm-line"))


def ask(page):
    page.click("#ask")
    page.wait_for_selector("#answer .fp-verdict")
    return page.inner_text("#answer .fp-verdict")


def wait_for_text(page, selector, text):
    page.locator(selector, has_text=text).wait_for()


def place(page):
    return page.inner_text("#answer .fp-place")


def test_an_example_opens_with_its_colours(page):
    page.select_option("#example", label="peterson")
    page.wait_for_selector("#editor .tok-keyword")
    wait_for_text(page, "#editor", "Peterson")
    assert page.inner_text("#editor .tok-comment >> nth=0").startswith("//")


@pytest.mark.parametrize("question", [question.name for question in QUESTIONS])
def test_each_question_shows_its_verdict_and_its_graph(page, question):
    write(page, BOTH_IN)
    page.select_option("#question", question)
    if question == "outcomes":
        assert ask(page).endswith("outcomes")
        assert page.query_selector_all("#answer .fp-outcomes td")
        return
    if question in ("verify-sc", "races"):
        assert ask(page) in ("safe", "race free")
        return
    violated = ("not robust", "fragile", "unsafe", "write/write race")
    assert ask(page) in (*violated, "not shown to be observationally robust")
    assert page.query_selector_all("#answer svg .edge")
    assert page.query_selector_all("#answer svg .event")


def test_the_run_is_stepped_through(page):
    ask(page)
    page.click("[aria-label='To the start']")
    assert place(page) == "step 0 of 4"
    assert page.inner_text(".fp-says") == "The start."
    page.click("[aria-label='One step on']")
    assert place(page) == "step 1 of 4"
    assert "x.store(1, rel)" in page.inner_text(".fp-run .fp-now")
    assert "x.store(1, rel)" in page.inner_text("#editor .step")
    assert "x\t1" in page.inner_text(".fp-panels .fp-changed")
    assert "can still see x = 0 or 1" in page.inner_text(".fp-panels")
    page.click("[aria-label='One step back']")
    assert place(page) == "step 0 of 4"
    page.click(".fp-run [data-step='3']")
    assert place(page) == "step 3 of 4"
    assert page.query_selector_all("#answer svg .fp-later")
    page.click("[aria-label='To the end']")
    assert not page.query_selector_all("#answer svg .fp-later")


def test_the_run_plays_by_itself(page):
    ask(page)
    page.click("#answer >> text=play")
    wait_for_text(page, "#answer .fp-place", "step 2 of 4")
    page.click("#answer >> text=pause")


def test_an_arrow_explains_itself(page):
    ask(page)
    edges = page.query_selector_all("#answer svg .edge[data-relations=fr]")
    edges[0].query_selector(".hit").hover(force=True)
    edges[0].focus()
    caption = page.inner_text(".fp-picture figcaption")
    assert caption.startswith("fr, from-reads.")
    assert "rf⁻¹ ; mo" in caption
    assert "here ordering is missing" in caption
    edges[0].evaluate("edge => edge.blur()")
    page.mouse.move(0, 0)
    assert page.inner_text(".fp-picture figcaption").startswith("Point at an arrow")


def test_a_broken_program_is_underlined_until_it_is_mended(page):
    write(page, "global x;\nfn t { x.stor(1); }")
    page.wait_for_selector(".cm-lintRange-error")
    assert page.inner_text(".cm-lintRange-error") == "stor"
    wait_for_text(page, "#mistake", "did you mean")
    write(page, "global x;\nfn t { x.store(1); }")
    page.wait_for_selector(".cm-lintRange-error", state="detached")
    page.wait_for_selector("#mistake:empty", state="attached")


def test_to_ask_about_a_broken_program_says_what_is_wrong(page):
    write(page, "global x;\nfn t { x.stor(1); }")
    page.click("#ask")
    page.wait_for_selector("#answer .failure")
    assert page.inner_text("#answer .failure").startswith("line 2: there is no access `stor`")


def test_a_long_search_shows_how_far_it_is_and_can_be_cancelled(page, serving):
    write(page, ENDLESS)
    page.click("#ask")
    wait_for_text(page, "#progress", "states")
    assert page.is_disabled("#ask")
    page.click("#cancel")
    page.wait_for_selector("#answer .failure")
    assert page.inner_text("#answer .failure") == "cancelled"
    assert page.is_enabled("#ask")
    wait_until(lambda: not serving.searches())


def test_a_repair_is_shown_side_by_side_and_makes_the_program_robust(page):
    before = text_of(page)
    page.click("#repair")
    page.wait_for_selector("#difference .cm-mergeView")
    sides = [side.inner_text() for side in page.query_selector_all("#difference .cm-content")]
    assert ["fence" in side for side in sides] == [False, True]
    assert text_of(page) == before
    page.click("#apply")
    page.wait_for_selector("#answer .fp-good")
    assert page.inner_text("#answer .fp-verdict") == "robust"
    assert text_of(page).count("fence;") == 2


def test_all_models_at_once(page):
    page.click("#compare")
    page.wait_for_selector("body[data-busy=no] #table")
    rows = [row.inner_text().split("\t") for row in page.query_selector_all("#table tr")]
    assert [row[0] for row in rows] == [question.words for question in QUESTIONS]
    verdicts = {question.name: row[1].strip() for question, row in zip(QUESTIONS, rows, strict=True)}
    assert verdicts["robust-ra"] == verdicts["robust-rc20"] == "not robust"
    assert verdicts["persist"] == "fragile"
    reasons = {question.name: row[2] for question, row in zip(QUESTIONS, rows, strict=True)}
    assert verdicts["verify-sra"] == ""
    assert reasons["verify-sra"].startswith("nothing was asked")
    assert verdicts["write-write"] == "no write/write race"
    page.click("#table button >> text=fragile")
    page.wait_for_selector("#answer svg")
    assert page.input_value("#question") == "persist"


def test_an_answer_about_another_text_is_pale(page):
    ask(page)
    write(page, SB)
    page.wait_for_selector("#answer.old")


def test_a_link_carries_program_language_and_question(page, browser):
    write(page, f"// {MARKUP} ü\n{SB}")
    page.select_option("#question", "persist")
    page.click("#link")
    page.wait_for_url("**/#program=*")
    with visit(browser, page.url) as other:
        other.wait_for_selector("body[data-ready=yes]")
        assert text_of(other).startswith(f"// {MARKUP} ü\nglobal x, y;")
        assert other.input_value("#question") == "persist"
        assert ask(other) == "fragile"


@pytest.mark.parametrize("fragment", ["#program=", "#program=AAAA", "#%00", "#program=bnVsbA", f"#{MARKUP}"])
def test_a_link_that_carries_nonsense_opens_the_first_example(browser, serving, fragment):
    with visit(browser, serving.url + fragment) as opened:
        opened.wait_for_selector("body[data-ready=yes]")
        assert "Store buffering" in text_of(opened)


def test_markup_in_a_program_is_text_everywhere(page):
    write(page, f"// {MARKUP}\n{SB}")
    ask(page)
    page.click("#repair")
    page.wait_for_selector("#difference .cm-mergeView")
    write(page, f"fn {MARKUP}")
    page.wait_for_selector(".cm-lintRange-error")
    page.hover(".cm-lintRange-error")
    page.wait_for_selector(".cm-tooltip")
    assert page.query_selector_all("img, #answer script:not([type='application/json'])") == []


def test_another_language_is_read_as_such(page):
    page.select_option("#example", label="MP+cas-acq")
    wait_for_text(page, "#editor", "memory_order_release")
    assert page.input_value("#format") == "litmus"
    page.select_option("#question", "robust-rc20")
    assert ask(page) == "robust"


def test_without_codemirror_there_is_a_plain_field(browser, serving):
    page = browser.new_page()
    page.route("**/vendor/**", lambda route: route.abort())
    page.goto(serving.url)
    page.wait_for_selector("body[data-ready=yes]")
    page.fill("#editor textarea", SB)
    assert ask(page) == "not robust"
    page.fill("#editor textarea", "fn {")
    wait_for_text(page, "#mistake", "expected the name")
    page.close()


def test_the_page_follows_the_dark_scheme(browser, serving):
    colours = []
    for scheme in ("light", "dark"):
        with visit(browser, serving.url, scheme) as opened:
            opened.wait_for_selector("body[data-ready=yes]")
            ask(opened)
            colours.append(
                [
                    opened.evaluate("getComputedStyle(document.body).backgroundColor"),
                    opened.evaluate("getComputedStyle(document.querySelector('.fp-graph .bg')).fill"),
                ]
            )
    assert colours == [["rgb(255, 255, 255)"] * 2, ["rgb(13, 17, 23)"] * 2]


def test_the_page_of_a_report_works_from_a_file(browser, tmp_path):
    program = read(f"// {MARKUP}\n{SB}", "sb.tpl")
    file = tmp_path / "report.html"
    file.write_text(report_page(fencepost.robust(program), program), encoding="utf-8")
    with visit(browser, file.as_uri()) as opened:
        opened.click("[aria-label='One step back']")
        assert opened.inner_text(".fp-place") == "step 3 of 4"
        assert "y.store(1)" in opened.inner_text(".fp-source .fp-now")
        opened.focus("svg .edge[data-relations=fr]")
        assert "from-reads" in opened.inner_text("figcaption")
        assert opened.query_selector_all("img") == []
