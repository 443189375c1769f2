"""Safe ways to create an extension in a database whose owner is not trusted.

Pure: from the extension's control file. PostgreSQL runs an extension's script as the superuser; a
name without schema in it may resolve to an object of the database's owner. Invariant: the operator
runs no script as the superuser where it can see objects of somebody else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

SYSTEM_SCHEMA = "pg_catalog"

Way = Literal["apart", "as owner", "unsafe"]
"""``apart``: in a schema that only this transaction sees, moved when it is complete. ``as owner``:
the extension is trusted, so the database's owner may create it as well. ``unsafe``: neither works.
"""


@dataclass(frozen=True, slots=True)
class ExtensionFacts:
    """The server's facts about one extension, in its default version. ``schema`` is the one that it
    requires, ``requires`` the extensions that it needs."""

    name: str
    superuser: bool = True
    trusted: bool = False
    relocatable: bool = True
    schema: str = ""
    requires: tuple[str, ...] = ()


def way_to_create(name: str, offered: Mapping[str, ExtensionFacts]) -> Way:
    """Return the way to create an extension in a database that is in use."""
    facts = offered.get(name)
    if facts is None:
        return "unsafe"
    if not facts.requires and (facts.relocatable or facts.schema == SYSTEM_SCHEMA):
        return "apart"
    # A script that runs as the owner would run in the superuser's session: the owner's code in it
    # could take the session's rights back. That of a trusted one never runs as the owner.
    if all(
        found is not None and found.superuser and found.trusted for found in _all(name, offered)
    ):
        return "as owner"
    return "unsafe"


def _all(name: str, offered: Mapping[str, ExtensionFacts]) -> Iterator[ExtensionFacts | None]:
    """Yield an extension and all that it requires; None for one that the server has not."""
    seen, open_names = set(), [name]
    while open_names:
        name = open_names.pop()
        if name in seen:
            continue
        seen.add(name)
        facts = offered.get(name)
        yield facts
        open_names += facts.requires if facts else ()
