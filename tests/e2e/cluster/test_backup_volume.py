"""A repository on a volume of a node: archive, base backup, list, drill, its loss, a restore.

The cluster gets it by an edit. Its service is removed by hand and its node loses power, both while
a client writes; the archive catches up each time. A second cluster begins from it at the end.
"""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest

from tests.e2e.cluster.conftest import well_again
from tests.e2e.cluster.deployment import Deployment
from tests.e2e.cluster.repository import archived, noted, rows, stored
from tests.e2e.swarm_facts import (
    MEMBER_NODES,
    connect,
    container_of,
    eventually,
    leader_node,
    quick_manifest,
    service,
)
from tests.e2e.writer import Writer
from tests.lab.lab import Lab
from tests.lab.product_images import publish

pytestmark = [pytest.mark.lab, pytest.mark.images]

PORT, NODE, VOLUME = 9000, MEMBER_NODES[2], "main_repository-data"
KEY = "key-of-this-test-alone"
CREDENTIALS = f"[default]\naws_access_key_id = backup:main\naws_secret_access_key = {KEY}\n"
FIELDS = """  backup:
    repository:
      credentials: backup_credentials
      volume: {{node: {node}, image: "{registry}/queenright-repository:2.30"}}
    schedule: 0 3 1 1 *
    drill: {{node: {drilled}}}
"""
RESTORED = """apiVersion: queenright/v1alpha1
kind: PostgresCluster
metadata: {{name: copy}}
spec:
  image: {registry}/queenright-member:16
  lanSubnet: {subnet}
  patroni: {{ttl: 20s, loopWait: 2s, retryTimeout: 9s}}
  members: [{{name: only, node: {node}}}]
  ports: {{postgresql: 25432, raft: 22222, restApi: 28008}}
  nodeLabels: {{member: copy-node, proxy: copy-ha-node}}
  secrets: {{replication: copy_replication, superuser: copy_superuser, restApi: copy_rest}}
  proxies:
    image: {registry}/queenright-proxy:3.0-alpine
    ports: {{primary: 25000, replicas: 25001, statistics: 27000}}
  bootstrap:
    from:
      backup:
        repository: {{bucket: backups, credentials: backup_credentials, endpoint: "{endpoint}"}}
        cluster: main
"""


@pytest.fixture(scope="module")
def on_volume(deployment: Deployment) -> Deployment:
    """The cluster with a repository on a volume, by an edit, and a base backup in it."""
    lab, operator = deployment.lab, deployment.operator
    publish(lab.registry, ["repository"], lab.settings)
    lab.manager.docker("secret", "create", "backup_credentials", "-", text=CREDENTIALS)
    fields = FIELDS.format(node=NODE, registry=lab.registry, drilled=MEMBER_NODES[0])
    operator.write(quick_manifest(lab) + fields)
    operator.wait_for(lambda: noted(lab).get("id"), "a base backup", 420)
    well_again(deployment)
    return deployment


def switched(lab: Lab) -> str:
    """Finish a WAL file on the leader and return its name."""
    with connect(lab, leader_node(lab), 5432) as connection:
        (name,) = connection.execute("SELECT pg_walfile_name(pg_switch_wal())").fetchall()[0]
        return str(name)


def is_archived(lab: Lab, name: str) -> bool:
    with connect(lab, leader_node(lab), 5432) as connection:
        return archived(connection, name)


def volumes(lab: Lab) -> list[str]:
    return lab.node(NODE).docker("volume", "ls", "-q").stdout.split()


@pytest.mark.timeout(600)
def test_it_is_archived_listed_and_proven_and_outlives_its_service_and_its_nodes_power(
    on_volume: Deployment,
) -> None:
    lab, operator = on_volume.lab, on_volume.operator
    assert [backup["id"] for backup in stored(on_volume)] == [noted(lab)["id"]]
    proven = operator.command("backup", "verify")
    assert proven.returncode == 0, proven.stderr + proven.stdout
    print(proven.stdout)
    endpoint = f"http://{lab.node(NODE).address}:{PORT}"
    runs = f"repository on {NODE} (volume {VOLUME}), {endpoint}: runs"
    assert runs in operator.command("status").stdout
    assert leader_node(lab) != NODE

    with Writer(lab, MEMBER_NODES[0], "volume", 0.05) as writer:
        writer.wait_for_a_write()
        first = service(lab, "main_repository")["ID"]
        lab.manager.docker("service", "rm", "main_repository")
        name = switched(lab)
        eventually(lambda: service(lab, "main_repository").get("ID", first) != first, "another", 60)
        eventually(lambda: is_archived(lab, name), "the archive after the removal", 150)
        # The former container may have archived it while it was being stopped: its port is in use,
        # and for ever so to swarm if the node loses power now and is soon back.
        eventually(lambda: runs in operator.command("status").stdout, "the other one to run", 120)
        writer.wait_for_a_write()

        lab.node(NODE).power_cut()
        try:
            writer.wait_for_a_write()
            name = switched(lab)
            words = "does not run, so that nothing is archived"
            eventually(lambda: words in operator.command("status").stdout, "the line", 150)
            assert not is_archived(lab, name)
            said = operator.command("status").stdout
            writer.wait_for_a_write()
        finally:
            lab.node(NODE).start()
        eventually(lambda: is_archived(lab, name), "the archive after the power cut", 150)
        writer.wait_for_a_write()
    print(said)
    well_again(on_volume)
    told = "".join(operator.lines) + json.dumps(service(lab, "main_repository")) + said
    told += json.dumps(service(lab, "main_member-1")) + proven.stdout
    assert KEY not in told


@pytest.mark.timeout(600)
def test_another_cluster_begins_from_it_and_the_volume_outlives_the_field(
    on_volume: Deployment,
) -> None:
    lab, operator = on_volume.lab, on_volume.operator
    with connect(lab, leader_node(lab), 5432) as connection:
        before = rows(connection)
    name = switched(lab)
    eventually(lambda: is_archived(lab, name), "the archive", 60)
    settings = lab.settings
    copy = RESTORED.format(
        registry=lab.registry,
        subnet=settings.subnet,
        node=MEMBER_NODES[1],
        endpoint=f"http://{lab.node(NODE).address}:{PORT}",
    )
    operator.write(copy, "copy.yaml")
    eventually(lambda: restored(lab) == before, "the restored rows", 180)
    print(f"restored {len(before)} rows")

    operator.write(quick_manifest(lab))
    eventually(lambda: not service(lab, "main_repository"), "the service to go", 180)
    assert VOLUME in volumes(lab)
    well_again(on_volume)


def restored(lab: Lab) -> list[tuple[Any, ...]] | None:
    """Return the rows of the other cluster; None while it does not serve them."""
    node = lab.node(MEMBER_NODES[1])
    container = container_of(node, "copy_only")
    if not container:
        return None
    read = node.docker("exec", container, "cat", "/run/secrets/pg_superuser_pw", check=False)
    try:
        with psycopg.connect(
            host=node.address, port=25432, user="postgres", password=read.stdout.strip(),
            dbname="postgres", connect_timeout=5,
        ) as connection:  # fmt: skip
            (waits,) = connection.execute("SELECT pg_is_in_recovery()").fetchall()[0]
            return None if waits else rows(connection)
    except psycopg.Error:
        return None
