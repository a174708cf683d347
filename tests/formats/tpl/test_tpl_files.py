"""`load`: from a path to a program, whatever is at the path."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost import formats
from fencepost.errors import InputError
from fencepost.formats import tpl

TEXT = "global x;\nfn w { x.store(1); }\n"


def rejected(path: Path | str, **options: str) -> InputError:
    with pytest.raises(InputError) as caught:
        formats.load(path, **options)  # type: ignore[arg-type]
    assert caught.value.file == str(path)
    return caught.value


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_the_ending_tells_the_format(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tpl", TEXT.encode())
    program = formats.load(path)
    assert program == tpl.read(TEXT)
    assert (program.file, program.source) == (str(path), TEXT)
    assert formats.load(str(path)) == program


def test_the_format_option_overrides_the_ending(tmp_path: Path) -> None:
    assert formats.load(written(tmp_path / "a.txt", TEXT.encode()), format="tpl") == tpl.read(TEXT)


def test_a_byte_order_mark_and_windows_line_ends_are_fine(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode()
    assert formats.load(written(tmp_path / "a.tpl", content)) == tpl.read(TEXT)


def test_strict_tpl_reaches_the_reader(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tpl", b"fn w[2] {}")
    with pytest.raises(InputError, match="not allowed with --strict-tpl"):
        formats.load(path, strict_tpl=True)


def test_unknown_ending_and_format_name_those_that_exist(tmp_path: Path) -> None:
    assert "`.xyz`; expected one of: .tpl" in rejected(written(tmp_path / "a.xyz", b"fn w {}")).message
    assert "no ending" in rejected(written(tmp_path / "a", b"fn w {}")).message
    path = written(tmp_path / "a.tpl", b"fn w {}")
    assert "no format `nonsense`; expected tpl" in rejected(path, format="nonsense").message


def test_missing_file_and_directory(tmp_path: Path) -> None:
    assert "No such file" in rejected(tmp_path / "a.tpl").message
    (tmp_path / "d.tpl").mkdir()
    assert "directory" in rejected(tmp_path / "d.tpl").message
    assert "cannot read" in rejected("a\0.tpl").message


@pytest.mark.parametrize("content", [b"", b" \n\n"])
def test_empty_file(tmp_path: Path, content: bytes) -> None:
    error = rejected(written(tmp_path / "a.tpl", content))
    assert (error.line, error.column) == (1, 1)
    assert "empty" in error.message


@pytest.mark.parametrize(
    ("content", "line", "column"),
    [
        (b"\x7fELF\0\0\0", 1, 5),
        (b"fn w {\n\xff }", 2, 1),
        ("fn w {\n// é".encode() + b"\xe9\n}", 2, 5),
        (bytes(range(256)), 1, 1),
        ("fn w {}".encode("utf-16"), 1, 1),
    ],
)
def test_what_is_not_text_is_rejected_where_it_stops_being_text(
    tmp_path: Path, content: bytes, line: int, column: int
) -> None:
    error = rejected(written(tmp_path / "a.tpl", content))
    assert "not text" in error.message
    assert (error.line, error.column) == (line, column)


def test_files_over_a_mebibyte_are_rejected(tmp_path: Path) -> None:
    assert "larger than 1 MiB" in rejected(written(tmp_path / "a.tpl", b"// " + b"x" * (1 << 20))).message


def test_a_mistake_in_the_text_names_the_file(tmp_path: Path) -> None:
    error = rejected(written(tmp_path / "a.tpl", b"fn w {\n  skip\n}\n"))
    assert str(error).startswith(f"{tmp_path}/a.tpl:3:1: expected `;`")


def test_programs_are_written_in_the_format_asked_for() -> None:
    program = tpl.read(TEXT)
    assert formats.write(program, "tpl") == tpl.write(program)
    with pytest.raises(InputError, match="no format `nonsense`"):
        formats.write(program, "nonsense")
