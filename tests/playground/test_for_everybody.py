"""The playground and the report by keyboard alone, on small screens, in both colour schemes, and for axe."""

from __future__ import annotations

import gzip

import pytest

import fencepost
from fencepost.formats.tpl import read
from fencepost.report.html.page import page as report_page

from . import axe
from .browsing import PHONE, TABLET, WIDE, text_of, visit, wait_for_answer, wait_for_text, write
from .serving import ENDLESS, SB

MOST_KILOBYTES = 300
SMALLEST_TEXT = 9  # pixels


@pytest.fixture(scope="module")
def checker(request):
    return axe.script(request.config.cache)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    program = read(f"{SB}// <img src=x onerror=alert(1)>\n", "sb.tpl")
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(report_page(fencepost.robust(program), program), encoding="utf-8")
    return file.as_uri()


def focused(page):
    return page.evaluate("document.activeElement.id || document.activeElement.className")


def tab_into(page, selector):
    """As `tab_to`, to the first element with the focus that the selector fits."""
    for _ in range(160):
        if page.evaluate("wanted => document.activeElement.matches(wanted)", selector):
            return
        if "cm-content" in focused(page):
            page.keyboard.press("Escape")
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {selector}")


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def drawn(page, parts):
    """How many such parts of the graph are there to be seen; an upright line has no width."""
    shown = "all => all.filter((one) => getComputedStyle(one).display !== 'none').length"
    return page.eval_on_selector_all(f".fp-sheet svg {parts}", shown)


def tab_to(page, name):
    """With the Tab key alone, which leaves the editor only after Esc."""
    for _ in range(80):
        if name in focused(page):
            return
        if "cm-content" in focused(page):
            page.keyboard.press("Escape")
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {name}")


class TestByKeyboardAlone:
    def test_escape_and_tab_leave_the_editor_and_the_page_says_so(self, page):
        assert "Esc then Tab leaves the editor" in page.inner_text("#keys")
        described = page.get_attribute(".cm-content", "aria-describedby")
        assert described == "keys"
        tab_to(page, "cm-content")
        press(page, "Tab")
        assert "cm-content" in focused(page)
        assert text_of(page).startswith("    //")
        press(page, "Escape", "Tab")
        assert "cm-content" not in focused(page)

    def test_an_example_is_found_and_opened(self, page):
        tab_to(page, "examples")
        press(page, "Enter")
        assert focused(page) == "gallery-search"
        page.keyboard.type("peterson exchange")
        press(page, "ArrowDown", "ArrowDown", "ArrowUp", "Enter")
        wait_for_text(page, "#editor", "Peterson's lock")
        wait_for_answer(page)

    def test_a_program_is_written_asked_about_and_repaired(self, page):
        tab_to(page, "cm-content")
        press(page, "Control+A", "Delete")
        page.keyboard.insert_text(SB)
        press(page, "Control+Enter")
        assert wait_for_answer(page) == "not robust"
        press(page, "Escape")
        tab_to(page, "repair")
        press(page, "Enter")
        page.wait_for_selector("#apply")
        tab_to(page, "apply")
        press(page, "Enter")
        page.wait_for_selector("body[data-current=yes] #answer .fp-card.fp-good")

    def test_the_halves_are_made_wider_and_stay_so(self, page):
        tab_to(page, "splitter")
        before = page.locator("#program").bounding_box()["width"]
        press(page, "ArrowRight", "ArrowRight", "ArrowRight")
        wider = page.locator("#program").bounding_box()["width"]
        assert wider > before + 50
        press(page, "Home")
        assert page.get_attribute("#splitter", "aria-valuenow") == "20"
        press(page, "End")
        assert page.get_attribute("#splitter", "aria-valuenow") == "80"
        page.reload()
        page.wait_for_selector("body[data-ready=yes]")
        assert page.get_attribute("#splitter", "aria-valuenow") == "80"

    def test_dialogs_and_the_menu_close_with_escape(self, page):
        for name, panel in (("syntax", "#card"), ("settings", "#settings-panel"), ("examples", "#gallery")):
            tab_to(page, name)
            press(page, "Enter")
            page.wait_for_selector(f"{panel}[open]")
            press(page, "Escape")
            page.wait_for_selector(panel, state="hidden")
            assert focused(page) == name
        page.focus("#download summary")
        press(page, "Enter")
        page.wait_for_selector("#download[open]")
        press(page, "Tab", "Escape")
        page.wait_for_selector("#download:not([open])")

    def test_arrows_explain_themselves_and_the_graph_is_zoomed(self, page):
        tab_to(page, "fp-sheet")
        before = page.locator(".fp-sheet svg").bounding_box()["width"]
        press(page, "+", "+")
        assert page.locator(".fp-sheet svg").bounding_box()["width"] > before * 1.4
        press(page, "0")
        assert page.locator(".fp-sheet svg").bounding_box()["width"] == pytest.approx(before)
        press(page, "Tab")
        page.wait_for_selector(".fp-tip:visible")
        press(page, "Escape")
        page.wait_for_selector(".fp-tip", state="hidden")

    def test_another_question_is_chosen(self, page):
        tab_to(page, "question")
        press(page, "End")
        last = page.locator("#question option").last.get_attribute("value")
        assert page.input_value("#question") == last
        assert wait_for_answer(page)

    def test_settings_are_changed(self, page):
        tab_to(page, "settings")
        press(page, "Enter")
        tab_into(page, "[name=criterion]")
        page.keyboard.type("obs")
        tab_into(page, "[name=states]")
        page.keyboard.type("2000")
        press(page, "Escape")
        wait_for_text(page, "#answer .fp-verdict", "observationally robust")
        assert page.query_selector("#settings.set")

    def test_all_models_are_asked_and_a_row_is_opened(self, page):
        tab_to(page, "compare")
        press(page, "Enter")
        page.wait_for_selector("body[data-busy=no] #outcomes")
        tab_into(page, ".models button.bad")
        press(page, "Enter")
        page.wait_for_selector("#answer svg .event")

    def test_a_search_is_cancelled(self, page, serving):
        write(page, ENDLESS)
        press(page, "Control+Enter")
        wait_for_text(page, "#progress", "states")
        press(page, "Escape")
        tab_to(page, "cancel")
        press(page, "Enter")
        page.wait_for_selector("#problem .failure")

    def test_an_answer_is_downloaded(self, page):
        tab_into(page, "#download summary")
        press(page, "Enter")
        tab_into(page, "#download [data-kind=sarif]")
        with page.expect_download() as download:
            press(page, "Enter")
        assert download.value.suggested_filename.endswith(".sarif")

    def test_a_link_is_made_and_the_theme_is_switched(self, page):
        tab_to(page, "link")
        press(page, "Enter")
        page.wait_for_url("**/#program=*")
        tab_to(page, "theme")
        press(page, "Enter")
        assert page.evaluate("document.documentElement.style.colorScheme") == "dark"

    def test_the_cycle_alone_is_shown(self, page):
        tab_into(page, "#answer button[aria-pressed]")
        press(page, "Enter")
        assert drawn(page, ".edge:not(.on-cycle, [data-relations=po])") == 0

    def test_the_run_is_stepped_through(self, page):
        page.focus("#answer [aria-label='Step of the run']")
        press(page, "ArrowLeft")
        assert page.inner_text(".fp-place") == "step 3 of 4"
        press(page, "Home")
        assert page.inner_text(".fp-says") == "The start."


class TestTheGraph:
    def test_a_tooltip_stands_at_the_arrow(self, page):
        page.locator("#answer svg .edge[data-relations=fr] .hit").first.hover(force=True)
        tip = page.locator(".fp-tip:visible")
        assert tip.inner_text().startswith("fr, from-reads.")
        assert "here ordering is missing" in tip.inner_text()
        box, arrow = (
            tip.bounding_box(),
            page.locator("#answer svg .edge[data-relations=fr]").first.bounding_box(),
        )
        assert box["x"] < arrow["x"] + arrow["width"] + 40
        assert box["y"] < arrow["y"] + arrow["height"] + 40
        page.mouse.move(5, 5)
        page.wait_for_selector(".fp-tip", state="hidden")
        page.locator("#answer svg .event").last.hover()  # which may scroll, and that hides it
        middle = page.locator("#answer svg .event").last.bounding_box()
        page.mouse.move(middle["x"] + 9, middle["y"] + 9)
        page.wait_for_selector(".fp-tip:visible")

    def test_it_is_zoomed_and_moved_with_the_mouse(self, page):
        page.click("[aria-label='Zoom in']")
        page.click("[aria-label='Zoom in']")
        page.click("[aria-label='Zoom in']")
        sheet = page.locator(".fp-sheet")
        sheet.scroll_into_view_if_needed()
        box = sheet.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + 60
        before = sheet.evaluate("sheet => sheet.scrollLeft")
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x - 60, y)
        page.mouse.up()
        assert sheet.evaluate("sheet => sheet.scrollLeft") == before + 60
        page.click("[aria-label^='Fit']")
        assert sheet.evaluate("sheet => sheet.scrollWidth <= sheet.clientWidth")

    def test_the_cycle_alone(self, page):
        assert drawn(page, ".edge:not(.on-cycle)") > 0
        page.click("text=Cycle only")
        assert page.get_attribute("text=Cycle only", "aria-pressed") == "true"
        assert drawn(page, ".edge.on-cycle") == 4
        assert drawn(page, ".edge:not(.on-cycle, [data-relations=po])") == 0
        assert drawn(page, ".label:not(.on-cycle)") == 0

    def test_labels_are_pale_with_their_arrows_while_stepping(self, page):
        page.click("[aria-label='To the start']")
        edges, labels = (page.locator(f"#answer svg .{kind}.fp-later").count() for kind in ("edge", "label"))
        assert edges >= labels > 0
        page.click("[aria-label='One step on']")
        assert page.inner_text(".fp-place") == "step 1 of 4"
        assert "x.store(1, rel)" in page.inner_text(".fp-run .fp-now")
        assert "x.store(1, rel)" in page.inner_text("#editor .step")
        assert "can still see x = 0 or 1" in page.inner_text(".fp-panels")
        page.click("[aria-label='To the end']")
        assert page.locator("#answer svg .fp-later").count() == 0

    def test_the_run_plays_by_itself(self, page):
        page.click("#answer >> text=play")
        wait_for_text(page, "#answer .fp-place", "step 2 of 4")
        page.click("#answer >> text=pause")

    def test_of_many_accesses_the_cycle_is_shown_first(self, browser, tmp_path):
        writes = "".join(f"x.store({n}, rel); " for n in range(1, 18))
        text = (
            "max_value 17; global x, y;\n"
            f"fn left {{ local r; {writes} r = y.load(acq); }}\n"
            "fn right { local r; wait(x, 16, acq); y.store(1, rel); r = x.load(acq); }\n"
        )
        program = read(text, "long.tpl")
        answer = fencepost.robust(program)
        file = tmp_path / "long.html"
        file.write_text(report_page(answer, program), encoding="utf-8")
        with visit(browser, file.as_uri()) as opened:
            assert opened.locator(".fp-sheet .event").count() > 16
            assert opened.get_attribute("text=Cycle only", "aria-pressed") == "true"
            assert drawn(opened, ".edge:not(.on-cycle, [data-relations=po])") == 0


class TestSmallScreens:
    @pytest.mark.parametrize("size", [WIDE, TABLET, PHONE], ids=lambda size: str(size[0]))
    def test_nothing_sticks_out_and_the_graph_can_be_read(self, browser, serving, size):
        with visit(browser, serving.url, size=size) as opened:
            wait_for_answer(opened)
            assert opened.evaluate("document.documentElement.scrollWidth") <= size[0]
            scale = opened.evaluate(
                "(() => { const svg = document.querySelector('.fp-sheet svg');"
                "return svg.getBoundingClientRect().width / svg.viewBox.baseVal.width; })()"
            )
            assert 11 * scale >= SMALLEST_TEXT
            assert opened.is_visible("#ask")

    def test_long_lines_wrap(self, page):
        write(page, f"// {'long ' * 200}\n{SB}")
        assert page.evaluate(
            "(() => { const one = document.querySelector('#editor .cm-scroller');"
            "return one.scrollWidth <= one.clientWidth; })()"
        )

    def test_the_repair_is_inline_on_a_phone(self, browser, serving):
        with visit(browser, serving.url, size=PHONE) as opened:
            wait_for_answer(opened)
            opened.click("#repair")
            opened.wait_for_selector("#apply")
            assert opened.locator("#difference .cm-editor").count() == 1
            assert "fence" in opened.inner_text("#difference .cm-content")


class TestItIsKept:
    def test_edits_survive_a_reload(self, page):
        write(page, f"// mine\n{SB}")
        page.select_option("#question", "persist")
        assert wait_for_answer(page) == "fragile"
        page.reload()
        assert wait_for_answer(page) == "fragile"
        assert text_of(page).startswith("// mine")

    def test_the_theme_is_switched_and_stays(self, browser, serving):
        def colours(page):
            wait_for_answer(page)
            return page.evaluate(
                "[getComputedStyle(document.body).backgroundColor,"
                "getComputedStyle(document.querySelector('.fp-graph .bg')).fill]"
            )

        light, dark = ["rgb(255, 255, 255)"] * 2, ["rgb(13, 17, 23)"] * 2
        with visit(browser, serving.url, "dark") as opened:
            assert colours(opened) == dark
            opened.click("#theme")
            assert colours(opened) == light
            opened.reload()
            assert colours(opened) == light
            opened.click("#theme")
            assert colours(opened) == dark
            assert opened.query_selector("#editor .cm-editor")


class TestHelp:
    def test_the_card_shows_the_syntax_of_the_language_and_leads_to_the_tutorial(
        self, page, browser, serving
    ):
        page.click("#syntax")
        assert "exchange(x, e, acq, rel)" in page.inner_text("#card-text")
        link = page.get_attribute("#card-text a >> text=the tutorial", "href")
        with visit(browser, serving.url) as opened:
            opened.goto(serving.url + link.lstrip("/"))
            assert "Peterson" in opened.inner_text("h1")
            opened.click("main a >> text=TPL")
            assert "TPL" in opened.inner_text("h1")


class TestAxe:
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_the_page(self, browser, serving, checker, scheme):
        with visit(browser, serving.url, scheme) as opened:
            wait_for_answer(opened)
            assert axe.violations(opened, checker) == []
            opened.click("#repair")
            opened.wait_for_selector("#apply")
            assert axe.violations(opened, checker) == []
            opened.click("#compare")
            opened.wait_for_selector("body[data-busy=no] #outcomes")
            assert axe.violations(opened, checker) == []

    def test_the_dialogs(self, page, checker):
        for name in ("examples", "settings", "syntax"):
            page.click(f"#{name}")
            assert axe.violations(page, checker) == []
            page.keyboard.press("Escape")

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_the_report(self, browser, report, checker, scheme):
        with visit(browser, report, scheme) as opened:
            assert axe.violations(opened, checker) == []

    def test_the_tutorial(self, browser, serving, checker):
        with visit(browser, serving.url) as opened:
            opened.goto(f"{serving.url}docs/tutorial")
            assert axe.violations(opened, checker) == []


class TestWeight:
    def test_the_page_loads_in_less_than_300_kilobytes(self, browser, serving):
        sizes = {}

        def count(response):
            if "/api/search" not in response.url:
                packed = response.headers.get("content-encoding") == "gzip"
                body = response.body()
                sizes[response.url] = len(gzip.compress(body)) if packed else len(body)

        opened = browser.new_page()
        opened.on("response", count)
        opened.goto(serving.url)
        wait_for_answer(opened)
        opened.close()
        if not any("/vendor/" in url for url in sizes):
            pytest.skip("the package was built without the editor")
        assert sum(sizes.values()) < MOST_KILOBYTES * 1000, sizes


class TestTheReport:
    def test_it_works_from_a_file(self, browser, report):
        with visit(browser, report) as opened:
            opened.click("[aria-label='One step back']")
            assert opened.inner_text(".fp-place") == "step 3 of 4"
            assert "y.store(1)" in opened.inner_text(".fp-source .fp-now")
            opened.focus("svg .edge[data-relations=fr]")
            wait_for_text(opened, ".fp-tip", "from-reads")
            assert opened.query_selector_all("img") == []
            assert opened.query_selector_all(".fp-source .tok-keyword")

    def test_it_says_what_was_asked_and_what_was_not_and_by_which_tool(self, browser, report):
        with visit(browser, report) as opened:
            asked = opened.inner_text(".fp-asked")
            assert "one of interleaved threads too?" in asked
            assert "Other memory models were not asked about" in asked
            assert fencepost.__version__ in opened.inner_text(".fp-tool")

    def test_it_is_printed_without_buttons_and_with_everything_unfolded(self, browser, report):
        with visit(browser, report) as opened:
            opened.emulate_media(media="print")
            assert opened.locator(".fp-controls:visible, .fp-tools:visible").count() == 0
            opened.evaluate("dispatchEvent(new Event('beforeprint'))")
            assert opened.is_visible(".fp-cycle ol")
            assert opened.evaluate("getComputedStyle(document.querySelector('.fp-graph .bg')).fill") == (
                "rgb(255, 255, 255)"
            )

    def test_a_notebook_shows_it_in_a_frame_without_a_network(self, browser, tmp_path):
        program = read(SB, "sb.tpl")
        shown = fencepost.interactive(fencepost.robust(program), program)._repr_html_()
        file = tmp_path / "notebook.html"
        file.write_text(f"<!doctype html><title>A notebook</title>{shown}", encoding="utf-8")
        with visit(browser, file.as_uri()) as opened:
            frame = opened.frame_locator("iframe")
            frame.locator("[aria-label='One step back']").click()
            assert frame.locator(".fp-place").inner_text() == "step 3 of 4"
            frame.locator("svg .edge[data-relations=fr]").first.focus()
            frame.locator(".fp-tip", has_text="from-reads").wait_for()
