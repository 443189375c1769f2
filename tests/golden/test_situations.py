"""Situations whose messages no other test compares with the page: each one's whole plan."""

from __future__ import annotations

from datetime import timedelta

import pytest

from queenright.core.kinds.postgres_cluster.annotations import PendingSwitchover
from queenright.core.kinds.postgres_cluster.patroni.config_keys import ROUTE_KEY, Route
from queenright.core.observed import Observed, Unknown
from tests.golden.messages import assert_words
from tests.support.app_builders import (
    WEB,
    app_manifest,
    app_plan,
    bare,
    behind,
    known,
    served,
    undeployed,
)
from tests.support.builders import MANIFEST, NOW, plan_for, status, three_nodes
from tests.support.changed import (
    with_live_service,
    with_member,
    with_node,
    with_notes,
    with_raft,
    with_service,
    with_settings,
    without,
)

REQUESTED = PendingSwitchover("member-1", "member-2", 1, NOW - timedelta(seconds=5), "command")
SECOND = "    - {name: member-2, node: node3}\n"
FOURTH = "    - {name: member-4, node: node5}\n    - {name: member-5, node: node6}\n"
DATABASES = """\
  roles: [{name: shop, passwordSecret: shop_pw}]
  databases: [{name: shop, owner: shop}]
"""


def hinted(observed: Observed, member: str) -> Observed:
    """The proxies have read that the leadership goes to this member."""
    hint = Route("follow", member, NOW - timedelta(seconds=3))
    return with_settings(observed, **{ROUTE_KEY: str(hint)})


def written(**spec: str) -> str:
    return MANIFEST + "".join(f"  {name}: {value}\n" for name, value in spec.items())


PRIMARY = written(primary="member-2")
FAILBACK = written(primary="member-2", failback="automatic")
AWAY = written(primary="member-2", failback="automatic", maintenance="{nodes: [node3]}")
AT_START = with_notes(three_nodes(text=PRIMARY), primary="")
"""The file names a primary that has not led yet."""
EARLIER = with_service(three_nodes(), "main_member-2", command=("x",))

CLUSTERS: dict[str, tuple[Observed, str]] = {
    "a requested switchover may still happen": (
        with_notes(three_nodes(), move=REQUESTED),
        MANIFEST,
    ),
    "a requested switchover and no leader": (
        with_notes(three_nodes(leader="nobody"), move=REQUESTED),
        MANIFEST,
    ),
    "primary restarts first": (
        with_service(AT_START, "main_member-2", command=("x",)),
        PRIMARY,
    ),
    "primary leads next": (hinted(AT_START, "member-2"), PRIMARY),
    "the route hint is being read": (
        with_settings(AT_START, **{ROUTE_KEY: str(Route("follow", "member-2", NOW))}),
        PRIMARY,
    ),
    "failback waits": (three_nodes("member-3", text=FAILBACK), FAILBACK),
    "no failback during maintenance": (
        with_notes(three_nodes("member-3", text=AWAY), primary="member-2"),
        AWAY,
    ),
    "primary is in maintenance": (with_notes(three_nodes(text=AWAY), primary=""), AWAY),
    "nobody can take over": (
        with_raft(
            three_nodes(text=written(maintenance="{nodes: [node2]}")), "member-3", Unknown("x")
        ),
        written(maintenance="{nodes: [node2]}"),
    ),
    "a rollout on the leader": (
        hinted(with_service(three_nodes(), "main_member-1", command=("x",)), "member-2"),
        MANIFEST,
    ),
    "an update during maintenance": (
        with_service(
            three_nodes(text=written(maintenance="{nodes: [node4]}")),
            "main_member-2",
            command=("x",),
        ),
        written(maintenance="{nodes: [node4]}"),
    ),
    "an update while swarm is updating": (
        with_live_service(
            EARLIER,
            "main_member-2",
            update_state="updating",
            updated_at=NOW - timedelta(seconds=30),
        ),
        MANIFEST,
    ),
    "a line of a member is gone": (three_nodes(), MANIFEST.replace(SECOND, FOURTH + SECOND, 1)),
    "settings differ": (with_settings(three_nodes(), ttl=45), MANIFEST),
    "settings are not known during a pause": (
        with_raft(with_settings(three_nodes(), ttl=45), "member-1", Unknown("x")),
        written(promotion="paused"),
    ),
    "a restart brings a parameter": (
        with_member(
            three_nodes(),
            "member-2",
            status(
                "member-2",
                "member-1",
                pending_restart=True,
                pending_changes={"max_connections": ("50", "100")},
            ),
        ),
        MANIFEST,
    ),
    "labels are missing": (with_node(three_nodes(), "node1", labels={"pg-node": "9"}), MANIFEST),
    "roles and databases without their secret": (
        three_nodes(text=MANIFEST + DATABASES),
        MANIFEST + DATABASES,
    ),
    "a whole cluster's first steps": (without(three_nodes(), "main_proxy"), MANIFEST),
}

APPS: dict[str, tuple[Observed, str]] = {
    "nothing is deployed": (bare(), app_manifest()),
    "the database is ready": (undeployed(), app_manifest()),
    "no leader": (
        with_member(undeployed(), "member-1", status("member-1", "nobody")),
        app_manifest(),
    ),
    "a leader without a quorum": (
        with_raft(undeployed(), "member-1", Unknown("timed out")),
        app_manifest(),
    ),
    "a switchover of the database": (
        with_notes(served(), move=REQUESTED),
        app_manifest(maxAttachment="512M"),
    ),
    "no replica serves and the edge comes": (known(without(served(), WEB)), behind()),
    "served": (served(), app_manifest()),
}


@pytest.mark.parametrize(("observed", "text"), CLUSTERS.values(), ids=CLUSTERS)
def test_a_cluster(observed: Observed, text: str) -> None:
    plan = plan_for(observed, text)
    assert_words(*plan.holds, *plan.actions)


@pytest.mark.parametrize(("observed", "text"), APPS.values(), ids=APPS)
def test_an_application(observed: Observed, text: str) -> None:
    plan = app_plan(observed, text)
    assert_words(*plan.holds, *plan.actions)
