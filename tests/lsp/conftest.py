import pytest

from tests.lsp.session import Editors


@pytest.fixture(scope="session")
def editors():
    started = Editors()
    yield started
    started.end()
