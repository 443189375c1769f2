"""Parameters that are the file's own, and those that it has given up."""

from __future__ import annotations

from datetime import timedelta

from queenright.core.observed import Observed
from tests.golden.messages import assert_words
from tests.support.builders import NOW, manifest, status, three_nodes
from tests.support.changed import with_member, with_settings
from tests.support.settings_patches import EXTRA, NOTE, hold_of, patch_of, with_parameters


def test_names_of_the_files_own_parameters_are_noted() -> None:
    observed = with_settings(three_nodes(text=EXTRA), **{NOTE: None})
    patch = patch_of(observed, EXTRA)
    assert patch is not None
    assert patch.patch == {NOTE: "log_lock_waits max_files_per_process"}
    assert patch.expected == {NOTE: None}


def test_a_parameter_taken_out_of_the_file_goes_back_to_the_default() -> None:
    observed = three_nodes(text=EXTRA)
    patch = patch_of(observed)
    assert patch is not None
    until = f"max_files_per_process@{NOW.timestamp():.0f}"
    assert patch.patch == {
        "postgresql": {"parameters": {"log_lock_waits": None, "max_files_per_process": None}},
        NOTE: until,
    }
    assert patch.expected["postgresql"] == {
        "parameters": {"log_lock_waits": "on", "max_files_per_process": 2000}
    }


def test_what_needs_no_restart_is_forgotten_at_once() -> None:
    text = manifest(postgresql="{parameters: {log_lock_waits: 'on'}}")
    patch = patch_of(three_nodes(text=text))
    assert patch is not None
    assert patch.patch == {
        "postgresql": {"parameters": {"log_lock_waits": None}},
        NOTE: None,
    }


def removed(since: timedelta) -> Observed:
    """A parameter that was taken out of the file, and out of Patroni's settings, this long ago."""
    at = NOW - since
    return with_settings(three_nodes(), **{NOTE: f"max_files_per_process@{at.timestamp():.0f}"})


def test_a_removed_parameter_is_remembered_until_the_members_can_have_told() -> None:
    hold = hold_of(removed(timedelta(seconds=20)))
    assert hold is not None
    assert hold.recheck_at == NOW + timedelta(seconds=40)
    patch = patch_of(removed(timedelta(seconds=61)))
    assert patch is not None
    assert patch.patch == {NOTE: None}
    assert_words(hold)


def test_a_removed_parameter_that_waits_for_a_restart_is_remembered_for_as_long() -> None:
    waits = status(
        "member-2",
        "member-1",
        pending_restart=True,
        pending_changes={"max_files_per_process": ("2000", "1000")},
    )
    observed = with_member(removed(timedelta(days=3)), "member-2", waits)
    assert patch_of(observed) is None
    assert hold_of(observed, "foreign-restart/main") is None


def test_a_removed_parameter_that_somebody_sets_again_is_theirs() -> None:
    observed = with_parameters(removed(timedelta(seconds=5)), max_files_per_process=3000)
    patch = patch_of(observed)
    assert patch is not None
    assert patch.patch == {NOTE: None}
