"""Edits of ``members``: no step moves a deployed member, and at most one place is added."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from functools import cache
from string import ascii_lowercase, digits
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from queenright.core.actions import LabelNode, NoteMembers, RestartService, UpdateService
from queenright.core.kinds.postgres_cluster.places import (
    DeployedMember,
    decode_places,
    encode_places,
    numbers_of,
    with_place,
    without_place,
)
from queenright.core.observed import Live, Observed
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import BOOTSTRAPPED_LABEL, MEMBERS_LABEL
from tests.fakes.loading import judged
from tests.properties.test_plans import fast
from tests.support.builders import (
    FILE,
    MANIFEST,
    MEMBERS,
    NODE_OF,
    desired,
    document,
    found_images,
    plan_for,
    swarm_of,
    three_nodes,
)
from tests.support.changed import live, with_config_labels, with_node, with_swarm, without

ADDRESSES = {f"node{number}": f"10.77.0.{10 + number}" for number in range(1, 6)}
KEPT = ("RAFT_SELF", "NODE_CONNECT", "RAFT_PARTNERS", "NODE_NAME")
Line = dict[str, str]
LINES: list[Line] = [{"name": name, "node": NODE_OF[name]} for name in MEMBERS]


def text_of(lines: Sequence[Line]) -> str:
    return written(json.dumps(lines))


@cache
def written(lines: str) -> str:
    """The manifest with the lines, of which there are few."""
    first, last = (MANIFEST.index(f"    - {{name: {name}") for name in (MEMBERS[0], MEMBERS[-1]))
    before, after = MANIFEST[:first], MANIFEST[MANIFEST.index("\n", last) + 1 :]
    return before + "".join(f"    - {json.dumps(line)}\n" for line in json.loads(lines)) + after


@st.composite
def edits(draw: st.DrawFn) -> str:
    """The members' lines permuted, and some of them re-noded, renamed, re-addressed, added or
    taken away; as long as the file is one that would be accepted."""
    lines = [dict(line) for line in draw(st.permutations(LINES))]
    for line in lines:
        if draw(st.integers(0, 3)) == 0:
            line["node"] = draw(st.sampled_from(sorted(ADDRESSES)))
        if draw(st.integers(0, 5)) == 0:
            line["name"] = draw(st.sampled_from(["member-4", "primary"]))
        if draw(st.integers(0, 5)) == 0:
            line["address"] = draw(st.sampled_from(["10.77.0.11", "10.77.0.13", "10.77.0.99"]))
    extra: list[Line] = [{"name": "member-5", "node": "node5"}, {"name": "m-6", "node": "node1"}]
    for line in draw(st.lists(st.sampled_from(extra), max_size=2, unique_by=str)):
        lines.insert(draw(st.integers(0, len(lines))), line)
    while len(lines) > 1 and draw(st.integers(0, 4)) == 0:
        lines.pop(draw(st.integers(0, len(lines) - 1)))
    return text_of(lines)


EDITS = edits().filter(lambda text: not judged({FILE: text}).errors)


@st.composite
def deployments(draw: st.DrawFn) -> Observed:
    """The deployed cluster beside a fifth node; perhaps without its state config, not yet whole
    once, or with a node that is down or has another address."""
    observed = dataclasses.replace(
        three_nodes(draw(st.sampled_from(MEMBERS))), images=found_images()
    )
    fifth = dataclasses.replace(
        swarm_of(observed).nodes[0], id="id-node5", name="node5", address="10.77.0.15", labels={}
    )
    observed = with_swarm(observed, nodes=(*swarm_of(observed).nodes, fifth))
    match draw(st.sampled_from(["noted", "no anchor", "not whole", "address", "down"])):
        case "no anchor":
            return without(observed, "main_cluster")
        case "not whole":
            return with_config_labels(observed, "main_cluster", desired().state_config.labels)
        case "address":
            return with_node(observed, "node3", address="10.77.0.99")
        case "down":
            return with_node(observed, draw(st.sampled_from(["node2", "node4"])), state="down")
        case _:
            return observed


def with_what_was_made(observed: Observed, text: str) -> Observed:
    """The swarm after the configs that the plan wants are made, so that updates are planned."""
    made = [getattr(a, "config", None) for a in plan_for(observed, text).actions]
    known = {found.value.name for found in swarm_of(observed).configs}
    fresh = [Live(c.name, 1, c) for c in made if c is not None and c.name not in known]
    return with_swarm(observed, configs=(*swarm_of(observed).configs, *fresh))


def plans(observed: Observed, text: str) -> tuple[Plan, Plan]:
    return plan_for(observed, text), plan_for(with_what_was_made(observed, text), text)


@given(deployments(), EDITS)
@fast
def test_no_label_is_moved_on_which_a_member_rests(observed: Observed, text: str) -> None:
    resting = {
        (NODE_OF[name], "pg-node", live(observed, f"main_{name}").value.constraints)
        for name in MEMBERS
    }
    for plan in plans(observed, text):
        for action in plan.actions:
            if isinstance(action, LabelNode):
                touched = {(action.node, key) for key in action.labels}
                assert not touched & {(node, key) for node, key, _ in resting}
                assert "pg-node" not in action.labels, "no other node gets a member's label"


@given(deployments(), EDITS)
@fast
def test_no_proxy_is_taken_or_made(observed: Observed, text: str) -> None:
    """The places of proxies are not recorded: they are the nodes of the deployed members."""
    for plan in plans(observed, text):
        assert not any(action.key.startswith("label-node/") for action in plan.actions)


@given(deployments(), EDITS)
@fast
def test_no_member_is_given_another_address_or_place(observed: Observed, text: str) -> None:
    for plan in plans(observed, text):
        for action in plan.actions:
            if isinstance(action, UpdateService | RestartService):
                before, after = live(observed, action.service.name).value, action.service
                assert after.constraints == before.constraints
                for name in KEPT:
                    assert after.environment.get(name) == before.environment.get(name)
            assert not action.key.startswith(("create-service/", "remove-service/"))


@given(deployments(), EDITS)
@fast
def test_the_proxies_keep_the_deployed_addresses(observed: Observed, text: str) -> None:
    for plan in plans(observed, text):
        for action in plan.actions:
            config = getattr(action, "config", None)
            assert config is None or "haproxy" not in config.name, "another haproxy.cfg is made"
            if isinstance(action, UpdateService) and action.service.name == "main_proxy":
                assert action.service.configs == live(observed, "main_proxy").value.configs


@given(deployments(), EDITS)
@fast
def test_the_anchor_keeps_who_was_deployed(observed: Observed, text: str) -> None:
    """Return the recorded membership, or, without a state config, that of the services."""
    for plan in plans(observed, text):
        for action in plan.actions:
            config = getattr(action, "config", None)
            if isinstance(action, NoteMembers):
                before = decode_places(desired().state_config.labels[MEMBERS_LABEL])
                after = decode_places(action.config.labels[MEMBERS_LABEL])
                assert (after[:3], len(after)) == (before, 4)
            elif config is not None and config.name == "main_cluster":
                assert config.labels[MEMBERS_LABEL] == desired().state_config.labels[MEMBERS_LABEL]


@given(deployments(), EDITS)
@fast
def test_every_difference_is_told_by_its_member(observed: Observed, text: str) -> None:
    written = {member.name: member for member in document(text).resource.spec.members}
    present = {node.name: node.address for node in swarm_of(observed).nodes}
    expected = {f"membership/main_{name}" for name in written.keys() ^ set(MEMBERS)}
    for name in written.keys() & set(MEMBERS):
        node = written[name].node
        address = str(written[name].address or present[node])
        if (node, address) != (NODE_OF[name], ADDRESSES[NODE_OF[name]]):
            expected.add(f"membership/main_{name}")
    for name in written.keys() - set(MEMBERS):
        line = written[name]
        at = (line.node, str(line.address or present[line.node]))
        gone = set(MEMBERS) - written.keys()
        if at in {(NODE_OF[old], ADDRESSES[NODE_OF[old]]) for old in gone}:
            expected.discard(f"membership/main_{name}")  # told by the member that gets this name
    plan = plan_for(observed, text)
    told = {hold.key for hold in plan.holds if hold.key.startswith("membership/")}
    told |= {f"membership/main_{name}" for name in added_by(plan)}
    assert told == expected


def added_by(plan: Plan) -> set[str]:
    """Return the new members whose places the plan notes."""
    return {
        place.name.removesuffix("-moved")
        for action in plan.actions
        if isinstance(action, NoteMembers)
        for place in decode_places(action.config.labels[MEMBERS_LABEL])[3:]
    }


@given(st.permutations(LINES), deployments())
@fast
def test_the_order_of_the_lines_is_nothing(lines: list[Line], observed: Observed) -> None:
    """Not even by the first one's failover priority, where none is written."""
    written, as_deployed = plan_for(observed, text_of(lines)), plan_for(observed)
    assert [a.key for a in written.actions] == [a.key for a in as_deployed.actions]
    assert written.holds == as_deployed.holds
    assert written.desired_digest == as_deployed.desired_digest


def test_a_written_priority_goes_by_name() -> None:
    lines: list[Any] = [dict(line) for line in LINES[::-1]]
    lines[2]["failoverPriority"] = 3
    lines[0]["failoverPriority"] = 7
    plan = plan_for(three_nodes("member-1"), text_of(lines))
    (action,) = plan.actions
    assert isinstance(action, UpdateService)
    assert action.service.name == "main_member-3"
    assert action.service.environment["FAILOVER_PRIORITY"] == "7"


PLACE_WORDS = st.builds(
    str.__add__,
    st.sampled_from(ascii_lowercase),
    st.text(ascii_lowercase + digits, max_size=7),
)
PLACE_ADDRESSES = st.builds("10.77.0.{}".format, st.integers(2, 250))
PLACES = st.lists(
    st.builds(DeployedMember, PLACE_WORDS, PLACE_WORDS, PLACE_ADDRESSES),
    max_size=7,
    unique_by=lambda place: place.name,
).map(tuple)


@given(PLACES, st.integers(0, 6))
@fast
def test_the_others_keep_their_numbers(places: tuple[DeployedMember, ...], gone: int) -> None:
    numbers = dict(zip((place.name for place in places), numbers_of(places), strict=True))
    name = places[gone].name if gone < len(places) else ""
    left = without_place(places, name)
    assert decode_places(encode_places(left)) == left
    kept = dict(zip((place.name for place in left), numbers_of(left), strict=True))
    assert kept == {other: number for other, number in numbers.items() if other != name}
    again = with_place(left, "new-one", "node9", "10.77.0.99", "main")
    assert [*numbers_of(again)] == sorted({*numbers_of(again)})
    assert {place.name for place in again} == {*kept, "new-one"}


@given(PLACES)
@fast
def test_a_note_reads_as_it_was_written(places: tuple[DeployedMember, ...]) -> None:
    assert decode_places(encode_places(places)) == places


NO_NOTES = ("", "x", "[" * 5000, '["abc"]', '[["=","node2","10.77.0.12"]]', "{}", "[1]", "[[1,2]]")


@given(st.sampled_from([*NO_NOTES, '[["a","b","c","d"]]', "null", "3"]))
def test_what_is_no_note_says_nothing(text: str) -> None:
    assert decode_places(text) == ()


def test_a_spoilt_note_is_made_again_from_the_services() -> None:
    labels = {**desired().state_config.labels, BOOTSTRAPPED_LABEL: "true", MEMBERS_LABEL: "?"}
    observed = with_config_labels(three_nodes(), "main_cluster", labels)
    plan = plan_for(observed, text_of(LINES[::-1]))
    assert [action.key for action in plan.actions] == ["label-config/main_cluster"]
    config = getattr(plan.actions[0], "config", None)
    assert config is not None
    assert config.labels[MEMBERS_LABEL] == desired().state_config.labels[MEMBERS_LABEL]
