"""The same with a fuzzer that looks at which code an input reaches: atheris, which is not among the tools.

    .venv/bin/pip install atheris
    .venv/bin/python -m tests.fuzz.coverage_guided READER [options of libFuzzer, such as -max_total_time=60]

The fuzzer's bytes are read as edits of an example (edits.py), so that what it tries is nearly right.
"""

from __future__ import annotations

import struct
import sys

import atheris

with atheris.instrument_imports(include=["fencepost"]):
    from tests.fuzz.edits import edited
    from tests.fuzz.readers import READERS


def main() -> None:
    name = sys.argv[1]
    reader = READERS[name]
    examples = reader.examples()

    def try_one(data: bytes) -> None:
        if len(data) < 2:
            return
        example = examples[data[0] % len(examples)]
        rows = len(data[1:]) // 6
        edits = [struct.unpack_from("<BHBH", data, 1 + 6 * row) for row in range(min(rows, 8))]
        reader.try_on(edited(example, edits))

    atheris.Setup([sys.argv[0], *sys.argv[2:]], try_one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
