"""The functions that a written C program brings with it, as far as it uses them.

What goes wrong in a thread is told on standard error, with its line in the file that the program was read
from, which the `#line` directives know.
"""

from __future__ import annotations

from textwrap import dedent

from fencepost.formats.c.values import Values

# By the word that shows its use. NUMBER is the type of registers.
_FUNCTIONS = {
    "FP_ASSERT": """\
        #define FP_ASSERT(condition) \\
            do { \\
                if (!(condition)) failed = fp_tell(__FILE__, __LINE__, "assertion failed: " #condition); \\
            } while (0)
        """,
    "FP_INDEX": """\
        #define FP_INDEX(index, size) fp_index(index, size, __FILE__, __LINE__)
        static NUMBER fp_index(NUMBER index, NUMBER size, const char *file, int line) {
            if (index < 0 || index >= size) fp_stop(file, line, "index out of range");
            return index;
        }
        """,
    "FP_QUOTIENT": """\
        #define FP_QUOTIENT(a, b) fp_quotient(a, b, __FILE__, __LINE__)
        static NUMBER fp_quotient(NUMBER a, NUMBER b, const char *file, int line) {
            if (b == 0) fp_stop(file, line, "division by zero");
            return a / b;
        }
        """,
    "FP_REMAINDER": """\
        #define FP_REMAINDER(a, b) fp_remainder(a, b, __FILE__, __LINE__)
        static NUMBER fp_remainder(NUMBER a, NUMBER b, const char *file, int line) {
            if (b == 0) fp_stop(file, line, "division by zero");
            return a % b;
        }
        """,
    "fp_modulo": """\
        static NUMBER fp_modulo(NUMBER value) {
            value %= MODULUS;
            return value < 0 ? value + MODULUS : value;
        }
        """,
}

_STOP = """\
    static _Noreturn void fp_stop(const char *file, int line, const char *what) {
        pthread_exit((void *)fp_tell(file, line, what));
    }
    """

_TELL = """\
    static intptr_t fp_tell(const char *file, int line, const char *what) {
        fprintf(stderr, "%s:%d: %s\\n", file, line, what);
        return 1;
    }
    """


def prelude(body: str, values: Values) -> list[str]:
    """The text of each function that `body`, in a program with those values, uses."""
    used = [text for word, text in _FUNCTIONS.items() if f"{word}(" in body]
    if any("fp_stop(" in text for text in used):
        used.insert(0, _STOP)
    if any("fp_tell(" in text for text in used):
        used.insert(0, _TELL)
    return [
        dedent(text).replace("NUMBER", values.number).replace("MODULUS", values.literal(values.modulus))
        for text in used
    ]
