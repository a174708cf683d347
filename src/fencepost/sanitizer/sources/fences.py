"""Fences in the source: inserted before or after an operation, changed, or removed, as edits.

A fence becomes a statement on its own line where nothing else happens between it and the operation. Before an
operation in a condition or another expression it is put into the expression with a comma. After an operation
in a condition it is put where each branch begins. Everything else is left to be done by hand.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from fencepost.sanitizer.sources.operations import File, Operation
from fencepost.sanitizer.sources.rewriting import CannotPatchError
from fencepost.sanitizer.sources.text import Edit, SourceText
from fencepost.sanitizer.sources.units import Cursor
from fencepost.verdicts.sites import SiteOrder

_LABELS = ("CASE_STMT", "DEFAULT_STMT", "LABEL_STMT")
_WITH_BODIES = ("IF_STMT", "WHILE_STMT", "DO_STMT", "FOR_STMT", "CXX_FOR_RANGE_STMT")
_SIMPLE = ("DECL_STMT", "RETURN_STMT")
_SKIPPED_PARTS = ("CONDITIONAL_OPERATOR", "LAMBDA_EXPR", "StmtExpr")
# Calls of these do nothing that a fence could order: they find out where something is.
_LOOKS_UP = frozenset(("operator[]", "operator->", "operator*", "get", "data", "begin", "end", "at", "size"))


class Statement:
    """The statement that an operation is part of: in a block, below a label, or a body of `if` or a loop."""

    def __init__(self, operation: Operation) -> None:
        path = operation.path
        for place in range(len(path) - 1, 0, -1):
            above = path[place - 1].kind.name
            if above == "COMPOUND_STMT" or above in _LABELS or above in _WITH_BODIES:
                break
        else:
            raise CannotPatchError("it is not in the body of a function")
        self.cursor: Cursor = path[place]
        self.parent: Cursor = path[place - 1]
        self.parents = path[:place]
        self.inside = path[place:]
        self.file = operation.file
        self.start, self.end = _extent(self.cursor)
        self.in_head = self.parent.kind.name in _WITH_BODIES and not _is_body(
            self.file, self.parent, self.cursor
        )
        if self.parent.kind.name in _LABELS and _extent(self.cursor)[1] != _extent(self.parent)[1]:
            self.in_head = True  # the number of a case

    @property
    def terminated(self) -> int:
        """Where the statement ends, with its semicolon."""
        for token in self.file.tokens:
            if token.start >= self.end:
                if token.text != ";":
                    break
                return token.end
            if token.end == self.end and token.text in (";", "}"):
                return token.end
        raise CannotPatchError("the end of its statement is not found")

    @property
    def without_braces(self) -> bool:
        return self.parent.kind.name in _WITH_BODIES


def fences_around(operation: Operation, before: SiteOrder | None, after: SiteOrder | None) -> list[Edit]:
    """Fences right before and right after the operation."""
    if operation.macro is not None:
        raise CannotPatchError("it is in a macro")
    if not operation.path or operation.path[0].kind.name == "VAR_DECL":
        raise CannotPatchError("it is not in the body of a function")
    spelling, builtins = operation.file.spelling, _without_header(operation.file)
    first = spelling.fence(before, builtins=builtins) if before else ""
    last = spelling.fence(after, builtins=builtins) if after else ""
    preceded = _statement_to_precede(operation) if first else None
    followed = _statement_to_follow(operation) if last else None
    edits: list[Edit] = []
    if preceded is not None and followed is not None and preceded.cursor == followed.cursor:
        if preceded.without_braces:
            return _in_braces(preceded, first, last)
        if _is_alone(preceded):
            return _on_own_lines(preceded, first, last)
    if first:
        edits += _inserted_before(preceded, first) if preceded else _in_expression(operation, first)
    if followed is not None:
        edits += _inserted_after(followed, last)
    return edits


def _in_expression(operation: Operation, fence: str) -> list[Edit]:
    before = Edit(operation.start, operation.start, f"({fence}, ", 8)
    return [before, Edit(operation.end, operation.end, ")", 9)]


def _statement_to_follow(operation: Operation) -> Statement:
    statement = Statement(operation)
    if _effects_beside(operation, statement.inside, calls_above=True):
        raise CannotPatchError("other things happen between the operation and the fence")
    kind = statement.cursor.kind
    if not statement.in_head and kind.name != "DECL_STMT" and not kind.is_expression():
        ends = kind.name == "RETURN_STMT"
        raise CannotPatchError(
            "its statement ends the function" if ends else "it is in the head of a statement"
        )
    if _is_value_of_block(statement):
        raise CannotPatchError("its value is that of the block")
    return statement


def fence_removed(operation: Operation) -> list[Edit]:
    text = operation.file.text
    if operation.macro is not None or operation.path[-1:] == ():
        return [Edit(operation.start, operation.end, "((void)0)")]
    statement = Statement(operation)
    if (statement.start, statement.end) != (operation.start, operation.end):
        return [Edit(operation.start, operation.end, "((void)0)")]
    end = statement.terminated
    if statement.parent.kind.name in _LABELS:
        return [Edit(operation.start, operation.end, "")]
    if statement.without_braces:
        return [Edit(operation.start, end, "{}")]
    start = operation.start
    line_end = text.line_end(end)
    if text.first_of_line(start) and not text.content[end:line_end].strip():
        after = text.content.find(b"\n", line_end) + 1
        return [Edit(text.line_start(start), after or line_end, "")]
    while text.content[end : end + 1] == b" ":
        end += 1
    return [Edit(start, end, "")]


def _without_header(file: File) -> bool:
    header = "atomic" if file.unit.language == "c++" else "stdatomic.h"
    return not file.unit.includes(header)


def _statement_to_precede(operation: Operation) -> Statement | None:
    """The statement before which a fence is right before the operation; None if there is none."""
    if _effects_within(operation):
        raise CannotPatchError("other things happen between the fence and the operation")
    try:
        statement = Statement(operation)
    except CannotPatchError:
        return None
    if _effects_beside(operation, statement.inside, calls_above=False):
        return None
    if not statement.in_head:
        simple = statement.cursor.kind.is_expression() or statement.cursor.kind.name in _SIMPLE
        return statement if simple else None
    if statement.parent.kind.name != "IF_STMT":
        return None
    outer = Statement(operation._replace(path=statement.parents))
    if outer.cursor.kind.name != "IF_STMT" or outer.in_head or outer.parent.kind.name == "IF_STMT":
        return None
    return outer


def _inserted_before(statement: Statement, fence: str) -> list[Edit]:
    text = statement.file.text
    start = statement.start
    if statement.without_braces:
        return _in_braces(statement, fence, "")
    if _is_alone(statement):
        return _on_own_lines(statement, fence, "")
    indentation = text.indentation_at(start)
    if text.first_of_line(start):
        return [Edit(start, start, f"{fence};{text.newline}{indentation}", -2)]
    if statement.parent.kind.name in _LABELS:
        indentation += text.indentation
    return _broken_before(text, start, f"{indentation}{fence};{text.newline}{indentation}")


def _is_alone(statement: Statement) -> bool:
    """`{ statement; }` on one line."""
    text, block = statement.file.text, statement.parent
    if block.kind.name != "COMPOUND_STMT":
        return False
    opening, closing = _extent(block)[0] + 1, _extent(block)[1] - 1
    around = text.content[opening : statement.start] + text.content[statement.terminated : closing]
    return not around.strip(b" \t")


def _on_own_lines(statement: Statement, first: str, last: str) -> list[Edit]:
    """The only statement of a block that has one line, with fences, on several."""
    text, block = statement.file.text, statement.parent
    outer = text.indentation_at(statement.start)
    inner = text.newline + outer + text.indentation
    opening, closing = _extent(block)[0] + 1, _extent(block)[1] - 1
    return [
        Edit(opening, statement.start, inner + (f"{first};{inner}" if first else "")),
        Edit(statement.terminated, closing, (f"{inner}{last};" if last else "") + text.newline + outer),
    ]


def _inserted_after(statement: Statement, fence: str) -> list[Edit]:
    text = statement.file.text
    if statement.in_head:
        return _inserted_in_branches(statement, fence)
    if statement.without_braces:
        return _in_braces(statement, "", fence)
    if _is_alone(statement):
        return _on_own_lines(statement, "", fence)
    end = statement.terminated
    indentation = text.indentation_at(statement.start)
    if statement.parent.kind.name in _LABELS and not text.first_of_line(statement.start):
        indentation += text.indentation
    rest = text.content[end : text.line_end(end)].strip()
    comment = rest.startswith(b"//") or (rest.startswith(b"/*") and rest.find(b"*/") == len(rest) - 2)
    if not rest or comment:
        end = text.line_end(end)
        return [Edit(end, end, f"{text.newline}{indentation}{fence};", 1)]
    stop = _after_blanks(text, end)
    return [Edit(end, stop, f"{text.newline}{indentation}{fence};{text.newline}{indentation}", 1)]


def _after_blanks(text: SourceText, offset: int) -> int:
    while text.content[offset : offset + 1] in (b" ", b"\t"):
        offset += 1
    return offset


def _broken_before(text: SourceText, start: int, lines: str) -> list[Edit]:
    """A line break in place of the blanks before `start`, then these lines."""
    blanks = start
    while text.content[blanks - 1 : blanks] in (b" ", b"\t"):
        blanks -= 1
    return [Edit(blanks, start, text.newline + lines)]


def _in_braces(statement: Statement, first: str, last: str) -> list[Edit]:
    """A body of `if` or a loop, as a block with fences in it."""
    text = statement.file.text
    start, end = statement.start, statement.terminated
    outer = text.indentation_at(_extent(statement.parent)[0])
    inner = text.newline + outer + text.indentation
    opening = len(text.content[:start].rstrip())
    line = text.slice(text.line_start(opening), opening)
    if "//" in line or line.lstrip().startswith("#"):
        raise CannotPatchError("it has no braces, and a comment stands before it")
    rest = text.slice(end, text.line_end(end)).strip()
    if rest.startswith("//"):
        end = text.line_end(end)
    elif rest.startswith("/*"):
        raise CannotPatchError("it has no braces, and a comment stands behind it")
    closing = (f"{inner}{last};" if last else "") + f"{text.newline}{outer}}}"
    follow = end + len(text.content[end:]) - len(text.content[end:].lstrip())
    joined = Edit(end, follow, closing + " ") if text.slice(follow, follow + 4) == "else" else None
    return [
        Edit(opening, start, f" {{{inner}" + (f"{first};{inner}" if first else "")),
        joined or Edit(end, end, closing, 2),
    ]


def _inserted_in_branches(statement: Statement, fence: str) -> list[Edit]:
    """After an operation in the condition of `if` or `while`: where each way that it can lead to begins."""
    owner = statement.parent
    kind = owner.kind.name
    if kind not in ("IF_STMT", "WHILE_STMT"):
        raise CannotPatchError("it is in the head of a loop")
    parts = list(owner.get_children())
    bodies = [part for part in parts if _is_body(statement.file, owner, part)]
    if parts[0] != statement.cursor or len(parts) != len(bodies) + 1:
        raise CannotPatchError("a declaration is in the condition")
    if any(body.kind.name != "COMPOUND_STMT" for body in bodies):
        raise CannotPatchError("what follows the condition has no braces")
    edits = [edit for body in bodies for edit in _at_beginning(statement, body, fence)]
    after = _extent(owner)[1]
    text = statement.file.text
    indentation = text.indentation_at(_extent(owner)[0])
    if not text.first_of_line(_extent(owner)[0]):
        raise CannotPatchError("its statement does not begin a line")
    if kind == "WHILE_STMT":
        if statement.parents[-2].kind.name != "COMPOUND_STMT":
            raise CannotPatchError("its loop is not in a block")
        if any(one.kind.name in ("BREAK_STMT", "GOTO_STMT") for one in owner.walk_preorder()):
            raise CannotPatchError("its loop can be left in another way")
        return [*edits, Edit(after, after, f"{text.newline}{indentation}{fence};", 1)]
    if len(bodies) == 1:
        inner = indentation + text.indentation
        lines = f" else {{{text.newline}{inner}{fence};{text.newline}{indentation}}}"
        edits.append(Edit(after, after, lines, 1))
    return edits


def _at_beginning(statement: Statement, block: Cursor, fence: str) -> list[Edit]:
    text = statement.file.text
    start, end = _extent(block)
    indentation = text.indentation_at(_extent(statement.parent)[0])
    inner = indentation + text.indentation
    insertion = f"{text.newline}{inner}{fence};"
    rest = text.content[start + 1 : text.line_end(start)].strip()
    if not rest or rest.startswith(b"//"):
        at = start + 1 if not rest else text.line_end(start)
        return [Edit(at, at, insertion, 1)]
    if not text.content[start + 1 : end - 1].strip():
        return [Edit(start + 1, end - 1, f"{insertion}{text.newline}{indentation}")]
    raise CannotPatchError("what follows the condition is on its line")


def _is_value_of_block(statement: Statement) -> bool:
    """`({ ...; x; })`, of which the last statement is the value."""
    return len(statement.parents) > 1 and statement.parents[-2].kind.name == "StmtExpr"


def _effects_within(operation: Operation) -> bool:
    """Does evaluating the operands of the operation do something that a fence could order?"""
    own = operation.path[-1]
    return any(one is not own and _has_effect(one, operation) for one in _walk(own))


def _effects_beside(operation: Operation, inside: Sequence[Cursor], *, calls_above: bool) -> bool:
    """Is there anything else in the statement that a fence could order, or that may leave the operation out?

    What uses the value of the operation happens after it, so it matters only for a fence after it.
    """
    known = {_key(one) for one in inside}
    below = {_key(one) for one in _walk(operation.path[-1])}
    for one in inside[:-1]:
        kind = one.kind.name
        if kind in _SKIPPED_PARTS or (kind == "BINARY_OPERATOR" and _is_short_circuit(one, operation)):
            return True
        if calls_above and _has_effect(one, operation) and not _is_assignment_to_local(one):
            return True
    for one in _walk(inside[0]):
        key = _key(one)
        if key not in known and key not in below and _has_effect(one, operation):
            return True
    return False


def _walk(cursor: Cursor) -> Iterator[Cursor]:
    yield from cursor.walk_preorder()


def _key(cursor: Cursor) -> tuple[str, int, int, int]:
    return cursor.kind.name, cursor.hash, cursor.extent.start.offset, cursor.extent.end.offset


def _has_effect(cursor: Cursor, operation: Operation) -> bool:
    kind = cursor.kind.name
    if kind == "CALL_EXPR":
        called = cursor.referenced
        if called is None:
            return True
        if called.kind.name == "CONSTRUCTOR":
            return (
                called.location.file is not None
                and not called.is_default_constructor()
                and bool(list(cursor.get_arguments()))
                and not called.is_copy_constructor()
                and not called.is_move_constructor()
            )
        return called.spelling not in _LOOKS_UP
    if kind in (
        "CXX_NEW_EXPR",
        "CXX_DELETE_EXPR",
        "COMPOUND_ASSIGNMENT_OPERATOR",
        "StmtExpr",
        "CXX_THROW_EXPR",
    ):
        return True
    if kind == "BINARY_OPERATOR":
        return _operator(cursor, operation) == "="
    if kind == "UNARY_OPERATOR":
        text = operation.file.text.slice(*_extent(cursor))
        return text.startswith(("++", "--")) or text.endswith(("++", "--"))
    here = [one for one in operation.file.operations if one.path and _key(one.path[-1]) == _key(cursor)]
    return bool(here)


def _operator(cursor: Cursor, operation: Operation) -> str:
    left, right = cursor.get_children()
    between = operation.file.text.slice(_extent(left)[1], _extent(right)[0])
    return between.strip()


def _is_short_circuit(cursor: Cursor, operation: Operation) -> bool:
    """`a && b`, `a || b` or `a, b` with the operation in `b`."""
    _, right = cursor.get_children()
    short = _operator(cursor, operation) in ("&&", "||", ",", "and", "or")
    return short and _extent(right)[0] <= operation.start < _extent(right)[1]


def _is_assignment_to_local(cursor: Cursor) -> bool:
    if cursor.kind.name not in ("BINARY_OPERATOR", "COMPOUND_ASSIGNMENT_OPERATOR"):
        return False
    target = next(cursor.get_children(), None)
    if target is None or target.kind.name != "DECL_REF_EXPR" or target.referenced is None:
        return False
    declared = target.referenced
    return declared.kind.name in ("VAR_DECL", "PARM_DECL") and declared.semantic_parent.kind.name in (
        "FUNCTION_DECL",
        "CXX_METHOD",
        "CONSTRUCTOR",
        "DESTRUCTOR",
        "FUNCTION_TEMPLATE",
    )


def _is_body(file: File, owner: Cursor, part: Cursor) -> bool:
    """Is the part a statement that `if` or a loop leads to, and not in its head?"""
    if owner.kind.name == "DO_STMT":
        return bool(part == next(owner.get_children()))
    return _extent(part)[0] > _head_end(file, owner)


def _head_end(file: File, owner: Cursor) -> int:
    """Where the head of `if` or a loop ends: its closing parenthesis."""
    depth = 0
    for token in file.tokens[bisect_left(file.tokens, _extent(owner)[0], key=lambda token: token.start) :]:
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0 and token.text == ")":
            return token.start
    raise CannotPatchError("its statement is not understood")


def _extent(cursor: Cursor) -> tuple[int, int]:
    return int(cursor.extent.start.offset), int(cursor.extent.end.offset)
