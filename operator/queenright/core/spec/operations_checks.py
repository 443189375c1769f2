"""What is wrong with an owner's wishes for a running cluster that takes more than one field to see.

Decides from one valid `PostgresCluster`, without a clock: a moment that is over already is no
mistake of the file. A wish that nobody could carry out is an error, one that is likely not meant a
warning.
"""

from collections.abc import Iterator

from queenright.core.spec.postgres_cluster import PostgresCluster
from queenright.core.spec.problems import Finding, Path
from queenright.core.spec.wording import did_you_mean

_MEMBERS: Path = ("spec", "members")
_PRIMARY: Path = ("spec", "primary")
_MAINTENANCE: Path = ("spec", "maintenance")
_NODES: Path = (*_MAINTENANCE, "nodes")
_RECONCILE: Path = ("spec", "reconcile")


def _primary(cluster: PostgresCluster) -> Iterator[Finding]:
    """The wish names a member, on a node that stays."""
    spec = cluster.spec
    if spec.primary is None:
        if spec.failback.mode == "automatic":
            message = "automatic has no effect without `primary`, the member to give the lead back"
            yield Finding(("spec", "failback"), f"{message} to", "warning", (_PRIMARY,))
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


def _maintenance(cluster: PostgresCluster) -> Iterator[Finding]:
    """The nodes are the cluster's, and one that can lead is left."""
    spec = cluster.spec
    nodes = spec.maintenance.nodes
    member_nodes = dict.fromkeys(member.node for member in spec.members)
    known = dict.fromkeys([*member_nodes, *spec.proxies.nodes])
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
    """Somebody waits for what the operator was told not to do."""
    spec = cluster.spec
    if spec.reconcile.state == "paused" and spec.maintenance.nodes:
        message = (
            "is not prepared while `reconcile` is paused: the leader does not move, and nothing "
            "says when it is safe to power off"
        )
        yield Finding(_MAINTENANCE, message, "warning", (_RECONCILE,))


OPERATIONS_CHECKS = (_primary, _maintenance, _ends, _nothing_is_done)
