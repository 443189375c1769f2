"""Checks between an application and the clusters that it stands beside or on.

Decides from all valid documents, and the names of all that were written. Invariant: what could as
well be the fault of a document that is refused itself is not reported.
"""

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

from queenright.core.kinds.notes_app.checks.conflicts import port_claims as app_port_claims
from queenright.core.kinds.notes_app.checks.deployment import connections_needed
from queenright.core.kinds.notes_app.schema.app import CONNECTIONS_PER_REPLICA, NotesApp
from queenright.core.kinds.notes_app.schema.secrets import secrets_of
from queenright.core.kinds.postgres_cluster.checks.conflicts import port_claims
from queenright.core.kinds.postgres_cluster.checks.server import connections_of
from queenright.core.kinds.postgres_cluster.checks.virtual_ip import vrrp_secrets
from queenright.core.kinds.postgres_cluster.databases.login_roles import login_role
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.manifest.document import Clash, Document, documents_of
from queenright.core.manifest.identity import Identity
from queenright.core.manifest.port_claims import port_findings
from queenright.core.manifest.problems import Finding, Path
from queenright.core.manifest.remembered import MOST_DOCUMENTS
from queenright.core.manifest.shared_objects import (
    Marks,
    meeting_across,
    named,
    ports,
    ranges,
)
from queenright.core.manifest.suggestions import did_you_mean

_DATABASE: Path = ("spec", "database")


def check_beside_clusters(
    documents: Sequence[Document], described: Collection[tuple[str, str]]
) -> Iterator[Clash]:
    """Findings between documents of different kinds. `described` has kind and name of every
    document, valid or not."""
    clusters = documents_of(PostgresCluster, documents)
    apps = documents_of(NotesApp, documents)
    names = {name for kind, name in described if kind == PostgresCluster.KIND}
    for app in apps:
        if (finding := _cluster_missing(app.resource, names)) is not None:
            yield Clash(app, app, finding)
    for app, cluster in meeting_across(apps, _marks, clusters, _cluster_marks):
        yield from beside(app, cluster)
    users: dict[str | None, list[Document[NotesApp]]] = {}
    for app in apps:
        users.setdefault(app.resource.spec.database.cluster, []).append(app)
    for cluster in clusters:
        yield from _connections(cluster, users.get(cluster.name, []))


@lru_cache(maxsize=MOST_DOCUMENTS)
def _marks(same: Identity[Document[NotesApp]]) -> Marks:
    """Everything in which ``beside`` may find that an application meets a cluster."""
    app = same.value.resource
    spec = app.spec
    edge = spec.edge.label if spec.edge else None
    return (
        named("name", app.metadata.name)
        | ports(*app_port_claims(app))
        | named("network", spec.network.name)
        | ranges(spec.network.subnet)
        | named("label", spec.placement.label, edge)
        | named("secret", *(name for _, name in secrets_of(app)))
        | named("cluster", spec.database.cluster)
    ).compact()


@lru_cache(maxsize=MOST_DOCUMENTS)
def _cluster_marks(same: Identity[Document[PostgresCluster]]) -> Marks:
    """The same of the cluster."""
    cluster = same.value.resource
    spec = cluster.spec
    secrets = (spec.secrets.replication, spec.secrets.superuser, spec.secrets.rest_api)
    return (
        named("name", cluster.metadata.name)
        | ports(*port_claims(cluster))
        | named("network", spec.network.name)
        | ranges(spec.network.subnet, spec.lan_subnet)
        | named("label", spec.node_labels.member, spec.node_labels.proxy)
        | named("secret", *secrets, *(role.password_secret for role in spec.roles))
        | named("secret", *vrrp_secrets(cluster))
        | named("cluster", cluster.metadata.name)
    ).compact()


def _cluster_missing(app: NotesApp, names: Collection[str]) -> Finding | None:
    wanted = app.spec.database.cluster
    if wanted is None or wanted in names:
        return None
    known = f"; there is {', '.join(sorted(names))}" if names else ""
    meant = did_you_mean(wanted, names) or known
    message = f'no PostgresCluster of these files is called "{wanted}"{meant}'
    return Finding((*_DATABASE, "cluster"), message)


def beside(app: Document[NotesApp], cluster: Document[PostgresCluster]) -> Iterator[Clash]:
    """Told at the application, whichever comes first: it is the one that adapts."""
    whose = f"cluster {cluster.name} ({cluster.origin.file}:{cluster.origin.line})"
    for finding in (
        *_names(app, cluster, whose),
        *port_findings([*port_claims(cluster.resource)], app_port_claims(app.resource), whose),
        *_objects(app.resource, cluster.resource, whose),
        *_its_catalog(app.resource, cluster.resource, whose),
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
    is_its = spec.database.cluster == cluster.metadata.name
    its_own = {login_role(spec.database.role, spec.database.password_secret)} if is_its else set()
    for where, name in secrets_of(app):
        if name in vrrp_secrets(cluster):
            message = f"is also the VRRP password of {whose}, which sends its beginning"
            yield Finding(where, f"{message} in clear text; write another name")
        elif name in passwords:
            message = (
                f"is a password of {whose}, with which the application would own the "
                "whole cluster; write another name"
            )
            yield Finding(where, message)
        elif name in roles and roles[name] not in its_own:
            message = f"is also the password of role {roles[name]} of {whose}"
            if where[-1] == "passwordSecret":
                shared = "who learns the one has the other too; write another name"
                yield Finding(where, f"{message}: {shared}", "warning")
            else:
                yield Finding(where, f"{message}, which makes it; write another name")


def _its_catalog(app: NotesApp, cluster: PostgresCluster, whose: str) -> Iterator[Finding]:
    """Findings where the cluster's file defines the application's database otherwise."""
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


def _connections(
    cluster: Document[PostgresCluster], apps: Sequence[Document[NotesApp]]
) -> Iterator[Clash]:
    """All applications of a cluster together fit into it, and through its proxies."""
    if not apps:
        return
    connections, reserved = connections_of(cluster.resource)
    proxies = cluster.resource.spec.proxies
    name, most = min(
        (
            ("max_connections less those reserved", connections - reserved),
            ("proxies.maxConnections", proxies.max_connections),
            ("proxies.maxConnectionsPerServer", proxies.max_connections_per_server),
        ),
        key=lambda bound: bound[1],
    )
    total = sum(connections_needed(app.resource) for app in apps)
    if total <= most:
        return
    last = apps[-1]
    need = connections_needed(last.resource)
    whose = f"cluster {cluster.name} ({cluster.origin.file}:{cluster.origin.line})"
    others = f", {total} with the other applications there" if len(apps) > 1 else ""
    message = (
        f"{last.resource.spec.replicas} replicas need {need} connections while they are replaced "
        f"({CONNECTIONS_PER_REPLICA} each){others}; {whose} has {most:.0f} ({name}): write fewer, "
        "or raise it"
    )
    yield Clash(cluster, last, Finding(("spec", "replicas"), message))
