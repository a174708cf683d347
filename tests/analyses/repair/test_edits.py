"""A repair in the user's own text: what is edited, and that everything else stays."""

import shutil
import subprocess
from pathlib import Path
from random import Random

import pytest

from fencepost.analyses.repair.changes import Change, apply, candidates
from fencepost.analyses.repair.edits import repaired_text
from fencepost.formats import tpl
from fencepost.formats.edits import changed_text
from fencepost.program import CellAccess, Program
from tests.analyses.repair.repairing import programs_to_repair


def edited(text: str, *wanted: str) -> str:
    """The text with changes made: each is a kind, a side or nothing, and the beginning of a statement."""
    program = tpl.read(text, "test.tpl")
    changes = [_change(program, *description.split(" ", 2)) for description in wanted]
    result = repaired_text(program, changes)
    assert tpl.read(result.text) == apply(program, changes).program
    return result.text


def _change(program: Program, kind: str, side: str, statement: str) -> Change:
    for number, thread in enumerate(program.threads):
        for pc, instruction in enumerate(thread.code):
            if tpl.format_instruction(instruction).startswith(statement):
                return Change(kind, (number,), pc, None if side == "at" else side)  # type: ignore[arg-type]
    raise AssertionError(statement)


def in_function(*lines: str) -> str:
    return "\n".join(["max_value 3;", "global x, y, a[2];", "fn t {", "    local r;", *lines, "}", ""])


@pytest.mark.parametrize(
    ("before", "change", "after"),
    [
        # A statement in a line of its own.
        (["    x.store(1);"], "sc-fence before x", ["    fence;", "    x.store(1);"]),
        (["\tx.store(1);"], "acquire-fence after x", ["\tx.store(1);", "\tfence(acq);"]),
        (["    x.store(1); // why"], "sc-fence after x", ["    x.store(1); // why", "    fence;"]),
        (["    x.store(", "        1);"], "sc-fence after x", ["    x.store(", "        1);", "    fence;"]),
        # Several in one line.
        (["    x.store(1); y.store(2);"], "sc-fence before y", ["    x.store(1); fence; y.store(2);"]),
        (["    x.store(1); y.store(2);"], "sc-fence after x", ["    x.store(1); fence; y.store(2);"]),
        (["    x.store(1); y.store(2);"], "sc-fence after y", ["    x.store(1); y.store(2);", "    fence;"]),
        (["    if (r) { x.store(1); }"], "sc-fence before x", ["    if (r) { fence; x.store(1); }"]),
        (["    if (r) { x.store(1); }"], "sc-fence after x", ["    if (r) { x.store(1); fence; }"]),
        (["    while (r) {r = x.load();}"], "sc-fence before r", ["    while (r) {fence; r = x.load();}"]),
        (
            ["    oneof({x.store(1);}{skip;});"],
            "sc-fence after x",
            ["    oneof({x.store(1); fence;}{skip;});"],
        ),
        # Labels come first, so that who jumps there meets the fence.
        (["l: x.store(1);", "    goto l;"], "sc-fence before x", ["l: fence; x.store(1);", "    goto l;"]),
        (
            ["l:", "    x.store(1); goto l;"],
            "sc-fence before x",
            ["l:", "    fence;", "    x.store(1); goto l;"],
        ),
        (["    x.store(1); l: goto l;"], "sc-fence after x", ["    x.store(1); fence; l: goto l;"]),
        # Modes.
        (["    r = x.load();"], "acquire-load at r", ["    r = x.load(acq);"]),
        (["    r = x . load ( ) ; // )"], "acquire-load at r", ["    r = x . load ( acq) ; // )"]),
        (["    r = x.load(rlx);"], "acquire-load at r", ["    r = x.load(acq);"]),
        (["    r = x.load(relaxed);"], "acquire-load at r", ["    r = x.load(acq);"]),
        (["    while (x.load() == 0) {}"], "acquire-load at _1", ["    while (x.load(acq) == 0) {}"]),
        (["    if (r && x.exchange(1)) {}"], "acquire-rmw at _1", ["    if (r && x.exchange(1, acq)) {}"]),
        (["    x.store(y.load());"], "release-store at x", ["    x.store(y.load(), rel);"]),
        (["    x.store(y.load());"], "acquire-load at _1", ["    x.store(y.load(acq));"]),
        (["    x.store(y.load());"], "sc-fence after x", ["    x.store(y.load());", "    fence;"]),
        (["    x.store((r+0x2));"], "release-store at x", ["    x.store((r+0x2), rel);"]),
        (["    x.store(1, rlx);"], "release-store at x", ["    x.store(1, rel);"]),
        (["    r=wait(x,1,2);"], "acquire-load at r", ["    r=wait(x,1,2, acq);"]),
        (["    FADD(x, 1);"], "release-rmw at FADD", ["    FADD(x, 1, rel);"]),
        (["    FADD(x, 1, acq);"], "release-rmw at FADD", ["    FADD(x, 1, acq, rel);"]),
        (["    x.fetch_or(1, acquire);"], "release-rmw at x", ["    x.fetch_or(1, acq, rel);"]),
        (["    CAS(x, 0, 1, rlx, rel);"], "acquire-rmw at CAS", ["    CAS(x, 0, 1, acq, rel);"]),
        (["    CAS(x, 0, 1, rlx, rel, acq);"], "acquire-rmw at CAS", ["    CAS(x, 0, 1, acq, rel);"]),
        (["    CAS(x, 0, 1, acq, rel, rlx);"], "acquire-failure at CAS", ["    CAS(x, 0, 1, acq, rel);"]),
        (["    CAS(x, 0, 1, acq, rlx, rlx);"], "release-rmw at CAS", ["    CAS(x, 0, 1, acq, rel, rlx);"]),
        (["    XCHG(x, 1);"], "acquire-rmw at exchange", ["    XCHG(x, 1, acq);"]),
        (["    BCAS(x, 0, 2);"], "acquire-rmw at BCAS", ["    BCAS(x, 0, 2, acq);"]),
        (["    lock(x);"], "release-rmw at lock", ["    BCAS(x, 0, 1, acq, rel);"]),
        # Exchanges.
        (["    x.store(r  +  1);"], "exchange at x", ["    exchange(x, r  +  1);"]),
        (["    a[r%2].store(1, rel);"], "exchange at a", ["    exchange(a[r%2], 1, rel);"]),
        (["    unlock(x);"], "exchange at x", ["    exchange(x, 0, rel);"]),
    ],
)
def test_one_change(before: list[str], change: str, after: list[str]) -> None:
    assert edited(in_function(*before), change) == in_function(*after)


def test_a_fence_beside_an_access_in_a_condition_is_written_in_the_plain_form() -> None:
    text = in_function("    while (x.load() == 0) { skip; }")
    assert "_1 = x.load();\n    fence;" in edited(text, "sc-fence after _1")


def test_several_changes_to_one_statement() -> None:
    changes = [
        "sc-fence before x",
        "exchange at x",
        "acquire-rmw at x",
        "release-store at x",
        "acquire-fence after x",
    ]
    text = in_function("    l: x.store(1); // here")
    assert edited(text, *changes) == in_function(
        "    l: fence; exchange(x, 1, acq, rel); // here", "    fence(acq);"
    )


def test_a_file_without_a_last_line_end() -> None:
    text = "global x; fn a { x.store(1); x.store(2); }"
    program = tpl.read(text, "one-line.tpl")
    result = repaired_text(program, [Change("sc-fence", (0,), 1, "before")])
    assert result.text == "global x; fn a { x.store(1); fence; x.store(2); }"
    assert result.diff == (
        "--- one-line.tpl\n+++ one-line.tpl\n@@ -1 +1 @@\n"
        f"-{text}\n\\ No newline at end of file\n+{result.text}\n\\ No newline at end of file\n"
    )


def test_windows_line_ends_become_plain_ones() -> None:
    assert edited("global x;\r\nfn a {\r\n  x.store(1);\r\n}\r\n", "sc-fence before x") == (
        "global x;\nfn a {\n  fence;\n  x.store(1);\n}\n"
    )


def test_a_program_without_text_is_written_out() -> None:
    program, _ = next(programs_to_repair(range(10, 60)))
    change = candidates(program, "ra")[0]
    result = repaired_text(program, [change])
    assert tpl.write(tpl.read(result.text)) == tpl.write(apply(program, [change]).program)
    assert result.diff.count("\n+") >= 2


def test_a_text_whose_edit_does_not_give_the_program_is_written_out() -> None:
    program = tpl.read("global x; fn a { x.store(1); x.store(2); }")
    changed = apply(program, [Change("sc-fence", (0,), 1, "before")]).program
    assert not changed_text(program, changed, {}).in_place
    assert tpl.read(changed_text(program, changed, {}).after) == changed


def random_repairs() -> list[tuple[Program, list[Change]]]:
    """Programs with a text of their own, and arbitrary changes."""
    repairs = []
    for number, (drawn, model) in enumerate(programs_to_repair(range(1500, 1600))):
        source = Random(number)
        program = tpl.read(tpl.write(drawn), "random.tpl")
        changes = [change for change in candidates(program, model) if source.random() < 0.4]
        assert all(isinstance(program.threads[c.threads[0]].code[c.pc], CellAccess) for c in changes)
        repairs.append((program, changes))
    return repairs


def test_any_changes_can_be_made_in_place() -> None:
    for program, changes in random_repairs():
        text = repaired_text(program, changes).text
        assert tpl.read(text) == apply(program, changes).program
        kept = [line for line in (program.source or "").splitlines() if line.strip().startswith(("fn", "if"))]
        assert all(line in text for line in kept)


@pytest.mark.skipif(shutil.which("patch") is None, reason="there is no `patch` to try the diffs with")
def test_diffs_can_be_applied_by_patch(tmp_path: Path) -> None:
    for program, changes in random_repairs()[:10]:
        result = repaired_text(program, changes)
        if not result.diff:
            continue
        file = tmp_path / "random.tpl"
        file.write_text(program.source or "", encoding="utf-8")
        subprocess.run(["patch", "-p0", "-s"], input=result.diff, cwd=tmp_path, text=True, check=True)
        assert file.read_text(encoding="utf-8") == result.text
