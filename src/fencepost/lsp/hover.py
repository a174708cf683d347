"""What a word means, for a programmer who points at it: memory orders, accesses, fences, names."""

from __future__ import annotations

from fencepost.formats.tpl.operations import LONG_MODES
from fencepost.lsp.languages import TPL, Language
from fencepost.lsp.symbols import Symbol

_UNDER_RA = (
    "\n\nUnder the model `ra` every atomic access acquires and releases, whatever is written; under `tso` "
    "memory orders make no difference. `rc20` takes them as they are."
)

WORDS = {
    "rlx": (
        "**relaxed**, `memory_order_relaxed`. The access is atomic, and all threads agree on the order "
        "of the writes to its location. It says nothing about other locations: what the thread did "
        "before may be seen later, or not at all." + _UNDER_RA
    ),
    "acq": (
        "**acquire**, `memory_order_acquire`. If the read sees a release write, everything that the "
        "other thread did before that write has happened for this thread, from here on." + _UNDER_RA
    ),
    "rel": (
        "**release**, `memory_order_release`. Whoever sees this write with an acquire read sees "
        "everything that this thread has done before it." + _UNDER_RA
    ),
    "acq_rel": (
        "**acquire and release**, `memory_order_acq_rel`, of a fence: reads before it acquire, and "
        "writes after it release."
    ),
    "seq_cst": (
        "**sequentially consistent**, `memory_order_seq_cst`, of a fence: all such fences happen in one "
        "order, and a thread that comes later in it sees all that the earlier one has done before its "
        "fence."
    ),
    "fence": (
        "**fence**. `fence;` is `atomic_thread_fence(memory_order_seq_cst)`, on x86 `mfence`: of two "
        "such fences one comes first, and what its thread did before it is known after the other one. "
        "`fence(acq);`, `fence(rel);` and `fence(acq_rel);` are weaker."
    ),
    "load": "`r = x.load(order);` reads an atomic location; `rlx`, the default, or `acq`.",
    "store": "`x.store(e, order);` writes an atomic location; `rlx`, the default, or `rel`.",
    "naload": (
        "`r = d.naload();` reads a location that is not atomic. A write of another thread that nothing "
        "orders with it is a data race."
    ),
    "nastore": (
        "`d.nastore(e);` writes a location that is not atomic. An access of another thread that nothing "
        "orders with it is a data race."
    ),
    "FADD": (
        "`r = FADD(x, e, acq, rel);` adds in one step and gives the old value; one order for the read, "
        "one for the write."
    ),
    "exchange": "`r = exchange(x, e, acq, rel);` writes in one step and gives the old value.",
    "XCHG": "`r = XCHG(x, e, acq, rel);` is another name of `exchange`.",
    "CAS": (
        "`r = CAS(x, e1, e2, acq, rel, rlx);` writes `e2` if `x` holds `e1`, in one step, and gives the "
        "old value. If it fails, it is a read with the third order, by default the first."
    ),
    "BCAS": "`BCAS(x, e1, e2, acq, rel);` waits until `x` holds `e1` and writes `e2` in the same step.",
    "wait": (
        "`wait(x, e, order);` waits until `x` holds `e`. It is no loop: as long as the value is another "
        "one, nothing is read."
    ),
    "lock": "`lock(x);` is `BCAS(x, 0, 1, acq, rlx);`.",
    "unlock": "`unlock(x);` is `x.store(0, rel);`.",
    "assert": "`assert(e);` reports the run that leads here if `e` is 0.",
    "assume": "`assume(e);` ends the thread here, silently, if `e` is 0.",
    "oneof": "`oneof({ … }{ … });` goes on with any one of the blocks.",
    "max_value": "`max_value n;`: values are 0 to n, and 0 comes after n.",
    "global": "`global x, y = 1;` declares atomic locations.",
    "na": "`na d;` declares locations that are not atomic.",
    "tid": "`tid` is the number of this thread among its copies, from 0.",
}


def meaning(word: str, symbol: Symbol | None, line: str, language: Language = TPL) -> str | None:
    """What to show, in Markdown; `line` is the one that declares the symbol."""
    if symbol is not None:
        return f"{symbol.kind} `{word}`, line {symbol.word.line}\n\n```{language.name}\n{line.strip()}\n```"
    known = LONG_MODES.get(word) if language is not TPL else word
    if known in WORDS:
        return WORDS[known]
    signature = language.calls.get(word) or language.methods.get(word)
    return f"```{language.name}\n{signature.label}\n```" if signature is not None else None
