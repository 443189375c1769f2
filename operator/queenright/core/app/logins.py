"""The roles that an application logs in with, so that its password can change while it runs.

The dedicated role that owns the database never logs in. For each secret there is a role of its own
that does, and acts as the owner from its first statement on: what migrations make belongs to the
owner whoever logged in. Another secret in the file is thus another role, and the old one stays
good until the last replica that uses it is gone.
"""

from __future__ import annotations

import hashlib
import re

from queenright.core.spec.app_database import AppDatabase

_DIGITS = 8


def login_role(database: AppDatabase) -> str:
    """The role that logs in with the password of ``passwordSecret``: the owner's name and digits
    that the secret's name gives. Empty for a database with a connection string of its own."""
    if database.role is None or database.password_secret is None:
        return ""
    digits = hashlib.sha256(database.password_secret.encode()).hexdigest()[:_DIGITS]
    return f"{database.role}_{digits}"


def session_options(database: AppDatabase) -> str:
    """What a connection asks for at its start (libpq's ``options``): to act as the owner."""
    return f"-c role={database.role}"


def is_login_of(role: str, owner: str) -> bool:
    """Whether a role is one that logs in for this owner, now or formerly."""
    return re.fullmatch(rf"{re.escape(owner)}_[0-9a-f]{{{_DIGITS}}}", role) is not None
