"""Read secrets that are mounted into the operator's own container."""

from __future__ import annotations

import re
from pathlib import Path

from queenright.ports.errors import RejectedError, UnavailableError
from queenright.ports.secrets import Password

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,63}")
MOST_BYTES = 500 * 1024
"""Swarm's own limit for a secret."""


def mounted_secret(directory: Path, name: str) -> Password | None:
    """Return the value in the secret's file; None if it is not mounted.

    Raises UnavailableError if the file exists but can't be read.
    """
    if not NAME.fullmatch(name):
        raise RejectedError(f"{name!r} is not a secret's name")
    try:
        with (directory / name).open("rb") as file:
            return password_of(name, file.read(MOST_BYTES + 1))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnavailableError(
            f"secret {name} is mounted at {directory / name}, but can't be read: {error.strerror}"
        ) from error


def password_of(name: str, value: bytes) -> Password:
    """Return the value without surrounding whitespace (spec: database-cluster §2.3)."""
    try:
        text = value.decode().strip()
    except UnicodeDecodeError:
        raise RejectedError(f"secret {name} is not text in UTF-8") from None
    if not text or len(value) > MOST_BYTES:
        raise RejectedError(f"secret {name} is {'too long' if text else 'empty'}")
    return Password(text)
