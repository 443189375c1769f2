"""A cluster's parts on their nodes, and their tones: only what is proven is well."""

from __future__ import annotations

import dataclasses

import pytest

from queenright.core.kinds.postgres_cluster.status.picture import UNKNOWN_HOLDER, cluster_parts
from queenright.core.observed import Known, MemberStatus, Observed, Unknown
from queenright.core.planning.picture import Part, places
from tests.support.builders import VIP, desired, manifest, status, swarm_of, three_nodes
from tests.support.changed import with_member, with_tasks, without

WITH_VIP = manifest(vip=VIP)
REPLICA = status("member-2", "member-1")


def parts(observed: Observed, sort: str, text: str = WITH_VIP) -> dict[str, Part]:
    wanted = desired(text, was_whole=True)
    found = cluster_parts(wanted, observed, swarm_of(observed))
    return {part.node: part for part in found if part.sort == sort}


@pytest.mark.parametrize(
    ("reading", "tone"),
    [
        (REPLICA, "well"),
        (dataclasses.replace(REPLICA, replication_state=""), "waits"),
        (dataclasses.replace(REPLICA, state="creating replica", replication_state=""), "waits"),
        (dataclasses.replace(REPLICA, state="start failed"), "broken"),
        (dataclasses.replace(REPLICA, role="primary", replication_state=""), "waits"),
        (Unknown("timed out"), "unknown"),
    ],
)
def test_a_members_tone_is_what_it_proves(reading: MemberStatus | Unknown, tone: str) -> None:
    found = parts(with_member(three_nodes(text=WITH_VIP), "member-2", reading), "member")
    assert {node: part.tone for node, part in found.items()} == {
        "node2": "leader",
        "node3": tone,
        "node4": "well",
    }


def test_keepalived_is_unknown_on_a_node_that_is_down() -> None:
    found = parts(three_nodes(down={"node4"}, text=WITH_VIP), "keepalived")
    assert {node: (part.name, part.tone) for node, part in found.items()} == {
        "node2": ("10.77.0.100", "well"),
        "node3": ("10.77.0.100", "well"),
        "node4": ("10.77.0.100", "unknown"),
    }


def test_keepalived_has_the_address_where_the_member_answers_at_it() -> None:
    observed = three_nodes(text=WITH_VIP)
    held = dataclasses.replace(observed, holders={"main": Known("member-2")})
    assert {node: part.words[0] for node, part in parts(held, "keepalived").items()} == {
        "node2": "",
        "node3": "has the address",
        "node4": "",
    }
    found = parts(observed, "keepalived")
    assert {part.words[0] for part in found.values()} == {UNKNOWN_HOLDER}


def test_a_proxy_without_a_task_is_broken() -> None:
    observed = with_tasks(three_nodes(text=WITH_VIP), "main_proxy")
    assert {part.tone for part in parts(observed, "proxy").values()} == {"broken"}


def test_nothing_that_is_not_deployed_is_well() -> None:
    observed = without(three_nodes(text=WITH_VIP), "main_vip", "main_proxy")
    assert parts(observed, "keepalived") == {}
    assert {part.tone for part in parts(observed, "proxy").values()} == {"broken"}


def test_a_node_that_is_not_there_and_none_at_all_are_named() -> None:
    found = places((Part("", "edge", "e", "waits"), Part("gone", "member", "m", "unknown")), {})
    assert [(one.node, one.state, one.is_ready) for one in found] == [
        ("gone", "no such node", False),
        ("", "no node yet", False),
    ]
