from xml.etree import ElementTree

import pytest

from holdfast.report.notebook import answer_html, witness_svg

from .witnesses import ANSWERS, HOSTILE, SB


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
