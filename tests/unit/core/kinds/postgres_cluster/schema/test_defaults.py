"""The model's defaults are the contract's values; each is written here with its source."""

import ipaddress

import pytest
from pydantic import ValidationError

from tests.support.documents import document, edited

SPEC = document().resource.spec


def test_defaults_are_the_contracts() -> None:
    assert (SPEC.ports.postgresql, SPEC.ports.raft, SPEC.ports.rest_api) == (5432, 5010, 8008)
    ports = SPEC.proxies.ports
    assert (ports.primary, ports.replicas, ports.statistics) == (5000, 5001, 7000)
    patroni = SPEC.patroni
    assert (patroni.ttl_s, patroni.loop_wait_s, patroni.retry_timeout_s) == (30, 10, 10)
    assert patroni.maximum_lag_on_failover_bytes == 1048576
    assert patroni.use_pg_rewind
    proxies = SPEC.proxies
    assert (proxies.max_connections, proxies.max_connections_per_server) == (500, 200)
    timeouts = proxies.timeouts
    assert (timeouts.connect_s, timeouts.client_s, timeouts.server_s) == (5, 1800, 1800)
    assert (timeouts.check_s, proxies.statistics.refresh_s) == (3, 5)
    assert (proxies.check.interval_s, proxies.check.fall, proxies.check.rise) == (3, 3, 2)
    assert proxies.update.delay_s >= proxies.check.interval_s * proxies.check.rise


def test_limits_are_the_contracts() -> None:
    mebi = 1 << 20
    assert (SPEC.memory.limit_bytes, SPEC.memory.reservation_bytes) == (2048 * mebi, 512 * mebi)
    proxy_memory = SPEC.proxies.memory
    assert (proxy_memory.limit_bytes, proxy_memory.reservation_bytes) == (64 * mebi, 16 * mebi)
    tmpfs = SPEC.tmpfs
    assert (tmpfs.tmp_bytes, tmpfs.run_bytes, tmpfs.postgresql_bytes) == (
        64 * mebi,
        16 * mebi,
        8 * mebi,
    )
    assert (SPEC.proxies.tmpfs.tmp_bytes, SPEC.proxies.tmpfs.run_bytes) == (16 * mebi, 8 * mebi)
    restart = SPEC.restart_policy
    assert (restart.condition, restart.delay_s) == ("on-failure", 10)
    assert (restart.max_attempts, restart.window_s) == (5, 60)
    assert SPEC.proxies.restart_policy.condition == "on-failure"
    assert SPEC.proxies.restart_policy.delay_s == 5
    health = SPEC.health_check
    assert (health.interval_s, health.timeout_s, health.start_period_s) == (10, 5, 30)
    assert (health.retries, health.while_starting) == (3, "unhealthy")


def test_names_are_the_contracts() -> None:
    secrets = SPEC.secrets
    assert (secrets.replication, secrets.superuser) == ("pg_replication_pw", "pg_superuser_pw")
    assert (SPEC.node_labels.member, SPEC.node_labels.proxy) == ("pg-node", "pg-ha-node")


def test_what_other_fields_decide() -> None:
    assert [member.failover_priority for member in SPEC.members] == [3, 1, 1]
    assert SPEC.proxies.nodes == ("node2", "node3", "node4")
    assert SPEC.network.name == "main_patroni"
    assert SPEC.lan_subnet == ipaddress.IPv4Network("10.77.0.0/24")
    assert SPEC.deletion_policy == "retain"


def test_a_written_value_wins_over_a_derived_one() -> None:
    spec = document(
        edited(
            ("node: node2", "node: node2, failoverPriority: 1"),
            ("node: node3", "node: node3, failoverPriority: 3"),
            ("3.0-alpine\n", "3.0-alpine\n    nodes: [node5]\n"),
            more="network: {name: backbone}",
        )
    ).resource.spec
    assert [member.failover_priority for member in spec.members] == [1, 3, 1]
    assert spec.proxies.nodes == ("node5",)
    assert spec.network.name == "backbone"


def test_a_cluster_is_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        document().resource.spec.image = "other"  # type: ignore[misc]


def test_yaml_reads_like_an_editor_does() -> None:
    text = edited(
        ("node: node2", "node: no"), ("node: node3", "node: 1e"), ("{name: main}", "{name: on}")
    )
    cluster = document(text).resource
    assert (cluster.metadata.name, cluster.spec.members[0].node) == ("on", "no")
