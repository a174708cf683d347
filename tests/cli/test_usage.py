"""How the commands meet people: help, suggestions, standard input, and mistakes told before a long search."""

import itertools
import json
import shlex
import time
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from fencepost.analyses import robustness
from fencepost.analyses.safety.portfolio import _Spending
from fencepost.batch import corpus, jobs
from fencepost.cli.main import COMMANDS, GROUPS, main
from fencepost.engine.search import Limits
from fencepost.errors import InputError
from fencepost.formats import load, load_as
from fencepost.formats.registry import Reading
from fencepost.memory_models import SEARCH_ORDERS
from tests.cli.test_start import run

SB = """global x, y;
fn t1 { local a; x.store(1); a = y.load(); }
fn t2 { local b; y.store(1); b = x.load(); }
"""


@pytest.fixture
def store_buffering(tmp_path):
    file = tmp_path / "sb.tpl"
    file.write_text(SB)
    return str(file)


def fencepost(*words, given=None):
    return CliRunner().invoke(main, [str(word) for word in words], input=given, catch_exceptions=False)


class TestStandardInput:
    def test_it_is_asked_about(self):
        result = fencepost("robust", "-", "--format", "tpl", "--json", given=SB)
        answer = json.loads(result.stdout)
        assert (result.exit_code, answer["file"], answer["verdict"]) == (1, "<stdin>", "not-robust")

    @pytest.mark.parametrize("command", ["robust", "persist", "verify", "fix", "show", "swarm"])
    def test_without_a_format_the_option_is_named(self, command):
        result = fencepost(command, "-", given=SB)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith("<stdin>: ")
        assert "--format" in result.stderr

    @pytest.mark.parametrize("command", ["persist", "races", "fix", "show", "swarm"])
    def test_every_command_reads_it(self, command):
        result = fencepost(command, "-", "--format", "tpl", given=SB)
        assert result.exit_code in (0, 1)
        assert result.stderr == ""

    def test_the_page_shows_it(self, tmp_path):
        page = tmp_path / "page.html"
        assert fencepost("robust", "-", "--format", "tpl", "--html", page, given=SB).exit_code == 1
        assert "&lt;stdin&gt;" in page.read_text()

    def test_mistakes_have_a_place_in_it(self):
        result = fencepost("robust", "-", "--format", "tpl", given="global x;\nfn t { x.stor(1); }")
        assert result.stderr.startswith("<stdin>:2:10: ")

    def test_it_is_read_once(self):
        result = fencepost("robust", "-", "-", "--format", "tpl", given=SB)
        assert (result.exit_code, result.stderr) == (2, "the standard input (-) can be read only once\n")


class TestMeant:
    @pytest.mark.parametrize(
        ("words", "meant"),
        [
            (["robst", "a.tpl"], "did you mean `robust`?"),
            (["check_certificate"], "did you mean `check-certificate`?"),
            (["lock.tpl"], "fencepost robust lock.tpl"),
            (["xyzzy"], "`fencepost --help` lists them"),
            (["robust", "a.tpl", "--modle", "ra"], "--model"),
        ],
    )
    def test_what_was_meant_is_said(self, words, meant):
        result = fencepost(*words)
        assert result.exit_code == 2
        assert meant in result.stderr


class TestHelp:
    def test_every_command_is_in_a_group_with_its_whole_sentence_and_an_example(self):
        text = fencepost("--help").stdout
        words = " ".join(text.split())
        for title, group in GROUPS.items():
            assert f"{title}:" in text
            for name, entry in group.items():
                sentence = " ".join((main.get_command(None, name).help or "").split("\n\n")[0].split())
                assert f"{name} {sentence} $ {entry.example}" in words
        assert "..." not in text.partition("\n")[2]

    @pytest.mark.parametrize("name", COMMANDS)
    def test_every_example_is_in_the_help_of_its_command_and_can_be_typed(self, name):
        example = COMMANDS[name].example
        for _ in range(2):
            assert fencepost(name, "--help").stdout.count(f"$ {example}") == 1
        if not example.startswith("eval"):
            program, command, *words = shlex.split(example)
            assert (program, command) == ("fencepost", name)
            assert isinstance(main.get_command(None, name).make_context(name, words), click.Context)


class TestCompletion:
    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_the_script_asks_fencepost(self, shell):
        result = fencepost("completion", shell)
        assert result.exit_code == 0
        assert f"_FENCEPOST_COMPLETE={shell}_complete" in result.stdout

    def test_another_shell_is_2(self):
        assert fencepost("completion", "cmd").exit_code == 2

    @pytest.mark.parametrize(
        ("line", "offered"),
        [
            ("fencepost rob", "plain,robust"),
            ("fencepost fix --mo", "plain,--model"),
            ("fencepost robust --format lit", "plain,litmus"),
            ("fencepost robust lo", "file,lo"),
        ],
    )
    def test_what_is_offered(self, monkeypatch, line, offered):
        monkeypatch.setenv("_FENCEPOST_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - 1))
        script = "import sys; sys.argv[0] = 'fencepost'; from fencepost.cli.start import main; main()"
        assert run(script=script).stdout.splitlines() == [offered]


class TestOutputs:
    @pytest.mark.parametrize(
        "words",
        [
            ["robust", "FILE", "--svg", "OUT"],
            ["robust", "FILE", "--html", "OUT"],
            ["persist", "FILE", "--sarif", "OUT"],
            ["races", "FILE", "--junit", "OUT"],
            ["verify", "FILE", "--certificate", "OUT"],
            ["swarm", "FILE", "--sarif", "OUT"],
            ["bench", "FILE", "--output", "OUT"],
            ["fix", "FILE", "--output", "OUT"],
            ["fix", "FILE", "--html", "OUT"],
            ["fix", "FILE", "--sarif", "OUT"],
            ["run", "--sarif", "OUT", "FILE"],
        ],
    )
    def test_one_that_cannot_be_written_is_noticed_before_the_search(
        self, store_buffering, tmp_path, monkeypatch, words
    ):
        def search(*arguments, **options):
            raise AssertionError("the search has begun")

        for where in ("batch.jobs.run_jobs", "analyses.repair.fix.fix", "sanitizer.run.runs.run_all"):
            monkeypatch.setattr(f"fencepost.{where}", search)
        monkeypatch.setattr(corpus, "measure", search)
        (tmp_path / "a-file").write_text("")
        out = str(tmp_path / "a-file" / "out")
        result = fencepost(*({"FILE": store_buffering, "OUT": out}.get(word, word) for word in words))
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith(f"{out}: cannot write the ")
        assert len(result.stderr.splitlines()) == 1

    @pytest.mark.parametrize("words", [["robust", "--sarif"], ["fix", "--html"], ["persist", "--junit"]])
    def test_the_program_is_not_overwritten(self, store_buffering, words):
        command, option = words
        result = fencepost(command, store_buffering, option, store_buffering)
        assert result.exit_code == 2
        assert "would overwrite the program" in result.stderr
        assert Path(store_buffering).read_text() == SB


class TestPlaces:
    """What is wrong with a whole file is not blamed on its first line."""

    def test_a_missing_file(self, tmp_path):
        path = tmp_path / "none.tpl"
        assert fencepost("show", path).stderr == f"{path}: cannot read the file: No such file or directory\n"

    def test_an_unknown_format(self, store_buffering):
        result = fencepost("robust", store_buffering, "--format", "xyz")
        assert result.exit_code == 2
        assert ":1:1:" not in result.stderr
        assert "'tpl', 'litmus', 'automata', 'persist'" in result.stderr
        with pytest.raises(InputError) as caught:
            load(store_buffering, format="litmsu")
        assert str(caught.value) == (
            f"{store_buffering}: there is no format `litmsu`; expected tpl, litmus, automata or persist; "
            "did you mean `litmus`?"
        )

    @pytest.mark.parametrize(
        ("name", "wrapper"),
        [("a.c", "fencepost-cc"), *((f"a{e}", "fencepost-c++") for e in (".cc", ".cpp", ".cxx", ".h"))],
    )
    def test_c_programs_are_sent_to_the_wrappers(self, name, wrapper):
        result = fencepost("robust", name)
        assert result.exit_code == 2
        assert result.stderr.startswith(f"{name}: C and C++ programs")
        assert f"`{wrapper}`" in result.stderr


@pytest.mark.parametrize(
    ("options", "idle"),
    [
        (["--shortest"], True),
        (["--search", "breadth-first"], True),
        (["--model", "tso"], True),
        (["--search", "by-location"], False),
        ([], False),
    ],
)
def test_threads_without_effect_are_noted(store_buffering, options, idle):
    result = fencepost("robust", store_buffering, "--threads", 2, *options)
    assert result.exit_code == 1
    assert ("--threads 2 has no effect" in result.stderr) is idle


class TestClock:
    """With a clock that moves on by a second whenever it is looked at."""

    @pytest.fixture
    def ticking(self, monkeypatch):
        clock = itertools.count()
        monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
        monkeypatch.setattr(jobs, "monotonic", time.monotonic)
        return clock

    @pytest.mark.parametrize("order", SEARCH_ORDERS)
    def test_seconds_of_every_order_are_those_of_the_clock(self, order, ticking):
        program = load_as("sb.tpl", Reading("tpl"), SB)
        before = next(ticking)
        answer = robustness.robust(program, order=order)
        assert answer.stats.seconds == next(ticking) - before - 2

    def test_the_limit_of_a_job_includes_reading(self, ticking, monkeypatch):
        seen = []
        asked = jobs._answer

        def note(job, program, watcher):
            seen.append(job.limits)
            return asked(job, program, watcher)

        monkeypatch.setattr(jobs, "_answer", note)
        before = next(ticking)
        outcome = jobs.run_job(jobs.Job("a.tpl", jobs.Question(), Limits(seconds=99), text=SB))
        assert outcome.required_answer.stats.seconds == next(ticking) - before - 2
        (limits,) = seen
        assert (limits.seconds, limits.time_limit) == (98, "time limit of 99 s")

    def test_a_safety_question_also_spends_time_between_its_engines(self, ticking):
        spending = _Spending(Limits(seconds=10), started=time.monotonic())
        assert [spending.seconds_left, spending.seconds_left] == [9, 8]


@pytest.mark.parametrize(
    "words",
    [
        ["robust", ""],
        ["robust", "FOLDER"],
        ["fix", "FOLDER"],
        ["robust", "FILE", "--timeout", "nan"],
        ["robust", "FILE", "--max-memory", "nan"],
        ["fix", "FILE", "--timeout", "nan"],
        ["lsp", "--timeout", "nan"],
        ["serve", "--max-memory", "nan"],
        ["run", "--runs", "1000000000000", "true"],
        ["bench", "FILE", "--output", "FOLDER"],
        ["check-certificate", "FILE", "FOLDER"],
        ["robust", "FILE", "--baseline", "FOLDER"],
        ["verify", "FILE", "--mutex", ""],
        ["verify", "FILE", "--bad", ""],
        ["robust", "\udcff.tpl"],
        ["\udcff"],
        ["show", "FILE", "--to", "elf"],
        ["completion"],
    ],
)
def test_odd_invocations_end_with_one_message(store_buffering, tmp_path, words):
    folder = tmp_path / "folder"
    folder.mkdir()
    result = fencepost(*({"FILE": store_buffering, "FOLDER": folder}.get(word, word) for word in words))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "options",
    [
        ["--max-memory", "inf"],
        ["--timeout", "inf"],
        ["--bitstate", "--bitstate-memory", "1e300"],
        ["--search", "depth-first", "--max-states", str(10**30)],
    ],
)
def test_no_number_is_too_large(store_buffering, options):
    assert fencepost("robust", store_buffering, *options).exit_code == 1


@pytest.mark.parametrize(
    "other",
    ["--compress", "--bitstate", "--model tso", "--search depth-first", "--threads 2", "--cluster a:1"],
)
def test_states_in_files_go_with_one_way_to_search(store_buffering, tmp_path, other):
    result = fencepost("robust", "--store", tmp_path, *other.split(), store_buffering)
    assert result.exit_code == 2
    assert "--store does not go with --" in result.stderr


def test_a_directory_for_states_must_be_there(store_buffering, tmp_path):
    result = fencepost("robust", "--store", tmp_path / "none", store_buffering)
    assert result.exit_code == 2
    assert "none' does not exist" in result.stderr
