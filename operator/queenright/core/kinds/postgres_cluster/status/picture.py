"""A cluster as a picture: members, proxies and keepalived on their nodes.

Decides from the desired state and one observation. Invariant: only a member that proves the leader
lock is shown as the leader.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster, DesiredMember
from queenright.core.kinds.postgres_cluster.status.conditions import vip_holder
from queenright.core.kinds.postgres_cluster.status.rows import member_row, proxy_rows
from queenright.core.observed import Known, Observed, SwarmState
from queenright.core.planning.picture import Part, Tone

UNKNOWN_HOLDER = "who has the address is unknown"


def cluster_parts(desired: DesiredCluster, observed: Observed, swarm: SwarmState) -> Iterator[Part]:
    """The parts of a cluster: its members, its proxies, keepalived, the repository on a volume."""
    for member in desired.members:
        yield member_part(member, observed)
    for row in proxy_rows(desired, swarm):
        tone: Tone = "well" if row.task == "running" and not row.remark else "broken"
        tone = "unknown" if row.task == "unknown" else tone
        yield Part(row.node, "proxy", row.address, tone, (row.task, row.remark))
    yield from keepalived_parts(desired, observed, swarm)
    yield from repository_parts(desired, swarm)


def member_part(member: DesiredMember, observed: Observed) -> Part:
    """A member with its role, state, timeline and lag."""
    row = member_row(member, observed)
    timeline = "" if row.timeline is None else f"timeline {row.timeline}"
    words = (row.role, row.state, timeline, row.remark)
    tone, service = tone_of(member, observed), member.service.name
    return Part(member.node, "member", row.member, tone, words, row.lag_mb, service)


def tone_of(member: DesiredMember, observed: Observed) -> Tone:
    match observed.members.get(member.service.name):
        case Known(status) if status.is_leader:
            return "leader"
        case Known(status) if status.is_streaming:
            return "well"
        case Known(status) if status.is_copying or status.is_running:
            return "waits"
        case Known():
            return "broken"
        case _:
            return "unknown"


def keepalived_parts(
    desired: DesiredCluster, observed: Observed, swarm: SwarmState
) -> Iterator[Part]:
    """The nodes on which keepalived may run, and which of them has the address."""
    if desired.vip is None:
        return
    holder = vip_holder(desired, observed)
    live = swarm.service(desired.vip.service.name)
    for task in swarm.tasks_of(live.id) if live else ():
        node = swarm.node_by_id(task.node_id)
        if node is None or not task.is_alive:
            continue
        runs = swarm.is_running(task)
        tone: Tone = "well" if runs else "waits" if swarm.is_heard(task) else "unknown"
        state = task.state if swarm.is_heard(task) else f"unknown: the node is {node.state}"
        held = "has the address" if node.name == holder else "" if holder else UNKNOWN_HOLDER
        words = (held, state, task.error)
        yield Part(node.name, "keepalived", desired.vip.address, tone, words)


def repository_parts(desired: DesiredCluster, swarm: SwarmState) -> Iterator[Part]:
    """The repository on its node."""
    found = desired.repository
    live = swarm.service(found.service.name) if found is not None else None
    for task in swarm.tasks_of(live.id) if live else ():
        if found is None or not task.is_alive:
            continue
        runs = swarm.is_running(task)
        tone: Tone = "well" if runs else "waits" if swarm.is_heard(task) else "unknown"
        words = (task.state if swarm.is_heard(task) else "unknown", task.error)
        yield Part(found.node, "repository", found.endpoint, tone, words)
