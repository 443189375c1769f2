"""Many converged clusters in one swarm, an application on each tenth: files, objects and answers.

Each cluster has three nodes of its own, so that nodes, services, tasks and configs all grow with
the number of clusters. Deployed are the objects that the files' expansion gives.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from queenright.core.kinds.claims import claims_of
from queenright.core.kinds.notes_app.desired.app import SwarmFacts, expand_app
from queenright.core.kinds.notes_app.schema.app import NotesApp
from queenright.core.kinds.postgres_cluster.annotations import Annotations, LastLeader
from queenright.core.kinds.postgres_cluster.databases.annotations import (
    CatalogNote,
    with_catalog_note,
)
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster
from queenright.core.kinds.postgres_cluster.desired.expand import expand
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.manifest.document import Document, is_of
from queenright.core.observed import (
    Engine,
    Live,
    LiveService,
    MemberStatus,
    Node,
    RaftStatus,
    SwarmState,
    Task,
)
from queenright.core.planning.faults import DocumentKey
from queenright.core.postgres.catalog import NO_CATALOG, Catalog, Database, DesiredCatalog, Role
from queenright.core.swarm.objects import BOOTSTRAPPED_LABEL, IMAGE_LABEL, Config, Secret, Service
from tests.support.app_builders import APP_DIGESTS, APP_IMAGE
from tests.support.builders import DIGESTS, LONG_AGO, MEMBER_IMAGE, PROXY_IMAGE

EVERY = 10
"""One application for this many clusters."""
OPTIONS = {
    "network": "{{name: {name}_db}}",
    "secrets": "{{replication: {name}_replication, superuser: {name}_superuser, "
    "restApi: {name}_rest}}",
    "nodeLabels": "{{member: {name}-member, proxy: {name}-proxy}}",
}
"""Fields in which two clusters may not agree, as YAML."""


def cluster_name(number: int) -> str:
    return f"c{number:04}"


def node_names(number: int) -> tuple[str, ...]:
    """The three nodes of a cluster."""
    return tuple(f"{cluster_name(number)}-node{k}" for k in (1, 2, 3))


def cluster_text(number: int, **spec: str) -> str:
    """The file of one cluster; ``spec`` has further fields as YAML flow values."""
    name = cluster_name(number)
    options = {field: text.format(name=name) for field, text in OPTIONS.items()}
    members = "".join(
        f"    - {{name: member-{k}, node: {node}}}\n"
        for k, node in enumerate(node_names(number), start=1)
    )
    return (
        f"apiVersion: queenright/v1alpha1\nkind: PostgresCluster\nmetadata: {{name: {name}}}\n"
        f"spec:\n  image: {MEMBER_IMAGE}\n  lanSubnet: 10.0.0.0/8\n  members:\n{members}"
        f"  proxies: {{image: {PROXY_IMAGE}}}\n"
        + "".join(f"  {field}: {value}\n" for field, value in {**options, **spec}.items())
    )


def app_text(number: int) -> str:
    """The file of the application on a cluster."""
    return (
        "apiVersion: queenright/v1alpha1\nkind: NotesApp\n"
        f"metadata: {{name: a{number:04}}}\n"
        f"spec:\n  image: {APP_IMAGE}\n  origin: https://a{number:04}.example.org\n"
        f"  database: {{cluster: {cluster_name(number)}}}\n"
        f"  publish: {{port: {20000 + number}}}\n"
        f"  encryptionKey: {{secret: a{number:04}_encryption_key, backedUp: true}}\n"
    )


def texts_of(clusters: int) -> dict[str, str]:
    """The files of many clusters, by name: one for each document."""
    found = {}
    for number in range(clusters):
        found[f"/etc/queenright/{cluster_name(number)}.yaml"] = cluster_text(number)
        if number % EVERY == 0:
            found[f"/etc/queenright/a{number:04}.yaml"] = app_text(number)
    return found


@dataclass
class Deployed:
    """The objects of the swarm as they are collected, and the answers of all that is asked."""

    nodes: list[Node] = field(default_factory=list)
    services: list[LiveService] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    networks: list[Live[Any]] = field(default_factory=list)
    secrets: list[Live[Any]] = field(default_factory=list)
    configs: list[Live[Config]] = field(default_factory=list)
    members: dict[str, MemberStatus] = field(default_factory=dict)
    """By address, as the three that follow."""
    raft: dict[str, RaftStatus] = field(default_factory=dict)
    settings: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    catalogs: dict[str, Catalog] = field(default_factory=dict)
    version: int = 10

    @property
    def swarm(self) -> SwarmState:
        return SwarmState(
            Engine(self.nodes[0].id),
            tuple(self.nodes),
            tuple(self.services),
            tuple(self.tasks),
            tuple(self.networks),
            tuple(self.secrets),
            tuple(self.configs),
        )

    def add_objects(self, kind: str, values: Sequence[Any]) -> None:
        for value in values:
            self.version += 1
            getattr(self, kind).append(Live(f"{kind}-{value.name}", self.version, value))

    def add_service(self, service: Service, nodes: Sequence[str], **addresses: str) -> None:
        """A service with a running task on each of these nodes."""
        self.version += 1
        image = f"{service.image}@{({**DIGESTS, **APP_DIGESTS})[service.image]}"
        value = dataclasses.replace(
            service, image=image, labels={**service.labels, IMAGE_LABEL: image}
        )
        live_id = f"id-{service.name}"
        self.services.append(LiveService(live_id, self.version, value, LONG_AGO, LONG_AGO))
        self.tasks += [
            Task(
                f"task-{service.name}-{node}",
                live_id,
                f"id-{node}",
                "running",
                "running",
                LONG_AGO,
                slot=0 if service.mode == "global" else slot,
                addresses=addresses,
                image=image,
            )
            for slot, node in enumerate(nodes, start=1)
        ]


def deployed(documents: Sequence[Document]) -> Deployed:
    """The swarm in which all of these documents are carried out, and all is well."""
    found = Deployed()
    claims = claims_of(documents)
    clusters = [one for one in documents if is_of(one, PostgresCluster)]
    for number, document in enumerate(clusters):
        wanted = claims.get(DocumentKey(document.kind, document.name), NO_CATALOG)
        add_cluster(found, document.resource, number, wanted)
    by_name = {one.name: one.resource for one in clusters}
    for document in documents:
        if is_of(document, NotesApp):
            add_app(
                found, document.resource, by_name[document.resource.spec.database.cluster or ""]
            )
    return found


def add_cluster(
    found: Deployed, cluster: PostgresCluster, number: int, claims: DesiredCatalog
) -> None:
    names = [member.node for member in cluster.spec.members]
    addresses = {
        node: f"10.{1 + number // 80}.{3 * (number % 80) + k}.1" for k, node in enumerate(names)
    }
    wanted = expand(cluster, addresses, claims, was_whole=True)
    labels: dict[str, dict[str, str]] = {name: {} for name in names}
    for item in wanted.node_labels:
        labels[item.node] |= {key: value for key, value in item.labels.items() if value is not None}
    for name in names:
        found.version += 1
        found.nodes.append(
            Node(f"id-{name}", name, addresses[name], labels=labels[name], version=found.version)
        )
    if number == 0:
        found.nodes[0] = dataclasses.replace(found.nodes[0], role="manager")
    for member in wanted.members:
        found.add_service(member.service, [member.node])
    found.add_service(wanted.proxy, wanted.proxy_nodes)
    found.add_objects("networks", [wanted.network])
    found.add_objects("secrets", wanted.secrets)
    found.add_objects("configs", state_and_files(wanted))
    found.catalogs[addresses[names[0]]] = catalog_of(wanted.catalog)
    for member in wanted.members:
        address = addresses[member.node]
        leads = member is wanted.members[0]
        found.members[address] = MemberStatus(
            state="running",
            role="primary" if leads else "replica",
            timeline=1,
            replication_state="" if leads else "streaming",
            holds_lock=leads,
            location=1000,
        )
        peers = frozenset(f"{addresses[n]}:{wanted.raft_port}" for n in names if n != member.node)
        found.raft[address] = RaftStatus(
            has_quorum=True,
            leader=f"{addresses[names[0]]}:{wanted.raft_port}",
            term=1,
            reachable=peers,
            unreachable=frozenset(),
            address=f"{address}:{wanted.raft_port}",
            state="leader" if leads else "follower",
            commit_index=40,
            last_applied=40,
            log_length=40,
            uptime_s=3600,
        )
        found.settings[address] = wanted.settings


def state_and_files(wanted: DesiredCluster) -> Iterator[Config]:
    """The configs of a cluster that was whole, with its annotations."""
    notes = Annotations(leader=LastLeader(wanted.members[0].name, 1, LONG_AGO))
    labels = {**wanted.state_config.labels, BOOTSTRAPPED_LABEL: "true", **notes.labels()}
    if wanted.catalog:
        note = CatalogNote(
            {role.name: role.password_secret or "" for role in wanted.catalog.roles},
            tuple(database.name for database in wanted.catalog.databases),
        )
        labels = with_catalog_note(labels, note)
    for config in wanted.configs:
        is_state = config == wanted.state_config
        yield dataclasses.replace(config, labels=labels) if is_state else config


def catalog_of(wanted: DesiredCatalog) -> Catalog:
    """The roles and databases as the leader has them."""
    return Catalog(
        tuple(
            Role(
                role.name,
                verifier="as desired" if role.password_secret else "not asked",
                has_password=bool(role.password_secret),
                login=role.login,
                member_of=role.member_of or (),
            )
            for role in wanted.roles
        ),
        tuple(Database(d.name, d.owner, connect=d.connect) for d in wanted.databases),
    )


def add_app(found: Deployed, app: NotesApp, cluster: PostgresCluster) -> None:
    addresses = {node.name: node.address for node in found.nodes}
    password = app.spec.database.password_secret or f"{app.metadata.name}_db_password"
    found.add_objects("secrets", [Secret(password)])
    ids = {live.value.name: live.id for live in found.secrets}
    wanted = expand_app(app, cluster, SwarmFacts(ids, addresses))
    found.add_objects("networks", [wanted.network])
    found.add_objects("secrets", [wanted.key, wanted.url_secret])
    found.add_objects("configs", [*wanted.configs, wanted.state_config])
    number = found.version % 250
    nodes = [member.node for member in cluster.spec.members][: wanted.web.replicas]
    found.add_service(wanted.web, nodes, **{wanted.network.name: f"10.200.9.{number}"})
