"""Status rows of a cluster: members, proxies, and whether anything is left to do.

Decides from one observation, the desired state and the plan made of it. Invariant: only a member
that proves the leader lock is shown as the leader, and what is not known is never shown as a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster, DesiredMember
from queenright.core.kinds.postgres_cluster.drill.summary import rounded, rounded_size
from queenright.core.kinds.postgres_cluster.status.conditions import (
    conditions,
    told_here,
    vip_holder,
)
from queenright.core.observed import (
    Known,
    LiveService,
    MemberStatus,
    Node,
    Observed,
    SwarmState,
    Task,
    Unknown,
)
from queenright.core.observed.base_copies import BaseCopy
from queenright.core.planning.plan import NOT_COMPARED, Hold, Plan, summary
from queenright.core.planning.status import Block, Line, Lines, Table

BYTES_A_MEGABYTE = 1 << 20
MEMBER_COLUMNS = ("Member", "Host", "Role", "State", "TL", "Lag in MB")
"""The member list's columns (spec: database-cluster §2.1)."""
PROXY_COLUMNS = ("Proxy node", "Address", "Task")

UNKNOWN = "unknown"
REPLICA_ROLES = {"": "Replica", "sync": "Sync Standby", "quorum": "Quorum Standby"}
"""A replica's role by its part in a commit, in the words of ``patronictl list``."""
PRIMARY_ROLES = frozenset({"primary", "master", "leader"})


@dataclass(frozen=True, slots=True)
class MemberRow:
    """One member (spec: §2.1).

    ``role`` is ``Leader``, one of ``REPLICA_ROLES``, or empty where neither is proven; ``state`` is
    Patroni's, or ``unknown``. ``lag_mb`` is None for a leader, and where it is not known;
    ``remark`` is for people; ``copy`` is the progress of a copy of another's data.
    """

    member: str
    host: str
    role: str
    state: str
    timeline: int | None = None
    lag_mb: int | None = None
    remark: str = ""
    copy: BaseCopy | None = None

    def as_json(self) -> dict[str, object]:
        copied = {"copy": copy_json(self.copy)} if self.copy is not None else {}
        return {
            "member": self.member,
            "host": self.host,
            "role": self.role or None,
            "state": self.state,
            "tl": self.timeline,
            "lag_mb": self.lag_mb,
            "remark": self.remark or None,
            **copied,
        }

    @property
    def cells(self) -> tuple[str, ...]:
        """The row under ``MEMBER_COLUMNS``; the lag of a leader is empty."""
        timeline = "" if self.timeline is None else str(self.timeline)
        lag = str(self.lag_mb) if self.lag_mb is not None else ""
        if self.role in REPLICA_ROLES.values() and self.lag_mb is None:
            lag = UNKNOWN
        return (self.member, self.host, self.role, self.state, timeline, lag)


@dataclass(frozen=True, slots=True)
class ProxyRow:
    """The proxy on one node; ``task`` is swarm's state of its newest task."""

    node: str
    address: str
    task: str
    remark: str = ""

    def as_json(self) -> dict[str, object]:
        remark = self.remark or None
        return {"node": self.node, "address": self.address, "task": self.task, "remark": remark}

    @property
    def cells(self) -> tuple[str, ...]:
        """The row under ``PROXY_COLUMNS``."""
        return (self.node, self.address, self.task)


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    """Status of one cluster.

    ``plan`` is what would be done next, ``summary`` its short form, ``lines`` the status lines.
    """

    name: str
    members: tuple[MemberRow, ...]
    proxies: tuple[ProxyRow, ...]
    plan: Plan
    lines: tuple[Line, ...] = ()
    is_compared: bool = True
    """False where no valid file describes it."""
    vip: Mapping[str, str | None] | None = None
    """The virtual address and its node, None where that is not known; None without one."""

    @property
    def holds(self) -> tuple[Hold, ...]:
        """The holds, without those that a status line shows."""
        return self._besides_lines(self.plan.held)

    @property
    def notes(self) -> tuple[Hold, ...]:
        """The news, without those that a status line shows."""
        return self._besides_lines(self.plan.notes)

    def _besides_lines(self, holds: tuple[Hold, ...]) -> tuple[Hold, ...]:
        if not self.lines:
            return holds
        return tuple(hold for hold in holds if not told_here(hold.key))

    @property
    def remarks(self) -> tuple[str, ...]:
        members = [f"{row.member}: {row.remark}" for row in self.members if row.remark]
        return (
            *members,
            *(f"proxy on {row.node}: {row.remark}" for row in self.proxies if row.remark),
        )

    @property
    def summary(self) -> str:
        return summary(self.plan) if self.is_compared else NOT_COMPARED

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The member table, the proxies, and the lines."""
        return (
            Table(MEMBER_COLUMNS, tuple(row.cells for row in self.members)),
            Table(PROXY_COLUMNS, tuple(row.cells for row in self.proxies)),
            Lines(self.lines),
        )

    def details(self) -> Mapping[str, object]:
        return {
            "members": [row.as_json() for row in self.members],
            "proxies": [row.as_json() for row in self.proxies],
            **({"virtual_ip": dict(self.vip)} if self.vip else {}),
            "standing": [line.as_json() for line in self.lines],
        }


def cluster_status(
    name: str, desired: DesiredCluster | None, plan: Plan, observed: Observed, now: datetime
) -> ClusterStatus:
    """The cluster's rows; without a desired state (no file describes it) there are none."""
    if desired is None or isinstance(observed.swarm, Unknown):
        return ClusterStatus(name, (), (), plan)
    swarm = observed.swarm.value
    members = tuple(member_row(member, observed) for member in desired.members)
    lines = conditions(desired, plan, observed, swarm, now)
    vip = None
    if desired.vip is not None:
        vip = {"address": desired.vip.address, "node": vip_holder(desired, observed) or None}
    return ClusterStatus(name, members, tuple(proxy_rows(desired, swarm)), plan, lines, vip=vip)


def member_row(member: DesiredMember, observed: Observed) -> MemberRow:
    match observed.members.get(member.service.name):
        case Known(status):
            copy = observed.copies.get(member.service.name)
            return answered(member.name, member.address, status, copy)
        case Unknown(why):
            remark = "; ".join(filter(None, (why, raft_remark(member, observed))))
            return MemberRow(member.name, member.address, "", UNKNOWN, remark=remark)
        case None:
            return MemberRow(member.name, member.address, "", UNKNOWN, remark="not asked yet")


def raft_remark(member: DesiredMember, observed: Observed) -> str:
    """Return what a silent member's Raft node says, where that explains it."""
    match observed.raft.get(member.service.name):
        case Known(status) if status.is_behind:
            return (
                f"its Raft node votes, and has applied {status.last_applied} of "
                f"{status.commit_index} entries"
            )
        case _:
            return ""


def answered(
    name: str, address: str, status: MemberStatus, copy: BaseCopy | None = None
) -> MemberRow:
    role, lag_mb = REPLICA_ROLES[status.synchronous], None
    if status.holds_lock:
        role = "Leader"
    elif status.role in PRIMARY_ROLES:
        role = ""
    elif status.lag_bytes is not None:
        lag_mb = round(status.lag_bytes / BYTES_A_MEGABYTE)
    return MemberRow(
        name,
        address,
        role,
        status.state,
        status.timeline,
        lag_mb,
        "; ".join((*remarks_on(status), *(copy_words(copy) if copy is not None else ()))),
        copy,
    )


def copy_words(copy: BaseCopy) -> Iterator[str]:
    """Yield the progress of a copy in words."""
    done, whole = rounded_size(copy.done_bytes), rounded_size(copy.whole_bytes)
    words = f"has copied {done} of {whole} ({copy.percent} %)"
    if copy.bytes_per_s is not None and copy.left is not None:
        words += f", {rounded_size(round(copy.bytes_per_s))} a second, {rounded(copy.left)} left"
    yield words


def copy_json(copy: BaseCopy) -> dict[str, object]:
    left, rate = copy.left, copy.bytes_per_s
    return {
        "at": copy.at.isoformat(),
        "done_bytes": copy.done_bytes,
        "whole_bytes": copy.whole_bytes,
        "bytes_per_s": None if rate is None else round(rate),
        "left_s": None if left is None else round(left.total_seconds()),
    }


def remarks_on(status: MemberStatus) -> Iterator[str]:
    if status.role in PRIMARY_ROLES and not status.holds_lock:
        yield "runs as primary, but does not prove the leader lock (/primary does not answer 200)"
    if status.cluster_unlocked:
        yield "no member holds the leader lock"


def proxy_rows(desired: DesiredCluster, swarm: SwarmState) -> Iterator[ProxyRow]:
    live = swarm.service(desired.proxy.name)
    for name in desired.proxy_nodes:
        node = swarm.node(name)
        if node is None:
            yield ProxyRow(name, "", "no such node")
        else:
            yield proxy_row(node, live, swarm)


def proxy_row(node: Node, live: LiveService | None, swarm: SwarmState) -> ProxyRow:
    """The proxy on one node."""
    tasks = [] if live is None else [t for t in swarm.tasks_of(live.id) if t.node_id == node.id]
    if not tasks:
        return ProxyRow(node.name, node.address, "none")
    task = max(tasks, key=lambda found: (found.is_alive, found.at))
    if node.state != "ready":
        return ProxyRow(node.name, node.address, UNKNOWN, f"the node is {node.state}")
    return ProxyRow(node.name, node.address, task.state, why_not_running(task))


def why_not_running(task: Task) -> str:
    return "" if task.state == "running" else task.error
