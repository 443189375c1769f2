"""Desired state of a notes application: its document as Swarm objects.

Decides every property of every object from the document, its cluster's and a few facts of the
swarm. Invariant: the same of these gives the same objects, so that a converged application shows no
difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from queenright.core.kinds.notes_app.desired.database_claim import claim_of
from queenright.core.kinds.notes_app.desired.dump_job import dump_job
from queenright.core.kinds.notes_app.desired.edge import (
    edge_configs,
    edge_node_labels,
    edge_secrets,
    edge_services,
    merged_labels,
)
from queenright.core.kinds.notes_app.desired.web import web_service
from queenright.core.kinds.notes_app.schema.app import NotesApp
from queenright.core.kinds.notes_app.schema.database import UpgradeSpec
from queenright.core.kinds.postgres_cluster.databases.login_roles import login_role, session_options
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.manifest.moments import Pausing
from queenright.core.postgres.catalog import DesiredCatalog
from queenright.core.postgres.connection_uri import UrlTemplate, url_secret_name
from queenright.core.swarm.digest import digest
from queenright.core.swarm.objects import (
    APP_LABEL,
    DELETION_POLICY_LABEL,
    NODE_LABELS_LABEL,
    Config,
    Network,
    NodeLabels,
    Secret,
    Service,
)

STATE_CONFIG_TEXT = (
    b"Queenright keeps its notes about this application in the labels of this config.\n"
)
PLACED = "true"


@dataclass(frozen=True, slots=True)
class SwarmFacts:
    """Facts of the swarm that an application's objects depend on.

    Its secrets' ids by name, its nodes' addresses by name, and the nodes with a proxy in the
    cluster's file, deployed or not.
    """

    secret_ids: Mapping[str, str] = field(default_factory=dict)
    addresses: Mapping[str, str] = field(default_factory=dict)
    coming: tuple[str, ...] = ()


@dataclass(frozen=True)
class DesiredApp:
    """Everything that one document asks of the swarm."""

    name: str
    web: Service
    port: int
    """Port on which a replica listens in its container."""
    network: Network
    key: Secret
    """The encryption key: created once, never replaced."""
    key_is_backed_up: bool
    url_secret: Secret
    """The secret with the connection string."""
    url: UrlTemplate | None
    """Template of the connection string; None where its secret has to exist already."""
    password_secret: str
    """The secret with the password that goes into the string; empty where there is none."""
    given_secrets: tuple[str, ...]
    """Secrets that the operator does not create."""
    cluster: str
    """The cluster that has the database; empty where it is elsewhere."""
    catalog: DesiredCatalog
    state_config: Config
    node_labels: tuple[NodeLabels, ...]
    deletion_policy: str
    reconcile: Pausing
    upgrade: UpgradeSpec
    dump: Service | None
    """The job that dumps the database before another image runs, without its name and its file's;
    None where the manifest wants none."""
    configs: tuple[Config, ...] = ()
    """Configs of further services, such as the edge's."""
    others: tuple[Service, ...] = ()
    """Further services that go on beside the replicas, such as the edge."""

    @property
    def services(self) -> tuple[Service, ...]:
        return (self.web, *self.others)

    @cached_property
    def digest(self) -> str:
        return digest(self)


def expand_app(app: NotesApp, cluster: PostgresCluster | None, facts: SwarmFacts) -> DesiredApp:
    """The document in the swarm's terms; ``cluster`` is the one that has its database, None where
    the database is elsewhere, or no document describes that cluster."""
    name, spec = app.metadata.name, app.spec
    owned = {APP_LABEL: name}
    url = url_template(app, cluster, facts)
    password = spec.database.password_secret or ""
    if spec.database.url_secret is not None:
        url_secret = Secret(spec.database.url_secret)
    else:
        password_id = facts.secret_ids.get(password, "")
        url_secret = Secret(url_secret_name(name, url, password_id) if url else "", owned)
    return DesiredApp(
        name=name,
        web=web_service(app, url_secret.name),
        port=spec.port,
        network=Network(spec.network.name, subnet=str(spec.network.subnet or ""), labels=owned),
        key=Secret(spec.encryption_key.secret, owned),
        key_is_backed_up=spec.encryption_key.backed_up,
        url_secret=url_secret,
        url=url,
        password_secret=password,
        given_secrets=given_secrets(app),
        cluster=spec.database.cluster or "",
        catalog=claim_of(app),
        state_config=state_config_of(app),
        node_labels=app_node_labels(app),
        deletion_policy=spec.deletion_policy,
        reconcile=spec.reconcile,
        upgrade=spec.upgrade,
        dump=dump_job(app, cluster, url_secret.name),
        configs=edge_configs(app),
        others=edge_services(app),
    )


def app_node_labels(app: NotesApp) -> tuple[NodeLabels, ...]:
    """The marks of the nodes that run replicas and edges, where the file names any."""
    placement = app.spec.placement
    placed = (NodeLabels(node, {placement.label: PLACED}) for node in placement.nodes)
    return merged_labels((*placed, *edge_node_labels(app)))


def given_secrets(app: NotesApp) -> tuple[str, ...]:
    names = [app.spec.database.url_secret, app.spec.oidc.client_secret if app.spec.oidc else None]
    return (*(name for name in names if name), *edge_secrets(app))


def state_config_name(app: str) -> str:
    """Name of the config whose labels keep an application's annotations."""
    return f"{app}_application"


def state_config_of(app: NotesApp) -> Config:
    name, spec = app.metadata.name, app.spec
    labels = {APP_LABEL: name, DELETION_POLICY_LABEL: spec.deletion_policy}
    keys = [spec.placement.label] if spec.placement.nodes else []
    if spec.edge and spec.edge.nodes:
        keys.append(spec.edge.label)
    if keys:
        labels[NODE_LABELS_LABEL] = ",".join(keys)
    return Config(state_config_name(name), STATE_CONFIG_TEXT, labels)


def url_template(
    app: NotesApp, cluster: PostgresCluster | None, facts: SwarmFacts
) -> UrlTemplate | None:
    """Through the cluster's own way in: its virtual address, or all its proxies, of which libpq
    takes the first that answers read-write."""
    database = app.spec.database
    if cluster is None or database.cluster is None or not database.name or not database.role:
        return None
    return UrlTemplate(
        hosts=way_in(cluster, facts),
        port=cluster.spec.proxies.ports.primary,
        database=database.name,
        role=login_role(database.role, database.password_secret),
        parameters=(
            ("target_session_attrs", "read-write"),
            ("connect_timeout", "3"),
            ("options", session_options(database.role)),
        ),
    )


def way_in(cluster: PostgresCluster, facts: SwarmFacts) -> tuple[str, ...]:
    """The addresses that clients use: the virtual one first, where there is one, every deployed
    proxy behind it, so that nobody is cut off while it comes, moves or goes, and last the known
    nodes that get one. None while a deployed one is not known: the replicas are not started anew
    for what was not seen."""
    vip = (str(cluster.spec.vip.address),) if cluster.spec.vip is not None else ()
    proxies = [facts.addresses.get(node, "") for node in cluster.spec.proxies.nodes]
    coming = [facts.addresses[node] for node in facts.coming if facts.addresses.get(node)]
    return tuple(dict.fromkeys((*vip, *proxies, *coming))) if all(proxies) else ()
