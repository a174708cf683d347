"""What an editor gets from `fencepost lsp`, in a real session over standard input and output."""

from __future__ import annotations

import asyncio

from lsprotocol import types as lsp

from fencepost import robust
from fencepost.formats.tpl import read
from fencepost.lsp.tokens import KINDS
from tests.lsp.session import CAPABLE, URI, Editor, edited, with_editor

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
    f"fn t{n} {{ local r; while (1) {{ r = FADD({x}, {n}); if (r != 9) {{ FADD({y}, {n + 4}); }} }} }}"
    for n, (x, y) in enumerate(["ab", "bc", "cd", "da"])
)


def span(diagnostic: lsp.Diagnostic | lsp.Location | lsp.Hover) -> tuple[int, int, int]:
    """The line and the columns that something is about."""
    assert diagnostic.range is not None
    start, end = diagnostic.range.start, diagnostic.range.end
    assert start.line == end.line
    return start.line, start.character, end.character


@with_editor()
async def test_a_mistake_is_underlined_until_it_is_gone(editor: Editor) -> None:
    assert await editor.open(SB) == []
    (mistake,) = await editor.change(SB.replace("y.load", "y.lod"))
    assert span(mistake) == (4, 10, 13)
    assert mistake.severity == lsp.DiagnosticSeverity.Error
    assert "did you mean `load`?" in mistake.message
    assert await editor.change(SB) == []
    assert len(await editor.change("")) == 1
    assert await editor.close() == []


@with_editor()
async def test_columns_are_those_of_the_editor(editor: Editor) -> None:
    """It counts UTF-16 code units unless told otherwise, and lines as files have them."""
    (mistake,) = await editor.open("// 😀\r\nglobal x; fn t { 😀 }\r\n")
    assert span(mistake) == (1, 17, 19)
    (mistake,) = await editor.change("// \u2028\nglobal x,, y;\n")
    assert span(mistake) == (1, 9, 10)


@with_editor()
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


@with_editor()
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


@with_editor()
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


@with_editor()
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


@with_editor()
async def test_a_program_with_a_mistake_is_not_checked(editor: Editor) -> None:
    await editor.open("global x; fn t { x.stor(1); }")
    (lens, *_) = await editor.lenses()
    assert lens.command is not None
    assert "there is no access `stor`" in await editor.execute(lens.command)
    assert editor.messages[-1].type == lsp.MessageType.Error


@with_editor()
async def test_without_threads_there_is_nothing_to_check(editor: Editor) -> None:
    await editor.open("global x;")
    assert await editor.lenses() == []


@with_editor()
async def test_an_unknown_model_is_told(editor: Editor) -> None:
    await editor.open(SB)
    answer = await editor.execute(lsp.Command("", "fencepost.checkRobustness", arguments=[URI, "power"]))
    assert answer == "there is no model `power`"


@with_editor()
async def test_names_and_orders_are_completed(editor: Editor) -> None:
    await editor.open(SB.replace("y.load(acq)", "y."))
    assert {"load", "store", "fetch_add"} <= set(await editor.complete(4, 10))
    assert await editor.complete(3, 15) == ["rlx", "rel", "seq_cst"]
    assert await editor.complete(99, 0) == ["global", "na", "fn", "track"]


@with_editor()
async def test_signatures_name_the_argument_that_is_typed(editor: Editor) -> None:
    await editor.open(SB)
    help_ = await editor.signature(3, 15)
    assert help_ is not None
    assert help_.signatures[0].label == "store(e, order)"
    assert help_.active_parameter == 1
    parameters = help_.signatures[0].parameters or ()
    assert [one.label for one in parameters] == ["e", "order"]
    assert await editor.signature(2, 0) is None


@with_editor()
async def test_colours_tell_locations_from_locals(editor: Editor) -> None:
    await editor.open("// 😀\nglobal x; na d;\nfn t { local r; r = x.load(acq); }\n")
    data = await editor.colours()
    line, column, words = 0, 0, []
    for down, right, length, kind, modifiers in zip(*(data[n::5] for n in range(5)), strict=True):
        line, column = line + down, (0 if down else column) + right
        words.append((line, column, length, KINDS[kind], modifiers))
    assert words[:5] == [
        (0, 0, 5, "comment", 0),  # in UTF-16
        (1, 0, 6, "keyword", 0),
        (1, 7, 1, "property", 1),
        (1, 10, 2, "keyword", 0),
        (1, 13, 1, "property", 3),
    ]
    assert [kind for at, _, _, kind, _ in words if at == 2] == [
        *("keyword", "function", "keyword", "variable"),
        *("variable", "property", "method", "enumMember"),
    ]


@with_editor()
async def test_the_outline_has_locations_and_threads(editor: Editor) -> None:
    await editor.open(SB)
    outline = await editor.outline()
    assert [one.name for one in outline] == ["x", "y", "left", "right"]
    right = outline[3]
    assert [(one.name, one.detail) for one in right.children or ()] == [("r", "local"), ("again", "label")]
    assert (right.range.start.line, right.range.end.line) == (6, 11)
    assert right.selection_range.start.character == 3


@with_editor()
async def test_a_mistyped_word_is_put_right(editor: Editor) -> None:
    mistyped = SB.replace("y.load", "y.lod")
    (mistake,) = await editor.open(mistyped)
    (action,) = await editor.actions(mistake)
    assert action.title == "Write `load`"
    assert edited(mistyped, action) == SB


async def _checked(editor: Editor, text: str, model: str) -> lsp.Diagnostic:
    """The finding in the text."""
    await editor.open(text)
    await editor.execute(lsp.Command("", "fencepost.checkRobustness", arguments=[URI, model]))
    (finding,) = await editor.diagnostics()
    return finding


@with_editor(CAPABLE)
async def test_a_finding_is_repaired_when_the_editor_asks_for_the_edit(editor: Editor) -> None:
    finding = await _checked(editor, SB, "rc20")
    (action,) = await editor.actions(finding)
    assert action.edit is None
    repaired = edited(SB, await editor.resolve(action))
    assert repaired.count("fence;") == 2
    assert robust(read(repaired), "rc20").holds
    await editor.change(repaired)
    assert await editor.actions(finding) == []


@with_editor()
async def test_an_editor_that_does_not_ask_later_gets_the_edit_at_once(editor: Editor) -> None:
    finding = await _checked(editor, SB, "ra")
    (action,) = await editor.actions(finding)
    assert robust(read(edited(SB, action)), "ra").holds


@with_editor()
async def test_what_cannot_be_repaired_is_told(editor: Editor) -> None:
    """Whatever its order, an access to a location that is not atomic races."""
    finding = await _checked(editor, "na d; fn t { d.nastore(1); } fn u { d.nastore(2); }", "ra")
    assert finding.code == "race"
    assert await editor.actions(finding) == []
    assert "repairs this under ra" in editor.messages[-1].message


LITMUS = """C SB
{ x = 0; y = 0; }
P0(atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_release);
  int r0 = atomic_load_explicit(y, memory_order_acquire);
}
P1(atomic_int* x, atomic_int* y) {
  atomic_store_explicit(y, 1, memory_order_release);
  int r0 = atomic_load_explicit(x, memory_order_acquire);
}
exists (0:r0 = 0 /\\ 1:r0 = 0)
"""


@with_editor(options={"showsReports": True})
async def test_c_litmus_tests_are_understood(editor: Editor) -> None:
    editor.uri = URI.replace(".tpl", ".litmus")
    (mistake,) = await editor.open(LITMUS.replace("memory_order_acquire", "memory_order_aquire", 1))
    assert span(mistake) == (4, 35, 54)
    assert await editor.change(LITMUS) == []
    assert [one.name for one in await editor.outline()] == ["x", "y", "P0", "P1", "exists"]
    hover = await editor.hover(3, 35)
    assert hover is not None
    assert "**release**" in hover.contents.value  # type: ignore[union-attr]
    (lens, *_) = await editor.lenses()
    assert lens.command is not None
    assert await editor.execute(lens.command) == "program.litmus: not robust under ra"
    (finding,) = await editor.diagnostics()
    assert finding.range.start.line in (4, 8)
    report = (await editor.lenses())[0].command
    assert report is not None
    assert (report.title, report.command) == ("show the answer (ra)", "fencepost.showReport")


@with_editor()
async def test_the_report_is_a_page_of_its_own(editor: Editor) -> None:
    await editor.open(SB)
    page = await editor.execute(lsp.Command("", "fencepost.report", arguments=[URI, "ra"]))
    assert page.startswith("<!doctype html>")
    assert "Content-Security-Policy" in page
    await editor.diagnostics()
    await editor.change("nonsense")
    assert await editor.execute(lsp.Command("", "fencepost.report", arguments=[URI, "ra"])) is None
