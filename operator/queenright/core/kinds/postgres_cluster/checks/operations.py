"""Checks of `primary`, `failback`, `maintenance` and pauses that need several fields.

Decides from one valid `PostgresCluster`, without a clock: a moment that is over already is no
mistake of the file. A setting that could never be carried out is an error, one that is likely a
mistake a warning.
"""

from collections.abc import Iterator

from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.manifest.problems import Finding, Path
from queenright.core.manifest.suggestions import did_you_mean

_MEMBERS: Path = ("spec", "members")
_PRIMARY: Path = ("spec", "primary")
_MAINTENANCE: Path = ("spec", "maintenance")
_NODES: Path = (*_MAINTENANCE, "nodes")
_SPARES: Path = ("spec", "spareNodes")
_RECONCILE: Path = ("spec", "reconcile")


def _primary(cluster: PostgresCluster) -> Iterator[Finding]:
    """`primary` names a member, on a node that stays."""
    spec = cluster.spec
    if spec.primary is None:
        if spec.failback.mode == "automatic":
            message = "automatic has no effect without `primary`, the member that leads again"
            yield Finding(("spec", "failback"), message, "warning", (_PRIMARY,))
        return
    nodes = {member.name: member.node for member in spec.members}
    if spec.primary not in nodes:
        meant = did_you_mean(spec.primary, nodes) or f"; there are {', '.join(nodes)}"
        yield Finding(_PRIMARY, f'"{spec.primary}" is not a member{meant}', involves=(_MEMBERS,))
    elif nodes[spec.primary] in spec.maintenance.nodes:
        message = (
            f"{spec.primary} is on {nodes[spec.primary]}, which is in maintenance: it leads when "
            "that is over"
        )
        yield Finding(_PRIMARY, message, "warning", (_NODES, _MEMBERS))


def _accepted_loss(cluster: PostgresCluster) -> Iterator[Finding]:
    """`acceptLoss` names a member."""
    accepted, names = cluster.spec.accept_loss, [m.name for m in cluster.spec.members]
    if accepted is not None and accepted.leader not in names:
        meant = did_you_mean(accepted.leader, names) or f"; there are {', '.join(names)}"
        message = f'"{accepted.leader}" is not a member{meant}'
        yield Finding(("spec", "acceptLoss", "leader"), message, involves=(_MEMBERS,))


def _replacement(cluster: PostgresCluster) -> Iterator[Finding]:
    """`replaceAfter` and `spareNodes` have an effect together only."""
    spec = cluster.spec
    if spec.replace_after_s is not None and not spec.spare_nodes:
        message = "has no effect without `spareNodes`, the nodes that take a dead node's member"
        yield Finding(("spec", "replaceAfter"), message, "warning", (_SPARES,))
    if spec.spare_nodes and spec.replace_after_s is None:
        message = "has no effect without `replaceAfter`, the time after which a member is replaced"
        yield Finding(_SPARES, message, "warning")
    for index, node in enumerate(spec.spare_nodes):
        if node in spec.spare_nodes[:index]:
            yield Finding((*_SPARES, index), f'"{node}" is listed twice; remove one')


def _maintenance(cluster: PostgresCluster) -> Iterator[Finding]:
    """The nodes are the cluster's, and one that can lead is left."""
    spec = cluster.spec
    nodes = spec.maintenance.nodes
    member_nodes = dict.fromkeys(member.node for member in spec.members)
    known = dict.fromkeys([*member_nodes, *spec.proxies.nodes, *spec.spare_nodes])
    homes = {member.name: member.node for member in spec.members}
    for index, node in enumerate(nodes):
        if node not in known:
            meant = did_you_mean(node, known) or f"; there are {', '.join(known)}"
            if node in homes:
                meant = f"; the member of that name is on {homes[node]}"
            message = f'"{node}" has no member and no proxy of this cluster{meant}'
            involved = (_MEMBERS, ("spec", "proxies", "nodes"))
            yield Finding((*_NODES, index), message, involves=involved)
        elif node in nodes[:index]:
            yield Finding((*_NODES, index), f'"{node}" is listed twice; remove one')
    if member_nodes and set(member_nodes) <= set(nodes):
        message = "has every member's node in it, so that nobody could lead; take one out"
        yield Finding(_NODES, message, involves=(_MEMBERS,))


def _ends(cluster: PostgresCluster) -> Iterator[Finding]:
    """An end belongs to something that has begun."""
    spec = cluster.spec
    for name, pausing in (("reconcile", spec.reconcile), ("promotion", spec.promotion)):
        if pausing.state == "active" and pausing.until is not None:
            message = "has no effect on `active`; write `state: paused`, or leave it out"
            yield Finding(("spec", name, "until"), message, "warning")
    if spec.maintenance.until is not None and not spec.maintenance.nodes:
        message = "has no effect without `nodes`; name them, or leave it out"
        yield Finding((*_MAINTENANCE, "until"), message, "warning")


def _nothing_is_done(cluster: PostgresCluster) -> Iterator[Finding]:
    """A maintenance is not prepared while reconciliation is paused."""
    spec = cluster.spec
    if spec.reconcile.state == "paused" and spec.maintenance.nodes:
        message = (
            "is not prepared while `reconcile` is paused: the leader does not move, and nothing "
            "says when it is safe to power off"
        )
        yield Finding(_MAINTENANCE, message, "warning", (_RECONCILE,))


OPERATIONS_CHECKS = (_primary, _accepted_loss, _replacement, _maintenance, _ends, _nothing_is_done)
