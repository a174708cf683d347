"""Every name of a program gets one that the language can spell, and no two the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.formats.promela.names import is_name as is_promela_name
from fencepost.formats.text.names import is_c_name, spellings

LANGUAGES = [is_c_name, is_promela_name, str.isidentifier]


@pytest.mark.parametrize("is_name", LANGUAGES)
@given(names=st.lists(st.text(max_size=6)), taken=st.lists(st.sampled_from(["x", "x_", "v_", "_", "int"])))
def test_names_can_be_spelled_and_are_different(is_name, names: list[str], taken: list[str]) -> None:
    found = spellings(names, is_name, taken)
    assert list(found) == list(dict.fromkeys(names))
    assert len({*found.values()}) == len(found)
    for name, spelled in found.items():
        assert is_name(spelled)
        assert spelled not in taken
        assert spelled == name or not is_name(name) or name in taken


def test_a_name_is_only_changed_where_it_must_be() -> None:
    assert spellings(["x", "int", "int_", "a[0]", "9"], is_c_name) == {
        "x": "x",
        "int": "int__",
        "int_": "int_",
        "a[0]": "a_0",
        "9": "v_9",
    }
