"""What the applications of a set of files need of the clusters that have their databases.

Decides from the documents alone: for each application an owner that never logs in, a role that
does, and an empty database whose owner is the first (spec: notes-app §2.3).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from queenright.core.app.logins import login_role
from queenright.core.catalog import DesiredCatalog, DesiredDatabase, DesiredRole
from queenright.core.spec.notes_app import NotesApp
from queenright.core.spec.problems import Document


def wishes_of(documents: Iterable[Document]) -> Mapping[str, DesiredCatalog]:
    """By the cluster's name; clusters of which nothing is wished are not there."""
    found: dict[str, DesiredCatalog] = {}
    apps = [document.app for document in documents if document.is_app]
    for app in sorted(apps, key=lambda app: app.metadata.name):
        wished, cluster = wish_of(app), app.spec.database.cluster
        if wished and cluster:
            before = found.get(cluster, DesiredCatalog())
            found[cluster] = DesiredCatalog(
                (*before.roles, *wished.roles), (*before.databases, *wished.databases)
            )
    return found


def wish_of(app: NotesApp) -> DesiredCatalog:
    """The roles and the database of one application; nothing where it has a string of its own."""
    database = app.spec.database
    if not (database.cluster and database.role and database.name and database.password_secret):
        return DesiredCatalog()
    owner = DesiredRole(database.role, login=False)
    login = DesiredRole(
        login_role(database), password_secret=database.password_secret, member_of=(database.role,)
    )
    return DesiredCatalog(
        (owner, login),
        (DesiredDatabase(database.name, database.role, connect=(login.name,)),),
    )
