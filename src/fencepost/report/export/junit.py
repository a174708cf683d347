"""Answers about files as JUnit XML, the form in which build servers take the results of tests.

Each file is a test case of the suite of its question. It fails if anything was found, with the report of the
terminal as its text, and has an error if it could not be read or was not decided. A warning, such as a
deadlock beside another question, is written to the output of the case.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from fencepost.errors import InputError
from fencepost.memory_models import EXIT_VIOLATED
from fencepost.report.findings import finding_id, findings
from fencepost.report.printable import printable
from fencepost.report.story import undecided
from fencepost.report.text import answer as text
from fencepost.verdicts import Answer

_WIDTH = 100


class Mishap(NamedTuple):
    kind: str
    message: str
    report: str


class Case(NamedTuple):
    """A test case. With a `failure`, the ids of `findings` are its properties."""

    file: str
    classname: str
    name: str
    seconds: float = 0.0
    failure: Mishap | None = None
    error: Mishap | None = None
    findings: Sequence[str] = ()
    output: str = ""


def encode(suite: str, answers: Sequence[tuple[str, Answer | InputError]]) -> bytes:
    """The suite of that name, with a case for each answer."""
    return document(suite, [_case(file, answer) for file, answer in answers])


def document(suite: str, cases: Sequence[Case]) -> bytes:
    counts = {
        "tests": len(cases),
        "failures": sum(case.failure is not None for case in cases),
        "errors": sum(case.error is not None for case in cases),
    }
    seconds = sum(case.seconds for case in cases)
    numbers = {key: str(count) for key, count in counts.items()} | {"time": f"{seconds:.3f}"}
    root = Element("testsuites", {"name": "fencepost"} | numbers)
    SubElement(root, "testsuite", {"name": printable(suite)} | numbers).extend(map(_element, cases))
    ElementTree.indent(root)
    written: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _case(file: str, answer: Answer | InputError) -> Case:
    folder, name = os.path.split(file)
    case = Case(file, folder or ".", name)
    if isinstance(answer, InputError):
        return case._replace(error=Mishap("input", answer.message, str(answer)))
    case = case._replace(seconds=answer.stats.seconds)
    found = findings(answer)
    words = [one.message for one in found]
    if found and answer.exit_code == EXIT_VIOLATED:
        report = text.render(answer, color=False, width=_WIDTH)
        return case._replace(
            failure=Mishap(found[0].rule, " ".join(words), report),
            findings=[finding_id(answer, one) for one in found],
        )
    if answer.holds is None:
        case = case._replace(error=Mishap("unknown", undecided(answer), ""))
    return case._replace(output="\n".join(map(printable, words)))


def _element(case: Case) -> Element:
    element = Element(
        "testcase",
        classname=printable(case.classname),
        name=printable(case.name),
        file=printable(case.file),
        time=f"{case.seconds:.3f}",
    )
    if case.findings:
        properties = SubElement(element, "properties")
        for identity in case.findings:
            SubElement(properties, "property", name="finding", value=identity)
    for tag, mishap in (("failure", case.failure), ("error", case.error)):
        if mishap is not None:
            child = SubElement(element, tag, type=mishap.kind, message=printable(mishap.message))
            child.text = "\n".join(map(printable, mishap.report.split("\n")))
    if case.output:
        SubElement(element, "system-out").text = case.output
    return element
