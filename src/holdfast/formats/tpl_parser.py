"""Is this text TPL, and how is it nested?

`parse` turns a text into a lark tree by the grammar in `tpl.lark`, or says in plain words what was expected
where. What names and numbers mean is left to `tpl_reader.py`. Importing lark and building its tables takes
longer than reading a program does, so both wait until a text is parsed, and the tables are kept in the user's
cache directory under a name that changes with the grammar and with lark.
"""

from __future__ import annotations

import marshal
import os
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.formats.diagnose import Source, one_of, quoted, suggestion
from holdfast.program import Position

if TYPE_CHECKING:
    from lark import Lark, Token, Tree
    from lark.exceptions import UnexpectedInput

    from holdfast.errors import InputError

KEYWORDS = {
    "max_value": "_MAX_VALUE",
    "global": "GLOBAL",
    "na": "NA",
    "track": "_TRACK",
    "fn": "_FN",
    "local": "_LOCAL",
    "if": "IF",
    "else": "_ELSE",
    "while": "_WHILE",
    "goto": "_GOTO",
    "oneof": "_ONEOF",
    "assert": "CHECK",
    "assume": "CHECK",
    "skip": "_SKIP",
    "fence": "_FENCE",
    **dict.fromkeys(("FADD", "exchange", "XCHG", "CAS", "BCAS", "wait", "lock", "unlock", "verify"), "CALL"),
    **dict.fromkeys(("rlx", "acq", "rel", "acq_rel", "seq_cst"), "MODE"),
}

# Whoever walks the tree recurses over blocks, so these keep it away from Python's recursion limit.
# Parentheses may nest deeper than blocks because `oneof(` opens one around its blocks.
MOST_NESTED_BLOCKS = 100
MOST_NESTED_PARENTHESES = 250

_GRAMMAR = Path(__file__).with_name("tpl.lark")


def parse(source: Source) -> Tree[Token]:
    """The tree of a program; raises `InputError`."""
    from lark.exceptions import UnexpectedInput

    try:
        return _parser().parse(source.text)
    except UnexpectedInput as error:
        mistake = _syntax_error(source, error)
    except _TooDeepError as error:
        mistake = source.error(str(error), error.at)
    raise mistake


def position(node: Token | Tree[Token]) -> Position:
    """Where the first token of `node` stands."""
    place = node if isinstance(node, str) else node.meta
    return Position(place.line or 1, place.column or 1)


def as_tree(node: Token | Tree[Token]) -> Tree[Token]:
    assert not isinstance(node, str)
    return node


def as_token(node: Token | Tree[Token]) -> Token:
    assert isinstance(node, str)
    return node


# --- the parser and its tables


class _TooDeepError(Exception):
    def __init__(self, message: str, at: Position) -> None:
        super().__init__(message)
        self.at = at


class _Keywords:
    """Between lexer and parser: names that are keywords become keywords, and nesting has a limit."""

    always_accept = ("NAME",)

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        blocks = parentheses = 0
        for token in stream:
            match token.type:
                case "NAME":
                    token.type = KEYWORDS.get(token, "NAME")
                case "LBRACE":
                    blocks += 1
                    if blocks > MOST_NESTED_BLOCKS:
                        limit = f"blocks may be nested {MOST_NESTED_BLOCKS} deep; this one is deeper"
                        raise _TooDeepError(limit, position(token))
                case "RBRACE":
                    blocks -= 1
                case "LPAR" | "LSQB":
                    parentheses += 1
                    if parentheses > MOST_NESTED_PARENTHESES:
                        limit = (
                            f"parentheses may be nested {MOST_NESTED_PARENTHESES} deep; this one is deeper"
                        )
                        raise _TooDeepError(limit, position(token))
                case "RPAR" | "RSQB":
                    parentheses -= 1
            yield token


@cache
def _parser() -> Lark:
    import lark

    grammar = _GRAMMAR.read_text(encoding="utf-8")
    tables = _table_file(f"{grammar}\0{lark.__version__}\0{sys.version}")
    return _load(tables) or _build(grammar, tables)


def _build(grammar: str, tables: Path | None) -> Lark:
    from lark import Lark

    # A keyword is the same token everywhere (see `_Keywords`), so the lexer needs no context; a contextual
    # one would compile a regular expression per parser state at each start.
    parser = Lark(grammar, parser="lalr", lexer="basic", propagate_positions=True, postlex=_Keywords())
    _save(parser, tables)
    return parser


def _table_file(key: str) -> Path | None:
    """Where the tables for `key` are kept, None if this user has no place for them."""
    import hashlib

    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if not os.path.isabs(base):
        return None
    return Path(base, "holdfast", f"tpl-{hashlib.sha256(key.encode()).hexdigest()[:20]}.tables")


def _load(tables: Path | None) -> Lark | None:
    """The parser with the kept tables; None, for whatever reason, if there are none that can be used."""
    import hashlib

    from lark import Lark

    if tables is None:
        return None
    try:
        content = tables.read_bytes()
        if hashlib.sha256(content[32:]).digest() != content[:32]:
            return None
        data, memo = marshal.loads(content[32:])
        parser: Lark = Lark._load_from_dict(data, memo, postlex=_Keywords())  # type: ignore[no-untyped-call]
    except Exception:
        return None
    return parser


def _save(parser: Lark, tables: Path | None) -> None:
    """Keep the tables for the next start if that is possible."""
    import hashlib

    from lark.grammar import Rule
    from lark.lexer import TerminalDef

    if tables is None:
        return
    try:
        data, memo = parser.memo_serialize([TerminalDef, Rule])
        data["options"] = {**data["options"], "postlex": None}
        content = marshal.dumps((data, memo))
        tables.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = tables.with_suffix(f".{os.getpid()}")
        fresh.write_bytes(hashlib.sha256(content).digest() + content)
        fresh.replace(tables)
    except (OSError, ValueError):
        return


# --- what was expected, in plain words

_SPELLED = {
    "_ASSIGN": "`=`",
    "DOT": "`.`",
    "COLON": "`:`",
    "COMMA": "`,`",
    "SEMICOLON": "`;`",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "NUMBER": "a number",
    "NAME": "a name",
    "MODE": "a mode (`acq`, `rel`, `acq_rel` or `seq_cst`)",
    "IF": "`if`",
    "_GOTO": "`goto`",
}
_NAME_AFTER = {
    "goto": "a label",
    "fn": "the name of the function",
    "global": "the name of a location",
    "na": "the name of a location",
    "track": "the name of a location",
    "local": "the name of a local",
    ".": one_of(("`load`", "`store`", "`naload`", "`nastore`")),
}
_WORD = re.compile(r"//[^\n]*|\w+|[^\s\w]")
_DECLARATIONS = ("_MAX_VALUE", "GLOBAL", "NA", "_TRACK", "_FN")


def _syntax_error(source: Source, error: UnexpectedInput) -> InputError:
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    at_end = isinstance(error, UnexpectedToken) and error.token.type == "$END"
    before = _last_word(source.text, len(source.text) if at_end else error.pos_in_stream or 0)
    accepts = error.interactive_parser.accepts()  # type: ignore[no-untyped-call]
    expected = _expected(accepts, before)
    if isinstance(error, UnexpectedCharacters):
        hint = "; comments start with `//`" if error.char == "#" else ""
        message = f"unexpected character {quoted(error.char)}; expected {expected}{hint}"
        return source.error(message, Position(error.line, error.column))
    assert isinstance(error, UnexpectedToken)
    token = error.token
    if at_end:
        return _unexpected_end(source, token, expected)
    return source.error(_unexpected(source, token, accepts, before, expected), position(token))


def _expected(accepts: set[str], before: str) -> str:
    if "_WHILE" in accepts:
        return "a statement or `}`"
    if "_FN" in accepts:
        return "`global`, `na`, `track` or `fn`"
    if "NOT" in accepts:
        return "an expression" + (" or a mode" if "MODE" in accepts else "")
    if accepts >= {"_ASSIGN", "COLON", "DOT"}:
        return f"`=`, `.` or `:` after {quoted(before)}"
    if "SEMICOLON" in accepts and "COMMA" not in accepts:
        return "`;` after the statement"
    if accepts == {"NAME"}:
        return _NAME_AFTER.get(before, "a name")
    if "COMMA" in accepts or "RPAR" in accepts or "RSQB" in accepts:
        accepts = accepts - {"_ASSIGN", "LSQB", "DOT"}
    return one_of(word for terminal, word in _SPELLED.items() if terminal in accepts)


def _unexpected(source: Source, token: Token, accepts: set[str], before: str, expected: str) -> str:
    found = quoted(token)
    in_function = "_FN" not in accepts
    if token == "}" and not in_function:
        return "this `}` closes nothing"
    if accepts == {"NAME"} and token in KEYWORDS and before != ".":
        return f"{found} is a keyword and cannot be a name"
    if "_WHILE" in accepts and token.type in _DECLARATIONS:
        opened = source.open_bracket(token.start_pos or 0)
        where = f" opened on line {opened[1]}" if opened else ""
        return f"expected `}}` before {found}: the block{where} is not closed"
    if token == "local" and "_WHILE" in accepts:
        return "`local` declarations come first in a function"
    if token == "(" and accepts >= {"_ASSIGN", "COLON", "DOT"}:
        statements = [word for word, kind in KEYWORDS.items() if kind not in ("MODE", *_DECLARATIONS)]
        return f"there is no operation {quoted(before)}{suggestion(before, statements)}"
    if source.text.startswith("/*", token.start_pos or 0):
        return f"expected {expected}, found `/*`; comments start with `//`"
    meant = suggestion(token, ["global", "na", "track", "fn"]) if not in_function else ""
    return f"expected {expected}, found {found}{meant}"


def _unexpected_end(source: Source, last: Token, expected: str) -> InputError:
    at = Position(last.end_line or 1, last.end_column or 1)
    opened = source.open_bracket(len(source.text))
    if expected == "a statement or `}`":
        expected = "`}`"
    message = f"expected {expected}, but the file ends here"
    if opened is not None:
        bracket, line = opened
        what = "block opened" if bracket == "{" else f"`{bracket}`"
        message += f"; the {what} on line {line} is not closed"
    return source.error(message, at)


def _last_word(text: str, end: int) -> str:
    """The last token before offset `end`, as far as messages need it: a name, or one character."""
    words = [word for word in _WORD.findall(text, 0, end) if not word.startswith("//")]
    return words[-1] if words else ""
