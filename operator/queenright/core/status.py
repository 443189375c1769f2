"""How a cluster stands, as rows for people: members, proxies, and whether anything is left to do.

Decides from one observation, the desired state and the plan made of it. Invariant: nothing is
called a leader that does not prove its lock, and what is not known is never shown as a value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from queenright.core.desired import DesiredCluster, DesiredMember
from queenright.core.observed import Known, MemberStatus, Observed, SwarmState, Task, Unknown
from queenright.core.plan import Hold, Plan, summary
from queenright.core.standing import Line, standing, told_here

BYTES_A_MEGABYTE = 1 << 20
MEMBER_COLUMNS = ("Member", "Host", "Role", "State", "TL", "Lag in MB")
"""The member list's columns (spec: database-cluster §2.1)."""
PROXY_COLUMNS = ("Proxy node", "Address", "Task")

UNKNOWN = "unknown"
PRIMARY_ROLES = frozenset({"primary", "master", "leader"})


@dataclass(frozen=True, slots=True)
class MemberRow:
    """One member (spec: §2.1). ``role`` is ``Leader``, ``Replica``, or empty where neither is
    proven; ``state`` is Patroni's own word, or ``unknown``. ``lag_mb`` is None for a leader, and
    where it is not known; ``remark`` says what a person should know besides."""

    member: str
    host: str
    role: str
    state: str
    timeline: int | None = None
    lag_mb: int | None = None
    remark: str = ""

    @property
    def cells(self) -> tuple[str, ...]:
        """The row under ``MEMBER_COLUMNS``; the lag of a leader is empty."""
        timeline = "" if self.timeline is None else str(self.timeline)
        lag = str(self.lag_mb) if self.lag_mb is not None else ""
        if self.role == "Replica" and self.lag_mb is None:
            lag = UNKNOWN
        return (self.member, self.host, self.role, self.state, timeline, lag)


@dataclass(frozen=True, slots=True)
class ProxyRow:
    """The proxy on one node; ``task`` is swarm's word for its newest task."""

    node: str
    address: str
    task: str
    remark: str = ""

    @property
    def cells(self) -> tuple[str, ...]:
        """The row under ``PROXY_COLUMNS``."""
        return (self.node, self.address, self.task)


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    """One cluster. ``plan`` is what would be done next; ``summary`` says it in a few words.
    ``lines`` tell how it stands with its owner's wishes."""

    name: str
    members: tuple[MemberRow, ...]
    proxies: tuple[ProxyRow, ...]
    plan: Plan
    lines: tuple[Line, ...] = ()

    @property
    def holds(self) -> tuple[Hold, ...]:
        """The plan's holds, without those that a line tells."""
        if not self.lines:
            return self.plan.holds
        return tuple(hold for hold in self.plan.holds if not told_here(hold.key))

    @property
    def remarks(self) -> tuple[str, ...]:
        members = [f"{row.member}: {row.remark}" for row in self.members if row.remark]
        return (
            *members,
            *(f"proxy on {row.node}: {row.remark}" for row in self.proxies if row.remark),
        )

    @property
    def summary(self) -> str:
        return summary(self.plan)


def cluster_status(
    name: str, desired: DesiredCluster | None, plan: Plan, observed: Observed, now: datetime
) -> ClusterStatus:
    """The cluster's rows; without a desired state (no file describes it) there are none."""
    if desired is None or isinstance(observed.swarm, Unknown):
        return ClusterStatus(name, (), (), plan)
    swarm = observed.swarm.value
    members = tuple(member_row(member, observed) for member in desired.members)
    lines = standing(desired, plan, observed, swarm, now)
    return ClusterStatus(name, members, tuple(proxy_rows(desired, swarm)), plan, lines)


def member_row(member: DesiredMember, observed: Observed) -> MemberRow:
    match observed.members.get(member.service.name):
        case Known(status):
            return answered(member, status)
        case Unknown(why):
            return MemberRow(member.name, member.address, "", UNKNOWN, remark=why)
        case None:
            return MemberRow(member.name, member.address, "", UNKNOWN, remark="it was not asked")


def answered(member: DesiredMember, status: MemberStatus) -> MemberRow:
    role, lag_mb = "Replica", None
    if status.holds_lock:
        role = "Leader"
    elif status.role in PRIMARY_ROLES:
        role = ""
    elif status.lag_bytes is not None:
        lag_mb = round(status.lag_bytes / BYTES_A_MEGABYTE)
    return MemberRow(
        member.name,
        member.address,
        role,
        status.state,
        status.timeline,
        lag_mb,
        "; ".join(remarks_on(status)),
    )


def remarks_on(status: MemberStatus) -> Iterator[str]:
    if status.role in PRIMARY_ROLES and not status.holds_lock:
        yield "runs as primary, but does not prove the leader lock (/primary does not answer 200)"
    if status.cluster_unlocked:
        yield "nobody holds the leader lock"


def proxy_rows(desired: DesiredCluster, swarm: SwarmState) -> Iterator[ProxyRow]:
    live = swarm.service(desired.proxy.name)
    for name in desired.proxy_nodes:
        node = swarm.node(name)
        if node is None:
            yield ProxyRow(name, "", "no such node")
            continue
        tasks = [] if live is None else [t for t in swarm.tasks_of(live.id) if t.node_id == node.id]
        if not tasks:
            yield ProxyRow(name, node.address, "none")
            continue
        task = max(tasks, key=lambda found: (found.is_alive, found.at))
        if node.state != "ready":
            yield ProxyRow(name, node.address, UNKNOWN, f"the node is {node.state}")
        else:
            yield ProxyRow(name, node.address, task.state, why_not_running(task))


def why_not_running(task: Task) -> str:
    return "" if task.state == "running" else task.error
