"""Every construct of automata is read as the instructions it means, at its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost import load
from fencepost.errors import InputError
from fencepost.formats import automata
from fencepost.program import (
    Assign,
    Assume,
    Binary,
    Branch,
    Cell,
    Choose,
    Constant,
    Expression,
    Fence,
    Goto,
    Instruction,
    Load,
    Position,
    Register,
    Skip,
    Store,
    Unary,
)

R, S = Register("r"), Register("s")


def code_of(*transitions: str, initial: str = "a") -> tuple[Instruction, ...]:
    """The code of a thread with these transitions, each given as `source target instruction`."""
    body = "\n".join(f"transition {transition}" for transition in transitions)
    return automata.read(f"thread t\ninitial {initial}\n{body}\nend").threads[0].code


def at_address(address: int | Expression) -> Cell:
    return Cell("mem", Constant(address) if isinstance(address, int) else address)


def equals(left: Expression, right: int) -> Expression:
    return Binary("==", left, Constant(right))


@pytest.mark.parametrize(
    ("words", "instruction"),
    [
        ("write 1 0", Store(at_address(0), Constant(1))),
        ("write + r 1 s", Store(at_address(S), Binary("+", R, Constant(1)))),
        ("read r 2", Load("r", at_address(2))),
        ("read r + r 1", Load("r", at_address(Binary("+", R, Constant(1))))),
        ("local r 7", Assign("r", Constant(7))),
        ("local r ! r", Assign("r", Unary("!", R))),
        ("check == r 1", Assume(equals(R, 1))),
        ("check > r -1", Assume(Binary(">", R, Unary("-", Constant(1))))),
        ("noop", Skip()),
        ("mfence", Fence()),
    ],
)
def test_instructions(words: str, instruction: Instruction) -> None:
    assert code_of(f"a b {words}") == (instruction,)


@pytest.mark.parametrize("operator", ["==", "!=", "<", "<=", ">", ">=", "&&", "||", "+", "-", "*", "&"])
def test_operators(operator: str) -> None:
    assert code_of(f"a b local r {operator} r s") == (Assign("r", Binary(operator, R, S)),)


def test_prefix_expressions_nest() -> None:
    (instruction,) = code_of("a b local r + * r 2 ! == s - r 1")
    product = Binary("*", R, Constant(2))
    assert instruction == Assign(
        "r", Binary("+", product, Unary("!", Binary("==", S, Binary("-", R, Constant(1)))))
    )


def test_a_program_as_a_whole() -> None:
    program = automata.read(
        """# a comment
memory_size 3
thread left 2        # two of them
    initial q0
    transition q0 q1 write 1 0
    transition q1 end read r0 2
end
thread right
    initial end      # states may be called like keywords
    transition end thread write 1 2
end
""",
        "f.aut",
    )
    assert program.cells == ("mem[0]", "mem[1]", "mem[2]")
    assert program.initial_memory == (0, 0, 0)
    assert [thread.name for thread in program.threads] == ["left[0]", "left[1]", "right"]
    left, _, right = program.threads
    assert left.registers == ("r0",)
    assert left.labels == {"q0": 0, "q1": 1, "end": 2}
    assert right.labels == {"end": 0, "thread": 1}
    assert [instruction.at for instruction in left.code] == [Position(5, 5), Position(6, 5)]
    assert left.at == Position(3, 1)
    assert not program.wraps
    assert program.warnings == ()
    assert program.source_line(5) == "    transition q0 q1 write 1 0"


def test_layout_of_the_text_means_nothing() -> None:
    spread = automata.read("thread\nt\ninitial a transition a\nb write\n1 #\n0 end")
    assert spread == automata.read("thread t initial a transition a b write 1 0 end")


def test_initial_may_stand_anywhere_in_its_thread() -> None:
    assert automata.read("thread t transition a b noop initial a end").threads[0].code == (Skip(),)


def test_a_thread_may_do_nothing() -> None:
    assert automata.read("thread t initial a end").threads[0].code == ()


def test_a_register_called_like_the_memory() -> None:
    program = automata.read("thread t initial a transition a b read mem 0 end")
    assert program.threads[0].code == (Load("mem", Cell("mem_", Constant(0))),)


# --- control flow


def test_a_straight_line_has_no_jumps() -> None:
    code = code_of("a b write 1 0", "b c mfence", "c d read r 1", "d e check == r 0")
    assert [type(instruction) for instruction in code] == [Store, Fence, Load, Assume]


def test_transitions_may_stand_in_any_order() -> None:
    assert code_of("b c mfence", "a b write 1 0") == (Store(at_address(0), Constant(1)), Fence())


def test_a_loop_is_one_jump_back() -> None:
    assert code_of("a b noop", "b a mfence") == (Skip(), Fence(), Goto(0))


def test_two_complementary_checks_are_one_branch() -> None:
    code = code_of("a b read r 0", "b a check == r 0", "b c check != r 0", "c d mfence")
    assert code == (Load("r", at_address(0)), Branch(equals(R, 0), 0), Fence())


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("r", "! r"),
        ("r", "== r 0"),
        ("> r 0", "== 0 r"),
        ("< r s", ">= r s"),
        ("&& r s", "|| ! r ! s"),
        ("== + r s 1", "!= + r s 1"),
        ("<= r 3", "> r 3"),
    ],
)
def test_what_counts_as_complementary(first: str, second: str) -> None:
    code = code_of(f"a b check {first}", f"a c check {second}", "b d write 1 0", "c d write 2 0")
    assert [type(instruction) for instruction in code] == [Branch, Store, Goto, Store]


def test_checks_that_exclude_each_other_are_a_chain() -> None:
    code = code_of(*(f"a b check == r {n}" for n in range(3)), "b c mfence")
    assert [type(instruction) for instruction in code] == [Branch, Branch, Assume, Fence]
    code = code_of(*(f"a s{n} check == r {n}" for n in range(9)), *(f"s{n} e write {n} 0" for n in range(9)))
    assert sum(isinstance(instruction, Branch) for instruction in code) == 8
    assert not any(isinstance(instruction, Choose) for instruction in code)


def test_checks_that_can_hold_together_are_chosen_from() -> None:
    code = code_of("a b check > r 0", "a c check > r 1", "b d write 1 0", "c d write 2 0")
    assert code == (
        Assume(Binary(">", R, Constant(0))),
        Branch(Binary(">", R, Constant(1)), 4),
        Store(at_address(0), Constant(1)),
        Goto(6),
        Choose((2, 5)),
        Store(at_address(0), Constant(2)),
    )


def test_a_transition_without_a_check_can_always_be_chosen() -> None:
    code = code_of("a b check == r 0", "a c write 1 0", "b d write 2 0")
    assert code[0] == Branch(equals(R, 0), 3)
    assert code[1] == Store(at_address(0), Constant(1))
    assert code[3] == Choose((1, 4))


def test_noops_that_leave_one_state_are_a_choice() -> None:
    code = code_of("a a noop", "a b noop", "b c mfence")
    assert code == (Choose((0, 1)), Fence())


def test_many_checks_that_can_all_hold_are_tried() -> None:
    registers = [f"r{n}" for n in range(6)]
    code = code_of(*(f"a b check {register}" for register in registers), "b c mfence")
    assert isinstance(code[0], Choose)
    assert sum(isinstance(instruction, Assume) for instruction in code) == 6


def test_a_check_that_always_holds_leaves_no_check() -> None:
    code = code_of("a b check == r r", "a c check != r r", "b d mfence", "c d write 1 0")
    assert code == (Fence(),)


def test_unreachable_transitions_are_left_out_with_a_warning() -> None:
    program = automata.read("thread t initial a transition a b noop\ntransition x b write 9 0\nend")
    assert program.threads[0].code == (Skip(),)
    assert program.warnings == ("line 2: no way leads to the state `x` of `t`",)


def test_a_register_that_is_never_assigned_is_a_warning() -> None:
    program = automata.read("thread t initial a\ntransition a b write r0 0\ntransition b c write rO 0\nend\n")
    assert program.warnings == (
        "line 2: register `r0` of `t` is never assigned; it is 0",
        "line 3: register `rO` of `t` is never assigned; it is 0",
    )
    assert program.threads[0].registers == ("r0", "rO")


# --- files


TEXT = "thread t initial a transition a b write 1 0 end\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("f.aut", TEXT),
        ("f.AUT", TEXT),
        ("f.txt", TEXT),
        ("f.txt", f"memory_size 1\n{TEXT}"),
        ("f.txt", f"# comment\n{TEXT}"),
        ("f.txt", f"\ufeff\n {TEXT}"),
    ],
)
def test_files_of_automata_are_known(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    assert load(file).threads[0].code == (Store(at_address(0), Constant(1)),)


def test_another_text_file_is_refused_at_its_first_word(tmp_path: Path) -> None:
    file = tmp_path / "f.txt"
    file.write_text("\n  once upon a time", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load(file)
    assert (caught.value.line, caught.value.column) == (2, 3)
    assert caught.value.message == (
        "cannot tell the format of a `.txt` file that begins with `once`; "
        "expected `thread`, `memory_size` or `#`"
    )


def test_an_empty_text_file(tmp_path: Path) -> None:
    file = tmp_path / "f.txt"
    file.write_text("\ufeff \u00a0\n", encoding="utf-8")
    with pytest.raises(InputError, match="the file is empty; expected a program"):
        load(file)


def test_the_format_can_be_named(tmp_path: Path) -> None:
    file = tmp_path / "f.any"
    file.write_text(TEXT, encoding="utf-8")
    assert load(file, format="automata").threads[0].name == "t"


def test_what_is_not_utf8_is_told_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "f.aut"
    file.write_bytes(b"thread t\n  initial \xff\n")
    with pytest.raises(InputError) as caught:
        load(file)
    assert (caught.value.line, caught.value.column) == (2, 11)
