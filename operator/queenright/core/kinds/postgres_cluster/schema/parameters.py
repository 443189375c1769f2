"""The contract's database parameters, and the values that a parameter can be given.

Decides how a value is kept: a switch is `on` or `off` whichever way it was written (YAML 1.1
reads a bare `on` as a boolean, YAML 1.2 as text), everything else as it stands.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

from queenright.core.manifest.suggestions import UnfitValueError, describe

CONTRACT_PARAMETERS: Mapping[str, str | int | float] = MappingProxyType(
    {
        "wal_level": "replica",
        "max_wal_senders": 5,
        "max_replication_slots": 5,
        "hot_standby": "on",
        "wal_log_hints": "on",
        "archive_mode": "off",
        "shared_buffers": "256MB",
        "effective_cache_size": "512MB",
        "work_mem": "4MB",
        "maintenance_work_mem": "64MB",
        "max_connections": 200,
        "password_encryption": "scram-sha-256",
        "log_connections": "on",
        "log_disconnections": "on",
        "log_statement": "ddl",
        "log_line_prefix": "%m [%p] %q%u@%d ",
    }
)
"""Parameters set at bootstrap (spec: database-cluster §2.5). The log prefix is timestamp, process
id and, in a session, user and database."""

ARCHIVE_COMMAND = "wal-archive %p"
"""The member image's program. It reads where to from the environment and the mounted secrets."""
ARCHIVING_PARAMETERS: Mapping[str, str] = MappingProxyType(
    {"archive_mode": "always", "archive_command": ARCHIVE_COMMAND, "archive_timeout": "1min"}
)
"""Parameters of a cluster that archives its WAL, in place of the contract's or beside them. With
`always` a replica keeps each file until the archive has it, for the case that it leads before."""

REPLICA_NOTE = "/home/postgres/raft/replica"
"""File of a member that was made from a backup and has not come to the end of the archive."""
REPLICA_PARAMETERS: Mapping[str, str] = MappingProxyType(
    {"restore_command": (f"test -e {REPLICA_NOTE} && replica-wal-restore %f %p || exit 1")}
)
"""Parameters of a cluster whose replicas are made from the backup. The shell that PostgreSQL starts
looks for the note itself, so that a promotion looks nothing up in the archive. Status 1 at every
failure, that of a program which is not there, too: one above 125 would stop the server."""


def _value(value: object) -> object:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, str | int | float):
        return value
    raise UnfitValueError(f"must be text, a number or on/off, not {describe(value)}")


ParameterValue = Annotated[
    str | int | float,
    BeforeValidator(_value),
    WithJsonSchema({"type": ["string", "number", "boolean"]}),
]
"""A parameter's value; a boolean becomes `on` or `off`."""
