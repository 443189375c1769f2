"""Patroni's configuration, as the template that every member of a cluster mounts.

Decides the whole text from the document alone (spec: database-cluster §2.4, §2.5), with
placeholders where members differ: `${NODE_NAME}` and its like stand alone as a value, or with a
port, and the member's entry point fills them. A `${` that a person wrote is escaped as `$${`.
"""

import json
import re
from functools import lru_cache
from typing import Any

import yaml

from queenright.core.kinds.postgres_cluster.desired.restore import restore_method
from queenright.core.kinds.postgres_cluster.patroni.config_keys import PARAMETERS_KEY, OwnParameters
from queenright.core.kinds.postgres_cluster.patroni.replica_methods import written_methods
from queenright.core.kinds.postgres_cluster.replication.settings import written_settings
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.kinds.postgres_cluster.schema.parameters import CONTRACT_PARAMETERS
from queenright.core.postgres.hba import REPLICATION_USER, SUPERUSER, access_rules

REST_API_USER = "queenright"
SOCKET_DIRECTORY = "/var/run/postgresql"
LOCAL_REPLICATION = f"local replication {REPLICATION_USER} scram-sha-256"
"""Beside the contract's rules, after them: without it a replica can't read its own timeline through
the socket, and complains in every round. No `host` rule before it can decide a local connection."""

BASE_BACKUP = ({"checkpoint": "fast"}, "progress")
"""Options of pg_basebackup, which copies a new member. With a spread checkpoint, its default, the
copy from a replica begins only after that replica's next restartpoint: minutes. Its progress is
read out of the container's lines (``core.observed.base_copies``)."""

_BOOTSTRAP = "bootstrap"

FAST_DUMPER: type[Any] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
"""Of libyaml, where PyYAML was built with it: ten times as fast."""
SPECIAL = re.compile(r'\\|"":|"[^"]{64,}":')
"""JSON texts that the two dumpers would write differently: with characters that are escaped, or
with an empty or a long key. The text must not depend on the dumper: it restarts members."""


def render_patroni_template(cluster: PostgresCluster) -> str:
    """The text of `/etc/patroni/patroni.yml.tpl`."""
    head = (
        f"# Patroni's configuration of cluster {cluster.metadata.name}, made from its manifest.\n"
    )
    sections = {**_local_sections(cluster), _BOOTSTRAP: _bootstrap_section(cluster)}
    return head + _written(json.dumps(sections))


@lru_cache(maxsize=64)
def _written(sections: str) -> str:
    """The JSON text's sections as YAML: PyYAML takes longer over them than all else of a pass."""
    return yaml.dump(
        json.loads(sections),
        Dumper=yaml.SafeDumper if SPECIAL.search(sections) else FAST_DUMPER,
        sort_keys=False,
        width=1 << 20,
        allow_unicode=True,
        default_flow_style=False,
    )


def bootstraps(template: bytes) -> bool:
    """Return True if a member with this template may initialise a new, empty cluster."""
    return any(line.startswith(f"{_BOOTSTRAP}:".encode()) for line in template.splitlines())


def local_part(template: str) -> str:
    """A template without its bootstrap section, which is read once in a cluster's life: where only
    that differs, no running member has to restart."""
    kept = []
    inside = False
    for line in template.splitlines(keepends=True):
        if line[:1] not in {" ", "-"}:
            inside = line.startswith(f"{_BOOTSTRAP}:")
        if not inside:
            kept.append(line)
    return "".join(kept)


def dynamic_configuration(cluster: PostgresCluster) -> dict[str, Any]:
    """The cluster-wide settings, as `bootstrap.dcs` holds them and `GET /config` answers them.

    Two are the operator's own, beside the contract's: `basebackup`, and `check_timeline`, without
    which Patroni lets a former leader win an election with WAL that the next one never had.
    """
    patroni, postgresql = cluster.spec.patroni, cluster.spec.postgresql
    rules = access_rules(cluster.spec.lan_subnet, postgresql.access_rules)
    own = OwnParameters(frozenset(postgresql.parameters.keys() - CONTRACT_PARAMETERS.keys()))
    return {
        "ttl": patroni.ttl_s,
        "loop_wait": patroni.loop_wait_s,
        "retry_timeout": patroni.retry_timeout_s,
        "maximum_lag_on_failover": patroni.maximum_lag_on_failover_bytes,
        "check_timeline": True,
        "postgresql": {
            "use_pg_rewind": patroni.use_pg_rewind,
            "basebackup": [*BASE_BACKUP],
            **written_methods(cluster.spec.backup),
            "parameters": dict(postgresql.parameters),
            "pg_hba": [*rules, LOCAL_REPLICATION],
        },
        **written_settings(cluster.spec.replication),
        **({PARAMETERS_KEY: str(own)} if own.names else {}),
    }


def _bootstrap_section(cluster: PostgresCluster) -> dict[str, Any]:
    return {
        "dcs": _escaped(dynamic_configuration(cluster)),
        **(restore_method(cluster) or {"initdb": [{"encoding": "UTF8"}, "data-checksums"]}),
    }


def _local_sections(cluster: PostgresCluster) -> dict[str, Any]:
    ports = cluster.spec.ports
    rest_api: dict[str, Any] = {
        "listen": f"0.0.0.0:{ports.rest_api}",
        "connect_address": f"${{NODE_CONNECT}}:{ports.rest_api}",
    }
    if cluster.spec.rest_api.authentication == "basic":
        rest_api["authentication"] = {"username": REST_API_USER, "password": "${PG_REST_PW}"}
    return {
        "scope": cluster.metadata.name,
        "name": "${NODE_NAME}",
        "log": {"loggers": {"patroni.watchdog.base": "DEBUG"}},
        "raft": {
            "self_addr": "${RAFT_SELF}",
            "data_dir": "/home/postgres/raft",
            "partner_addrs": "${RAFT_PARTNERS}",
        },
        "restapi": rest_api,
        "postgresql": {
            "listen": f"0.0.0.0:{ports.postgresql}",
            "connect_address": f"${{NODE_CONNECT}}:{ports.postgresql}",
            "data_dir": "/home/postgres/pgdata",
            "pgpass": "/tmp/pgpass0",  # noqa: S108 (spec: §2.4; the mount is the member's own)
            "use_unix_socket": True,
            "use_unix_socket_repl": True,
            "parameters": {"unix_socket_directories": SOCKET_DIRECTORY},
            "authentication": {
                "replication": {"username": REPLICATION_USER, "password": "${PG_REPLICATION_PW}"},
                "superuser": {"username": SUPERUSER, "password": "${PG_SUPERUSER_PW}"},
            },
        },
        "tags": {
            "failover_priority": "${FAILOVER_PRIORITY}",
            "nofailover": False,
            "noloadbalancer": False,
            "clonefrom": True,
        },
    }


def _escaped(value: Any) -> Any:
    """The value with every `${` of a person's kept from being taken for a placeholder."""
    if isinstance(value, dict):
        return {_escaped(key): _escaped(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_escaped(item) for item in value]
    return value.replace("${", "$${") if isinstance(value, str) else value
