"""Documents and observations for tests: a converged cluster, and what differs from it.

``three_nodes()`` is the observation of the converged cluster that ``MANIFEST`` describes; its
arguments, and the ``with_…`` functions, say what is otherwise. Everything here is a value.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from queenright.core.kinds.postgres_cluster.annotations import (
    Annotations,
    LastLeader,
)
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster
from queenright.core.kinds.postgres_cluster.desired.expand import expand
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.manifest.document import Document, documents_of
from queenright.core.observed import (
    Engine,
    ImageFound,
    ImageMissing,
    Known,
    Live,
    LiveService,
    MemberStatus,
    Node,
    Observed,
    RaftStatus,
    SwarmState,
    Task,
    Unknown,
)
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import BOOTSTRAPPED_LABEL, IMAGE_LABEL, Secret, Service
from tests.fakes.loading import judged
from tests.support.plans import make_plan

MEMBER_IMAGE = "10.77.0.1:5000/queenright-member:16"
PROXY_IMAGE = "10.77.0.1:5000/queenright-proxy:3.0-alpine"
VIP_IMAGE = "10.77.0.1:5000/queenright-vip:2.2"
VIP = f"{{image: {VIP_IMAGE}, address: 10.77.0.100, interface: eth0, routerId: 51}}"
"""A cluster's `vip`, as a YAML flow value."""
BACKUP = "{repository: {bucket: backups, credentials: main_backup, endpoint: https://s3.example}}"
"""A cluster's `backup`, as a YAML flow value."""
REPOSITORY_IMAGE = "10.77.0.1:5000/queenright-repository:2.30"
VOLUME = f"{{node: node1, image: {REPOSITORY_IMAGE}}}"
BACKUP_ON_VOLUME = f"{{repository: {{credentials: main_backup, volume: {VOLUME}}}}}"
"""The same with its repository on a volume."""
DIGESTS = {
    MEMBER_IMAGE: f"sha256:{'a' * 64}",
    PROXY_IMAGE: f"sha256:{'b' * 64}",
    VIP_IMAGE: f"sha256:{'e' * 64}",
    REPOSITORY_IMAGE: f"sha256:{'9' * 64}",
}
FILE = "/etc/queenright/cluster.yaml"
MANIFEST = f"""\
apiVersion: queenright/v1alpha1
kind: PostgresCluster
metadata:
  name: main
spec:
  image: {MEMBER_IMAGE}
  lanSubnet: 10.77.0.0/24
  members:
    - {{name: member-1, node: node2}}
    - {{name: member-2, node: node3}}
    - {{name: member-3, node: node4}}
  proxies:
    image: {PROXY_IMAGE}
"""
NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
LONG_AGO = NOW - timedelta(hours=1)
MEMBERS = ("member-1", "member-2", "member-3")
NODE_OF = {"member-1": "node2", "member-2": "node3", "member-3": "node4"}


def manifest(**spec: object) -> str:
    """``MANIFEST`` with further lines of spec, each a YAML flow value by its field."""
    return MANIFEST + "".join(f"  {name}: {value}\n" for name, value in spec.items())


@cache
def document(text: str = MANIFEST) -> Document[PostgresCluster]:
    loaded = judged({FILE: text})
    assert not loaded.errors, loaded.errors
    (found,) = documents_of(PostgresCluster, loaded.documents[:1])
    return found


def nodes(down: Collection[str] = ()) -> tuple[Node, ...]:
    """node1 is the manager, node2 to node4 are workers, without labels."""
    return tuple(
        Node(
            id=f"id-node{k}",
            name=f"node{k}",
            address=f"10.77.0.{10 + k}",
            role="manager" if k == 1 else "worker",
            state="down" if f"node{k}" in down else "ready",
            version=k,
        )
        for k in range(1, 5)
    )


def bare_swarm(down: Collection[str] = ()) -> Observed:
    """A swarm in which nothing of ours is; the images are in their registry."""
    return Observed(Known(SwarmState(Engine("id-node1"), nodes(down))), images=found_images())


def found_images() -> dict[str, Known[ImageFound | ImageMissing] | Unknown]:
    return {reference: Known(ImageFound(digest)) for reference, digest in DIGESTS.items()}


@cache
def desired(text: str = MANIFEST, *, was_whole: bool = False) -> DesiredCluster:
    """The file's objects before its cluster was healthy once, or (``was_whole``) since then."""
    addresses = {node.name: node.address for node in nodes()}
    return expand(document(text).resource, addresses, was_whole=was_whole)


def pinned(service: Service) -> Service:
    """Return the service as deployed: its image by digest, and recorded in its label."""
    image = f"{service.image}@{DIGESTS[service.image]}"
    return dataclasses.replace(service, image=image, labels={**service.labels, IMAGE_LABEL: image})


def three_nodes(
    leader: str = "member-1",
    down: Collection[str] = (),
    unknown: Collection[str] = (),
    text: str = MANIFEST,
) -> Observed:
    """The converged cluster. Members on ``down`` nodes, and the ``unknown`` ones, don't answer;
    tasks on dead nodes stay "running", as swarm shows them."""
    found = _three_nodes(leader, frozenset(down), frozenset(unknown), text)
    return dataclasses.replace(
        found,
        members=dict(found.members),
        settings=dict(found.settings),
        raft=dict(found.raft),
    )


@cache
def _three_nodes(leader: str, down: frozenset[str], unknown: frozenset[str], text: str) -> Observed:
    """The parts of the observation, which are made once: each is a value."""
    wanted = desired(text, was_whole=True)
    services = tuple(
        LiveService(f"id-{s.name}", 100 + k, pinned(s), LONG_AGO, LONG_AGO)
        for k, s in enumerate(wanted.services)
    )
    labels = {item.node: item.labels for item in wanted.node_labels}
    notes = Annotations(leader=LastLeader(leader, 1, LONG_AGO))
    if wanted.policy.primary:
        notes = dataclasses.replace(notes, primary=wanted.policy.primary)
    labels_now = {**wanted.state_config.labels, BOOTSTRAPPED_LABEL: "true", **notes.labels()}
    anchored = dataclasses.replace(wanted.state_config, labels=labels_now)
    configs = (*(config for config in wanted.configs if config != wanted.state_config), anchored)
    swarm = SwarmState(
        engine=Engine("id-node1"),
        nodes=tuple(
            dataclasses.replace(node, labels=dict(labels.get(node.name, {})))  # type: ignore[arg-type]
            for node in nodes(down)
        ),
        services=services,
        tasks=tuple(all_tasks(wanted)),
        networks=(Live("id-network", 0, wanted.network),),
        secrets=tuple(
            Live(f"id-{s.name}", 50, s)
            for s in (*wanted.secrets, *map(Secret, wanted.given_secrets))
        ),
        configs=tuple(Live(f"id-{c.name}", 60, c) for c in configs),
    )
    silent = {name for name in MEMBERS if NODE_OF[name] in down} | set(unknown)
    members = {
        f"main_{name}": Unknown("timed out") if name in silent else Known(status(name, leader))
        for name in MEMBERS
    }
    raft = {
        f"main_{name}": Unknown("timed out") if name in silent else Known(raft_status(name, silent))
        for name in MEMBERS
    }
    return Observed(Known(swarm), members, settings={"main": Known(wanted.settings)}, raft=raft)


def raft_status(name: str, silent: Collection[str] = ()) -> RaftStatus:
    """A Raft node that has its quorum as long as two of the three answer."""
    peers = {other: f"10.77.0.{10 + int(NODE_OF[other][-1])}:5010" for other in MEMBERS}
    own = peers.pop(name)
    return RaftStatus(
        has_quorum=len(silent) < 2,
        leader="10.77.0.12:5010",
        term=1,
        reachable=frozenset(peers[other] for other in peers if other not in silent),
        unreachable=frozenset(peers[other] for other in peers if other in silent),
        address=own,
        state="leader" if own == "10.77.0.12:5010" else "follower",
        commit_index=40,
        last_applied=40,
        log_length=40,
        uptime_s=3600,
    )


FORMER = frozenset({"10.77.0.98:5010", "10.77.0.99:5010"})
"""Voters that are no members any more."""


def former_status(name: str, **fields: Any) -> RaftStatus:
    """The Raft node of a member that was removed and is back: it lists the voters of that time."""
    own: dict[str, Any] = {"has_quorum": False, "leader": ""}
    own |= {"reachable": frozenset(), "unreachable": FORMER}
    return dataclasses.replace(raft_status(name), **(own | fields))


def all_tasks(wanted: DesiredCluster) -> Iterable[Task]:
    for member in wanted.members:
        yield task(member.service.name, member.node, slot=1)
    for node in wanted.proxy_nodes:
        yield task(wanted.proxy.name, node)
        if wanted.vip is not None:
            yield task(wanted.vip.service.name, node)


def task(service: str, node: str, slot: int = 0, **fields: Any) -> Task:
    """A running task of a service; ``fields`` say what is otherwise."""
    plain = Task(
        id=f"task-{service}-{node}",
        service_id=f"id-{service}",
        node_id=f"id-{node}" if node else "",
        state="running",
        desired_state="running",
        at=LONG_AGO,
        slot=slot,
    )
    return dataclasses.replace(plain, **fields)


def status(name: str, leader: str, **fields: Any) -> MemberStatus:
    """A member that is well: the leader, or a replica that streams without lag."""
    leads = name == leader
    plain = MemberStatus(
        state="running",
        role="primary" if leads else "replica",
        timeline=1,
        replication_state="" if leads else "streaming",
        holds_lock=leads,
        location=1000,
        lag_bytes=None if leads else 0,
    )
    return dataclasses.replace(plain, **fields)


def swarm_of(observed: Observed) -> SwarmState:
    assert isinstance(observed.swarm, Known)
    return observed.swarm.value


def plan_for(observed: Observed, text: str = MANIFEST, now: datetime = NOW) -> Plan:
    return make_plan(document(text), observed, now).plan


def summary(plan: Plan) -> tuple[list[str], list[str]]:
    """The whole plan in short: its actions' keys in order (with "!" if they disrupt), and its
    holds' keys."""
    actions = [
        action.key + (f" !{action.disrupts}" if action.disrupts else "") for action in plan.actions
    ]
    return actions, [hold.key for hold in plan.holds]
