"""PostgreSQL's parameters that take a restart: what a server runs with, and what waits for one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DEFAULTS = {
    "archive_mode": "off",
    "hot_standby": "on",
    "max_connections": "100",
    "max_locks_per_transaction": "64",
    "max_prepared_transactions": "0",
    "max_replication_slots": "10",
    "max_wal_senders": "10",
    "max_worker_processes": "8",
    "shared_buffers": "128MB",
    "wal_buffers": "-1",
    "wal_level": "replica",
    "wal_log_hints": "on",
}
"""Those that take a restart, as Patroni or PostgreSQL has them where nobody sets them."""
HOT_STANDBY = frozenset(
    {
        "max_connections",
        "max_locks_per_transaction",
        "max_prepared_transactions",
        "max_wal_senders",
        "max_worker_processes",
    }
)
"""A standby can't run with less of these than its primary does."""


def wanted(settings: Mapping[str, Any]) -> dict[str, str]:
    """The restart parameters as Patroni's settings ask for them."""
    postgresql = settings.get("postgresql")
    written = postgresql.get("parameters") if isinstance(postgresql, Mapping) else None
    given = written if isinstance(written, Mapping) else {}
    return {name: plain(given.get(name, default)) for name, default in DEFAULTS.items()}


def plain(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def started_with(
    settings: Mapping[str, Any], control: Mapping[str, int], *, as_primary: bool
) -> dict[str, str]:
    """Return the parameters of a server that starts now; ``control`` are those of its primary."""
    found = wanted(settings)
    if not as_primary:
        for name, least in control.items():
            if found[name].isdigit() and int(found[name]) < least:
                found[name] = str(least)
    return found


def control_of(running: Mapping[str, str]) -> dict[str, int]:
    return {name: int(running[name]) for name in HOT_STANDBY if running.get(name, "").isdigit()}


def pending(running: Mapping[str, str], settings: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """By parameter, its present and its future value (``pending_restart_reason``)."""
    if not running:
        return {}
    future = wanted(settings)
    return {name: (value, future[name]) for name, value in running.items() if future[name] != value}
