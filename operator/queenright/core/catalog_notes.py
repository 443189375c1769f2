"""Which roles and databases the file has had, noted in the anchor's labels.

What is gone from the file leaves no trace in it, and the database can't tell a role that the file
made from one that somebody else did; a comment there would be somebody's to change, and would end
up in dumps. Invariant: a name is forgotten only when it is known to be gone from the database.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from queenright.core.catalog import Catalog, DesiredCatalog
from queenright.core.observed import Known, Unknown
from queenright.core.resources import CATALOG_LABEL


@dataclass(frozen=True, slots=True)
class CatalogNote:
    """``roles`` maps each name to the swarm secret whose value its password was last seen to be,
    or to nothing; ``databases`` are names."""

    roles: Mapping[str, str] = field(default_factory=dict)
    databases: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.roles or self.databases)


def read_catalog_note(labels: Mapping[str, str]) -> CatalogNote:
    """The note in an anchor's labels; one that can't be read counts as absent."""
    try:
        found = json.loads(labels.get(CATALOG_LABEL, "") or "{}")
        roles = {str(name): str(secret) for name, secret in found.get("roles", {}).items()}
        return CatalogNote(roles, tuple(str(name) for name in found.get("databases", [])))
    except (ValueError, TypeError, AttributeError):
        return CatalogNote()


def with_catalog_note(labels: Mapping[str, str], note: CatalogNote) -> dict[str, str]:
    """An anchor's labels with this note in place of its own."""
    kept = {name: value for name, value in labels.items() if name != CATALOG_LABEL}
    if not note:
        return kept
    text = {"roles": dict(sorted(note.roles.items())), "databases": sorted(note.databases)}
    return {**kept, CATALOG_LABEL: json.dumps(text)}


def due_note(
    desired: DesiredCatalog, found: Known[Catalog] | Unknown, noted: CatalogNote
) -> CatalogNote:
    """The note as it should be from now on."""
    roles = {role.name: noted.roles.get(role.name, "") for role in desired.roles}
    databases = {database.name for database in desired.databases}
    catalog = found.value if isinstance(found, Known) else None
    for role in desired.roles:
        live = catalog.role(role.name) if catalog else None
        if live is not None and live.verifier == "as wished":
            roles[role.name] = role.password_secret
    for name, secret in noted.roles.items():
        if catalog is None or catalog.role(name) is not None:
            roles.setdefault(name, secret)
    for name in noted.databases:
        if catalog is None or catalog.database(name) is not None:
            databases.add(name)
    return CatalogNote(roles, tuple(sorted(databases)))
