"""The canary's role, database, table and statements.

Each is created again when it is missing, and owned by the canary's role alone; nothing of it is
ever dropped, so that switching the canary off loses no measurement.
"""

from __future__ import annotations

from dataclasses import dataclass

from queenright.core.kinds.postgres_cluster.annotations import Annotations
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster

ROLE = "queenright_canary"
DATABASE = "queenright_canary"
TABLE_SQL = """
CREATE TABLE IF NOT EXISTS public.beat (
    id bigint PRIMARY KEY,
    at pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.now()
)"""
"""Run as the canary's own role, not as the superuser."""
INSERT_SQL = "INSERT INTO public.beat (id) VALUES (%s)"
FIND_SQL = "SELECT id FROM public.beat WHERE id OPERATOR(pg_catalog.=) ANY(%s::pg_catalog.int8[])"
LAST_SQL = "SELECT coalesce(pg_catalog.max(id), 0) FROM public.beat"
TIMELINE_SQL = (
    "SELECT pg_catalog.concat('x', pg_catalog.substr("
    "pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8))::bit(32)::bigint"
)
PRUNE_SQL = "DELETE FROM public.beat WHERE id OPERATOR(pg_catalog.<) %s::pg_catalog.int8"
IN_RECOVERY_SQL = "SELECT pg_catalog.pg_is_in_recovery()"
ROLE_SQL = (
    "SELECT rolname FROM pg_catalog.pg_roles"
    " WHERE rolname OPERATOR(pg_catalog.=) %s::pg_catalog.text"
)
DATABASE_SQL = (
    "SELECT datname FROM pg_catalog.pg_database"
    " WHERE datname OPERATOR(pg_catalog.=) %s::pg_catalog.text"
)
CONNECTIONS = 5
"""Connections of the role: writer, reader, and those that a proxy has not closed yet."""

PERIOD_S = 0.2
"""Five writes a second."""


@dataclass(frozen=True, slots=True)
class CanaryPlace:
    """Addresses to which a cluster's canary writes. ``servers`` are the members' databases,
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


def canary_place(
    desired: DesiredCluster, nodes: dict[str, str], superuser_secret: str = ""
) -> CanaryPlace | None:
    """The canary's place; None where the owner wants none, or no node of a proxy is there.
    ``nodes`` maps names to addresses; ``superuser_secret`` is what the leader was deployed with."""
    if not desired.policy.canary.enabled or not nodes.keys() & {*desired.proxy_nodes}:
        return None
    ports = sorted({way.postgresql for way in desired.ways})
    return CanaryPlace(
        cluster=desired.name,
        servers=tuple((member.address, port) for port in ports for member in desired.members),
        entries=tuple(
            (nodes[name], desired.primary_port) for name in desired.proxy_nodes if name in nodes
        ),
        superuser_secret=superuser_secret or desired.superuser_secret,
    )


def leader_change(cluster: str, before: Annotations, after: Annotations) -> LeaderChange | None:
    """Leader change between two readings of a cluster's annotations, with its cause.

    The operator's own request where one is annotated, else a failover.
    """
    old, new = before.leader, after.leader
    if old is None or new is None or (old.member, old.timeline) == (new.member, new.timeline):
        return None
    move = before.move
    planned = move is not None and (move.leader, move.candidate) == (old.member, new.member)
    cause = f"planned: {move.kind}" if planned and move else "not planned by the operator"
    return LeaderChange(cluster, old.member, new.member, new.timeline, cause)
