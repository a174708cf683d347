"""The notebooks in the documentation run, and show what they show.

`FENCEPOST_UPDATE_DOCS=1 pytest tests/docs` writes what the cells show now into the notebooks.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.docs.console import matches
from tests.docs.pages import ROOT, name_of

NOTEBOOKS = sorted((ROOT / "docs").glob("*.ipynb"))
_RICH = {"text/html": "_repr_html_", "image/svg+xml": "_repr_svg_"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)
def test_a_notebook_runs_and_shows_what_is_in_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From top to bottom, in the directory of the notebook, as a reader would."""
    monkeypatch.chdir(path.parent)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    nbformat.validate(notebook)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    wrong: list[str] = []
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] != "code":
            continue
        outputs = run_cell("".join(cell["source"]), f"{name_of(path)}[{number}]", namespace)
        if not matches(text_of(cell["outputs"]), text_of(outputs)):
            wrong.append(f"cell {number} shows\n" + "\n".join(text_of(outputs)))
            cell["outputs"] = outputs
    if os.environ.get("FENCEPOST_UPDATE_DOCS"):
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert not wrong, "\n\n".join(wrong)


def run_cell(source: str, name: str, namespace: dict[str, Any]) -> list[dict[str, Any]]:
    """What a cell prints, and what its last expression shows."""
    body = ast.parse(source, name).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), name, "exec"), namespace)
        value = None
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": lines_of(printed.getvalue())})
    if value is not None:
        shown = {"output_type": "display_data", "data": data_of(value), "metadata": {}}
        outputs.append(shown)
    return outputs


def data_of(value: object) -> dict[str, list[str]]:
    for kind, method in _RICH.items():
        if hasattr(value, method):
            return {kind: lines_of(getattr(value, method)())}
    return {"text/plain": lines_of(repr(value))}


def lines_of(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def text_of(outputs: list[dict[str, Any]]) -> list[str]:
    parts = [
        output["text"] if "text" in output else next(iter(output["data"].values())) for output in outputs
    ]
    return "".join("".join(part) + "\n" for part in parts).split("\n")
