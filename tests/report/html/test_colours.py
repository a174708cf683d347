import re
from html import unescape

import pytest

from fencepost.formats import FORMATS
from fencepost.playground.gallery import examples
from fencepost.report.html.colours import coloured, language


def kinds(line, name):
    return dict(
        reversed(pair) for pair in re.findall(r'<span class="tok-(\w+)">([^<]*)</span>', coloured(line, name))
    )


def test_the_words_of_tpl():
    assert kinds("fn left { r = x.load(acq); x.store(12, rel); } // fn", "tpl") == {
        "fn": "keyword",
        "load": "access",
        "store": "access",
        "acq": "mode",
        "rel": "mode",
        "12": "number",
        "// fn": "comment",
    }


def test_the_words_of_litmus_tests_and_automata():
    assert kinds("atomic_store_explicit(x, 1, memory_order_release);", "litmus") == {
        "atomic_store_explicit": "access",
        "1": "number",
        "memory_order_release": "mode",
    }
    assert (
        kinds("transition q0 q1 write 1 0 # value // address", "automata")["# value // address"] == "comment"
    )
    assert "comment" not in kinds("#x", "tpl").values()


@pytest.mark.parametrize("format", [known.name for known in FORMATS])
def test_every_format_has_words(format):
    assert language(format) is not None


def test_the_text_stays_what_it_is():
    for example in examples()[::25]:
        for line in example.text.split("\n"):
            text = unescape(re.sub(r"</?span[^>]*>", "", coloured(line, example.format)))
            assert text == line.expandtabs(4).rstrip()


def test_markup_is_escaped():
    assert coloured("// <script>\x1b", "tpl") == '<span class="tok-comment">// &lt;script&gt;\\x1b</span>'
    assert coloured("<b>", "no such language") == "&lt;b&gt;"
