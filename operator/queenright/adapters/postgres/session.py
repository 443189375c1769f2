"""The session settings that every connection of the operator pins when it starts.

The settings apply whatever ``ALTER ROLE … SET`` and ``ALTER DATABASE … SET`` say: a database's
owner sets the latter, and they reach every session in it, the superuser's too. Options at the start
of a connection (libpq's ``options``) outrank both. Invariant: no name without a schema resolves to
an object that somebody else has created.
"""

from __future__ import annotations

from collections.abc import Mapping

SUPERUSER = "postgres"
SEARCH_PATH = "pg_catalog, pg_temp"
"""Temporary objects last, where they hide nothing: if left out, they would come first."""

EVERY_ROLE: Mapping[str, str] = {
    "search_path": SEARCH_PATH,
    "role": "none",
    "local_preload_libraries": "",
    "client_min_messages": "warning",
    "idle_in_transaction_session_timeout": "0",
    "idle_session_timeout": "0",
    "default_transaction_read_only": "off",
    "default_transaction_deferrable": "off",
    "default_transaction_isolation": "read committed",
    "default_table_access_method": "heap",
    "default_tablespace": "",
    "temp_tablespaces": "",
    "row_security": "on",
    "check_function_bodies": "on",
    "standard_conforming_strings": "on",
    "backslash_quote": "safe_encoding",
    "transform_null_equals": "off",
    "array_nulls": "on",
    "bytea_output": "hex",
    "DateStyle": "ISO",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "password_encryption": "scram-sha-256",
    "createrole_self_grant": "",
}
SUPERUSER_ONLY: Mapping[str, str] = {
    "session_authorization": SUPERUSER,
    "session_preload_libraries": "",
    "session_replication_role": "origin",
    "allow_system_table_mods": "off",
    "lo_compat_privileges": "off",
}
"""Settings that only a superuser, or a role with ``GRANT SET ON PARAMETER``, may set: the server
would refuse another role's connection with them."""


def pinned_settings(user: str, statement_s: float) -> dict[str, str]:
    """Return the settings of a session of this user, with the server's limit for statements."""
    limit = f"{round(statement_s * 1000)}ms"
    timeouts = {"statement_timeout": limit, "lock_timeout": limit}
    own = SUPERUSER_ONLY if user == SUPERUSER else {}
    return {**EVERY_ROLE, **timeouts, **own}


def startup_options(user: str, statement_s: float) -> str:
    """Return the pinned settings in the form of libpq's ``options``."""
    pinned = pinned_settings(user, statement_s)
    return " ".join(f"-c {name}={_escaped(value)}" for name, value in pinned.items())


def _escaped(value: str) -> str:
    """Return a value with its blanks and backslashes escaped for libpq's ``options``."""
    return value.replace("\\", "\\\\").replace(" ", "\\ ")
