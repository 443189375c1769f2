"""The guard of repositories on volumes: node and volume stay, and none goes that is in use."""

from __future__ import annotations

from dataclasses import replace

import pytest

from queenright.core.kinds.postgres_cluster.backup.repository_guard import (
    archives_at,
    place,
)
from queenright.core.kinds.postgres_cluster.desired.expand import expand
from queenright.core.kinds.postgres_cluster.desired.repository import (
    RepositoryPlace,
    endpoint_at,
    place_of,
)
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.swarm.objects import Mount, Service
from tests.fakes.loading import judged
from tests.support.builders import BACKUP_ON_VOLUME, FILE, manifest

NODES = {f"node{number}": f"10.77.0.{10 + number}" for number in range(1, 6)}


def cluster(backup: str = BACKUP_ON_VOLUME) -> PostgresCluster:
    found = judged({FILE: manifest(backup=backup)}).documents[0].resource
    assert isinstance(found, PostgresCluster)
    return found


def repository(backup: str = BACKUP_ON_VOLUME, deployed: RepositoryPlace | None = None) -> Service:
    found = expand(cluster(backup), NODES, repository=deployed).repository
    assert found is not None
    return found.service


def test_the_members_have_the_address_of_the_servers_node() -> None:
    desired = expand(cluster(), NODES)
    environments = [member.service.environment for member in desired.members]
    assert {one["BACKUP_ENDPOINT"] for one in environments} == {"http://10.77.0.11:9000"}
    assert {one["BACKUP_URL"] for one in environments} == {"s3://backups/main"}
    assert endpoint_at(repository()) == "http://10.77.0.11:9000"


def test_with_a_certificate_it_speaks_https() -> None:
    text = BACKUP_ON_VOLUME.replace("{node:", "{certificate: tls, node:").replace(
        "{credentials:", "{ca: s3_ca, credentials:"
    )
    desired = expand(cluster(text), NODES)
    assert desired.members[0].service.environment["BACKUP_ENDPOINT"] == "https://10.77.0.11:9000"
    assert "tls" in desired.given_secrets
    assert endpoint_at(repository(text)) == "https://10.77.0.11:9000"


def test_a_deployed_one_stays_where_it_is() -> None:
    deployed = place_of(repository())
    moved = repository(BACKUP_ON_VOLUME.replace("node1", "node5"), deployed)
    assert moved == repository()
    assert place(moved) == place(repository())


def test_a_node_that_nobody_knows_any_more_keeps_its_address() -> None:
    nodes = {name: address for name, address in NODES.items() if name != "node1"}
    with pytest.raises(KeyError):
        expand(cluster(), nodes)
    found = expand(cluster(), nodes, repository=place_of(repository())).repository
    assert found is not None
    assert found.service == repository()


def test_another_node_or_volume_is_another_place() -> None:
    service = repository()
    elsewhere = replace(service, constraints=("node.hostname==node5",))
    mounts = (Mount("/data", source="another"), *service.mounts[1:])
    assert place(service) != place(elsewhere)
    assert place(service) != place(replace(service, mounts=mounts))


def test_members_that_archive_there_use_it() -> None:
    member = expand(cluster(), NODES).members[0].service
    assert archives_at(member, repository())
    assert not archives_at(replace(member, environment={}), repository())
