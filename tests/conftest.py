"""What has passed on one machine need not run again on another that has more programs installed.

`--passed-to FILE` writes the names of the tests that passed; `--without-passed FILE` leaves those out. So CI
runs all tests on a machine with gcc alone, and after that only what needs clang, Spin or a browser.
"""

from pathlib import Path

import pytest

PASSED = pytest.StashKey[list[str]]()


def pytest_addoption(parser):
    parser.addoption("--passed-to", metavar="FILE", help="write the names of the tests that passed to FILE")
    parser.addoption("--without-passed", metavar="FILE", help="leave out the tests that are named in FILE")


def pytest_configure(config):
    config.stash[PASSED] = []


@pytest.hookimpl(wrapper=True)
def pytest_report_teststatus(report, config):
    if report.when == "call" and report.passed:
        config.stash[PASSED].append(report.nodeid)
    return (yield)


def pytest_collection_modifyitems(config, items):
    if config.option.without_passed is None:
        return
    passed = set(Path(config.option.without_passed).read_text().splitlines())
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in passed])
    items[:] = [item for item in items if item.nodeid not in passed]


def pytest_sessionfinish(session):
    config = session.config
    if config.option.passed_to is not None and not hasattr(config, "workerinput"):
        Path(config.option.passed_to).write_text("".join(f"{name}\n" for name in config.stash[PASSED]))
