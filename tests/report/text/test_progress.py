"""The line that shows how far a search is."""

import io

import pytest

from fencepost.engine.search import Progress
from fencepost.report.text import progress
from fencepost.report.text.progress import ProgressLine

SOME = Progress(states=2_000_000, transitions=5_000_000, waiting=1234, memory_mb=56.0, seconds=4.0)


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_it_shows_states_rate_and_memory_after_a_second_and_goes_away(clock, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    stream = io.StringIO()
    line = ProgressLine(stream, 1)
    clock[0] = 0.9
    line.searching(SOME)
    line.close()
    assert stream.getvalue() == ""
    clock[0] = 1.1
    line.searching(SOME)
    assert stream.getvalue() == "\r\x1b[K2,000,000 states, 0.50 M/s, 1,234 waiting, 56 MB, 4 s"
    line.close()
    assert stream.getvalue().endswith("\r\x1b[K")


def test_it_never_takes_more_than_one_line(clock, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    stream = io.StringIO()
    line = ProgressLine(stream, 3)
    clock[0] = 2.0
    line.finished(1)
    line.searching(SOME)
    assert all(len(shown) < 20 for shown in stream.getvalue().split("\r\x1b[K"))
