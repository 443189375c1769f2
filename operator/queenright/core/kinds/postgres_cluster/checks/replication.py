"""Checks of `replication` that need more than one field.

Decides from one valid `PostgresCluster`. What would void the promise silently is an error.
"""

from collections.abc import Iterator

from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.manifest.problems import Finding, Path
from queenright.core.manifest.quantities import format_size
from queenright.core.postgres.parameters import is_on

_REPLICATION: Path = ("spec", "replication")
_MEMBERS: Path = ("spec", "members")
_PARAMETERS: Path = ("spec", "postgresql", "parameters")


def _replicas(cluster: PostgresCluster) -> Iterator[Finding]:
    """There are as many replicas as have to confirm."""
    spec = cluster.spec.replication
    if spec is None or spec.mode == "asynchronous":
        return
    replicas = len(cluster.spec.members) - 1
    if replicas < 1:
        message = f"{spec.mode} needs a replica, and the cluster has one member; add two members"
        yield Finding((*_REPLICATION, "mode"), message, involves=(_MEMBERS,))
    elif spec.nodes > replicas:
        message = f"{spec.nodes} replicas can't confirm a commit: the cluster has {replicas}"
        yield Finding((*_REPLICATION, "nodes"), message, involves=(_MEMBERS,))


def _spare(cluster: PostgresCluster) -> Iterator[Finding]:
    """A replica is restarted only while another one can confirm commits."""
    spec = cluster.spec.replication
    if spec is None or spec.mode == "asynchronous" or len(cluster.spec.members) != 2:
        return
    message = (
        f"{spec.mode} with 2 members: no other replica confirms commits while one is restarted, so "
        "updates of a member wait for ever; add a third member, or write asynchronous for the time "
        "of each update"
    )
    yield Finding((*_REPLICATION, "mode"), message, "warning", (_MEMBERS,))


def _no_effect(cluster: PostgresCluster) -> Iterator[Finding]:
    """The other fields belong to a mode that waits."""
    spec = cluster.spec.replication
    if spec is None or spec.mode != "asynchronous":
        return
    for attribute in ("strict", "nodes", "maximum_lag_on_sync_bytes"):
        if attribute in spec.model_fields_set and getattr(spec, attribute):
            field = {"maximum_lag_on_sync_bytes": "maximumLagOnSync"}.get(attribute, attribute)
            message = "has no effect while `mode` is asynchronous; write synchronous or quorum"
            yield Finding((*_REPLICATION, field), message, "warning", ((*_REPLICATION, "mode"),))


def _waits(cluster: PostgresCluster) -> Iterator[Finding]:
    """No parameter takes the wait away."""
    spec, parameters = cluster.spec.replication, cluster.spec.postgresql.parameters
    if spec is None or spec.mode == "asynchronous":
        return
    involved = ((*_REPLICATION, "mode"),)
    commit = str(parameters.get("synchronous_commit", "on")).lower()
    if commit == "local" or not (commit.startswith("remote_") or is_on(commit)):
        message = f"commits would wait for no replica, though `replication.mode` is {spec.mode}"
        yield Finding((*_PARAMETERS, "synchronous_commit"), message, involves=involved)


def _primary(cluster: PostgresCluster) -> Iterator[Finding]:
    """The member that should lead may be one that Patroni never chooses."""
    spec = cluster.spec.replication
    replicas = len(cluster.spec.members) - 1
    if spec is None or cluster.spec.primary is None:
        return
    if spec.mode == "synchronous" and spec.nodes < replicas:
        message = (
            f"{cluster.spec.primary} leads only if Patroni has chosen it to confirm commits; write "
            f"`mode: quorum` or `nodes: {replicas}`, with which every replica can lead"
        )
        involved = ((*_REPLICATION, "mode"), (*_REPLICATION, "nodes"))
        yield Finding(("spec", "primary"), message, "warning", involved)


def _lag(cluster: PostgresCluster) -> Iterator[Finding]:
    spec = cluster.spec.replication
    if spec is None or spec.maximum_lag_on_sync_bytes is None:
        return
    if spec.maximum_lag_on_sync_bytes == 0:
        message = "0 is no limit for Patroni; leave it out, or write a size"
        yield Finding((*_REPLICATION, "maximumLagOnSync"), message)
    most = cluster.spec.patroni.maximum_lag_on_failover_bytes
    if spec.maximum_lag_on_sync_bytes > most:
        message = (
            f"a synchronous replica may be further behind than a candidate for the lead "
            f"({format_size(most)}): then nobody takes over"
        )
        involved = (("spec", "patroni", "maximumLagOnFailover"),)
        yield Finding((*_REPLICATION, "maximumLagOnSync"), message, "warning", involved)


REPLICATION_CHECKS = (_replicas, _spare, _no_effect, _waits, _primary, _lag)
