"""What is wrong between an application and the clusters that it stands beside or on.

Decides from all valid documents, and the names of all that were written. Invariant: what could as
well be the fault of a document that is refused itself is not told.
"""

from collections.abc import Collection, Iterator, Sequence

from queenright.core.app.logins import login_role
from queenright.core.spec.app_secrets import secrets_of
from queenright.core.spec.notes_app import CONNECTIONS_PER_REPLICA, NotesApp
from queenright.core.spec.port_claims import port_findings
from queenright.core.spec.postgres_cluster import PostgresCluster
from queenright.core.spec.problems import Clash, Document, Finding, Path
from queenright.core.spec.server_checks import connections_of
from queenright.core.spec.vip_checks import vrrp_secrets
from queenright.core.spec.wording import did_you_mean

DUMP_CONNECTIONS = 1
"""What `pg_dump` takes while it runs."""

_DATABASE: Path = ("spec", "database")


def check_neighbours(
    documents: Sequence[Document], described: Collection[tuple[str, str]]
) -> Iterator[Clash]:
    """Findings between documents of different kinds. `described` has kind and name of every
    document, valid or not."""
    clusters = [document for document in documents if document.is_cluster]
    apps = [document for document in documents if document.is_app]
    names = {name for kind, name in described if kind == PostgresCluster.KIND}
    for app in apps:
        if (finding := _cluster_missing(app.app, names)) is not None:
            yield Clash(app, app, finding)
        for cluster in clusters:
            yield from _beside(app, cluster)
    for cluster in clusters:
        its = [app for app in apps if app.app.spec.database.cluster == cluster.name]
        yield from _connections(cluster, its)


def connections_needed(app: NotesApp) -> int:
    """Connections of an application at its busiest: all its replicas, those that start before
    others stop, and a dump (spec: notes-app §8)."""
    update = app.spec.update
    surge = min(update.parallelism, app.spec.replicas) if update.order == "start-first" else 0
    dump = 0 if app.spec.upgrade.dump.mode == "none" else DUMP_CONNECTIONS
    return CONNECTIONS_PER_REPLICA * (app.spec.replicas + surge) + dump


def _cluster_missing(app: NotesApp, names: Collection[str]) -> Finding | None:
    wanted = app.spec.database.cluster
    if wanted is None or wanted in names:
        return None
    known = f"; there is {', '.join(sorted(names))}" if names else ""
    meant = did_you_mean(wanted, names) or known
    message = f'no PostgresCluster of these files is called "{wanted}"{meant}'
    return Finding((*_DATABASE, "cluster"), message)


def _beside(app: Document, cluster: Document) -> Iterator[Clash]:
    """Told at the application, whichever comes first: it is the one that adapts."""
    whose = f"cluster {cluster.name} ({cluster.origin.file}:{cluster.origin.line})"
    for finding in (
        *_names(app, cluster, whose),
        *port_findings(cluster, app, whose),
        *_objects(app.app, cluster.cluster, whose),
        *_its_catalog(app.app, cluster.cluster, whose),
    ):
        yield Clash(cluster, app, finding)


def _names(app: Document, cluster: Document, whose: str) -> Iterator[Finding]:
    if app.name == cluster.name:
        message = (
            f'"{app.name}" is also the name of {whose}, and the prefix of its services; write '
            "another name"
        )
        yield Finding(("metadata", "name"), message)


def _objects(app: NotesApp, cluster: PostgresCluster, whose: str) -> Iterator[Finding]:
    spec, other = app.spec, cluster.spec
    network: Path = ("spec", "network")
    if spec.network.name == other.network.name:
        message = f'"{spec.network.name}" is also the network of {whose}; write another name'
        yield Finding((*network, "name"), message)
    for what, subnet in (("network", other.network.subnet), ("lanSubnet", other.lan_subnet)):
        if spec.network.subnet and subnet and spec.network.subnet.overlaps(subnet):
            message = f"{spec.network.subnet} overlaps the {what} {subnet} of {whose}"
            yield Finding((*network, "subnet"), f"{message}; write another range")
    labels = {other.node_labels.member, other.node_labels.proxy}
    for path, label in (
        (("spec", "placement", "label"), spec.placement.label),
        (("spec", "edge", "label"), spec.edge.label if spec.edge else ""),
    ):
        if label in labels:
            message = f'"{label}" also places the tasks of {whose}; write another key'
            yield Finding(path, message)
    yield from _secrets(app, cluster, whose)


def _secrets(app: NotesApp, cluster: PostgresCluster, whose: str) -> Iterator[Finding]:
    """A password has one owner: never the cluster's own, and preferably none of its roles."""
    spec, other = app.spec, cluster.spec
    passwords = {other.secrets.replication, other.secrets.superuser, other.secrets.rest_api}
    roles = {role.password_secret: role.name for role in other.roles if role.password_secret}
    its_own = (
        {login_role(spec.database)} if spec.database.cluster == cluster.metadata.name else set()
    )
    for where, name in secrets_of(app):
        if name in vrrp_secrets(cluster):
            message = f'"{name}" is also the VRRP password of {whose}, which sends its beginning'
            yield Finding(where, f"{message} in clear text; write another name")
        elif name in passwords:
            message = (
                f'"{name}" is a password of {whose}, with which the application would own the '
                "whole cluster; write another name"
            )
            yield Finding(where, message)
        elif name in roles and roles[name] not in its_own:
            message = f'"{name}" is also the password of role {roles[name]} of {whose}'
            if where[-1] == "passwordSecret":
                shared = "who learns the one has the other too; write another name"
                yield Finding(where, f"{message}: {shared}", "warning")
            else:
                yield Finding(where, f"{message}, which makes it; write another name")


def _its_catalog(app: NotesApp, cluster: PostgresCluster, whose: str) -> Iterator[Finding]:
    """What the cluster's own file says of the application's database stands; it has to fit."""
    wanted = app.spec.database
    if wanted.cluster != cluster.metadata.name:
        return
    for database in cluster.spec.databases:
        if database.name == wanted.name and database.owner != wanted.role:
            message = (
                f'"{wanted.role}" is not the owner of database {database.name} in {whose}, which '
                f"is {database.owner}; write one of the two otherwise"
            )
            yield Finding((*_DATABASE, "role"), message)


def _connections(cluster: Document, apps: Sequence[Document]) -> Iterator[Clash]:
    """All applications of a cluster together fit into it, and through its proxies."""
    connections, reserved = connections_of(cluster.cluster)
    proxies = cluster.cluster.spec.proxies
    name, most = min(
        (
            ("max_connections less those reserved", connections - reserved),
            ("proxies.maxConnections", proxies.max_connections),
            ("proxies.maxConnectionsPerServer", proxies.max_connections_per_server),
        ),
        key=lambda bound: bound[1],
    )
    total = sum(connections_needed(app.app) for app in apps)
    if not apps or total <= most:
        return
    last = apps[-1]
    need = connections_needed(last.app)
    whose = f"cluster {cluster.name} ({cluster.origin.file}:{cluster.origin.line})"
    others = f", {total} with the other applications there" if len(apps) > 1 else ""
    message = (
        f"{last.app.spec.replicas} replicas need {need} connections while they are replaced "
        f"({CONNECTIONS_PER_REPLICA} each){others}; {whose} has {most:.0f} ({name}): write fewer, "
        "or raise it"
    )
    yield Clash(cluster, last, Finding(("spec", "replicas"), message))
