"""The playground as its visitors see it: programs, questions and answers, in a headless Chromium."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode

import pytest

from fencepost.playground.questions import QUESTIONS

from .browsing import ask, open_example, text_of, visit, wait_for_answer, wait_for_text, write
from .serving import BOTH_IN, ENDLESS, SB, wait_until

# Drawn as an element it would open a dialog, and `visit` fails at that.
MARKUP = "<img src=x onerror=alert(1)><script>alert(2)</script>"
RACY = "na d; fn a { d.nastore(1); } fn b { d.nastore(2); }"
FENCED = SB.replace("; r =", "; fence; r =")


def choose(page, question):
    page.select_option("#question", question)


def to_link(shared):
    return "#program=" + urlsafe_b64encode(json.dumps(shared).encode()).decode().rstrip("=")


class TestAnswersComeByThemselves:
    def test_on_load(self, page):
        assert page.inner_text("#answer .fp-verdict").lower() == "not robust"
        assert page.query_selector_all("#answer svg .edge")

    def test_while_typing_and_the_old_one_is_pale_until_then(self, page):
        write(page, FENCED)
        page.wait_for_selector("#answer.old .fp-card.fp-bad")
        page.wait_for_selector("#answer:not(.old) .fp-card.fp-good")
        assert wait_for_answer(page) == "robust"

    def test_never_is_the_right_half_empty(self, page):
        page.evaluate(
            """() => {
                window.empty = 0;
                new MutationObserver(() => {
                    const parts = ["answer", "table", "problem"].map((id) => document.getElementById(id));
                    if (parts.every((part) => !part.firstChild)) window.empty += 1;
                }).observe(document.getElementById("result"), { childList: true, subtree: true });
            }"""
        )
        for text in (FENCED, "global x;", "fn {", RACY):
            write(page, text)
            page.wait_for_selector("body[data-current=no]")
            page.wait_for_selector("body[data-current=yes], #problem .failure")
        assert page.evaluate("window.empty") == 0

    def test_not_if_the_settings_say_so(self, page):
        page.click("#settings")
        page.uncheck("[name=live]")
        page.keyboard.press("Escape")
        write(page, "fn {")
        wait_for_text(page, "#mistake", "expected the name")
        write(page, FENCED)
        page.wait_for_selector("#mistake:empty", state="attached")
        assert page.query_selector("#answer.old .fp-card.fp-bad")
        assert ask(page) == "robust"

    def test_a_first_look_is_short_and_says_so(self, page, serving):
        write(page, ENDLESS)
        wait_for_text(page, "#answer .note", "first look of 5 s")
        assert page.query_selector("#answer .fp-card.fp-open")
        assert wait_for_answer(page) == "unknown"

    def test_control_and_enter_ask_now(self, page):
        write(page, FENCED)
        page.keyboard.press("Control+Enter")
        assert wait_for_answer(page) == "robust"
        assert text_of(page).strip() == FENCED.strip()


class TestTheVerdictComesFirst:
    @pytest.mark.parametrize(
        ("text", "question", "mood", "verdict"),
        [
            (SB, "robust-ra", "bad", "not robust"),
            (FENCED, "robust-ra", "good", "robust"),
            (RACY, "robust-ra", "warn", "robust, but it has a data race"),
            (SB, "verify-sra", "warn", "nothing was asked"),
        ],
    )
    def test_its_colour_says_what_it_means(self, page, text, question, mood, verdict):
        choose(page, question)
        write(page, text)
        page.wait_for_selector(f"body[data-current=yes] #answer .fp-card.fp-{mood}")
        assert wait_for_answer(page) == verdict
        assert page.inner_text("#answer .fp-claim").strip()

    def test_the_lines_at_fault_are_marked_in_the_editor(self, page):
        write(page, SB)
        wait_for_answer(page)
        page.wait_for_selector("#editor .mark-access")
        marked = page.query_selector_all("#editor .mark")
        assert [line.inner_text()[:9] for line in marked] == ["fn left {", "fn right "]
        assert "leaves sequential consistency" in marked[1].get_attribute("title")

    def test_a_repair_is_shown_side_by_side_and_makes_the_program_robust(self, page):
        before = text_of(page)
        page.click("#repair")
        page.wait_for_selector("#apply")
        sides = [side.inner_text() for side in page.query_selector_all("#difference .cm-content")]
        assert ["fence" in side for side in sides] == [False, True]
        assert text_of(page) == before
        assert "costs 20" in page.inner_text("#difference")
        page.click("#apply")
        page.wait_for_selector("body[data-current=yes] #answer .fp-card.fp-good")
        assert text_of(page).count("fence;") == 2

    def test_each_question_shows_its_verdict_and_its_graph(self, page):
        write(page, BOTH_IN)
        wait_for_answer(page)
        for question in [question.name for question in QUESTIONS]:
            choose(page, question)
            verdict = ask(page)
            if question == "outcomes":
                assert verdict.endswith("outcomes")
                assert page.query_selector_all("#answer .fp-outcomes td")
            elif question in ("verify-sc", "races"):
                assert verdict in ("safe", "race free")
            else:
                assert verdict in ("not robust", "fragile", "unsafe", "write/write race")
                assert page.query_selector_all("#answer svg .edge")
                assert page.query_selector_all("#answer svg .event")


class TestMistakes:
    def test_a_broken_program_is_underlined_until_it_is_mended(self, page):
        write(page, "global x;\nfn t { x.stor(1); }")
        page.wait_for_selector(".cm-lintRange-error")
        assert page.inner_text(".cm-lintRange-error") == "stor"
        wait_for_text(page, "#mistake", "did you mean")
        assert page.query_selector("#answer.old .fp-card")
        write(page, "global x;\nfn t { x.store(1); }")
        page.wait_for_selector(".cm-lintRange-error", state="detached")
        page.wait_for_selector("#mistake:empty", state="attached")

    def test_to_ask_about_a_broken_program_says_what_is_wrong(self, page):
        write(page, "global x;\nfn t { x.stor(1); }")
        page.click("#ask")
        page.wait_for_selector("#problem .failure")
        assert page.inner_text("#problem .failure").startswith("line 2: there is no access `stor`")

    def test_a_long_search_shows_how_far_it_is_and_can_be_cancelled(self, page, serving):
        write(page, ENDLESS)
        page.click("#ask")
        wait_for_text(page, "#progress", "states")
        page.click("#cancel")
        page.wait_for_selector("#problem .failure")
        assert page.inner_text("#problem .failure") == "cancelled"
        assert page.is_hidden("#cancel")
        wait_until(lambda: not serving.searches())


class TestAllModels:
    def test_each_row_has_a_verdict_and_one_reason(self, page):
        page.click("#compare")
        page.wait_for_selector("body[data-busy=no] #outcomes")
        rows = {
            row.query_selector("th").inner_text(): [
                cell.inner_text() for cell in row.query_selector_all("td")
            ]
            for row in page.query_selector_all(".models tr:has(td)")
        }
        assert list(rows) == [question.words for question in QUESTIONS]
        found = {question.name: rows[question.words] for question in QUESTIONS}
        assert found["robust-ra"][0] == found["robust-rc20"][0] == "not robust"
        assert found["persist"][0] == "fragile"
        assert "store buffer" in found["persist"][1]
        assert found["verify-sra"][0] == "not asked"
        assert "assertion" in found["verify-sra"][1]
        assert found["write-write"][0] == "no write/write race"
        assert not any("MB" in reason or "states" in reason for _, reason in found.values())

    def test_the_table_of_outcomes_stands_below_and_a_click_opens_an_answer(self, page):
        page.click("#compare")
        page.wait_for_selector("#outcomes .fp-outcomes")
        page.click(".models button >> text=fragile")
        page.wait_for_selector("#answer svg")
        assert page.input_value("#question") == "persist"

    def test_questions_that_do_not_go_with_any_number_of_threads_leave_the_others(self, page):
        write(page, SB.replace("fn left", "fn left[*]"))
        page.click("#compare")
        page.wait_for_selector("body[data-busy=no] .models")
        said = page.locator(".models td:nth-child(2)").all_inner_texts()
        assert "…" not in said
        why = page.locator(".models tr:has-text('no answer') .reason").all_inner_texts()
        assert len(why) == said.count("no answer") == 3
        assert all("needs a fixed number of threads" in one for one in why)
        assert "not robust with 1 thread `left`" in said

    def test_answers_stream_in(self, page):
        write(page, ENDLESS)
        page.click("#compare")
        wait_for_text(page, ".models .reason", "states")
        assert page.query_selector(".models .waiting")
        page.click("#cancel")
        page.wait_for_selector("body[data-busy=no]")


class TestExamples:
    def test_they_are_grouped_and_each_has_a_line_about_it(self, page):
        page.click("#examples")
        groups = [head.inner_text() for head in page.query_selector_all("#gallery-list h3")]
        assert groups[0] == "Tutorial"
        assert "C litmus tests" in groups
        abouts = page.eval_on_selector_all(
            "#gallery-list button span", "all => all.map((one) => one.textContent)"
        )
        assert len(abouts) > 400
        assert all(abouts)

    def test_a_search_leaves_those_with_all_its_words(self, page):
        page.click("#examples")
        page.keyboard.type("ticket three")
        wait_for_text(page, "#gallery-count", "programs")
        names = [
            button.query_selector("b").inner_text()
            for button in page.query_selector_all("#gallery-list button")
            if button.is_visible()
        ]
        assert "ticket-lock" in names
        assert len(names) < 10
        page.keyboard.press("Enter")
        wait_for_text(page, "#editor", "ticket")
        assert wait_for_answer(page) == "robust"

    def test_one_opens_with_its_colours_and_its_language(self, page):
        open_example(page, "MP+cas-acq")
        wait_for_text(page, "#editor", "memory_order_release")
        assert page.input_value("#format") == "litmus"
        page.wait_for_selector("#editor .tok-keyword")
        page.wait_for_selector("#editor .tok-mode")
        choose(page, "robust-rc20")
        assert wait_for_answer(page) == "robust"


class TestSettings:
    def test_a_criterion_changes_the_question(self, page):
        page.click("#settings")
        page.select_option("[name=criterion]", "observational")
        page.keyboard.press("Escape")
        wait_for_text(page, "#answer .fp-verdict", "observationally robust")

    def test_a_limit_is_kept(self, page):
        write(page, BOTH_IN)
        page.click("#settings")
        page.fill("[name=states]", "2")
        page.keyboard.press("Escape")
        wait_for_text(page, "#answer .fp-claim", "2 states")
        assert page.query_selector("#settings.set")
        page.click("#settings")
        page.click("#settings-reset")
        page.keyboard.press("Escape")
        wait_for_text(page, "#answer .fp-verdict", "not robust")

    def test_costs_change_the_repair(self, page):
        page.click("#settings")
        page.fill("[name='cost-sc-fence']", "3")
        page.keyboard.press("Escape")
        wait_for_answer(page)
        page.click("#repair")
        page.wait_for_selector("#apply")
        assert "costs 6" in page.inner_text("#difference")

    def test_loops_are_unrolled_as_often_as_asked(self, page):
        write(page, "global x; fn a { while (1) { FADD(x, 1); } }")
        choose(page, "outcomes")
        page.click("#settings")
        page.fill("[name=unroll]", "5")
        page.keyboard.press("Escape")
        wait_for_text(page, "#answer", "5 times")

    def test_what_is_not_allowed_goes_back(self, page):
        page.click("#settings")
        page.fill("[name=seconds]", "100000")
        page.keyboard.press("Escape")
        assert not page.query_selector("#settings.set")


class TestDownloads:
    def test_the_answer_is_there_as_files(self, page):
        texts = {}
        for kind in ("html", "svg", "json", "sarif"):
            page.click("#download summary")
            with page.expect_download() as saved:
                page.click(f"#download [data-kind={kind}]")
            assert saved.value.suggested_filename == f"sb.{kind}"
            texts[kind] = saved.value.path().read_text(encoding="utf-8")
        assert texts["html"].startswith("<!doctype html>")
        assert texts["svg"].startswith("<svg")
        assert json.loads(texts["json"])["verdict"] == "not-robust"
        assert json.loads(texts["sarif"])["runs"][0]["results"]

    def test_without_a_graph_there_is_no_picture(self, page):
        write(page, FENCED)
        wait_for_answer(page)
        page.click("#download summary")
        page.wait_for_selector(
            "#download [data-kind=svg]:disabled"
        )  # a menu says a little later that it is open
        assert page.is_enabled("#download [data-kind=html]")


class TestLinks:
    def test_a_link_carries_program_language_question_and_settings(self, page, browser):
        write(page, f"// {MARKUP} ü\n{SB}")
        choose(page, "robust-tso")
        page.click("#settings")
        page.select_option("[name=criterion]", "trf")
        page.fill("[name='cost-sc-fence']", "7")
        page.keyboard.press("Escape")
        page.click("#link")
        page.wait_for_url("**/#program=*")
        with visit(browser, page.url) as other:
            assert wait_for_answer(other) == "triangular race"
            assert text_of(other).startswith(f"// {MARKUP} ü\nglobal x, y;")
            assert other.input_value("#question") == "robust-tso"
            assert other.input_value("[name='cost-sc-fence']") == "7"

    def test_one_that_carries_nonsense_opens_the_first_example(self, browser, serving):
        with visit(browser, serving.url + "#program=AAAA") as opened:
            opened.wait_for_selector("body[data-ready=yes]")
            assert "Store buffering" in text_of(opened)
            for fragment in ("#program=", "#%00", "#program=bnVsbA", f"#{MARKUP}"):
                read = "async (text) => (await import('/assets/link.js')).fromLink(text)"
                assert opened.evaluate(read, fragment) is None

    def test_settings_that_make_no_sense_are_left_out(self, browser, serving):
        wrong = {
            "text": SB,
            "format": 3,
            "question": [],
            "name": "../x",
            "settings": {"seconds": "1; x", "states": -1, "costs": 5, "criterion": MARKUP, "unroll": 1e9},
        }
        with visit(browser, serving.url + to_link(wrong)) as opened:
            assert wait_for_answer(opened) == "not robust"
            assert opened.inner_text("#name") == "program"
            assert not opened.query_selector("#settings.set")

    def test_older_links_to_questions_that_are_criteria_now(self, browser, serving):
        old = {"text": SB, "format": "tpl", "question": "observational-ra"}
        with visit(browser, serving.url + to_link(old)) as opened:
            assert wait_for_answer(opened) == "observationally robust"


class TestText:
    def test_markup_in_a_program_is_text_everywhere(self, page):
        write(page, f"// {MARKUP}\n{SB}")
        wait_for_answer(page)
        page.click("#repair")
        page.wait_for_selector("#apply")
        page.click("#compare")
        page.wait_for_selector("body[data-busy=no] .models")
        write(page, f"fn {MARKUP}")
        page.wait_for_selector(".cm-lintRange-error")
        page.hover(".cm-lintRange-error")
        page.wait_for_selector(".cm-tooltip")
        assert page.query_selector_all("img, #result script:not([type='application/json'])") == []

    def test_without_codemirror_there_is_a_plain_field(self, browser, serving):
        page = browser.new_page()
        page.route("**/vendor/**", lambda route: route.abort())
        page.goto(serving.url)
        page.wait_for_selector("body[data-ready=yes]")
        page.fill("#editor textarea", FENCED)
        page.wait_for_selector("body[data-current=yes] #answer .fp-card.fp-good")
        page.fill("#editor textarea", "fn {")
        wait_for_text(page, "#mistake", "expected the name")
        page.close()
