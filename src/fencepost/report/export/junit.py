"""Answers about files as JUnit XML, the form in which build servers take the results of tests.

Each file is a test case of the suite of its question. It fails if anything was found, with the report of the
terminal as its text, and has an error if it could not be read or was not decided. A warning, such as a
deadlock beside another question, is written to the output of the case.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
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


def encode(suite: str, answers: Sequence[tuple[str, Answer | InputError]]) -> bytes:
    """The suite of that name, with a case for each answer."""
    cases = [_case(file, answer) for file, answer in answers]
    counts = {
        "tests": len(cases),
        "failures": sum(case.find("failure") is not None for case in cases),
        "errors": sum(case.find("error") is not None for case in cases),
    }
    seconds = sum(answer.stats.seconds for _, answer in answers if isinstance(answer, Answer))
    numbers = {key: str(count) for key, count in counts.items()} | {"time": f"{seconds:.3f}"}
    root = Element("testsuites", {"name": "fencepost"} | numbers)
    SubElement(root, "testsuite", {"name": printable(suite)} | numbers).extend(cases)
    ElementTree.indent(root)
    written: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _case(file: str, answer: Answer | InputError) -> Element:
    folder, name = os.path.split(file)
    seconds = answer.stats.seconds if isinstance(answer, Answer) else 0.0
    case = Element(
        "testcase",
        classname=printable(folder or "."),
        name=printable(name),
        file=printable(file),
        time=f"{seconds:.3f}",
    )
    if isinstance(answer, InputError):
        _add(case, "error", "input", answer.message, str(answer))
        return case
    found = findings(answer)
    if found and answer.exit_code == EXIT_VIOLATED:
        properties = SubElement(case, "properties")
        for one in found:
            SubElement(properties, "property", name="finding", value=finding_id(answer, one))
        report = text.render(answer, color=False, width=_WIDTH)
        _add(case, "failure", found[0].rule, " ".join(one.message for one in found), report)
        return case
    if answer.holds is None:
        _add(case, "error", "unknown", undecided(answer), "")
    if found:
        SubElement(case, "system-out").text = "\n".join(printable(one.message) for one in found)
    return case


def _add(case: Element, tag: str, kind: str, message: str, report: str) -> None:
    element = SubElement(case, tag, type=kind, message=printable(message))
    element.text = "\n".join(map(printable, report.split("\n")))
