"""Patches of C and C++ sources: what becomes of each file in programs/patches, and that it compiles.

The head of a file says which sites change: a part of the line in quotes, the operation with its orders, and
what becomes of it. What the patch makes of the file is in expected/. FENCEPOST_UPDATE_PATCHES=1 writes that.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from fencepost.sanitizer.build.instrumentation import INCLUDE
from fencepost.sanitizer.build.recording import digest_of
from fencepost.sanitizer.sources import (
    Build,
    CannotReadSourceError,
    CannotWritePatchError,
    SourceChangedError,
    patch_sources,
    write_patch,
)
from fencepost.verdicts.patches import SourcePatch
from fencepost.verdicts.sites import Site, SiteChange, SiteOperation
from tests.sanitizer.building import INSTALLED, PROGRAMS

pytest.importorskip("clang.cindex", reason="libclang is not installed")

FOLDER = PROGRAMS / "patches"
SOURCES = sorted(path for path in FOLDER.glob("*.c*"))
_CHANGE = re.compile(r"// (change|by hand): `([^`]+)` ([^:]+): ([^:]+?)(?:: (.*))?")


class Case(NamedTuple):
    change: SiteChange
    advice: str  # a part of it, if the change is left to be done by hand


def cases_of(source: Path, path: str, *, columns: bool = True) -> Iterator[Case]:
    """The changes that the head of a file asks for, at `path`."""
    text = source.read_bytes().decode("utf-8-sig")
    body = text.index("\n#include")
    for found in map(_CHANGE.fullmatch, text[:body].splitlines()):
        if found is None:
            continue
        kind, part, was, becomes, advice = found.groups()
        at = text.index(part, body)
        assert part not in text[at + 1 :], f"{source}: `{part}` is not the only one"
        at += len(part) - len(part.lstrip())
        operation, *orders = was.split()
        site = Site(
            file=path,
            line=text.count("\n", 0, at) + 1,
            column=at - text.rfind("\n", 0, at) if columns else 0,
            function="all",
            operation=operation,  # type: ignore[arg-type]
            order=orders[0],  # type: ignore[arg-type]
            failure_order=orders[1] if orders[1:] else None,  # type: ignore[arg-type]
        )
        yield Case(SiteChange(site=site, **asked(becomes)), advice if kind == "by hand" else "")


def asked(text: str) -> dict[str, Any]:
    names = {"failure": "failure_order", "before": "fence_before", "after": "fence_after"}
    parts = (one.partition("=") for one in text.split())
    return {names.get(name, name): value or True for name, _, value in parts}


def build_of(source: Path, *others: Path, compiler: Sequence[str] = (), options: Sequence[str] = ()) -> Build:
    plus = source.suffix != ".c"
    toolchain = INSTALLED[0]
    return Build(
        directory=str(source.parent),
        compiler=tuple(compiler) or (toolchain.cxx if plus else toolchain.cc,),
        family="clang" if "clang" in toolchain.cc else "gcc",
        language="c++" if plus else "c",
        options=tuple(options),
        source=source.name,
        files={str(path): digest_of(path.read_bytes()) for path in (source, *others)},
        complete=True,
    )


def options_of(source: Path) -> list[str]:
    found = re.search(rb"^// options: (.*?)\r?$", source.read_bytes(), re.MULTILINE)
    return found[1].decode().replace("{fencepost}", INCLUDE).split() if found else []


def compile_strictly(source: Path, options: Sequence[str] = ()) -> None:
    """With each compiler that is installed, and not a warning."""
    for toolchain in INSTALLED:
        compiler = toolchain.cc if source.suffix == ".c" else toolchain.cxx
        strict = ("-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-fsyntax-only")
        done = subprocess.run(
            [compiler, *strict, *options, str(source)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_a_source_becomes_what_is_expected(source: Path, tmp_path: Path) -> None:
    copy = tmp_path / source.name
    copy.write_bytes(source.read_bytes())
    options = options_of(source)
    cases = list(cases_of(source, str(copy)))
    patch = patch_sources([case.change for case in cases], [build_of(copy, options=options)])
    left = {one.change.site: one.advice for one in patch.by_hand}
    new = patch.texts.get(str(copy), copy.read_bytes())
    expected = FOLDER / "expected" / source.name
    if os.environ.get("FENCEPOST_UPDATE_PATCHES"):
        expected.parent.mkdir(exist_ok=True)
        expected.write_bytes(new)
    assert new == expected.read_bytes()
    for case in cases:
        advice = left.get(case.change.site, "")
        assert (case.advice in advice) if case.advice else not advice, advice
    compile_strictly(copy, options)
    copy.write_bytes(new)
    compile_strictly(copy, options)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_without_columns_the_patch_says_less_but_nothing_else(source: Path, tmp_path: Path) -> None:
    """Debug information may have lines only: then what stands alone on its line is patched, all the same."""
    copy = tmp_path / source.name
    copy.write_bytes(source.read_bytes())
    build = build_of(copy, options=options_of(source))
    changes = [case.change for case in cases_of(source, str(copy), columns=False)]
    patch = patch_sources(changes, [build])
    exact = patch_sources([case.change for case in cases_of(source, str(copy))], [build])
    assert len(patch.by_hand) >= len(exact.by_hand)
    assert {one.text for one in patch.replacements} <= {one.text for one in exact.replacements}


class TestOfSeveralFiles:
    """A header, and two sources that include it."""

    HEADER = "#include <atomic>\nextern std::atomic<int> x;\n{}inline int get() {{ return x.load(); }}\n"

    @pytest.fixture
    def files(self, tmp_path: Path) -> list[Path]:
        (tmp_path / "include").mkdir()
        header, one, two = (tmp_path / name for name in ("include/get.hpp", "one.cpp", "two.cpp"))
        header.write_text(self.HEADER.format("#define PUT(v) x.store(v)\n"), encoding="utf-8")
        one.write_text('#include "get.hpp"\nint f() {\n  PUT(1);\n  return get();\n}\n', encoding="utf-8")
        two.write_text('#include "get.hpp"\nint g() {\n  PUT(2);\n  return get();\n}\n', encoding="utf-8")
        return [header, one, two]

    def builds(self, files: list[Path]) -> list[Build]:
        header, one, two = files
        return [build_of(source, header, options=("-Iinclude", "-Wall")) for source in (one, two)]

    def change(self, path: Path, line: int, column: int, **asked: Any) -> SiteChange:
        operation: SiteOperation = "load" if path.suffix == ".hpp" else "store"
        site = Site(
            file=str(path), line=line, column=column, function="f", operation=operation, order="seq_cst"
        )
        return SiteChange(site=site, **asked)

    def test_a_header_is_patched_once(self, files: list[Path]) -> None:
        header = files[0]
        change = self.change(header, 4, 30, order="acquire")
        patch = patch_sources([change], self.builds(files))
        assert [one.text for one in patch.replacements] == ["std::memory_order_acquire"]
        (where,) = patch.replacements
        assert (where.file, where.start_line, where.start_column) == (str(header), 4, 34)
        assert (where.end_line, where.end_column) == (4, 34)
        write_patch(patch, self.builds(files))
        assert "x.load(std::memory_order_acquire)" in header.read_text(encoding="utf-8")

    def test_a_macro_needs_the_uses_of_all_sources(self, files: list[Path]) -> None:
        header, one, two = files
        changes = [self.change(one, 3, 3, order="release"), self.change(two, 3, 3, order="release")]
        patch = patch_sources(changes[:1], self.builds(files))
        assert not patch.replacements
        assert "`PUT` is also used in" in patch.by_hand[0].advice
        patch = patch_sources(changes, self.builds(files))
        assert set(patch.texts) == {str(header)}
        changes[1] = self.change(two, 3, 3, order="relaxed")
        patch = patch_sources(changes, self.builds(files))
        assert all("are to become different" in one.advice for one in patch.by_hand)
        assert len(patch.by_hand) == 2

    def test_instances_of_a_template_must_agree(self, files: list[Path]) -> None:
        header = files[0]
        change = self.change(header, 4, 30, order="acquire")
        other = msgspec.structs.replace(change.site, function="g")
        same = patch_sources([change, msgspec.structs.replace(change, site=other)], self.builds(files))
        assert len(same.replacements) == 1
        assert not same.by_hand
        differ = msgspec.structs.replace(change, site=other, order="relaxed")
        for patch in (
            patch_sources([change, differ], self.builds(files)),
            patch_sources([change], self.builds(files), [change.site, other]),
        ):
            assert not patch.replacements
            assert all("instance" in one.advice for one in patch.by_hand)
            assert {one.change for one in patch.by_hand} >= {change}
        assert len(patch_sources([change, differ], self.builds(files)).by_hand) == 2

    def test_what_instances_of_a_template_agree_on_is_told_once(self, files: list[Path]) -> None:
        change = self.change(files[0], 4, 30, order="release")  # which no load can have
        other = msgspec.structs.replace(change.site, function="g")
        patch = patch_sources([change, msgspec.structs.replace(change, site=other)], self.builds(files))
        assert len(patch.by_hand) == 1

    def test_a_patch_cannot_be_written_twice(self, files: list[Path]) -> None:
        builds = self.builds(files)
        patch = patch_sources([self.change(files[0], 4, 30, order="acquire")], builds)
        write_patch(patch, builds)
        with pytest.raises(SourceChangedError, match="has changed since the program was built"):
            write_patch(patch, builds)
        with pytest.raises(SourceChangedError):
            patch_sources([self.change(files[0], 4, 30, order="acquire")], builds)
        again = patch_sources([self.change(files[0], 4, 30, order="acquire")], self.builds(files))
        assert not again.replacements
        assert "the source says acquire where seq_cst was compiled" in again.by_hand[0].advice

    def test_nothing_is_written_if_another_file_of_the_build_changed(self, files: list[Path]) -> None:
        builds = self.builds(files)
        patch = patch_sources([self.change(files[0], 4, 30, order="acquire")], builds)
        before = files[0].read_bytes()
        files[2].write_text("int unrelated;\n", encoding="utf-8")
        with pytest.raises(SourceChangedError, match=r"two\.cpp has changed"):
            write_patch(patch, builds)
        assert files[0].read_bytes() == before

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (b"int broken(\n", "does not compile as before"),
            (
                b"#include <atomic>\nextern std::atomic<int> x;\n#define PUT(v) x.store(v)\n"
                b"inline int get() { int unused; return x.load(); }\n",
                "unused variable",
            ),
        ],
    )
    def test_nothing_is_written_if_it_does_not_compile_as_before(
        self, files: list[Path], text: bytes, message: str
    ) -> None:
        builds = self.builds(files)
        before = {path: path.read_bytes() for path in files}
        with pytest.raises(CannotWritePatchError, match=message):
            write_patch(SourcePatch(texts={str(files[0]): text}), builds)
        assert {path: path.read_bytes() for path in files} == before
        assert len(list(files[0].parent.iterdir())) == 1

    def test_warnings_that_were_there_are_no_reason(self, files: list[Path]) -> None:
        header = files[0]
        header.write_text(header.read_text(encoding="utf-8") + "static int h() { int u; return 1; }\n")
        patch = patch_sources([self.change(header, 4, 30, order="acquire")], self.builds(files))
        write_patch(patch, self.builds(files))

    def test_modes_and_links_stay(self, files: list[Path], tmp_path: Path) -> None:
        header = files[0]
        real = tmp_path / "real.hpp"
        header.rename(real)
        header.symlink_to(real)
        real.chmod(0o640)
        patch = patch_sources([self.change(header, 4, 30, order="acquire")], self.builds(files))
        write_patch(patch, self.builds(files))
        assert header.is_symlink()
        assert real.stat().st_mode & 0o7777 == 0o640
        assert b"acquire" in real.read_bytes()

    def test_what_cannot_be_replaced_leaves_nothing_behind(
        self, files: list[Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        patch = patch_sources([self.change(files[0], 4, 30, order="acquire")], self.builds(files))
        before = sorted(files[0].parent.iterdir()), files[0].read_bytes()

        def fail(*_: object) -> None:
            raise OSError(28, "No space left on device", str(files[0]))

        monkeypatch.setattr(os, "replace", fail)
        with pytest.raises(CannotWritePatchError, match="No space left"):
            write_patch(patch, self.builds(files))
        assert (sorted(files[0].parent.iterdir()), files[0].read_bytes()) == before

    def test_a_folder_that_cannot_be_written_to_is_named(self, files: list[Path]) -> None:
        if os.geteuid() == 0:
            pytest.skip("root may write everywhere")
        files[0].parent.chmod(0o555)
        patch = patch_sources([self.change(files[0], 4, 30, order="acquire")], self.builds(files))
        with pytest.raises(CannotWritePatchError, match="Permission denied"):
            write_patch(patch, self.builds(files))

    def test_a_file_outside_of_the_project_is_left_alone(self, files: list[Path], tmp_path: Path) -> None:
        other = tmp_path / "other.hpp"
        other.write_text("\n", encoding="utf-8")
        patch = patch_sources([self.change(other, 1, 1, order="acquire")], self.builds(files))
        assert "none of the program's own" in patch.by_hand[0].advice


def test_a_byte_order_mark_is_none_of_the_columns(tmp_path: Path) -> None:
    source, line = tmp_path / "marked.c", b"int x; int all(void) { return LOAD + LOAD; }\n"
    source.write_bytes(b"\xef\xbb\xbf" + line.replace(b"LOAD", b"__atomic_load_n(&x, __ATOMIC_ACQUIRE)"))
    site = Site(file=str(source), line=1, column=31, function="all", operation="load", order="acquire")
    patch = patch_sources([SiteChange(site=site, order="seq_cst")], [build_of(source)])
    assert not patch.by_hand
    assert (
        b"return __atomic_load_n(&x, __ATOMIC_SEQ_CST) + __atomic_load_n(&x, __ATOMIC_ACQUIRE)"
        in (patch.texts[str(source)])
    )


def test_fences_that_meet_in_one_place_come_one_after_the_other(tmp_path: Path) -> None:
    """One after a statement, and one in the expression that follows it without a blank."""
    source = tmp_path / "a.c"
    head = "#include <stdatomic.h>\n_Atomic int x, y, z;\nvoid all(void) { "
    source.write_text(f"{head}x = 1;y + z; }}\n", encoding="utf-8")
    store = Site(file=str(source), line=3, column=20, function="all", operation="store", order="seq_cst")
    load = Site(file=str(source), line=3, column=24, function="all", operation="load", order="seq_cst")
    changes = [SiteChange(site=store, fence_after="seq_cst"), SiteChange(site=load, fence_before="seq_cst")]
    patch = patch_sources(changes, [build_of(source)])
    assert not patch.by_hand
    fence = "atomic_thread_fence(memory_order_seq_cst)"
    assert patch.texts[str(source)].decode() == f"{head}x = 1;\n{fence};\n({fence}, y) + z; }}\n"


def test_without_libclang_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "clang", None)
    source = tmp_path / "a.c"
    source.write_text("_Atomic int x;\nint f(void) { return x; }\n", encoding="utf-8")
    site = Site(file=str(source), line=2, column=0, function="f", operation="load", order="seq_cst")
    with pytest.raises(CannotReadSourceError, match=r"pip install 'fencepost\[patch\]'"):
        patch_sources([SiteChange(site=site, order="acquire")], [build_of(source)])


def test_a_source_that_cannot_be_read_names_the_place(tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text('#include "missing.h"\n_Atomic int x;\nint f(void) { return x; }\n', encoding="utf-8")
    site = Site(file=str(source), line=3, column=0, function="f", operation="load", order="seq_cst")
    with pytest.raises(CannotReadSourceError, match=r"a\.c:1:10: libclang cannot read this: .*missing\.h"):
        patch_sources([SiteChange(site=site, order="acquire")], [build_of(source)])
