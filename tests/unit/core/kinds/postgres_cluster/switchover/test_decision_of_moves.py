"""The leadership goes to no member whose place goes: it would have to hand over again."""

from __future__ import annotations

from datetime import timedelta

import pytest

from queenright.core.actions import PatchSettings, Switchover
from queenright.core.kinds.postgres_cluster.annotations import LastLeader, ReturnTo
from queenright.core.planning.plan import Plan
from tests.golden.messages import assert_words
from tests.support.builders import NOW, manifest, plan_for
from tests.support.changed import with_notes
from tests.support.topology_worlds import deployed

AUTOMATIC = manifest(primary="member-2", failback="{mode: automatic, after: 10m}")
LONG = LastLeader("member-1", 1, NOW - timedelta(hours=1))


def moves(plan: Plan) -> list[str]:
    """The steps of a switchover."""
    return [a.key for a in plan.actions if isinstance(a, Switchover | PatchSettings)]


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        pytest.param(manifest(primary="member-2"), {"primary": ""}, id="primary"),
        pytest.param(
            manifest(primary="member-2"), {"return_to": ReturnTo("member-2", 1)}, id="return"
        ),
        pytest.param(AUTOMATIC, {"leader": LONG}, id="failback"),
    ],
)
def test_a_member_that_moves_leads_when_it_is_there(text: str, notes: dict[str, object]) -> None:
    observed = with_notes(deployed(1, 2, 3), **{"primary": "member-2", **notes})
    assert moves(plan_for(observed, text)) == ["route/main"]
    plan = plan_for(observed, text.replace("member-2, node: node3", "member-2, node: node5"))
    assert moves(plan) == []
    (hold,) = (hold for hold in plan.holds if hold.key == "primary/main")
    assert_words(hold)
