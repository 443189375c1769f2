"""The canary's place in a cluster: a role, a database and a table of its own, and its statements.

Everything is made again when it is missing and owned by the canary's role alone; nothing of it is
ever dropped, so that switching the canary off loses no measurement.
"""

from __future__ import annotations

from dataclasses import dataclass

from queenright.core.desired import DesiredCluster
from queenright.core.notes import Notes

ROLE = "queenright_canary"
DATABASE = "queenright_canary"
TABLE_SQL = """
CREATE TABLE IF NOT EXISTS public.beat (
    id bigint PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now()
)"""
OWN_SQL = f"ALTER TABLE public.beat OWNER TO {ROLE}"
INSERT_SQL = "INSERT INTO public.beat (id) VALUES (%s)"
FIND_SQL = "SELECT id FROM public.beat WHERE id = ANY(%s)"
LAST_SQL = "SELECT coalesce(max(id), 0) FROM public.beat"
TIMELINE_SQL = (
    "SELECT ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint"
)
PRUNE_SQL = "DELETE FROM public.beat WHERE id < %s"
CONNECTIONS = 5
"""What the role may hold at once: the writer, the asker, and those that a proxy has yet to end."""

PERIOD_S = 0.2
"""Five writes a second."""


@dataclass(frozen=True, slots=True)
class CanaryPlace:
    """Where a cluster's canary writes. ``servers`` are the members' database addresses,
    ``entries`` the proxies' read-write ports; the first that answers is used."""

    cluster: str
    servers: tuple[tuple[str, int], ...]
    entries: tuple[tuple[str, int], ...]
    superuser_secret: str


@dataclass(frozen=True, slots=True)
class LeaderChange:
    """Another leader, or the same on another timeline; ``cause`` is what is known of why."""

    cluster: str
    before: str
    after: str
    timeline: int
    cause: str


def canary_place(desired: DesiredCluster, nodes: dict[str, str]) -> CanaryPlace | None:
    """The canary's place; None where the owner wants none, or no node of a proxy is there.
    ``nodes`` maps names to addresses."""
    if not desired.policy.canary.enabled or not nodes.keys() & {*desired.proxy_nodes}:
        return None
    return CanaryPlace(
        cluster=desired.name,
        servers=tuple((member.address, desired.postgresql_port) for member in desired.members),
        entries=tuple(
            (nodes[name], desired.primary_port) for name in desired.proxy_nodes if name in nodes
        ),
        superuser_secret=desired.superuser_secret,
    )


def leader_change(cluster: str, before: Notes, after: Notes) -> LeaderChange | None:
    """The change between two readings of a cluster's notes, and its cause: the operator's own
    request where one was noted, else a failover."""
    old, new = before.leader, after.leader
    if old is None or new is None or (old.member, old.timeline) == (new.member, new.timeline):
        return None
    move = before.move
    planned = move is not None and (move.leader, move.candidate) == (old.member, new.member)
    cause = f"planned: {move.kind}" if planned and move else "not planned by the operator"
    return LeaderChange(cluster, old.member, new.member, new.timeline, cause)
