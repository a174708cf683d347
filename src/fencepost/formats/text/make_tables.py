"""The parse tables of a grammar, as lark makes them.

The build runs this file as a script, without the rest of the package, and installs the tables beside the
grammar. A checkout that was not built makes them when it needs them. `lalr.py` says what tables mean.

    python make_tables.py GRAMMAR.lark TABLES.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def made_tables(grammar: str) -> dict[str, Any]:
    """The tables of a grammar that has no `?rule`, no `[…]`, and no strings that are names as well."""
    from lark import Lark
    from lark.parsers.lalr_analysis import Shift

    # Words get their type after the lexer, so it needs no context.
    lark: Any = Lark(grammar, parser="lalr", lexer="basic")
    lexer, table = lark.parser.lexer, lark.parser.parser._parse_table
    assert lexer.scanner is not None
    assert not lexer.callback
    number = {rule: -1 - index for index, rule in enumerate(lark.rules)}
    return {
        "tokens": "|".join(f"(?P<{term.name}>{term.pattern.to_regexp()})" for term in lexer.terminals),
        "ignored": sorted(lexer.ignore_types),
        "states": [
            {str(symbol): goal if action is Shift else number[goal] for symbol, (action, goal) in row.items()}
            for _, row in sorted(table.states.items())
        ],
        "start": table.start_states["start"],
        "end": table.end_states["start"],
        "rules": [_rule(rule) for rule in lark.rules],
    }


def _rule(rule: Any) -> tuple[str, str, int, list[tuple[int, bool]]]:
    """The fields of a `Rule` in order."""
    assert not rule.options.expand1
    assert not rule.options.empty_indices
    kept = [
        (place, not symbol.is_term and symbol.name.startswith("_"))
        for place, symbol in enumerate(rule.expansion)
        if not (symbol.is_term and symbol.filter_out)
    ]
    origin = str(rule.origin.name)
    return origin, str(rule.alias or origin), len(rule.expansion), kept


if __name__ == "__main__":
    made_of = Path(sys.argv[1]).read_text(encoding="utf-8")
    Path(sys.argv[2]).write_text(json.dumps({"grammar": made_of, "tables": made_tables(made_of)}))
