from xml.etree import ElementTree

import pytest

import fencepost
from fencepost.formats.tpl import read
from fencepost.report.html.notebook import answer_html, program_html, witness_svg
from tests.report.witnesses import ANSWERS, HOSTILE, SB


@pytest.mark.parametrize("name", ANSWERS)
def test_the_html_is_well_formed(name):
    root = ElementTree.fromstring(answer_html(ANSWERS[name]))
    assert root.tag == "div"
    pictures = list(root.iter("{http://www.w3.org/2000/svg}svg"))
    assert len(pictures) == (ANSWERS[name].witness is not None)


def test_text_of_the_file_is_escaped():
    html = answer_html(ANSWERS["hostile"])
    assert "<script" not in html
    assert "<img" not in html
    assert "\x1b" not in html


def test_a_witness_is_its_picture():
    assert witness_svg(SB).startswith("<svg")
    assert witness_svg(HOSTILE) != witness_svg(SB)


def test_a_program_is_its_text_with_the_numbers_of_the_lines():
    root = ElementTree.fromstring(program_html(read("// <b>\nglobal x;\nfn t { x.store(1); }\n")))
    assert "".join(root.itertext()) == "1  // <b>\n2  global x;\n3  fn t { x.store(1); }"


def test_a_program_without_a_text_is_written():
    from fencepost.program import Cell, Constant, Location, Program, Store, Thread

    threads = (Thread("t", (Store(Cell("x"), Constant(1)),)),)
    assert "x.store(1);" in Program((Location("x"),), threads)._repr_html_()


def test_a_repair_shows_its_places_and_its_diff():
    html = fencepost.fix(fencepost.load("examples/tutorial/sb.tpl"))._repr_html_()
    ElementTree.fromstring(html)
    assert "<li>line 9: insert <code>fence;</code> before <code>r = y.load(acq)</code></li>" in html
    assert "+    fence;" in html
