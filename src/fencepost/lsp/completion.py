"""What can be written where the cursor is: names, accesses, memory orders, statements.

Only the words before the cursor are looked at, so that this works in a line that is being typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from fencepost.lsp.calls import Signature, open_call
from fencepost.lsp.languages import LITMUS, Language
from fencepost.lsp.symbols import Symbols, Word

What = Literal["keyword", "call", "access", "order", "location", "local", "label", "thread"]

_DECLARATIONS = ("max_value", "global", "na", "fn", "track")
_STATEMENTS = ("if", "while", "for", "do", "goto", "oneof", "skip", "break", "continue")
_CONSTANTS = ("tid", "true", "false")
_CLAUSES = ("exists", "forall", "locations", "filter")
_C_STATEMENTS = ("int", "if", "while", "for", "do", "break", "continue")
_STATED = re.compile(r"//\s*(?:(mutex|error-label)|(bad|assert))\s*:")
_PROPERTIES = ("mutex:", "error-label:", "bad:", "assert:", "expect:")
_AFTER_THREAD = re.compile(r"([A-Za-z_]\w*)(?:\[\d+\])?([@.])\w*$")
_MOST_COPIES = 8  # of a thread that are named one by one


class Completion(NamedTuple):
    what: What
    text: str
    detail: str = ""


def completions(language: Language, symbols: Symbols, line: int, column: int, typed: str) -> list[Completion]:
    """What can stand at that place; `typed` is its line up to the cursor."""
    comment = symbols.comment_at(line, column)
    if comment is not None:
        return list(_in_comment(symbols, typed)) if language is not LITMUS else []
    before = symbols.before(line, column)
    found = _after(language, symbols, before, max((word.function for word in before), default=0))
    return list({each.text: each for each in reversed(list(found))}.values())[::-1]


def _after(
    language: Language, symbols: Symbols, before: Sequence[Word], function: int
) -> Iterator[Completion]:
    last = before[-1].text if before else ""
    depth = sum((word.text == "{") - (word.text == "}") for word in before)
    if last == ".":
        yield from _accesses(language, symbols, before[:-1])
    elif last == "goto":
        yield from _named("label", symbols.of_function("label", function))
    elif last == "track":
        yield from _locations(symbols, function)
    elif last in ("fn", "max_value") or _declares(before):
        return  # a new name, or a number
    elif (call := open_call(before)) is not None:
        signature = language.signature(call)
        parameters = signature.after_order(before[-2].text, call.argument) if signature else None
        for parameter in parameters or ():
            if parameter.kind == "order":
                yield from (Completion("order", order, parameter.name) for order in parameter.orders)
            elif parameter.kind == "location":
                yield from _locations(symbols, function)
            else:
                yield from _values(language, symbols, function)
        if parameters is None:
            yield from _values(language, symbols, function)
    elif depth == 0:
        words = _DECLARATIONS if language is not LITMUS else _CLAUSES
        yield from (Completion("keyword", word) for word in words if word != "max_value" or not before)
    elif function and last in ("{", "}", ";", ":", ")", "else", "do"):
        yield from _statements(language, symbols, before, function)
    elif function:
        yield from _values(language, symbols, function)


def _declares(before: Sequence[Word]) -> bool:
    """Whether a name is declared here: after `global`, `na` or `local` and the names that came since."""
    for word in reversed(before):
        if word.text in ("global", "na", "local"):
            return True
        if word.text in (";", "{", "}", "(", ")"):
            return False
    return False


def _accesses(language: Language, symbols: Symbols, before: Sequence[Word]) -> Iterator[Completion]:
    """Those of the location before the dot: atomic or not; all if it is not declared."""
    location = _location_before(before)
    kinds = {symbol.kind for symbol in symbols.declared if symbol.is_shared and symbol.word.text == location}
    for signature in language.methods.values():
        kind = "location" if signature.is_atomic else "non-atomic location"
        if kind in kinds or not kinds:
            yield Completion("access", signature.name, signature.label)


def _location_before(before: Sequence[Word]) -> str:
    """The name in `name` or `name[…]`."""
    depth = 0
    for word in reversed(before):
        depth += (word.text == "]") - (word.text == "[")
        if depth == 0 and word.text != "[":
            return word.text
    return ""


def _statements(
    language: Language, symbols: Symbols, before: Sequence[Word], function: int
) -> Iterator[Completion]:
    yield from _locals(symbols, function)
    yield from _locations(symbols, function)
    yield from _calls(language.calls.values())
    if language is LITMUS:
        yield from (Completion("keyword", word) for word in _C_STATEMENTS)
        return
    yield from (Completion("keyword", word) for word in _STATEMENTS)
    if before[-1].text == "}":
        yield Completion("keyword", "else")
    if _locals_can_follow(before):
        yield Completion("keyword", "local")


def _locals_can_follow(before: Sequence[Word]) -> bool:
    """Whether nothing but locals was declared since the function's name."""
    start = max((at for at, word in enumerate(before) if word.text == "fn"), default=None)
    body = [word.text for word in before[start:]]
    since = body[body.index("{") + 1 :] if "{" in body else []
    statements = " ".join(since).split(";")
    return all(statement.split()[:1] in ([], ["local"]) for statement in statements)


def _values(language: Language, symbols: Symbols, function: int) -> Iterator[Completion]:
    """What an expression can consist of."""
    yield from _locals(symbols, function)
    yield from _locations(symbols, function)
    yield from _calls(signature for signature in language.calls.values() if signature.gives_value)
    if language is not LITMUS:
        yield from (Completion("keyword", word) for word in _CONSTANTS)


def _calls(signatures: Iterable[Signature]) -> Iterator[Completion]:
    return (Completion("call", signature.name, signature.label) for signature in signatures)


def _locals(symbols: Symbols, function: int) -> Iterator[Completion]:
    return _named("local", symbols.of_function("local", function))


def _locations(symbols: Symbols, function: int) -> Iterator[Completion]:
    """Those of the program; the parameters of other processes are not seen here."""
    for symbol in symbols.declared:
        if symbol.kind in ("location", "non-atomic location") and symbol.word.function in (0, function):
            yield Completion("location", symbol.word.text, symbol.kind)


def _named(what: What, words: Iterable[Word]) -> Iterator[Completion]:
    return (Completion(what, word.text) for word in words)


def _in_comment(symbols: Symbols, typed: str) -> Iterator[Completion]:
    """In a comment that states a property: threads, their labels and locals."""
    stated = _STATED.search(typed)
    if stated is None:
        if re.search(r"^\s*//\s*[\w-]*$", typed):
            yield from (Completion("keyword", word) for word in _PROPERTIES)
        return
    thread = _AFTER_THREAD.search(typed)
    if stated[1]:
        yield from _named("label", [one.word for one in symbols.declared if one.kind == "label"])
    elif thread is None:
        yield from (Completion("thread", name) for name in _threads(symbols))
        yield from _locations(symbols, 0)
    else:
        functions = [word.function for word in symbols.functions() if word.text == thread[1]]
        kind: Literal["label", "local"] = "label" if thread[2] == "@" else "local"
        for function in functions:
            yield from _named(kind, symbols.of_function(kind, function))
        if kind == "label":
            yield Completion("label", "end", "the end of the thread")


def _threads(symbols: Symbols) -> Iterator[str]:
    """The names of the threads, those of copies with their numbers."""
    for word in symbols.functions():
        at = symbols.words.index(word)
        following = [each.text for each in symbols.words[at + 1 : at + 4]]
        if following[:1] == ["["] and following[1:2] and following[1].isdigit():
            yield from (f"{word.text}[{copy}]" for copy in range(min(int(following[1]), _MOST_COPIES)))
        else:
            yield word.text
