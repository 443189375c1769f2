"""Decode the catalog's JSON, from the one statement of ``statements``, into values."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from queenright.core.postgres.catalog import Catalog, Database, Role
from queenright.core.postgres.extensions import ExtensionFacts, way_to_create
from queenright.ports.databases import Found
from queenright.ports.errors import PortError
from queenright.ports.secrets import Password


def decode_found(
    text: Mapping[str, Any],
    extensions: Mapping[str, list[str] | PortError],
    offered: Mapping[str, ExtensionFacts],
) -> Found:
    roles = sorted((decode_role(raw) for raw in text["roles"]), key=lambda role: role.name)
    databases = sorted(
        (decode_database(raw, extensions.get(raw["name"])) for raw in text["databases"]),
        key=lambda database: database.name,
    )
    catalog = Catalog(
        tuple(roles),
        tuple(databases),
        frozenset(text["referred"]),
        frozenset(offered),
        frozenset(name for name in offered if way_to_create(name, offered) == "unsafe"),
    )
    verifiers = {raw["name"]: Password(raw["verifier"]) for raw in text["roles"] if raw["verifier"]}
    return Found(catalog, verifiers)


def decode_role(raw: Mapping[str, Any]) -> Role:
    until = raw["valid_until"]
    return Role(
        name=raw["name"],
        has_password=raw["verifier"] is not None,
        sessions=raw["sessions"],
        login=raw["login"],
        connection_limit=raw["connection_limit"],
        member_of=tuple(sorted(raw["member_of"])),
        inherit=raw["inherit"],
        create_db=raw["create_db"],
        create_role=raw["create_role"],
        bypass_rls=raw["bypass_rls"],
        superuser=raw["superuser"],
        replication=raw["replication"],
        valid_until=None if until is None else datetime.fromtimestamp(until, UTC),
    )


def decode_database(raw: Mapping[str, Any], extensions: list[str] | PortError | None) -> Database:
    return Database(
        name=raw["name"],
        owner=raw["owner"],
        connection_limit=raw["connection_limit"],
        public=tuple(sorted(raw["public"])),
        connect=tuple(sorted(raw["connect"])),
        extensions=tuple(sorted(extensions)) if isinstance(extensions, list) else None,
        why_unread=str(extensions) if isinstance(extensions, PortError) else "",
    )
