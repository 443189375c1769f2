"""Login roles of an application, so that its password can change while it runs.

The dedicated role that owns the database never logs in. For each secret there is a login role of
its own, which acts as the owner from its first statement on: what migrations create belongs to the
owner whoever logged in. Another secret in the file is thus another role, and the old one stays
valid until the last replica that uses it is gone.
"""

from __future__ import annotations

import hashlib
import re

_DIGITS = 8


def login_role(owner: str | None, password_secret: str | None) -> str:
    """The role that logs in with the password of this secret: the owner's name and digits that the
    secret's name gives. Empty for a database with a connection string of its own."""
    if owner is None or password_secret is None:
        return ""
    digits = hashlib.sha256(password_secret.encode()).hexdigest()[:_DIGITS]
    return f"{owner}_{digits}"


def session_options(owner: str) -> str:
    """Return a connection's start options (libpq's ``options``): to act as the owner."""
    return f"-c role={owner}"


def is_login_of(role: str, owner: str) -> bool:
    """True if a role is, or was, a login role of this owner."""
    return re.fullmatch(rf"{re.escape(owner)}_[0-9a-f]{{{_DIGITS}}}", role) is not None
