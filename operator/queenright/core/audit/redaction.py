"""Hide text that looks like a secret: the second protection, behind values that hold none.

Pure: replaces a text by its own form or by its name. Invariant: redacting twice gives the same as
once, so that a record which was redacted before it was hashed still matches its hash after a log
processor has redacted it again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

HIDDEN = "(hidden)"

_SECRET_NAME = re.compile(
    r"""(?ix)
    (?: password | passwd | passphrase | credentials? | token | authorization
      | api_?key | private_?key | secret_?(?:key|data|value|text)
      | (?: ^ | [_.\-\[] | pg ) (?: pass | pwd | pw )
    ) \]? $
    """
)
_SECRET_TEXTS = (
    # A generated secret is 32 bytes in base64 (spec: database-cluster §2.3); longer ones go too.
    re.compile(r"(?<![A-Za-z0-9+/])(?P<secret>[A-Za-z0-9+/]{43,}={1,2})"),
    re.compile(
        r"(?<![a-z0-9])[a-z][a-z0-9+.\-]{0,30}://[^\s:/@]*:(?P<secret>[^\s/@]+)@", re.IGNORECASE
    ),
    re.compile(
        r"\b(?:basic|bearer)\s+(?=\S*[0-9=])(?P<secret>[a-z0-9+/=._~\-]{8,})", re.IGNORECASE
    ),
    re.compile(
        r"(?:password|passwd|passphrase)\s*[=:]\s*"
        r"(?P<secret>'[^']*'|\"[^\"]*\"|(?!\(hidden\))[^\s'\",;)}\]]+)",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?P<secret>-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z))",
        re.DOTALL,
    ),
)
_MOST_ROUNDS = 8


def names_a_secret(name: str) -> bool:
    """Return True if values named ``name`` (``PGPASSWORD``, ``environment[DB_TOKEN]``) are secret.

    The contract's own secrets (``pg_superuser_pw``) only appear with their names, digests and
    targets, never with values; hiding those would lose information and protect nothing.
    """
    return _SECRET_NAME.search(name) is not None and not name.startswith("secrets[")


def redact_text(text: str) -> str:
    """Return ``text`` without parts that look like a password, valid as UTF-8."""
    text = text.encode("utf-8", "replace").decode()
    for _ in range(_MOST_ROUNDS):  # Hiding one secret may uncover another.
        before = text
        for pattern in _SECRET_TEXTS:
            text = pattern.sub(_hide, text)
        if text == before:
            break
    return text


def _hide(match: re.Match[str]) -> str:
    start, end = (at - match.start() for at in match.span("secret"))
    return match[0][:start] + HIDDEN + match[0][end:]


def redact(value: object, name: str = "") -> object:
    """Return ``value`` as JSON-ready data with every secret hidden, at any depth."""
    match value:
        case str() if value and value != HIDDEN and names_a_secret(name):
            return HIDDEN
        case str():
            return redact_text(value)
        case None | bool() | int() | float():
            return value
        case Mapping():
            return {str(key): redact(item, str(key)) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [redact(item, name) for item in value]
        case bytes():
            return HIDDEN
        case _:
            return redact_text(str(value))
