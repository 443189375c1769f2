"""The form in which tokens are stored."""

import hashlib


def digest(token: str) -> bytes:
    """Returns what the database keeps of a token."""
    return hashlib.sha256(token.encode()).digest()
