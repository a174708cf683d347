"""Certificates of robustness for every number of threads: true ones are accepted, others refused."""

import dataclasses
import json
import random
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from fencepost.analyses.any_number import views_of as engine_views_of
from fencepost.analyses.robustness import robust
from fencepost.analyses.tso_any_number import tso_views_of
from fencepost.analyses.view_certificates import certified, stale_topics
from fencepost.analyses.view_search import least_views
from fencepost.certificates.any_number import (
    ViewCertificate,
    ViewsChecked,
    check_views,
    decode_views,
    encode_views,
)
from fencepost.certificates.any_number.attacks import AfterReadSteps, attack_starts, attacker_topics
from fencepost.certificates.any_number.check import views_of
from fencepost.certificates.any_number.view_sets import ViewSet
from fencepost.certificates.any_number.views import Topic, ViewSteps, race_topics
from fencepost.certificates.check import Refuted
from fencepost.cli.main import main
from fencepost.engine.search import Limits
from fencepost.formats import load
from fencepost.formats.headers import expectations
from fencepost.formats.registry import write
from fencepost.memory_models import ANY_NUMBER_MODELS
from fencepost.models.tso import on_x86
from fencepost.program import Program
from fencepost.verdicts import Robust, Unknown
from tests.analyses.test_any_number import random_templates

EXAMPLES = Path(__file__).parents[2] / "examples" / "any-number"
# Take seconds for each check, the last one against TSO.
LARGE = {"reader-writer-lock", "michael-scott-queue", "treiber-stack", "chase-lev"}
CASES = [
    pytest.param(file.stem, model, marks=[pytest.mark.slow] if file.stem in LARGE else [])
    for file in sorted(EXAMPLES.glob("*.tpl"))
    for model in ("ra", "rc20", "tso")
    if expectations(file.read_text())["robust", model]
]


@cache
def proof(name: str, model: str) -> tuple[Program, ViewCertificate]:
    program = load(EXAMPLES / f"{name}.tpl")
    answer, certificate = certified(program, model, limits=Limits(), watcher=None)
    assert isinstance(answer, Robust)
    assert certificate is not None
    return program, certificate


def without(certificate: ViewCertificate, part: int, view: int) -> ViewCertificate:
    parts = list(certificate.parts)
    views = parts[part].views
    parts[part] = replace(parts[part], views=(*views[:view], *views[view + 1 :]))
    return replace(certificate, parts=tuple(parts))


def every_view(certificate: ViewCertificate) -> list[tuple[int, int]]:
    return [(n, view) for n, part in enumerate(certificate.parts) for view in range(len(part.views))]


def test_there_are_cases() -> None:
    assert len(CASES) > 10


@pytest.mark.parametrize(("name", "model"), CASES)
def test_certificates_of_examples_are_right(name: str, model: str) -> None:
    program, certificate = proof(name, model)
    again = decode_views(encode_views(certificate), "file")
    assert again == certificate
    checked = check_views(program, again)
    assert isinstance(checked, ViewsChecked)
    assert "failures" in checked.free_of
    races = expectations(program.source or "").get(("race", model), False)
    assert ("data races" in checked.free_of) != races


@pytest.mark.parametrize(("name", "model"), CASES)
def test_a_certificate_without_one_of_its_views_is_refused(name: str, model: str) -> None:
    program, certificate = proof(name, model)
    places = every_view(certificate)
    for part, view in random.Random(0).sample(places, min(len(places), 2 if name in LARGE else 12)):
        assert isinstance(check_views(program, without(certificate, part, view)), Refuted)


@pytest.mark.parametrize(("name", "model"), CASES)
def test_none_of_the_views_of_a_certificate_can_be_left_out(name: str, model: str) -> None:
    """Each is the view of a start, or a step leads to it from views among which it is not."""
    program, certificate = proof(name, model)
    if model == "tso":
        program = on_x86(program)
    sets = [views_of(program, certificate, *part[::-1]) for part in enumerate(certificate.parts)]
    by_topic = {views.steps.topic: views for views in sets}
    for views in sets:
        if views.steps.topic.about != "after-read":
            needed = set(views.starts())
        else:
            attacker = by_topic[Topic("attacker", reader=views.steps.topic.reader)]
            starts = attack_starts(attacker)[views.steps.topic]
            needed = {views.numbered(start) for start in starts}
        for here in list(views.at):
            for whole in views.wholes(here):
                among = {(here, view) for view in combinations(whole, views.k)}
                needed |= set(views.following(here, whole)) - among
        assert needed == {(here, view) for here, of_here in views.at.items() for view in of_here}


@pytest.mark.parametrize("model", ["ra", "rc20"])
def test_a_certificate_without_one_of_its_parts_is_refused(model: str) -> None:
    program, certificate = proof("once-flag", model)
    for part in range(len(certificate.parts)):
        parts = (*certificate.parts[:part], *certificate.parts[part + 1 :])
        assert isinstance(check_views(program, replace(certificate, parts=parts)), Refuted)


def test_a_certificate_proves_no_more_than_is_true() -> None:
    """The unlock is relaxed: the program is robust, but has a race."""
    program, certificate = proof("relaxed-unlock", "rc20")
    assert certificate.free_of == ("failures",)
    claimed = replace(certificate, free_of=("failures", "data races"))
    assert isinstance(check_views(program, claimed), Refuted)
    races = least_views(ViewSteps(program, "rc20", next(race_topics(program))), 2)
    assert races.violates()


def test_a_certificate_is_of_one_program_and_one_model() -> None:
    program, certificate = proof("test-and-set-lock", "ra")
    other, _ = proof("once-flag", "ra")
    assert isinstance(check_views(other, certificate), Refuted)
    assert isinstance(check_views(program, replace(certificate, model="rc20")), Refuted)
    assert isinstance(check_views(program, replace(certificate, k=1)), Refuted)


@pytest.mark.parametrize("reader", [81, -2])
def test_a_part_about_a_thread_that_is_not_there_is_refused(reader: int) -> None:
    program, certificate = proof("test-and-set-lock", "rc20")
    for number, part in enumerate(certificate.parts):
        if part.topic == Topic():
            continue
        of_nobody = replace(part, topic=dataclasses.replace(part.topic, reader=reader))
        parts = (*certificate.parts[:number], of_nobody, *certificate.parts[number + 1 :])
        told = check_views(program, replace(certificate, parts=parts))
        assert isinstance(told, Refuted)
        assert "about a thread that the program does not have" in told.reason


def test_states_that_make_no_sense_are_refused() -> None:
    program, certificate = proof("test-and-set-lock", "rc20")
    text = encode_views(certificate).decode()
    for old, new in (
        ('"locals":[[0,', '"locals":[[7,'),
        ('"locals":[[0,1', '"locals":[[0,99'),
        ('"globals":[[[0', '"globals":[[[5'),
        ('"cell":0', '"cell":9'),
        ('"views":[[0,', '"views":[[99,'),
        ('"views":[[0,', '"views":[['),
    ):
        assert old in text
        changed = decode_views(text.replace(old, new, 1).encode(), "file")
        assert isinstance(check_views(program, changed), Refuted), new


def compare_with_the_engine(seed: int, model: str) -> str:
    """Both collect the same views, apart from what neither asks for: they come to the same verdicts."""
    program = random_templates(random.Random(seed), model)
    found = engine_views_of(program, model, 1, Limits(states=3_000), None)
    if found.stopped is not None:
        return "unfinished"

    def views_about(topic: Topic) -> ViewSet:
        return least_views(ViewSteps(program, model, topic), 1)

    states = views_about(Topic())
    violation = any(views_about(topic).violates() for topic in stale_topics(program, states.overwritten))
    assert violation == found.violation, write(program)
    if violation:
        return "violation"
    assert states.fails == found.failure, write(program)
    if model == "ra":
        assert states.conflicts() == found.race, write(program)
    else:
        assert any(views_about(topic).violates() for topic in race_topics(program)) == found.race, write(
            program
        )
    return "race" if found.race else "robust"


@pytest.mark.parametrize("model", ANY_NUMBER_MODELS)
def test_the_engine_finds_what_the_definition_of_views_finds(model: str) -> None:
    seen = {compare_with_the_engine(seed, model) for seed in range(60)}
    assert {"violation", "race", "robust"} <= seen


@pytest.mark.slow
@pytest.mark.parametrize("model", ANY_NUMBER_MODELS)
def test_the_engine_finds_what_the_definition_of_views_finds_by_the_thousand(model: str) -> None:
    for seed in range(1000, 2000):
        compare_with_the_engine(seed, model)


@pytest.mark.parametrize("model", [*ANY_NUMBER_MODELS, "tso"])
def test_certificates_of_random_programs_are_right(model: str) -> None:
    proven = 0
    for seed in range(60):
        program = random_templates(random.Random(seed), model)
        answer = robust(program, model, limits=Limits(states=500))
        if not isinstance(answer, Robust):
            continue
        _, certificate = certified(program, model, limits=Limits(), watcher=None)
        assert certificate is not None
        assert isinstance(check_views(program, certificate), ViewsChecked), write(program)
        part, view = random.Random(seed).choice(every_view(certificate))
        assert isinstance(check_views(program, without(certificate, part, view)), Refuted), write(program)
        proven += 1
    assert proven > 10


def test_limits_leave_no_certificate() -> None:
    program, _ = proof("once-flag", "rc20")
    answer, certificate = certified(program, "rc20", limits=Limits(states=150), watcher=None)
    assert isinstance(answer, Unknown)
    assert certificate is None


def test_on_the_command_line(tmp_path: Path) -> None:
    file, path = str(EXAMPLES / "publication.tpl"), str(tmp_path / "proof.json")
    written = CliRunner().invoke(main, ["robust", "-q", file, "--model", "rc20", "--certificate", path])
    assert written.exit_code == 0, written.output
    right = CliRunner().invoke(main, ["check-certificate", file, path])
    assert right.exit_code == 0
    assert "right for every number of threads: robust, no failures, no data races" in right.output
    data = json.loads(Path(path).read_text())
    data["parts"][1]["views"].pop()
    Path(path).write_text(json.dumps(data))
    wrong = CliRunner().invoke(main, ["check-certificate", file, path])
    assert wrong.exit_code == 1
    assert "wrong: in part 1 a view" in wrong.output
    asked_more = CliRunner().invoke(main, ["check-certificate", file, path, "--mutex", "cs"])
    assert asked_more.exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "tso", "--criterion", "trf"], "does not go with --criterion trf"),
        (["--instances", "2"], "programs with any number of threads"),
        (["--criterion", "observational"], "does not go with --criterion observational"),
    ],
)
def test_what_a_certificate_cannot_be_about_is_told(
    arguments: list[str], message: str, tmp_path: Path
) -> None:
    file, path = str(EXAMPLES / "publication.tpl"), tmp_path / "proof.json"
    result = CliRunner().invoke(main, ["robust", file, "--certificate", str(path), *arguments])
    assert result.exit_code == 2
    assert message in result.output
    assert not path.exists()


def test_a_program_that_is_not_robust_has_no_certificate(tmp_path: Path) -> None:
    file, path = str(EXAMPLES / "store-buffering.tpl"), tmp_path / "proof.json"
    result = CliRunner().invoke(main, ["robust", "-q", file, "--certificate", str(path)])
    assert result.exit_code == 1
    assert not path.exists()


def test_a_certificate_against_tso_has_every_attacker() -> None:
    program, certificate = proof("event-counter", "tso")
    topics = [part.topic.about for part in certificate.parts]
    assert topics.count("attacker") == len(program.threads)
    for part, about in enumerate(topics):
        parts = (*certificate.parts[:part], *certificate.parts[part + 1 :])
        assert isinstance(check_views(program, replace(certificate, parts=parts)), Refuted), about


def compare_attacks_with_the_engine(seed: int) -> str:
    """As `compare_with_the_engine`, for attacks on robustness against TSO."""
    program = on_x86(random_templates(random.Random(seed), "tso"))
    found = tso_views_of(program, 1, Limits(states=3_000), None)
    if found.stopped is not None:
        return "unfinished"

    def succeeds(attacker: Topic) -> bool:
        first_half = least_views(ViewSteps(program, "tso", attacker), 1)
        return any(
            least_views(AfterReadSteps(program, topic), 1, starts=starts).violates()
            for topic, starts in attack_starts(first_half).items()
        )

    attacked = any(map(succeeds, attacker_topics(program)))
    assert attacked == found.violation, write(program)
    return "attacked" if attacked else "robust"


def test_the_engine_finds_the_attacks_that_the_definition_of_views_finds() -> None:
    assert {compare_attacks_with_the_engine(seed) for seed in range(80)} >= {"attacked", "robust"}


@pytest.mark.slow
def test_the_engine_finds_the_attacks_that_the_definition_of_views_finds_by_the_thousand() -> None:
    for seed in range(1000, 2000):
        compare_attacks_with_the_engine(seed)
