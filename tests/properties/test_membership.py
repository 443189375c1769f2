"""Whatever becomes of the lines of ``members``: deployed members stay who and where they are."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from queenright.core.actions import LabelNode, RestartService, UpdateService
from queenright.core.membership import Place, decode_places, encode_places
from queenright.core.observed import Live, Observed
from queenright.core.plan import Plan
from queenright.core.resources import BOOTSTRAPPED_LABEL, MEMBERS_LABEL
from queenright.core.spec.loading import load
from tests.builders import (
    FILE,
    MANIFEST,
    MEMBERS,
    NODE_OF,
    desired,
    found_images,
    live,
    plan_for,
    swarm_of,
    three_nodes,
    with_config_labels,
    with_node,
    with_swarm,
    without,
)
from tests.properties.test_plans import fast

ADDRESSES = {f"node{number}": f"10.77.0.{10 + number}" for number in range(1, 6)}
KEPT = ("RAFT_SELF", "NODE_CONNECT", "RAFT_PARTNERS", "NODE_NAME")
Line = dict[str, str]
LINES: list[Line] = [{"name": name, "node": NODE_OF[name]} for name in MEMBERS]


def text_of(lines: Sequence[Line]) -> str:
    written = yaml.safe_load(MANIFEST)
    written["spec"]["members"] = list(lines)
    text: str = yaml.safe_dump(written, sort_keys=False)
    return text


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


EDITS = edits().filter(lambda text: not load({FILE: text}).errors)


@st.composite
def deployments(draw: st.DrawFn) -> Observed:
    """The deployed cluster beside a fifth node; perhaps without its anchor, not yet whole once, or
    with a node that is down or has another address."""
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
            return with_config_labels(observed, "main_cluster", desired().anchor.labels)
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
    """Where proxies are is not written here: they are on the members' nodes, the deployed ones."""
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
    """As it was noted, or, where the anchor was lost, derived from the services."""
    for plan in plans(observed, text):
        for action in plan.actions:
            config = getattr(action, "config", None)
            if config is not None and config.name == "main_cluster":
                assert config.labels[MEMBERS_LABEL] == desired().anchor.labels[MEMBERS_LABEL]


@given(deployments(), EDITS)
@fast
def test_every_difference_is_told_by_its_member(observed: Observed, text: str) -> None:
    written = {line["name"]: line for line in yaml.safe_load(text)["spec"]["members"]}
    present = {node.name: node.address for node in swarm_of(observed).nodes}
    expected = {f"membership/main_{name}" for name in written.keys() ^ set(MEMBERS)}
    for name in written.keys() & set(MEMBERS):
        node = written[name]["node"]
        address = written[name].get("address", present[node])
        if (node, address) != (NODE_OF[name], ADDRESSES[NODE_OF[name]]):
            expected.add(f"membership/main_{name}")
    holds = {hold.key for hold in plan_for(observed, text).holds}
    assert {key for key in holds if key.startswith("membership/")} == expected


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


PLACES = st.lists(st.builds(Place, *[st.text(max_size=8)] * 3), max_size=7).map(tuple)


@given(PLACES)
@fast
def test_a_note_reads_as_it_was_written(places: tuple[Place, ...]) -> None:
    assert decode_places(encode_places(places)) == places


@given(st.sampled_from(["", "x", "{}", "[1]", "[[1,2]]", '[["a","b","c","d"]]', "null", "3"]))
def test_what_is_no_note_says_nothing(text: str) -> None:
    assert decode_places(text) == ()


def test_a_spoilt_note_is_made_again_from_the_services() -> None:
    labels = {**desired().anchor.labels, BOOTSTRAPPED_LABEL: "true", MEMBERS_LABEL: "?"}
    observed = with_config_labels(three_nodes(), "main_cluster", labels)
    plan = plan_for(observed, text_of(LINES[::-1]))
    assert [action.key for action in plan.actions] == ["label-config/main_cluster"]
    config = getattr(plan.actions[0], "config", None)
    assert config is not None
    assert config.labels[MEMBERS_LABEL] == desired().anchor.labels[MEMBERS_LABEL]
