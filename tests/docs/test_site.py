"""The site of the pages, if `make docs` has made it: complete, and made of nothing from other hosts.

That no link leads nowhere is checked while it is made (`validation` in mkdocs.yml).
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser

import pytest

import fencepost
from fencepost import load, outcomes
from tests.docs.pages import ROOT

SITE = ROOT / "build" / "site"


@pytest.fixture(scope="module")
def gallery():
    sys.path.insert(0, str(ROOT / "docs" / "site"))
    try:
        import gallery
    finally:
        sys.path.pop(0)
    return gallery


class _Fetched(HTMLParser):
    """What a browser fetches for a page without being asked."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        known = dict(attributes)
        if tag in ("script", "img", "iframe", "source"):
            self.found.append(known.get("src") or "")
        elif tag == "link" and known.get("rel") not in ("canonical", "next", "prev"):
            self.found.append(known.get("href") or "")


def test_the_site_fetches_nothing_from_elsewhere():
    pages = sorted(SITE.rglob("*.html"))
    if not pages:
        pytest.skip("there is no site: `make docs` makes it")
    for page in pages:
        fetched = _Fetched()
        fetched.feed(page.read_text(encoding="utf-8"))
        assert not [name for name in fetched.found if re.match(r"(https?:)?//", name)], page
    styles = [style.read_text(encoding="utf-8") for style in SITE.rglob("*.css")]
    assert not [url for style in styles for url in re.findall(r"url\(\s*[\"']?(?:https?:)?//[^)]*", style)]


def test_the_site_has_the_reference_and_the_gallery():
    if not SITE.exists():
        pytest.skip("there is no site: `make docs` makes it")
    reference = (SITE / "api.html").read_text(encoding="utf-8")
    homes = {name: getattr(fencepost, name) for name in fencepost.__all__}
    assert all(f'id="{one.__module__}.{one.__qualname__}"' in reference for one in homes.values())
    assert "A cheapest set of changes that makes" in reference  # the docstring of fix
    shown = (SITE / "gallery.html").read_text(encoding="utf-8")
    programs = [*ROOT.glob("examples/outcomes/*.litmus"), *ROOT.glob("examples/cpp20/*.tpl")]
    assert all(f"{program.parent.name}/{program.name}" in shown for program in programs)


def test_a_table_of_the_gallery_is_what_fencepost_prints(gallery):
    path = ROOT / "examples" / "outcomes" / "SB+ra.litmus"
    text = "\n".join(gallery.entry(path, "SB+ra.litmus"))
    answer = outcomes(load(path))
    rows = re.findall(r"^\| (▶?) \| (.*) \|$", text, re.MULTILINE)
    assert len(rows) == len(answer.outcomes)
    for row, (mark, cells) in zip(answer.outcomes, rows, strict=True):
        assert (mark == "▶") == row.sought
        signs = [{"allowed": "✓", "forbidden": "–"}[row.under[one.model]] for one in answer.models]
        assert cells.split(" | ") == [*map(str, row.values), *signs]


@pytest.mark.parametrize(
    ("stem", "family"),
    [("SB+fsc+fsc", "SB"), ("2+2W+rlx", "2+2W"), ("2RMW+rlx", "2RMW"), ("bakery-release", "Algorithms")],
)
def test_the_gallery_is_ordered_by_families(gallery, stem, family):
    assert gallery.family_of(ROOT / f"{stem}.tpl") == family
