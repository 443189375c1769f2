"""Edits of Patroni's settings: the smallest patch, and whose the changed fields are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from queenright.core.kinds.postgres_cluster.patroni.config_edit import (
    needed,
    owned_fields,
    patch_between,
    patch_for,
)
from tests.support.builders import desired

VALUES = st.one_of(st.booleans(), st.integers(0, 2), st.text("ab", max_size=2))
KEYS = st.sampled_from(["a", "b", "c"])
SETTINGS = st.recursive(
    st.dictionaries(KEYS, VALUES | st.lists(VALUES, max_size=2), max_size=3),
    lambda inner: st.dictionaries(KEYS, VALUES | inner, max_size=3),
    max_leaves=6,
)


def applied(found: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Merge as Patroni does: null removes, mappings are merged, everything else is replaced."""
    result = dict(found)
    for key, value in patch.items():
        there = result.get(key)
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(there, dict):
            result[key] = applied(there, value)
        else:
            result[key] = value
    return result


def spelled(value: Any) -> Any:
    """Return True for equal values of one type, so that true is not 1."""
    if isinstance(value, dict):
        return {key: spelled(item) for key, item in value.items()}
    return [spelled(item) for item in value] if isinstance(value, list) else repr(value)


@given(SETTINGS, SETTINGS)
def test_a_patch_makes_the_one_of_the_other(found: dict[str, Any], edited: dict[str, Any]) -> None:
    patch = patch_between(found, edited)
    assert applied(found, patch) == edited
    assert needed(found, patch) == patch or applied(found, needed(found, patch)) == edited
    assert patch_between(edited, edited) == {}
    assert needed(edited, edited) == {}


@given(SETTINGS)
def test_true_is_not_one(found: dict[str, Any]) -> None:
    other = {**found, "a": True}
    assert spelled(applied({**found, "a": 1}, patch_between({**found, "a": 1}, other))) == spelled(
        other
    )


def test_what_the_file_decides_is_its_own() -> None:
    wanted = desired().settings
    patch = {
        "ttl": 20,
        "synchronous_mode": True,
        "postgresql": {
            "parameters": {"work_mem": "1MB", "jit": "off"},
            "pg_hba": None,
            "use_slots": False,
        },
    }
    assert owned_fields(wanted, patch) == (
        "ttl",
        "postgresql.parameters.work_mem",
        "postgresql.pg_hba",
    )
    assert owned_fields(wanted, {"postgresql": None}) == ("postgresql",)
    assert patch_for("ttl", 5) == {"ttl": 5}
