"""How far values are followed: the bound that is found, or a warning, and the size of memory."""

from __future__ import annotations

import pytest

from fencepost.errors import InputError
from fencepost.formats import automata
from fencepost.program import DEFAULT_MAX_VALUE, LARGEST_MAX_VALUE, Program


def read(*threads: list[str], head: str = "") -> Program:
    """Threads of these transitions, each of which starts at `a`."""
    texts = []
    for number, transitions in enumerate(threads):
        body = "\n".join(f"transition {transition}" for transition in transitions)
        texts.append(f"thread t{number}\ninitial a\n{body}\nend")
    return automata.read("\n".join([head, *texts]))


@pytest.mark.parametrize(
    ("transitions", "largest"),
    [
        (["a b write 7 0"], 7),
        (["a b check == r 9"], 9),
        (["a b local r 3", "b c local r + r 2", "c d write * r 2 0"], 10),
        (["a b local r 3", "b c local r & r 1"], 3),
        (["a b local r 6", "b c local r - r 5", "c d write + r 1 0"], 6),
        (["a b local r + r 1", "b a check < r 3", "b c check >= r 3"], 3),
        (["a b local r + r 1", "b a check != r 100", "b c check == r 100"], 100),
        (["a b check < r 1000", "b a local r + r 1"], 1000),
        (["a b check && < r 20 ! == r 30", "b a local r + r 1"], 30),
        (["a b check <= r s", "b a local r + r 1"], 1),
        (["a a local r & + r 1 3"], 3),
        (["a b read r 0", "b c local r + r 1", "c a check <= r 5", "c d check > r 5", "a e write 5 0"], 6),
        (["a b write 4 0", "b c read r 0", "c d write + r 1 1"], 5),
        (["a b write 4 0", "b c read r r", "c d write + r 1 r"], 5),
        (["a b local r 1", "b c local s * r 9"], 9),
    ],
)
def test_bounds_are_found(transitions: list[str], largest: int) -> None:
    program = read(transitions)
    assert program.max_value == largest
    assert not any("no bound" in warning for warning in program.warnings)


def test_an_addition_outside_of_loops_happens_once_per_thread() -> None:
    increment = ["a b lock", "b c read r 0", "c d write + r 1 0", "d e unlock"]
    assert read(increment, increment).max_value == 2
    assert read(increment).max_value == 1
    body = "\n".join(f"transition {transition}" for transition in increment)
    assert automata.read(f"thread t 5 initial a {body} end").max_value == 5


def test_values_that_grow_are_followed_up_to_a_limit() -> None:
    program = read(["a b mfence", "b a local r + r 1"])
    assert program.max_value == DEFAULT_MAX_VALUE
    assert program.warnings == (
        "line 5: no bound was found for the values of register `r` of `t0`; values are followed up to 255",
    )


def test_memory_that_grows_is_told_where_it_is_written() -> None:
    ticket = ["a b lock", "b c read r 0", "c d write + r 1 0", "d e unlock", "e a write r 1"]
    program = read(ticket, ["a b read s 1", "b a write s 2"])
    assert program.max_value == DEFAULT_MAX_VALUE
    assert program.warnings == (
        "line 6: no bound was found for the values of memory; values are followed up to 255",
    )


def test_a_number_beyond_the_limit_is_still_a_value() -> None:
    assert read(["a b write 1000 0", "b b local r + r 1"]).max_value == 1000


def test_the_largest_number() -> None:
    program = read([f"a b write {LARGEST_MAX_VALUE} 0"])
    assert program.max_value == LARGEST_MAX_VALUE
    assert program.warnings == ()


def test_values_below_zero_are_not_followed() -> None:
    assert read(["a a local r - r 1"]).max_value == 1


# --- memory


def test_memory_has_as_many_cells_as_there_are_addresses() -> None:
    assert len(read(["a b write 1 3"]).cells) == 4
    assert len(read(["a b mfence"]).cells) == 1
    assert len(read(["a b check < r 3", "b a local r + r 1", "a c read s + r 2"]).cells) == 6


def test_memory_size_is_kept() -> None:
    assert len(read(["a b write 1 3"], head="memory_size 20").cells) == 20
    assert len(read(["a b write 1 3"], head="memory_size 2").cells) == 2


def test_a_large_memory_is_cut_to_what_is_used() -> None:
    assert len(read(["a b write 1 3"], head="memory_size 100000").cells) == 4


def test_an_address_without_a_bound_is_a_warning() -> None:
    program = read(["a b local r + r 1", "b a write 1 r", "b c write 1 5"])
    assert len(program.cells) == 6
    assert "line 5: no bound below 256 was found for this address; memory has 6 cells" in program.warnings


def test_an_address_too_large() -> None:
    with pytest.raises(InputError) as caught:
        read(["a b mfence", "b c write 1 256"])
    assert (caught.value.line, caught.value.column) == (5, 1)
    assert caught.value.message == "the address is 256 or larger; at most 256 memory cells are supported"
