"""Random TPL programs as texts, for properties that hold for every program: valid ones, and mutations."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.strategies import mutated

DECLARATIONS = "max_value 9;\nglobal x, y=1, lck, a[3]={0, 1, 2};\nna d=2;\ntrack x: 0, 1;\n"
REGISTERS = ("r", "s", "t")


# Few choices per expression keep drawing fast; precedence has its own tests.
EXPRESSIONS = (
    "r",
    "0",
    "7",
    "!s",
    "!!t",
    "-1",
    "r == 1",
    "!(r == s)",
    "r + 1 - s",
    "r - (s - 1)",
    "(r + 1) * s % 3",
    "r < 1 && s >= 2 || !t",
    "r < (s == t)",
    "(r | s) & t ^ 3",
    "+r / -(s + 1)",
    "true != false",
)
ACCESSES = ("x.load(acquire) == 0", "r && s || y.fetch_or(1)")


class _Function:
    """Draws the statements of one function; labels are defined once, gotos lead to any of them."""

    def __init__(self, draw: st.DrawFn, *, replicated: bool, jumps: bool) -> None:
        self._draw = draw
        # Loops with an access in the condition, like other loops that are no `while`, are written with gotos.
        expressions = [*EXPRESSIONS, *(ACCESSES if jumps else []), *(["tid", "!(tid + r)"] * replicated)]
        self._expressions = st.sampled_from(expressions)
        self._jumps = jumps
        self._defined = 0
        self._loops = 0
        self._wanted: set[int] = set()

    def body(self) -> str:
        statements = self._statements(3)
        missing = sorted(label for label in self._wanted if label >= self._defined)
        return " ".join([statements, *(f"l{label}:" for label in missing)])

    def _statements(self, depth: int) -> str:
        return " ".join(self._statement(depth) for _ in range(self._draw(st.integers(0, 3))))

    def _statement(self, depth: int) -> str:
        label = ""
        if self._jumps and self._draw(st.integers(0, 4)) == 0:
            label = f"l{self._defined}: "
            self._defined += 1
        kinds = ["simple", "simple"]
        if depth:
            kinds += ["if", "if else", "else if", "while", "oneof"]
        if self._jumps and depth:
            kinds += ["do", "for"]
        if self._jumps and self._loops:
            kinds += ["break", "continue"]
        if self._jumps:
            kinds += ["goto", "if goto", "label"]
        return label + self._of_kind(self._draw(st.sampled_from(kinds)), depth)

    def _of_kind(self, kind: str, depth: int) -> str:
        match kind:
            case "if":
                return f"if ({self._e()}) {self._block(depth)}"
            case "if else":
                return f"if ({self._e()}) {self._block(depth)} else {self._block(depth)}"
            case "else if":
                return f"if ({self._e()}) {self._block(depth)} else if ({self._e()}) {self._block(depth)}"
            case "while":
                return f"while ({self._e()}) {self._loop(depth)}"
            case "do":
                return f"do {self._loop(depth)} while ({self._e()});"
            case "for":
                return f"for (r = {self._e()}; {self._e()}; r += {self._e()}) {self._loop(depth)}"
            case "break" | "continue":
                return f"{kind};"
            case "oneof":
                blocks = [self._block(depth) for _ in range(self._draw(st.integers(1, 3)))]
                return f"oneof({''.join(blocks)});"
            case "goto":
                return self._goto()
            case "if goto":
                return f"if ({self._e()}) {self._goto()}"
            case "label":
                self._defined += 1
                return f"l{self._defined - 1}:"
            case _:
                return self._simple()

    def _block(self, depth: int) -> str:
        if self._jumps and self._draw(st.integers(0, 4)) == 0:
            return f"{{ {self._goto()} }}"
        return f"{{ {self._statements(depth - 1)} }}"

    def _loop(self, depth: int) -> str:
        self._loops += 1
        block = self._block(depth)
        self._loops -= 1
        return block

    def _goto(self) -> str:
        label = self._draw(st.integers(0, 4))
        self._wanted.add(label)
        return f"goto l{label};"

    def _e(self) -> str:
        return self._draw(self._expressions)

    def _simple_e(self) -> str:
        """An expression without an access: a statement has one of those among its values at most."""
        return self._draw(self._expressions.filter(lambda e: "." not in e))

    def _simple(self) -> str:
        form = self._draw(st.sampled_from(SIMPLE))
        cell = self._draw(st.sampled_from(("x", "y", "a[0]", "a[r + 1]")))
        register = self._draw(st.sampled_from(REGISTERS))
        return form.format(c=cell, r=register, e=self._e(), f=self._simple_e(), s=self._simple_e())


SIMPLE = (
    "{r} = {e};",
    "{r} *= {e};",
    "{r} = {c}.fetch_sub({s}, acq_rel);",
    "{c}.fetch_and({s}, release);",
    "{r} = {c}.fetch_xor({s}, memory_order_relaxed);",
    "{c}.exchange({s}, acquire);",
    "{r} = {c}.compare_exchange({s}, {e}, acq_rel);",
    "{r} = {c}.load();",
    "{r} = {c}.load(rlx);",
    "{r} = {c}.load(acq);",
    "{c}.store({e});",
    "{c}.store({e}, rel);",
    "{r} = d.naload();",
    "d.nastore({e});",
    "FADD({c}, {e});",
    "{r} = FADD({c}, {e}, acq, rel);",
    "{r} = exchange({c}, {e}, acq);",
    "{r} = XCHG({c}, {e}, rel);",
    "exchange({c}, {e}, rlx);",
    "{r} = CAS({c}, {e}, {f}, rlx, rel);",
    "CAS({c}, {e}, {f});",
    "{r} = CAS({c}, {e}, {f}, acq, rlx, rlx);",
    "BCAS({c}, {e}, {f}, acq, rlx);",
    "BCAS({c}, 0, 1, acq);",
    "{r} = {c}.load(seq_cst);",
    "{c}.store({e}, sc);",
    "{r} = FADD({c}, {e}, seq_cst);",
    "{r} = CAS({c}, {e}, {f}, seq_cst, rlx);",
    "CAS({c}, {e}, {f}, rlx, rlx, sc);",
    "wait({c}, {e}, {f}, acq);",
    "{r} = wait({c}, {e});",
    "fence;",
    "fence(seq_cst);",
    "fence(acq_rel);",
    "lock(lck);",
    "unlock(lck);",
    "assert({e});",
    "assume({e});",
    "skip;",
    "verify({r});",
)


@st.composite
def programs(draw: st.DrawFn, *, jumps: bool = True) -> str:
    """A valid program with all of the language and our extensions; without labels and gotos on request."""
    functions = []
    for number in range(draw(st.integers(1, 2))):
        replicated = draw(st.booleans())
        body = _Function(draw, replicated=replicated, jumps=jumps).body()
        size = "[2]" if replicated else ""
        functions.append(f"fn f{number}{size} {{ local {', '.join(REGISTERS)}; {body} }}")
    return DECLARATIONS + "\n".join(functions) + "\n"


def mutations() -> st.SearchStrategy[str]:
    return mutated(programs(), r"\s+|\w+|[<>=!]=|&&|\|\||.")
