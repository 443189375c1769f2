"""Recognise the fields that may hold a password, so that no message repeats their values.

A person who mistakes a secret's name for the secret writes the password itself there. Invariant: a
value whose field, or a part around it, is named like a secret is in no message.
"""

from __future__ import annotations

import re
from typing import Any, get_args

from pydantic.fields import FieldInfo

from queenright.core.manifest.names import MEANT_BY_NAME, secret_name
from queenright.core.manifest.problems import Path
from queenright.core.manifest.suggestions import describe

_WORDS = r"passw|passphrase|secret|token|credential|pwd|(^|[_-])pw([_-]|$)"
_MEANT = re.compile(_WORDS, re.IGNORECASE)
_SECRET = re.compile(rf"{_WORDS}|private|authentication|verifier|key$", re.IGNORECASE)


def is_secret_like(name: str) -> bool:
    """Return True if a field of this name may hold a password or be mistaken for one that does."""
    return _SECRET.search(name) is not None


def describe_at(path: Path, value: object, field: FieldInfo | None = None) -> str:
    """Return a value as a message quotes it; a value that may be a password is not quoted."""
    is_text = isinstance(value, str | int | float) and not isinstance(value, bool)
    named = any(is_secret_like(step) for step in path if isinstance(step, str))
    if is_text and (named or takes_secret_name(field)):
        return "the value there (hidden)"
    return describe(value)


def takes_secret_name(field: FieldInfo | None) -> bool:
    """Return True if a field takes the name of a swarm secret."""
    return field is not None and (
        any(getattr(one, "func", None) is secret_name for one in field.metadata)
        or _mentions_secret_name(field.annotation)
    )


def _mentions_secret_name(annotation: Any) -> bool:
    if getattr(annotation, "__metadata__", ()):
        return any(getattr(one, "func", None) is secret_name for one in annotation.__metadata__)
    return any(_mentions_secret_name(part) for part in get_args(annotation))


def secret_hint(name: str, suggested: FieldInfo | None) -> str:
    """Return `; a secret's name is …` where a password may have been meant, else nothing."""
    meant = takes_secret_name(suggested) or _MEANT.search(name)
    return f"; {MEANT_BY_NAME}" if meant else ""
