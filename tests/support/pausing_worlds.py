"""Clusters of any size around a pause: what the members, Raft and Patroni's settings say.

A ``World`` is a value; ``situation()`` is what the rules see of it, ``patched()`` what Patroni
makes of a write. A member on a node that is off is unknown; without a quorum nobody proves the
lock, and no member returns the settings, as on the lab.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import yaml

from queenright.core.actions import PatchSettings, Switchover
from queenright.core.kinds.load import load
from queenright.core.kinds.postgres_cluster.annotations import Annotations, LastLeader
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster
from queenright.core.kinds.postgres_cluster.desired.expand import expand
from queenright.core.kinds.postgres_cluster.patroni.config_keys import PAUSE_KEY, ROUTE_KEY, Route
from queenright.core.kinds.postgres_cluster.rules.maintenance import plan_pauses
from queenright.core.kinds.postgres_cluster.schema.operations import Maintenance
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.switchover.decision import decide_leader
from queenright.core.manifest.moments import Pausing
from queenright.core.observed import (
    Engine,
    Known,
    Live,
    LiveService,
    MemberStatus,
    Node,
    Observed,
    RaftStatus,
    SwarmState,
    Unknown,
)
from queenright.core.planning.plan import Hold
from queenright.core.swarm.objects import BOOTSTRAPPED_LABEL
from tests.support.builders import FILE, LONG_AGO, MANIFEST, NOW, pinned, status, task

LED = Annotations(leader=LastLeader("member-1", 1, LONG_AGO))


@dataclass(frozen=True)
class World:
    """``maintenance`` and ``promotion`` are the file's YAML; member-k is on node{k+1}."""

    size: int = 3
    maintenance: str = "{}"
    promotion: str = "active"
    leader: str = "member-1"
    off: frozenset[str] = frozenset()
    settings: Mapping[str, Any] = field(default_factory=dict)
    now: datetime = NOW
    said: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Differing answers of members, by name."""
    raft: Mapping[str, Known[RaftStatus] | Unknown] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()
    """Members whose services were changed a moment ago."""
    annotations: Annotations = LED
    extra_nodes: tuple[Node, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"member-{k}" for k in range(1, self.size + 1))

    @property
    def on(self) -> tuple[str, ...]:
        return tuple(name for name in self.names if node_of(name) not in self.off)

    @property
    def has_quorum(self) -> bool:
        return 2 * len(self.on) > self.size

    def otherwise(self, **fields: Any) -> World:
        return dataclasses.replace(self, **fields)

    def later(self, seconds: float) -> World:
        return self.otherwise(now=self.now + timedelta(seconds=seconds))

    def patched(self, action: PatchSettings) -> World:
        assert self.has_quorum, "a patch without a quorum hangs"
        merged = {**self.settings, **action.patch}
        return self.otherwise(settings={k: v for k, v in merged.items() if v is not None})

    def observed(self) -> Observed:
        wanted = desired(self.size, self.maintenance, self.promotion)
        readings = {f"main_{name}": self.reading(name) for name in self.names}
        led = any(isinstance(r, Known) and r.value.is_leader for r in readings.values())
        settings = {**wanted.settings, **self.settings}
        return Observed(
            Known(self.swarm(wanted)),
            readings,
            settings={"main": Known(settings) if led else Unknown("there is no leader to ask")},
            raft={f"main_{name}": self.raft_reading(name) for name in self.names},
        )

    def state(self) -> ClusterState:
        found = self.observed()
        assert isinstance(found.swarm, Known)
        return ClusterState(
            desired(self.size, self.maintenance, self.promotion),
            found.swarm.value,
            found,
            self.now,
        )

    def swarm(self, wanted: DesiredCluster) -> SwarmState:
        labels = {BOOTSTRAPPED_LABEL: "true", **self.annotations.labels()}
        state_config = dataclasses.replace(wanted.state_config, labels=labels)
        nodes = tuple(
            dataclasses.replace(node, state="down" if node.name in self.off else "ready")
            for node in swarm_nodes(self.size)
        )
        return SwarmState(
            Engine("id-node1"),
            (*nodes, *self.extra_nodes),
            services=tuple(
                LiveService(
                    f"id-{m.service.name}",
                    1,
                    pinned(m.service),
                    LONG_AGO,
                    self.now if m.name in self.changed else LONG_AGO,
                )
                for m in wanted.members
            ),
            tasks=tuple(task(m.service.name, m.node, slot=1) for m in wanted.members),
            configs=(Live("id-anchor", 1, state_config),),
        )

    def reading(self, name: str) -> Known[MemberStatus] | Unknown:
        if name not in self.on:
            return Unknown("timed out")
        plain = status(name, self.leader, paused=bool(self.settings.get("pause")))
        leads = name == self.leader and self.has_quorum
        found = dataclasses.replace(plain, holds_lock=leads)
        return Known(dataclasses.replace(found, **self.said.get(name, {})))

    def raft_reading(self, name: str) -> Known[RaftStatus] | Unknown:
        if name in self.raft:
            return self.raft[name]
        if name not in self.on:
            return Unknown("timed out")
        others = [other for other in self.names if other != name]
        return Known(
            RaftStatus(
                has_quorum=self.has_quorum,
                leader=raft_address(self.on[0]) if self.has_quorum else "",
                term=3,
                reachable=frozenset(raft_address(o) for o in others if o in self.on),
                unreachable=frozenset(raft_address(o) for o in others if o not in self.on),
            )
        )


def node_of(name: str) -> str:
    return f"node{int(name[-1]) + 1}"


def raft_address(name: str) -> str:
    return f"10.77.0.{11 + int(name[-1])}:5010"


@cache
def swarm_nodes(size: int) -> tuple[Node, ...]:
    return tuple(
        Node(f"id-node{k}", f"node{k}", f"10.77.0.{10 + k}", "manager" if k == 1 else "worker")
        for k in range(1, size + 2)
    )


@cache
def deployed(size: int) -> DesiredCluster:
    """The cluster of a file that asks neither for maintenance nor for a pause."""
    lines = [f"    - {{name: member-{k}, node: node{k + 1}}}\n" for k in range(1, size + 1)]
    written = "".join(lines[:3])
    text = MANIFEST.replace(written, "".join(lines))
    text += "    nodes: [node1, node2, node3, node4]\n"
    loaded = load({FILE: text})
    assert not loaded.errors, loaded.errors
    cluster = loaded.documents[0].resource
    return expand(cluster, {node.name: node.address for node in swarm_nodes(size)})


@cache
def desired(size: int, maintenance: str, promotion: str) -> DesiredCluster:
    found = deployed(size)
    policy = dataclasses.replace(
        found.policy,
        maintenance=Maintenance.model_validate(yaml.safe_load(maintenance)),
        promotion=Pausing.model_validate(yaml.safe_load(promotion)),
    )
    return dataclasses.replace(found, policy=policy)


def actions(world: World) -> list[PatchSettings]:
    found = [step for step in plan_pauses(world.state()) if not isinstance(step, Hold)]
    assert all(isinstance(step, PatchSettings) for step in found)
    return [step for step in found if isinstance(step, PatchSettings)]


def holds(world: World) -> list[Hold]:
    return [step for step in plan_pauses(world.state()) if isinstance(step, Hold)]


def writes(world: World) -> list[tuple[str, dict[str, Any]]]:
    """Key and patch of each write."""
    return [(action.key, dict(action.patch)) for action in actions(world)]


def histories(world: World, most: int = 25) -> Iterator[World]:
    """The world after each pass, or each wait, until nothing is left to do. Who leads is decided
    beside the pauses: its notes, hints and moves are carried out too."""
    for _ in range(most):
        before, found, decided = world, actions(world), decide_leader(world.state())
        due = [h.recheck_at for h in (*holds(world), *decided.steps) if isinstance(h, Hold)]
        world = world.otherwise(annotations=decided.annotations)
        for step in (*found, *decided.steps):
            if isinstance(step, PatchSettings):
                world = world.patched(step)
            elif isinstance(step, Switchover):
                assert not world.settings.get("pause"), "no move while Patroni is paused"
                world = world.otherwise(leader=step.candidate)
        moments = [moment for moment in due if moment is not None]
        if world != before:
            world = world.later(0.2)
        elif moments:
            world = world.otherwise(now=min(moments))
        else:
            return
        yield world
    raise AssertionError("it does not come to an end")


def settled(world: World) -> World:
    return [world, *histories(world)][-1]


def pin(member: str = "member-1", age_s: float = 60, now: datetime = NOW) -> str:
    return str(Route("pin", member, now - timedelta(seconds=age_s)))


def our_pause(reason: str = "maintenance", age_s: float = 60) -> dict[str, Any]:
    """Patroni's settings as the operator leaves them for a reason."""
    found: dict[str, Any] = {"pause": True, PAUSE_KEY: reason}
    return {**found, ROUTE_KEY: pin(age_s=age_s)} if reason == "maintenance" else found
