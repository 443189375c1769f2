"""Patches of Patroni's settings: what they remove, and what their changes conceal."""

from __future__ import annotations

from queenright.core.kinds.postgres_cluster.patroni.config_keys import PAUSE_KEY
from queenright.core.kinds.postgres_cluster.patroni.settings_patch import (
    pause_patch,
    settings_patch,
)
from queenright.core.kinds.postgres_cluster.state import ClusterState
from tests.support.builders import NOW, desired, swarm_of, three_nodes


def test_a_pause_is_lifted_with_its_mark() -> None:
    assert pause_patch({}, paused=True) == {"pause": True}
    assert pause_patch({"pause": True}, paused=False) == {"pause": None}
    assert pause_patch({"pause": True, PAUSE_KEY: "promotion"}, paused=False) == {
        "pause": None,
        PAUSE_KEY: None,
    }


def test_free_text_is_not_written_into_the_trail() -> None:
    found = {
        "ttl": 30,
        "postgresql": {
            "parameters": {"archive_command": "KEY=hunter2 push %p", "work_mem": "4MB"},
            "recovery_conf": {"restore_command": "KEY=hunter2 fetch"},
        },
    }
    patch = {
        "ttl": 20,
        "postgresql": {
            "parameters": {"archive_command": "KEY=hunter3 push %p", "work_mem": "8MB"},
            "recovery_conf": {"restore_command": None},
        },
    }
    observed = three_nodes()
    here = ClusterState(desired(), swarm_of(observed), observed, NOW)
    step = settings_patch(
        here, here.desired.members[0], found, patch, aspect="edit-config", reason="a test"
    )
    assert [(change.path, change.old, change.new) for change in step.changes] == [
        ("ttl", "30", "20"),
        ("postgresql.parameters.archive_command", "(set)", "(set)"),
        ("postgresql.parameters.work_mem", "4MB", "8MB"),
        ("postgresql.recovery_conf.restore_command", "(set)", "(absent)"),
    ]
