"""Programs that know ThreadSanitizer: its public interface links in each mode, and means happens-before."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fencepost.sanitizer.build.toolchain import output_of
from tests.sanitizer.building import PROGRAMS, Shell, Toolchain, head_of, with_each_compiler

MODES = ("atomics", "full", "races")
HEADERS = ("common_interface_defs.h", "tsan_interface.h", "tsan_interface_atomic.h", "linux_syscall_hooks.h")
KNOWING = sorted((PROGRAMS / "known_to_tsan").iterdir())

# No public header declares these; programs do it themselves.
ANNOTATIONS = """
    HappensBefore HappensAfter CondVarSignal CondVarSignalAll CondVarWait MutexIsNotPHB MutexIsUsedAsCondVar
    RWLockCreate RWLockCreateStatic RWLockDestroy RWLockAcquired RWLockReleased TraceMemory FlushState
    NewMemory NoOp FlushExpectedRaces EnableRaceDetection PCQCreate PCQDestroy PCQGet PCQPut ExpectRace
    BenignRace BenignRaceSized IgnoreReadsBegin IgnoreReadsEnd IgnoreWritesBegin IgnoreWritesEnd
    IgnoreSyncBegin
    IgnoreSyncEnd PublishMemoryRange UnpublishMemoryRange ThreadName MemoryIsInitialized
    MemoryIsUninitialized
    """.split()  # noqa: SIM905 (a list of literals would fill a page)
OTHERS = ["WTFAnnotateHappensBefore", "WTFAnnotateHappensAfter", "WTFAnnotateBenignRaceSized"]
OTHERS += ["RunningOnValgrind", "ValgrindSlowdown", "ThreadSanitizerQuery"]


def declared_functions(toolchain: Toolchain) -> set[str]:
    """By the headers that this compiler brings along; gcc has some of them only."""
    found: set[str] = set()
    for header in HEADERS:
        path = output_of([toolchain.cc, f"-print-file-name=include/sanitizer/{header}"]).strip()
        if Path(path).is_absolute():
            found |= functions_in(Path(path).read_text(encoding="utf-8"))
    return found


def functions_in(header: str) -> set[str]:
    code = re.sub(r"//[^\n]*|/\*.*?\*/", "", header, flags=re.DOTALL)
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", code, flags=re.MULTILINE)
    return set(re.findall(r"\b(__(?:tsan|sanitizer)_\w+)\s*\(", code))


def references_to(functions: set[str]) -> str:
    declarations = "".join(f"extern char {name}[];\n" for name in sorted(functions))
    table = "".join(f"    {name},\n" for name in sorted(functions))
    return f"{declarations}char* volatile all[] = {{\n{table}}};\nint main(void) {{ return all[0] == 0; }}\n"


def missing_in_thread_sanitizer(shell: Shell, toolchain: Toolchain, source: Path) -> set[str]:
    """Its own library has not all of what its headers declare."""
    done = shell.run(toolchain.cc, "-fsanitize=thread", source, "-o", "by_itself")
    return set(re.findall(r"undefined reference to [`'](\w+)'", done.stderr))


@with_each_compiler
@pytest.mark.parametrize("mode", MODES)
def test_every_public_function_links(tmp_path: Path, toolchain: Toolchain, mode: str) -> None:
    shell = Shell(tmp_path, toolchain)
    functions = declared_functions(toolchain)
    if not functions:
        pytest.skip(f"{toolchain.cc} has no headers of its sanitizers")
    assert {"__tsan_acquire", "__tsan_mutex_post_lock", "__tsan_switch_to_fiber"} <= functions
    functions |= {f"Annotate{name}" for name in ANNOTATIONS} | set(OTHERS)
    source = shell.write("all.c", references_to(functions))
    if mode == "races":
        functions -= missing_in_thread_sanitizer(shell, toolchain, source)
        source = shell.write("all.c", references_to(functions))
    shell.ok("fencepost-cc", "--mode", mode, "-w", source, "-o", "all")
    if mode != "races":
        shell.ok(shell.directory / "all", FENCEPOST_OPTIONS="quiet=1")


def heeds_what_it_says(shell: Shell, mode: str, source: Path) -> None:
    """Nothing is seen if the program says all that it does, and something if it says less (`-DSILENT`)."""
    schedule = "random" if mode == "full" else "os"
    for silent in (False, True):
        if silent and mode not in head_of(source)["seen in"].split():
            continue
        options = ["-DSILENT"] if silent else []
        shell.ok("fencepost-cc", "--mode", mode, "-O1", "-w", *options, source, "-o", "program")
        done = shell.run("fencepost", "run", "-q", "--schedule", schedule, "--runs", "5", "./program")
        assert done.returncode == int(silent), done.stdout + done.stderr


@pytest.mark.parametrize("mode", ["atomics", "full"])
@pytest.mark.parametrize("source", KNOWING, ids=lambda source: source.stem)
def test_what_a_program_says_of_its_synchronisation_counts(tmp_path: Path, mode: str, source: Path) -> None:
    heeds_what_it_says(Shell(tmp_path), mode, source)


@pytest.mark.slow
@with_each_compiler
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("source", KNOWING, ids=lambda source: source.stem)
def test_what_a_program_says_of_its_synchronisation_counts_with_each_compiler(
    tmp_path: Path, toolchain: Toolchain, mode: str, source: Path
) -> None:
    heeds_what_it_says(Shell(tmp_path, toolchain), mode, source)


def test_a_program_may_decide_itself_whether_it_has_failed(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    source = shell.write(
        "fails.c",
        "int __tsan_on_finalize(int failed) { return !failed; }\nint main(void) { return 0; }\n",
    )
    shell.ok("fencepost-cc", source, "-o", "fails")
    assert shell.run("./fails", FENCEPOST_OPTIONS="exitcode=7").returncode == 7
