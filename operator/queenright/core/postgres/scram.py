"""Compare a password with a stored SCRAM-SHA-256 verifier on the operator's side.

Follows RFC 5802 and 7677, and PostgreSQL's use of SASLprep (src/common/saslprep.c): characters that
are not in its tables, or are forbidden there, are taken as written. Invariant: the comparison takes
the same time wherever the values differ.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import stringprep
import unicodedata

_VERIFIER = re.compile(
    r"SCRAM-SHA-256\$(?P<iterations>\d{1,10}):(?P<salt>[A-Za-z0-9+/=]+)"
    r"\$(?P<stored>[A-Za-z0-9+/=]+):(?P<server>[A-Za-z0-9+/=]+)"
)
MOST_ITERATIONS = 10_000_000
"""The most iterations: more would block the operator for seconds; PostgreSQL's default is 4096."""

_FORBIDDEN = (
    stringprep.in_table_c12,
    stringprep.in_table_c21_c22,
    stringprep.in_table_c3,
    stringprep.in_table_c4,
    stringprep.in_table_c5,
    stringprep.in_table_c6,
    stringprep.in_table_c7,
    stringprep.in_table_c8,
    stringprep.in_table_c9,
    stringprep.in_table_a1,
)


def is_password_of(verifier: str, password: str) -> bool:
    """Return True if the verifier was made from this password; False for other kinds (md5)."""
    match = _VERIFIER.fullmatch(verifier)
    if match is None or int(match["iterations"]) > MOST_ITERATIONS:
        return False
    try:
        salt = base64.b64decode(match["salt"], validate=True)
        stored = base64.b64decode(match["stored"], validate=True)
        server = base64.b64decode(match["server"], validate=True)
    except binascii.Error:
        return False
    found = keys_of(password, salt, max(1, int(match["iterations"])))
    return hmac.compare_digest(found[0] + found[1], stored + server)


def verifier_of(password: str, salt: bytes, iterations: int) -> str:
    """Return the verifier as PostgreSQL stores it."""
    stored, server = keys_of(password, salt, iterations)
    texts = (base64.b64encode(part).decode() for part in (salt, stored, server))
    return "SCRAM-SHA-256${}:{}${}:{}".format(iterations, *texts)


def keys_of(password: str, salt: bytes, iterations: int) -> tuple[bytes, bytes]:
    """Return StoredKey and ServerKey."""
    salted = hashlib.pbkdf2_hmac("sha256", prepared(password), salt, iterations)
    client = hmac.digest(salted, b"Client Key", "sha256")
    return hashlib.sha256(client).digest(), hmac.digest(salted, b"Server Key", "sha256")


def prepared(password: str) -> bytes:
    """Return the password as libpq and the server hash it."""
    raw = password.encode("utf-8", "surrogatepass")
    if password.isascii():
        return raw
    mapped = "".join(
        " " if stringprep.in_table_c12(character) else character
        for character in password
        if not stringprep.in_table_b1(character) or stringprep.in_table_c12(character)
    )
    # PostgreSQL looks the characters up as they are before they are normalized, and RFC 4013 after.
    if not mapped or any(in_table(character) for character in mapped for in_table in _FORBIDDEN):
        return raw
    if any(map(stringprep.in_table_d1, mapped)):
        turns = any(map(stringprep.in_table_d2, mapped))
        if turns or not (stringprep.in_table_d1(mapped[0]) and stringprep.in_table_d1(mapped[-1])):
            return raw
    return unicodedata.normalize("NFKC", mapped).encode("utf-8", "surrogatepass")
