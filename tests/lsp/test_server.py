"""What an editor gets from `fencepost lsp`, in a real session over standard input and output."""

from __future__ import annotations

import asyncio

from lsprotocol import types as lsp

from tests.lsp.session import URI, Editor, with_editor

SB = """global x, y;
fn left {
    local r;
    x.store(1, rel);
    r = y.load(acq);
}
fn right {
    local r;
    again: y.store(1, rel);
    r = x.load(acq);
    if (r == 2) goto again;
}
"""
# Neighbours share a counter, and count by steps of their own.
ENDLESS = "global a, b, c, d;\n" + "\n".join(
    f"fn t{n} {{ while (1) {{ FADD({x}, {n}); FADD({y}, {n + 4}); }} }}"
    for n, (x, y) in enumerate(["ab", "bc", "cd", "da"])
)


def span(diagnostic: lsp.Diagnostic | lsp.Location | lsp.Hover) -> tuple[int, int, int]:
    """The line and the columns that something is about."""
    assert diagnostic.range is not None
    start, end = diagnostic.range.start, diagnostic.range.end
    assert start.line == end.line
    return start.line, start.character, end.character


@with_editor
async def test_a_mistake_is_underlined_until_it_is_gone(editor: Editor) -> None:
    assert await editor.open(SB) == []
    (mistake,) = await editor.change(SB.replace("y.load", "y.lod"))
    assert span(mistake) == (4, 10, 13)
    assert mistake.severity == lsp.DiagnosticSeverity.Error
    assert "did you mean `load`?" in mistake.message
    assert await editor.change(SB) == []
    assert len(await editor.change("")) == 1
    assert await editor.close() == []


@with_editor
async def test_columns_are_those_of_the_editor(editor: Editor) -> None:
    """It counts UTF-16 code units unless told otherwise, and lines as files have them."""
    (mistake,) = await editor.open("// 😀\r\nglobal x; fn t { 😀 }\r\n")
    assert span(mistake) == (1, 17, 19)
    (mistake,) = await editor.change("// \u2028\nglobal x,, y;\n")
    assert span(mistake) == (1, 9, 10)


@with_editor
async def test_hover_says_what_a_memory_order_means(editor: Editor) -> None:
    await editor.open(SB)
    order = await editor.hover(3, 16)
    assert order is not None
    assert "memory_order_release" in order.contents.value  # type: ignore[union-attr]
    assert span(order) == (3, 15, 18)
    location = await editor.hover(4, 8)
    assert location is not None
    assert "global x, y;" in location.contents.value  # type: ignore[union-attr]
    assert await editor.hover(2, 0) is None
    assert await editor.hover(99, 0) is None


@with_editor
async def test_definitions_of_locations_locals_and_labels(editor: Editor) -> None:
    await editor.open(SB)
    for (line, character), expected in {
        (3, 4): (0, 7, 8),  # x
        (4, 8): (0, 10, 11),  # y
        (9, 4): (7, 10, 11),  # r of the second thread
        (10, 22): (8, 4, 9),  # again
    }.items():
        found = await editor.definition(line, character)
        assert found.uri == URI
        assert span(found) == expected
    assert await editor.definition(1, 0) is None


@with_editor
async def test_a_lens_checks_robustness_and_shows_where_it_fails(editor: Editor) -> None:
    await editor.open(SB)
    lenses = await editor.lenses()
    titles = [lens.command.title for lens in lenses if lens.command]
    assert titles == [f"check robustness ({model})" for model in ("ra", "rc20", "cpp20", "tso")]
    assert {lens.range.start.line for lens in lenses} == {1}
    assert lenses[0].command is not None
    assert await editor.execute(lenses[0].command) == "program.tpl: not robust under ra"
    (problem,) = await editor.diagnostics()
    assert problem.code == "not-robust"
    assert problem.severity == lsp.DiagnosticSeverity.Warning
    assert span(problem) == (9, 4, 19)
    assert "because nothing orders line 9 before line 10" in problem.message
    related = [span(one.location) for one in problem.related_information or []]
    assert (3, 4, 5) in related
    assert editor.messages[-1].message == "program.tpl: not robust under ra"
    fenced = SB.replace("rel);", "rel); fence;")
    assert await editor.change(fenced) == []
    assert await editor.execute(lenses[0].command) == "program.tpl: robust under ra"
    assert await editor.diagnostics() == []


@with_editor
async def test_a_search_ends_when_the_text_changes(editor: Editor) -> None:
    await editor.open(ENDLESS)
    (lens, *_) = await editor.lenses()
    assert lens.command is not None
    params = lsp.ExecuteCommandParams(lens.command.command, lens.command.arguments)
    asked = editor.client.workspace_execute_command_async(params)
    searching = asyncio.ensure_future(asked)
    await asyncio.sleep(0.5)
    assert await editor.hover(0, 0) is not None
    assert await editor.change(SB) == []
    assert await asyncio.wait_for(searching, 15) == "the text has changed"


@with_editor
async def test_a_program_with_a_mistake_is_not_checked(editor: Editor) -> None:
    await editor.open("global x; fn t { x.stor(1); }")
    (lens, *_) = await editor.lenses()
    assert lens.command is not None
    assert "there is no access `stor`" in await editor.execute(lens.command)
    assert editor.messages[-1].type == lsp.MessageType.Error


@with_editor
async def test_without_threads_there_is_nothing_to_check(editor: Editor) -> None:
    await editor.open("global x;")
    assert await editor.lenses() == []


@with_editor
async def test_an_unknown_model_is_told(editor: Editor) -> None:
    await editor.open(SB)
    answer = await editor.execute(lsp.Command("", "fencepost.checkRobustness", arguments=[URI, "power"]))
    assert answer == "there is no model `power`"
