"""Documents and observations of an application: converged beside its cluster, and otherwise.

``served()`` is the observation of the converged application that ``APP`` describes, on the
converged cluster of ``builders``. Everything here is a value.
"""

from __future__ import annotations

import dataclasses
from datetime import datetime
from functools import cache
from typing import Any

from queenright.core.kinds.claims import claims_of
from queenright.core.kinds.notes_app.desired.app import DesiredApp, SwarmFacts, expand_app
from queenright.core.kinds.notes_app.schema.app import NotesApp
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.manifest.document import Document
from queenright.core.observed import ImageFound, Known, Live, LiveService, Observed, Task, Unknown
from queenright.core.observed.readiness import Readiness
from queenright.core.planning.faults import DocumentKey
from queenright.core.planning.plan import Plan
from queenright.core.postgres.catalog import Catalog, Database, Role
from queenright.core.swarm.objects import IMAGE_LABEL, Secret, Service
from tests.fakes.loading import judged
from tests.support.builders import (
    DIGESTS,
    FILE,
    LONG_AGO,
    MANIFEST,
    NOW,
    bare_swarm,
    nodes,
    swarm_of,
    task,
    three_nodes,
)
from tests.support.changed import with_node, with_swarm, with_tasks
from tests.support.plans import make_plan

APP_FILE = "/etc/queenright/notes.yaml"
APP_IMAGE = "10.77.0.1:5000/queenright-notes:1.0.100"
NEXT_IMAGE = "10.77.0.1:5000/queenright-notes:1.0.101"
APP_DIGESTS = {APP_IMAGE: f"sha256:{'c' * 64}", NEXT_IMAGE: f"sha256:{'d' * 64}"}
APP = f"""\
apiVersion: queenright/v1alpha1
kind: NotesApp
metadata:
  name: notes
spec:
  image: {APP_IMAGE}
  origin: https://notes.example.org
  database: {{cluster: main}}
"""
WEB = "notes_web"
PASSWORD = "notes_db_password"  # a secret's name
PASSWORD_ID = "id-notes_db_password"  # as above
KEY = "app_encryption_key"
EDGE = "notes_edge"
EDGE_IMAGE = "10.77.0.1:5000/queenright-edge:2.6"
EDGE_DIGEST = f"sha256:{'e' * 64}"
EDGE_NODES = ("node2", "node3")
REPLICA_NODES = {1: "node3", 2: "node4"}


def app_manifest(**spec: object) -> str:
    """``APP`` with further lines of spec, each a YAML flow value by its field."""
    return APP + "".join(f"  {name}: {value}\n" for name, value in spec.items())


@cache
def documents(text: str = APP, cluster: str | None = MANIFEST) -> tuple[Document, ...]:
    """The application's document last; without its cluster's where that is None."""
    files = {APP_FILE: text, FILE: cluster or MANIFEST}
    loaded = judged(files)
    assert not loaded.errors, loaded.errors
    found = sorted(loaded.documents, key=lambda one: one.kind == "NotesApp")
    return tuple(one for one in found if one.kind == "NotesApp" or cluster is not None)


@cache
def desired_app(text: str = APP, password_id: str = PASSWORD_ID) -> DesiredApp:
    cluster, app = (one.resource for one in documents(text))
    assert isinstance(cluster, PostgresCluster)
    assert isinstance(app, NotesApp)
    ids = {PASSWORD: password_id} if password_id else {}
    facts = SwarmFacts(ids, {node.name: node.address for node in nodes()})
    return expand_app(app, cluster, facts)


def pinned_app(service: Service) -> Service:
    image = f"{service.image}@{APP_DIGESTS[service.image]}"
    return dataclasses.replace(service, image=image, labels={**service.labels, IMAGE_LABEL: image})


def catalog(text: str = APP) -> Catalog:
    """Return a catalog with the roles and databases that the application claims."""
    wanted = claims_of(documents(text))[DocumentKey("PostgresCluster", "main")]
    roles = tuple(
        Role(
            role.name,
            verifier="as desired" if role.password_secret else "not asked",
            has_password=bool(role.password_secret),
            login=role.login,
            member_of=role.member_of or (),
        )
        for role in wanted.roles
    )
    databases = tuple(Database(d.name, d.owner, connect=d.connect) for d in wanted.databases)
    return Catalog(roles, databases)


def undeployed(text: str = APP) -> Observed:
    """The cluster is whole and has the role and the database; of the application nothing is."""
    observed = three_nodes()
    secrets = (*swarm_of(observed).secrets, Live(PASSWORD_ID, 50, secret(PASSWORD)))
    images = {ref: Known(found) for ref, found in images_found().items()}
    return dataclasses.replace(
        with_swarm(observed, secrets=secrets),
        catalogs={"main": Known(catalog(text))},
        images={**observed.images, **images},
    )


def images_found() -> dict[str, ImageFound]:
    return {reference: ImageFound(found) for reference, found in {**DIGESTS, **APP_DIGESTS}.items()}


def secret(name: str) -> Secret:
    return Secret(name)


def served(text: str = APP) -> Observed:
    """The converged application: two replicas, each of which says that it is ready."""
    observed, wanted = undeployed(text), desired_app(text)
    swarm = swarm_of(observed)
    web = LiveService(f"id-{WEB}", 200, pinned_app(wanted.web), LONG_AGO, LONG_AGO)
    replicas = tuple(replica(slot) for slot in range(1, wanted.web.replicas + 1))
    secrets = (wanted.key, wanted.url_secret)
    observed = with_swarm(
        observed,
        services=(*swarm.services, web),
        tasks=(*swarm.tasks, *replicas),
        networks=(*swarm.networks, Live("id-app-network", 0, wanted.network)),
        secrets=(*swarm.secrets, *(Live(f"id-{s.name}", 50, s) for s in secrets)),
        configs=(*swarm.configs, Live(f"id-{wanted.state_config.name}", 60, wanted.state_config)),
    )
    ready = {found.id: Known(Readiness(200)) for found in replicas}
    return dataclasses.replace(observed, readiness=ready)


def replica(slot: int, **fields: Any) -> Task:
    node = REPLICA_NODES.get(slot, "node2")
    return task(WEB, node, slot, addresses={"notes_app": f"10.0.9.{slot}"}, **fields)


def with_readiness(observed: Observed, slot: int, reading: Readiness | Unknown) -> Observed:
    found = reading if isinstance(reading, Unknown) else Known(reading)
    return dataclasses.replace(observed, readiness={**observed.readiness, replica(slot).id: found})


def with_secret(observed: Observed, name: str) -> Observed:
    secrets = (*swarm_of(observed).secrets, Live(f"id-{name}", 50, secret(name)))
    return with_swarm(observed, secrets=secrets)


def app_plan(
    observed: Observed, text: str = APP, now: datetime = NOW, cluster: str | None = MANIFEST
) -> Plan:
    """The application's plan, its cluster's document among them unless ``cluster`` is None."""
    found = documents(text, cluster)
    return make_plan(found[-1], observed, now, found).plan


def cluster_plan(observed: Observed, text: str = APP) -> Plan:
    """The plan of the cluster that has the application's database."""
    found = documents(text)
    return make_plan(found[0], observed, NOW, found).plan


def bare() -> Observed:
    """A swarm in which nothing of ours is; the images are in their registry."""
    observed = bare_swarm()
    images = {ref: Known(found) for ref, found in images_found().items()}
    return dataclasses.replace(observed, images={**observed.images, **images})


def behind(edge: str = "nodes: [node2, node3], tls: internal", **more: object) -> str:
    return app_manifest(edge=f"{{image: {EDGE_IMAGE}, {edge}}}", **more)


def known(observed: Observed) -> Observed:
    return dataclasses.replace(
        observed, images={**observed.images, EDGE_IMAGE: Known(ImageFound(EDGE_DIGEST))}
    )


def with_edge(observed: Observed, text: str, *tasks: Task) -> Observed:
    """The edge that a file asks for is deployed, its configuration and its nodes' labels too."""
    wanted = desired_app(text)
    (edge,) = wanted.others
    image = f"{EDGE_IMAGE}@{EDGE_DIGEST}"
    pinned = dataclasses.replace(edge, image=image, labels={**edge.labels, IMAGE_LABEL: image})
    swarm = swarm_of(observed)
    configs = [Live(f"id-{item.name}", 61, item) for item in wanted.configs]
    kept = [item for item in swarm.configs if item.value.name != wanted.state_config.name]
    state_config = Live(f"id-{wanted.state_config.name}", 60, wanted.state_config)
    observed = with_swarm(
        observed,
        services=(*swarm.services, LiveService(f"id-{EDGE}", 300, pinned, LONG_AGO, LONG_AGO)),
        configs=(*kept, state_config, *configs),
    )
    for item in wanted.node_labels:
        labels = next(node.labels for node in swarm.nodes if node.name == item.node)
        observed = with_node(observed, item.node, labels={**labels, **item.labels})
    return with_tasks(known(observed), EDGE, *tasks)


def edges(*nodes: str) -> tuple[Task, ...]:
    return tuple(task(EDGE, node) for node in nodes)


def behind_it(text: str = "") -> Observed:
    """The converged application with its edge."""
    text = text or behind()
    return with_edge(served(text), text, *edges(*EDGE_NODES))
