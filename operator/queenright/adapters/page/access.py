"""Access to the page, decided by method, host name, origin and token.

Invariant: the token is compared in constant time, and is in no message.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

SHORTEST_TOKEN, LONGEST_TOKEN = 16, 1024


class TokenError(Exception):
    """A token file that can't be used."""


@dataclass(frozen=True, slots=True)
class Refused:
    """An answer instead of a page."""

    status: int
    reason: str
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Access:
    """``names`` are the host names by which the page may be called; ``token`` empty asks for
    none."""

    names: tuple[str, ...] = ()
    token: str = field(default="", repr=False)

    def refusal(self, method: str, headers: Sequence[tuple[bytes, bytes]]) -> Refused | None:
        """Return the reason why a request gets no page; None if it gets one."""
        given = {name.decode("latin-1"): value.decode("latin-1") for name, value in headers}
        if not self.knows_host(given.get("host", "")):
            return Refused(421, "This host name is not in QUEENRIGHT_LISTEN_NAMES")
        if method not in {"GET", "HEAD"}:
            return Refused(405, "The page can only be read", (("Allow", "GET, HEAD"),))
        if has_body(given):
            return Refused(400, "A request has no body here")
        if is_from_another_site(given):
            return Refused(403, "Another site asks for this")
        if not self.allows(given.get("authorization", "")):
            challenge = 'Basic realm="Queenright", charset="UTF-8"'
            return Refused(401, "A token is needed", (("WWW-Authenticate", challenge),))
        return None

    def knows_host(self, host: str) -> bool:
        """Return True for localhost, an address, and the names that were given. Another name would
        be one that an attacker's DNS server may point here (DNS rebinding)."""
        name = host_name(host).lower().removesuffix(".")
        if name == "localhost" or name in self.names:
            return True
        try:
            ip_address(name)
        except ValueError:
            return False
        return True

    def allows(self, authorization: str) -> bool:
        """Return True if a request gives the token, as Bearer or as the password of Basic."""
        if not self.token:
            return True
        scheme, _, value = authorization.partition(" ")
        value = value.strip()
        match scheme.lower():
            case "bearer":
                given = value.encode("latin-1", "replace")
            case "basic":
                given = password_of(value)
            case _:
                return False
        return hmac.compare_digest(given, self.token.encode())


def host_name(host: str) -> str:
    """Return the name in a Host header, without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if host.count(":") == 1 else host


def password_of(value: str) -> bytes:
    try:
        return base64.b64decode(value, validate=True).partition(b":")[2]
    except (binascii.Error, ValueError):
        return b""


def has_body(given: Mapping[str, str]) -> bool:
    return "transfer-encoding" in given or given.get("content-length", "0").strip() != "0"


def is_from_another_site(given: Mapping[str, str]) -> bool:
    """Return True for a request that another site's page makes; a link to here may be followed."""
    is_link = given.get("sec-fetch-mode", "") == "navigate"
    return given.get("sec-fetch-site", "") == "cross-site" and not is_link


def read_token(path: Path) -> str:
    """Return the token in a file. TokenError if it can't be read, or is no token."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise TokenError(f"{path}: it is no file; QUEENRIGHT_LISTEN_TOKEN_FILE names one")
        with path.open("rb") as stream:
            data = stream.read(LONGEST_TOKEN + 3)
    except OSError as error:
        raise TokenError(
            f"{path}: the token can't be read ({error.strerror}); "
            "correct QUEENRIGHT_LISTEN_TOKEN_FILE"
        ) from error
    token = data.removesuffix(b"\n").removesuffix(b"\r")
    is_printable = all(33 <= byte < 127 for byte in token)
    if not SHORTEST_TOKEN <= len(token) <= LONGEST_TOKEN or not is_printable:
        raise TokenError(
            f"{path}: a token has {SHORTEST_TOKEN} to {LONGEST_TOKEN} printable characters of "
            "ASCII on one line; write another one (openssl rand -hex 32)"
        )
    return token.decode()
