"""A plain question is answered without click, in the same way, and without what it does not need."""

import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from fencepost.cli import answers, start
from fencepost.cli import main as cli
from fencepost.cli.commands import robust

SB = """
global x, y;
fn t1 { local a; x.store(1); a = y.load(); }
fn t2 { local b; y.store(1); b = x.load(); }
"""

# What takes long to import and has nothing to do with one question about one TPL file.
HEAVY = {
    "asyncio",
    "click",
    "concurrent.futures",
    "dataclasses",
    "datetime",
    "decimal",
    "hashlib",
    "fencepost.analyses.safety.portfolio",
    "fencepost.analyses.tso",
    "fencepost.certificates",
    "fencepost.cli.main",
    "fencepost.formats.tpl.writer",
    "fencepost.models.definition",
    "fencepost.models.graphs",
    "fencepost.models.threads",
    "fencepost.program.conditions",
    "inspect",
    "lark",
    "logging",
    "msgspec._json_schema",
    "msgspec.inspect",
    "msgspec.msgpack",
    "multiprocessing",
    "pathlib",
    "platform",
    "rich",
    "shutil",
    "signal",
    "subprocess",
    "tempfile",
    "typing_extensions",
    "uuid",
}


@pytest.fixture
def store_buffering(tmp_path):
    file = tmp_path / "sb.tpl"
    file.write_text(SB)
    return str(file)


def run(*words, script="from fencepost.cli.start import main; main()"):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", script, *words]
    return subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=False)


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_plain_question_imports_nothing_that_it_does_not_need(store_buffering, flags):
    assert run("robust", store_buffering).returncode == 1  # now the tables of the parser are there
    script = (
        "import sys; before = set(sys.modules); from fencepost.cli.start import try_fast_path;"
        "assert try_fast_path(sys.argv[1:]) == 1; print(*set(sys.modules) - before, file=sys.stderr)"
    )
    imported = set(run("robust", store_buffering, *flags, script=script).stderr.split())
    assert "fencepost.analyses.robustness" in imported
    assert imported & HEAVY == set()


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_plain_question_has_nothing_compiled(store_buffering, flags):
    """The first time, Python makes hundreds of types for syntax trees."""
    script = (
        "import builtins, sys; compiled, real = [], builtins.compile;"
        "builtins.compile = lambda *given, **more: (compiled.append(given[0]), real(*given, **more))[1];"
        "from fencepost.cli.start import try_fast_path;"
        "assert try_fast_path(sys.argv[1:]) == 1;"
        "print([text for text in compiled if isinstance(text, str)], file=sys.stderr)"  # bytes: modules
    )
    assert run("robust", store_buffering, *flags, script=script).stderr == "[]\n"


def test_what_is_left_out_of_msgspec_can_be_imported_later():
    script = (
        "from fencepost.cli.lean_msgspec import import_lean_msgspec; import_lean_msgspec();"
        "import datetime, decimal, typing, uuid, msgspec, msgspec.inspect, msgspec.structs;"
        "print(uuid.UUID(int=1).int, decimal.Decimal(2), datetime.date(3, 4, 5),"
        "typing.ForwardRef('six').__forward_arg__, type(msgspec.inspect.type_info(int)).__name__,"
        "msgspec.json.encode(msgspec.structs.replace(msgspec.defstruct('S', ['a'])(1), a=8)))"
    )
    assert run(script=script).stdout == "1 2 0003-04-05 six IntType b'{\"a\":8}'\n"


def test_a_msgspec_that_needs_more_is_imported_as_usual():
    script = (
        "import sys; from fencepost.cli import lean_msgspec;"
        "lean_msgspec._stand_ins = lambda: dict.fromkeys(['uuid', 'msgspec._utils', 'datetime']);"
        "lean_msgspec.import_lean_msgspec();"
        "import msgspec, uuid; print(msgspec.json.encode(uuid.UUID(int=0)), 'msgspec.inspect' in sys.modules)"
    )
    assert run(script=script).stdout == "b'\"00000000-0000-0000-0000-000000000000\"' True\n"


@pytest.mark.parametrize("flags", [[], ["--json"], ["-q"], ["--quiet", "--verbose"], ["-v", "--json"]])
def test_a_plain_question_is_the_one_that_the_command_asks(monkeypatch, flags):
    asked = []

    def note(files, job, processes, printing):
        asked.append((files, [job(file) for file in files], processes, printing))
        sys.exit(3)

    monkeypatch.setattr(answers, "answer_files", note)
    monkeypatch.setattr(robust, "answer_files", note)
    words = ["robust", "a.tpl", *flags, "b.litmus"]
    assert start.try_fast_path(words) == 3
    assert CliRunner().invoke(cli.main, words).exit_code == 3
    assert asked[0] == asked[1]


@pytest.mark.parametrize(
    "words", [[], ["robust"], ["robust", "-"], ["robust", "a.tpl", "--model", "tso"], ["verify", "a.tpl"]]
)
def test_other_questions_are_left_to_the_commands(words):
    assert start.try_fast_path(words) is None


def test_both_ways_print_the_same(store_buffering):
    plain, command = run("robust", store_buffering), run("robust", store_buffering, "--model", "ra")
    assert (plain.returncode, plain.stderr) == (command.returncode, command.stderr) == (1, "")
    assert plain.stdout.splitlines()[:-1] == command.stdout.splitlines()[:-1]  # the last one has the time


def test_wrong_input_is_told(tmp_path):
    done = run("robust", str(tmp_path / "none.tpl"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "none.tpl: cannot read the file" in done.stderr


def test_who_stops_reading_gets_no_complaints(store_buffering):
    reader, writer = os.pipe()
    os.close(reader)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    script = "from fencepost.cli.start import main; main()"
    command = [sys.executable, "-c", script, "robust", store_buffering]
    done = subprocess.run(command, env=environment, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")
