"""A second member dies while the place of a first one is given away already."""

from __future__ import annotations

import dataclasses

import pytest

from queenright.core.actions import AnyAction, LabelConfig, NoteMembers, RemoveService
from queenright.core.kinds.postgres_cluster.places import decode_places
from queenright.core.kinds.postgres_cluster.topology.replaced import (
    REPLACED_LABEL,
    Replaced,
    decode_replaced,
)
from queenright.core.observed import NODE_DOWN, Observed, Unknown
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import MEMBERS_LABEL
from tests.support.builders import plan_for, swarm_of
from tests.support.changed import with_member, with_node, with_swarm
from tests.support.replacing_worlds import labels_of, noted
from tests.support.topology_worlds import (
    after,
    deployed,
    raft_nodes,
    refusal,
    text_of,
    with_raft_nodes,
)

FIRST = Replaced("member-4", "node5", "node7")


def text(*spares: str) -> str:
    asked = f"  replaceAfter: 30m\n  spareNodes: [{', '.join(spares)}]\n"
    return text_of(1, 2, 3, 4, 5, spec=asked)


def dead(observed: Observed, *numbers: int, voters: tuple[int, ...]) -> Observed:
    """The nodes of these members are down for long."""
    for number in numbers:
        node = f"node{number + 1}"
        observed = with_node(observed, node, state="down")
        observed = with_member(observed, f"member-{number}", Unknown("timed out"))
        seen = {**observed.seen_s_ago, f"{NODE_DOWN}id-{node}": 1e6}
        observed = dataclasses.replace(observed, seen_s_ago=seen)
    return with_raft_nodes(observed, raft_nodes(voters, down=numbers))


def followed(observed: Observed, asked: str, kind: type[AnyAction]) -> Observed:
    """Return what is seen after the first action of this kind."""
    for _ in range(20):
        plan = plan_for(observed, asked)
        assert refusal(plan, observed) is None, refusal(plan, observed)
        assert plan.actions, [hold.reason for hold in plan.holds]
        for action in plan.actions:
            if isinstance(action, kind):
                return after(observed, action)
        observed = after(observed, plan.actions[0])
    raise AssertionError("never")


@pytest.fixture(scope="module")
def cut() -> Observed:
    """The fourth member's place is free, its note names the node7; the node8 is there, too."""
    observed = deployed(1, 2, 3, 4, 5)
    plain = dataclasses.replace(swarm_of(observed).nodes[-1], labels={})
    node = dataclasses.replace(plain, id="id-node8", name="node8", address="10.77.0.18")
    observed = with_swarm(observed, nodes=(*swarm_of(observed).nodes, node))
    observed = dead(observed, 4, voters=(1, 2, 3, 4, 5))
    for kind in (LabelConfig, RemoveService, NoteMembers):
        observed = followed(observed, text("node7"), kind)
    assert notes_of(observed) == (FIRST,)
    return observed


def notes_of(observed: Observed) -> tuple[Replaced, ...]:
    return decode_replaced(labels_of(observed).get(REPLACED_LABEL, ""))


def places_of(observed: Observed) -> dict[str, str]:
    return {place.name: place.node for place in decode_places(labels_of(observed)[MEMBERS_LABEL])}


def notes_in(plan: Plan) -> tuple[Replaced, ...] | None:
    for action in plan.actions:
        if isinstance(action, LabelConfig):
            return decode_replaced(action.config.labels.get(REPLACED_LABEL, ""))
    return None


def test_the_one_that_votes_gets_the_spare_node_first(cut: Observed) -> None:
    """The other one waits for all to be well, and so for this one."""
    observed = with_node(dead(cut, 5, voters=(1, 2, 3, 5)), "node7", state="down")
    asked = text("node7", "node8")
    observed = followed(observed, asked, LabelConfig)
    assert notes_of(observed) == (FIRST, Replaced("member-5", "node6", "node8"))
    for kind in (RemoveService, NoteMembers, NoteMembers):
        observed = followed(observed, asked, kind)
    assert places_of(observed)["member-5"] == "node8"
    assert notes_of(observed) == (FIRST, Replaced("member-5", "node6", "node8"))


def test_a_begun_replacement_goes_on_while_the_others_spare_node_fails(cut: Observed) -> None:
    """The other one's note changes when this one is done."""
    observed = dead(cut, 5, voters=(1, 2, 3, 5))
    asked = text("node7", "node8", "node9")
    observed = followed(observed, asked, LabelConfig)
    assert notes_of(observed) == (FIRST, Replaced("member-5", "node6", "node8"))
    node = dataclasses.replace(swarm_of(observed).nodes[-1], id="id-9", name="node9")
    node = dataclasses.replace(node, address="10.77.0.19", labels={})
    observed = with_swarm(observed, nodes=(*swarm_of(observed).nodes, node))
    observed = with_node(observed, "node7", state="down")
    plan = plan_for(observed, asked)
    assert refusal(plan, observed) is None
    assert [a.key for a in plan.actions if "raft-remove" in a.key]
    for kind in (RemoveService, NoteMembers):
        observed = followed(observed, asked, kind)
    plan = plan_for(observed, asked)
    assert refusal(plan, observed) is None
    assert notes_in(plan) == (
        Replaced("member-4", "node5", "node9"),
        Replaced("member-5", "node6", "node8"),
    )


def test_of_two_without_a_place_one_gets_another_node_in_a_pass(cut: Observed) -> None:
    observed = dead(cut, 5, voters=(1, 2, 3, 5))
    asked = text("node7", "node8")
    for kind in (LabelConfig, RemoveService, NoteMembers):
        observed = followed(observed, asked, kind)
    lost = with_node(with_node(observed, "node7", state="down"), "node8", state="down")
    more = swarm_of(lost).nodes
    for number in (9, 10):
        node = dataclasses.replace(more[-1], id=f"id-{number}", name=f"node{number}")
        node = dataclasses.replace(node, address=f"10.77.0.{10 + number}", state="ready", labels={})
        more = (*more, node)
    lost, asked = with_swarm(lost, nodes=more), text("node7", "node8", "node9", "node10")
    for _ in range(2):
        plan = plan_for(lost, asked)
        assert refusal(plan, lost) is None
        lost = noted(lost, *(notes_in(plan) or ()))
    assert {note.node for note in notes_of(lost)} == {"node9", "node10"}
