"""The guard of the notes with which the operator replaces members by itself."""

from __future__ import annotations

import dataclasses
import re

import pytest

from queenright.core.actions import LabelConfig
from queenright.core.kinds.postgres_cluster.topology.replaced import (
    REPLACED_LABEL,
    Replaced,
    decode_replaced,
    encode_replaced,
)
from queenright.core.observed import Observed, Unknown
from queenright.core.planning.plan import Plan
from tests.support.builders import status, swarm_of
from tests.support.changed import with_member
from tests.support.replacing_worlds import (
    MINE,
    dead,
    labels_of,
    noted,
    reached,
    with_another_cluster,
)
from tests.support.topology_worlds import (
    deployed,
    raft_nodes,
    refusal,
    with_raft_nodes,
)


def bad(observed: Observed, *notes: Replaced) -> Plan:
    (found,) = (c for c in swarm_of(observed).configs if c.value.name == "main_cluster")
    labels = {**found.value.labels, REPLACED_LABEL: encode_replaced(notes)}
    config = dataclasses.replace(found.value, labels=labels)
    return Plan("main", "digest", (LabelConfig(found.id, found.version, config, reason=""),))


@pytest.mark.parametrize(
    ("observed", "notes", "why"),
    [
        (dead(30.0), [MINE], "is down for 30 s only"),
        (dead(1e6, "unknown"), [MINE], "does not call node4 down"),
        (deployed(1, 2, 3), [MINE], "does not call node4 down"),
        (with_member(dead(), "member-3", status("member-3", "member-1")), [MINE], "answers"),
        (with_member(dead(), "member-2", Unknown("")), [MINE], "is not known to be well"),
        (with_raft_nodes(dead(), raft_nodes([1, 2, 3], down=[2, 3])), [MINE], "to have a quorum"),
        (reached(), [MINE], "reaches main_member-3"),
        (dead(), [MINE, Replaced("member-2", "node3", "node6")], "more than one"),
        (noted(dead(), Replaced("member-2", "node3", "node6")), [MINE], "more than one"),
        (dead(), [Replaced("member-3", "node4", "node3")], "has a member"),
        (dead(), [Replaced("member-3", "node4", "node9")], "is not ready"),
        (with_another_cluster(dead(), "other", on="node5"), [MINE], "has a member"),
    ],
)
def test_the_guard_refuses_a_bad_note(observed: Observed, notes: list[Replaced], why: str) -> None:
    more = decode_replaced(labels_of(observed).get(REPLACED_LABEL, ""))
    found = refusal(bad(observed, *more, *notes), observed)
    assert found is not None
    assert found.guard == "only-the-dead-are-replaced"
    assert re.search(why, found.reason), found.reason
