"""Claim of an application on the cluster that has its database.

Decides from its document alone: an owner that never logs in, a role that
does, and an empty database whose owner is the first (spec: notes-app §2.3).
"""

from __future__ import annotations

from queenright.core.kinds.notes_app.schema.app import NotesApp
from queenright.core.kinds.postgres_cluster.databases.login_roles import login_role
from queenright.core.postgres.catalog import DesiredCatalog, DesiredDatabase, DesiredRole


def claim_of(app: NotesApp) -> DesiredCatalog:
    """The roles and the database of one application; nothing where it has a string of its own."""
    database = app.spec.database
    if not (database.cluster and database.role and database.name and database.password_secret):
        return DesiredCatalog()
    owner = DesiredRole(database.role, login=False)
    login = DesiredRole(
        login_role(database.role, database.password_secret),
        password_secret=database.password_secret,
        member_of=(database.role,),
    )
    return DesiredCatalog(
        (owner, login),
        (DesiredDatabase(database.name, database.role, connect=(login.name,)),),
    )
