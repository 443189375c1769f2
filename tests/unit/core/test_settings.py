"""Settings that Patroni keeps: what the file owns is compared, what others set is theirs."""

from __future__ import annotations

import dataclasses

import pytest

from queenright.core.observed import Known, Unknown
from queenright.core.rules.settings import differences
from tests.builders import desired, plan_for, three_nodes


def settings_hold(found: object) -> str:
    observed = dataclasses.replace(three_nodes(), settings={"main": found})  # type: ignore[dict-item]
    holds = [hold for hold in plan_for(observed).holds if hold.key == "settings/main"]
    return holds[0].reason if holds else ""


def test_the_settings_of_the_bootstrap_are_no_difference() -> None:
    assert settings_hold(Known(desired().settings)) == ""


def test_a_difference_is_told_with_both_values() -> None:
    found = {**desired().settings, "ttl": 45}
    assert "ttl is 45, not 30" in settings_hold(Known(found))


def test_what_the_file_does_not_own_is_left_alone() -> None:
    found = {**desired().settings, "synchronous_mode": True, "failsafe_mode": True}
    assert settings_hold(Known(found)) == ""


def test_unknown_settings_are_not_different_ones() -> None:
    assert settings_hold(Unknown("no answer")) == ""


@pytest.mark.parametrize(("wanted", "found"), [("on", True), (True, "on"), (200, "200"), (5, 5)])
def test_spelling_is_no_difference(wanted: object, found: object) -> None:
    assert list(differences({"x": wanted}, {"x": found})) == []


def test_access_rules_are_compared_in_their_order() -> None:
    rules = ["local all all peer", "host all all all reject"]
    said = list(differences({"pg_hba": rules}, {"pg_hba": rules[::-1]}))
    assert len(said) == 1
