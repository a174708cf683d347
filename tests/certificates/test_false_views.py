"""Certificates of what is not true for every number of threads: all views are there, and one is bad."""

from collections.abc import Iterator

import pytest

from fencepost.analyses.view_certificates import stale_topics
from fencepost.analyses.view_search import least_views
from fencepost.certificates.any_number import ViewCertificate, check_views
from fencepost.certificates.any_number.attacks import AfterReadSteps, attack_starts, attacker_topics
from fencepost.certificates.any_number.certificate import FreeOf, ViewModel, part_of
from fencepost.certificates.any_number.view_sets import ViewSet
from fencepost.certificates.any_number.views import Topic, ViewSteps
from fencepost.certificates.check import Refuted
from fencepost.formats.tpl.reader import read
from fencepost.models.tso import on_x86
from fencepost.program import Program

BAD_VIEW = "violates what the part is about"
RACE = "two accesses race"
FAILURE = "leads to a failing assertion"
OTHERS = "fn others[*] { z.store(1); }"


def claimed(program: Program, model: ViewModel, *free_of: FreeOf) -> ViewCertificate:
    """What would be the certificate, had the program no violation."""
    runs = on_x86(program) if model == "tso" else program
    parts = map(part_of, views_asked_for(runs, model))
    return ViewCertificate.of(program, model, 1, free_of, parts)


def views_asked_for(program: Program, model: ViewModel) -> Iterator[ViewSet]:
    states = least_views(ViewSteps(program, model, Topic()), 1)
    yield states
    if model != "tso":
        for topic in stale_topics(program, states.overwritten):
            yield least_views(ViewSteps(program, model, topic), 1)
        return
    for attacker in attacker_topics(program):
        first_half = least_views(ViewSteps(program, model, attacker), 1)
        yield first_half
        for topic, starts in attack_starts(first_half).items():
            yield least_views(AfterReadSteps(program, topic), 1, starts=starts)


def why_refused(text: str, model: ViewModel, *free_of: FreeOf) -> str:
    program = read(text)
    checked = check_views(program, claimed(program, model, *free_of))
    assert isinstance(checked, Refuted)
    return checked.reason


@pytest.mark.parametrize("model", ["ra", "rc20", "tso"])
def test_threads_of_templates_are_not_robust(model: ViewModel) -> None:
    text = """global x, y;
        fn left[*] { local r; x.store(1); r = y.load(); }
        fn right[*] { local r; y.store(1); r = x.load(); }"""
    assert BAD_VIEW in why_refused(text, model)


@pytest.mark.parametrize("model", ["ra", "rc20"])
def test_threads_that_are_there_once_are_not_robust(model: ViewModel) -> None:
    text = f"""global x, y, z;
        fn left {{ local r; x.store(1); r = y.load(); }}
        fn right {{ local r; y.store(1); r = x.load(); }}
        {OTHERS}"""
    assert BAD_VIEW in why_refused(text, model)


def test_an_attacker_reads_its_own_write_before_the_read_that_overtakes_it() -> None:
    """The attack ends with a read of x. Without its write the attacker would not read y."""
    text = f"""max_value 1; global x, y, z;
        fn left {{ local r; x.store(1); r = x.load(); if (r == 1) {{ r = y.load(); }} }}
        fn right {{ local r; y.store(1); fence; r = x.load(); }}
        {OTHERS}"""
    assert BAD_VIEW in why_refused(text, "tso")


@pytest.mark.parametrize("model", ["ra", "tso"])
@pytest.mark.parametrize(
    "threads",
    [
        "fn reader { local r; r = d.naload(); } fn writer { d.nastore(1); } fn others[*] { z.store(1); }",
        "fn writer { d.nastore(1); } fn reader[*] { local r; r = d.naload(); }",
        "fn writer[*] { d.nastore(1); }",
    ],
    ids=["both once", "one of a template", "both of a template"],
)
def test_accesses_race(threads: str, model: ViewModel) -> None:
    assert RACE in why_refused(f"global z; na d; {threads}", model, "data races")


@pytest.mark.parametrize("model", ["ra", "rc20", "tso"])
def test_an_assertion_fails(model: ViewModel) -> None:
    text = "global z; fn once { local r; r = z.load(); assert(r == 0); } fn others[*] { z.store(1); }"
    assert FAILURE in why_refused(text, model, "failures")
