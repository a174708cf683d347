"""Programs at the limits: as many threads, locations and lines as are taken, and one more."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from fencepost.batch.jobs import Job, Question, Safety, run_job
from fencepost.cli.main import main
from fencepost.engine.search import Limits
from fencepost.formats.registry import LARGEST_FILE
from fencepost.memory_models import ROBUSTNESS_MODELS, SAFETY_MODELS
from fencepost.program.program import MOST_CELLS, MOST_THREADS

LIMITS = Limits(states=2000, memory_mb=500)
QUESTIONS = [
    *(Question.of("robust", model) for model in ROBUSTNESS_MODELS),
    *(Question.of("verify", model) for model in SAFETY_MODELS),
    *(Question.of("races", model) for model in ("rc20", "cpp20", "sra")),
    Question("persist"),
    Question("outcomes"),
]


def large(threads: int, cells: int) -> str:
    """Each thread writes a location, and reads the next one."""
    used = min(threads, cells - 1)
    code = "".join(
        f"fn t{n} {{ local r; a[{n % used}].store(1); r = a[{(n + 1) % used}].load(); cs: skip; }}\n"
        for n in range(threads)
    )
    return f"max_value 3;\nglobal a[{cells - 1}]; na d;\n{code}"


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: f"{question.name}-{question.model}")
def test_the_most_threads_and_cells_are_answered(question: Question) -> None:
    text = large(MOST_THREADS, MOST_CELLS - (question.name == "verify"))
    safety = Safety(mutex=("cs",)) if question.name == "verify" else Safety()
    outcome = run_job(Job("large.tpl", question, LIMITS, safety=safety, text=text))
    assert outcome.answer is not None, outcome.error
    assert outcome.answer.verdict in ("not-robust", "fragile", "unsafe", "race-free", "listed", "unknown")
    if outcome.answer.verdict == "unknown":
        assert outcome.answer.why


@pytest.mark.parametrize(("threads", "cells"), [(MOST_THREADS + 1, 10), (2, MOST_CELLS + 1)])
def test_one_more_is_refused(threads: int, cells: int) -> None:
    outcome = run_job(Job("large.tpl", Question(), LIMITS, text=large(threads, cells)))
    assert outcome.error is not None
    assert "are supported" in outcome.error.message
    assert outcome.error.line > 0


@pytest.mark.parametrize("threads", [31, MOST_THREADS - 1])
def test_too_many_threads_beside_a_template_are_refused(threads: int) -> None:
    text = large(threads, 10) + "fn many[*] { a[0].store(1); }\n"
    error = run_job(Job("a.tpl", Question(), LIMITS, text=text)).error
    assert error is not None
    assert error.message.startswith("at most 30 threads are supported beside a template")


@pytest.mark.parametrize("model", ["sc", "tso", "sra"])
def test_values_that_grow_without_end_before_the_first_access_are_told(model: str) -> None:
    text = """memory_size 1
    thread a
        initial s0
        transition s0 s1 local r 9
        transition s1 s1 local r + r r
        transition s1 s2 write 0 r
    end
    """
    job = Job("a.aut", Question.of("verify", model), LIMITS, safety=Safety(error_labels=("s2",)), text=text)
    error = run_job(job).error
    assert error is not None
    assert error.message.startswith("before a thread's first access a value leaves the range 0..")


def test_a_label_that_needs_a_cell_more_is_told_so() -> None:
    job = Job("a.tpl", Question.of("verify", "sc"), safety=Safety(mutex=("cs",)), text=large(2, MOST_CELLS))
    error = run_job(job).error
    assert error is not None
    assert error.message.startswith("only 255 memory cells are supported where labels are not at accesses")
    assert error.line == 2


def test_a_million_lines_are_read(tmp_path: Path) -> None:
    file = tmp_path / "long.tpl"
    file.write_text("global x;\n" + "\n" * 1_000_000 + "fn t { x.store(1); }\n")
    done = CliRunner().invoke(main, ["robust", "-q", str(file)], catch_exceptions=False)
    assert done.output == f"{file}: robust\n"


def test_a_million_statements_are_refused_at_once(tmp_path: Path) -> None:
    file = tmp_path / "long.tpl"
    file.write_text("global x;\nfn t {\n" + "x.store(1);\n" * 1_000_000 + "}\n")
    done = CliRunner().invoke(main, ["robust", str(file)], catch_exceptions=False)
    assert done.exit_code == 2
    assert done.stderr == f"{file}: the file is larger than 1 MiB; expected a program\n"


@pytest.mark.slow
@pytest.mark.parametrize("statement", ["skip;\n", "r = 1;\n", "x.store(1);\n", "if (r) { r = 2; }\n"])
def test_the_longest_program_is_answered(statement: str) -> None:
    head = "global x;\nfn t { local r;\n"
    text = head + statement * ((LARGEST_FILE - 100) // len(statement)) + "}\nfn u { x.store(2); }\n"
    outcome = run_job(Job("long.tpl", Question("robust", "rc20"), Limits(seconds=60), text=text))
    assert outcome.answer is not None, outcome.error
    assert outcome.answer.verdict in ("robust", "unknown")
