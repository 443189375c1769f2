"""Random worlds for Hypothesis: the converged cluster, with any number of things otherwise."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st

from queenright.core.observed import Known, MemberStatus, Observed, Unknown
from queenright.core.swarm.objects import Attachment, Mount, Port
from tests.support.builders import (
    MANIFEST,
    MEMBERS,
    NOW,
    desired,
    found_images,
    manifest,
    status,
    swarm_of,
    task,
    three_nodes,
)
from tests.support.changed import (
    with_live_service,
    with_member,
    with_node,
    with_service,
    with_tasks,
    without,
)

Change = Callable[[Observed], Observed]

DOCUMENTS = st.sampled_from(
    [
        MANIFEST,
        manifest(memory="{limit: 3G}"),
        manifest(stopGracePeriod="90s", deletionPolicy="remove"),
        manifest(postgresql="{parameters: {work_mem: 8MB}}"),
        manifest(restApi="{authentication: none}"),
        MANIFEST.replace("member:16", "member:17"),
    ]
)
SERVICES = st.sampled_from([f"main_{name}" for name in MEMBERS] + ["main_proxy"])
HAND_CHANGES: tuple[dict[str, Any], ...] = (
    {"environment": {"A": "b"}},
    {"image": "other:1"},
    {"labels": {}},
    {"replicas": 0},
    {"networks": (Attachment("main_patroni", ("x",)),)},
    {"configs": ()},
    {"secrets": ()},
    {"ports": (Port(1, 2),)},
    {"mounts": (Mount("/x"),)},
    {"mode": "global"},
    {"constraints": ()},
    {"other": {"x": "1"}},
)
NODES = st.sampled_from(["node1", "node2", "node3", "node4"])
TASK_STATES = st.sampled_from(
    ["running", "failed", "complete", "pending", "shutdown", "preparing", "rejected"]
)
OBJECTS = st.sampled_from(
    [
        "main_patroni",
        "main_cluster",
        "pg_superuser_pw",
        "pg_rest_pw",
        desired().template.name,
        desired().haproxy.name,
        *(service.name for service in desired().services),
    ]
)


def hand_change(name: str, fields: dict[str, Any]) -> Change:
    def change(observed: Observed) -> Observed:
        return with_service(observed, name, **fields) if has(observed, name) else observed

    return change


def has(observed: Observed, name: str) -> bool:
    return swarm_of(observed).service(name) is not None


def removed(name: str) -> Change:
    return lambda observed: without(observed, name)


def silent(name: str) -> Change:
    return said(name, Unknown("timed out"))


def said(name: str, reading: MemberStatus | Unknown) -> Change:
    """Change a member's reading, if its service exists: no other can answer."""

    def change(observed: Observed) -> Observed:
        return with_member(observed, name, reading) if has(observed, f"main_{name}") else observed

    return change


def unwell(name: str, state: str, paused: bool) -> Change:
    found = status(name, "nobody", state=state, replication_state="", paused=paused)
    return said(name, found)


def leads_too(name: str) -> Change:
    return said(name, status(name, name))


def node_is(name: str, state: str, availability: str) -> Change:
    return lambda observed: with_node(observed, name, state=state, availability=availability)


def labelled(name: str, label: str | None) -> Change:
    labels = {} if label is None else {"pg-node": label}
    return lambda observed: with_node(observed, name, labels=labels)


def only_task(service: str, node: str, state: str, desired_state: str, age_s: int) -> Change:
    slot = 0 if service == "main_proxy" else 1
    at = NOW - timedelta(seconds=age_s)
    made = task(service, node, slot=slot, state=state, desired_state=desired_state, at=at)
    return lambda observed: with_tasks(observed, service, made)


def updating(name: str) -> Change:
    return lambda observed: with_live_service(observed, name, update_state="updating")


STATES = st.sampled_from(["running", "stopped", "starting", "start failed", "creating replica"])
CHANGES: st.SearchStrategy[Change] = st.one_of(
    st.builds(hand_change, SERVICES, st.sampled_from(HAND_CHANGES)),
    st.builds(removed, OBJECTS),
    st.builds(silent, st.sampled_from(MEMBERS)),
    st.builds(unwell, st.sampled_from(MEMBERS), STATES, st.booleans()),
    st.builds(leads_too, st.sampled_from(MEMBERS)),
    st.builds(
        node_is,
        NODES,
        st.sampled_from(["ready", "down", "unknown"]),
        st.sampled_from(["active", "drain", "pause"]),
    ),
    st.builds(labelled, NODES, st.sampled_from([None, "1", "2", "3"])),
    st.builds(
        only_task,
        SERVICES,
        NODES,
        TASK_STATES,
        st.sampled_from(["running", "shutdown", "ready"]),
        st.integers(0, 60),
    ),
    st.builds(updating, SERVICES),
)


@st.composite
def worlds(draw: st.DrawFn) -> Observed:
    """Up to six things are otherwise than in the converged cluster."""
    leader = draw(st.sampled_from([*MEMBERS, "nobody"]))
    observed = dataclasses.replace(three_nodes(leader), images=found_images())
    for change in draw(st.lists(CHANGES, max_size=6)):
        observed = change(observed)
    return observed


def shuffled(draw: st.DrawFn, observed: Observed) -> Observed:
    """The same world, read in another order."""
    swarm = swarm_of(observed)
    fields = ("nodes", "services", "tasks", "networks", "secrets", "configs")
    mixed: dict[str, Any] = {
        name: tuple(draw(st.permutations(getattr(swarm, name)))) for name in fields
    }
    members = dict(draw(st.permutations(list(observed.members.items()))))
    other = dataclasses.replace(swarm, **mixed)
    return dataclasses.replace(observed, swarm=Known(other), members=members)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Observed, Observed]:
    observed = draw(worlds())
    return observed, shuffled(draw, observed)
