"""The Python code that the documentation shows runs, and prints what is shown below it.

Blocks of the language `python` and, with prompts and output, `pycon` run from top to bottom of a page in one
namespace. A block `python notebook` needs IPython and must only compile.
"""

from __future__ import annotations

import doctest
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import PAGES, ROOT, Block, blocks, name_of

CODE = {
    page: [block for block in blocks(page) if block.info.split()[:1] in (["python"], ["pycon"])]
    for page in PAGES
}


@pytest.mark.parametrize("page", [page for page in PAGES if CODE[page]], ids=name_of)
def test_python_does_what_the_page_shows(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__docs__"}
    for block in CODE[page]:
        if block.info == "pycon":
            run_session(block, page, namespace)
        else:
            code = compile("\n" * (block.first_line - 1) + "\n".join(block.lines), str(page), "exec")
            if "notebook" not in block.info.split():
                exec(code, namespace)


def run_session(block: Block, page: Path, namespace: dict[str, Any]) -> None:
    text = "\n".join(block.lines) + "\n"
    test = doctest.DocTestParser().get_doctest(
        text, namespace, name_of(page), str(page), block.first_line - 1
    )
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    report: list[str] = []
    runner.run(test, out=report.append, clear_globs=False)
    namespace.update(test.globs)
    assert runner.failures == 0, "".join(report)
