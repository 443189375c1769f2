"""Annotation with the roles and databases that the file has had.

What is gone from the file leaves no trace in it, and the database can't distinguish a role that the
file created from any other; a comment there could be changed by others, and would end up in dumps.
Invariant: a name is forgotten only when it is known to be gone from the database.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from queenright.core.observed import Known, Unknown
from queenright.core.postgres.catalog import Catalog, DesiredCatalog
from queenright.core.swarm.label_values import read_json
from queenright.core.swarm.objects import CATALOG_LABEL


@dataclass(frozen=True, slots=True)
class CatalogNote:
    """``roles`` maps each name to the swarm secret whose value its password was last seen to be,
    or to nothing; ``databases`` are names."""

    roles: Mapping[str, str] = field(default_factory=dict)
    databases: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.roles or self.databases)


def read_catalog_note(labels: Mapping[str, str]) -> CatalogNote:
    """Annotation in a state config's labels; one that can't be read counts as absent."""
    match read_json(labels.get(CATALOG_LABEL, "")):
        case {"roles": dict(roles), "databases": list(databases)} if are_texts(
            [*roles.values(), *databases]
        ):
            return CatalogNote(roles, tuple(databases))
        case _:
            return CatalogNote()


def are_texts(values: Iterable[object]) -> bool:
    return all(isinstance(value, str) for value in values)


def with_catalog_note(labels: Mapping[str, str], note: CatalogNote) -> dict[str, str]:
    """A state config's labels with this annotation in place of its own."""
    kept = {name: value for name, value in labels.items() if name != CATALOG_LABEL}
    if not note:
        return kept
    text = {"roles": dict(sorted(note.roles.items())), "databases": sorted(note.databases)}
    return {**kept, CATALOG_LABEL: json.dumps(text)}


def due_note(
    desired: DesiredCatalog, found: Known[Catalog] | Unknown, former: CatalogNote
) -> CatalogNote:
    """The annotation as it should be from now on."""
    roles = {role.name: former.roles.get(role.name, "") for role in desired.roles}
    databases = {database.name for database in desired.databases}
    catalog = found.value if isinstance(found, Known) else None
    for role in desired.roles:
        live = catalog.role(role.name) if catalog else None
        if live is not None and live.verifier == "as desired":
            roles[role.name] = role.password_secret
    for name, secret in former.roles.items():
        if catalog is None or catalog.role(name) is not None:
            roles.setdefault(name, secret)
    for name in former.databases:
        if catalog is None or catalog.database(name) is not None:
            databases.add(name)
    return CatalogNote(roles, tuple(sorted(databases)))
