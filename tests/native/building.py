"""Test programs in C++: each is one file, with the sources that it is linked with in its head.

A line `// links: engine/state/layout.cpp …` names files below `native`; there may be several such lines.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def linked_files(test: Path) -> list[str]:
    """The sources below `native` that the head of the file names."""
    lines = re.findall(r"^// links: (.*)$", test.read_text(encoding="utf-8"), re.MULTILINE)
    return [name for line in lines for name in line.split()]


def build(test: str | Path, directory: Path, *options: str) -> Path:
    """The program made of `tests/native/TEST`."""
    source = ROOT / "tests" / "native" / test
    program = directory / source.stem
    command = ["g++", "-std=gnu++20", "-mcx16", "-pthread", "-Wall", "-Wextra", *options]
    command += [f"-I{ROOT / 'native'}", f"-I{ROOT}", str(source)]
    command += [str(ROOT / "native" / name) for name in linked_files(source)]
    subprocess.run([*command, "-o", str(program)], check=True)
    return program
