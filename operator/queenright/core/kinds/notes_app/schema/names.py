"""Origins, hosts, headers and role names as the notes application and PostgreSQL accept them.

Decides, from a piece of text, whether it is valid; a refusal names the characters that are. What
the application itself would refuse at its start is refused here.
"""

import ipaddress
import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, WithJsonSchema

from queenright.core.kinds.postgres_cluster.schema.databases import database_name, role_name
from queenright.core.manifest.suggestions import UnfitValueError, describe

_LABEL = r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?"
HOST = rf"^{_LABEL}(\.{_LABEL})*(:[1-9][0-9]{{0,4}})?$"
ORIGIN = rf"^https?://{HOST[1:-1]}/?$"
ISSUER = r"^https?://[^\s/?#]+(/[^\s?#]*)?$"
HEADER = r"^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$"
ROLE = r"^[a-z_][a-z0-9_]*$"
MOUNTED_PATH = r"^(/[A-Za-z0-9._-]+)+$"

ROLE_MOST = 54
"""Characters of a role that owns a database: PostgreSQL has room for 63 (NAMEDATALEN - 1), and the
names of the roles that log in for it are 9 longer."""

_DEFAULT_PORTS = {"http": "80", "https": "443"}


def _host(value: str) -> str:
    named = value.lower()
    if len(named) > 253 or not re.fullmatch(HOST, named) or not _has_port(named):
        raise UnfitValueError(
            f"{describe(value)} is not a host such as notes.example.org or "
            "notes.example.org:8443, without a scheme or a path"
        )
    return named


def _has_port(host: str) -> bool:
    _, colon, port = host.partition(":")
    return not colon or int(port) < 65_536


def _origin(value: str) -> str:
    expected = "an origin such as https://notes.example.org"
    text = value.removesuffix("/") if value.count("/") == 3 else value
    try:
        parts = urlsplit(text)
    except ValueError:
        raise UnfitValueError(f"{describe(value)} is not {expected}") from None
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise UnfitValueError(f"{describe(value)} is not {expected}")
    if parts.path or parts.query or parts.fragment:
        raise UnfitValueError(f"{describe(value)} is more than {expected}: scheme and host alone")
    if "@" in parts.netloc:
        raise UnfitValueError(f"has a user or a password in it; write {expected}")
    host = parts.netloc.lower()
    if len(host) > 253 or not re.fullmatch(HOST, host) or not _has_port(host):
        raise UnfitValueError(f"{describe(value)} is not {expected}")
    return f"{parts.scheme}://{host.removesuffix(':' + _DEFAULT_PORTS[parts.scheme])}"


def _issuer(value: str) -> str:
    if len(value) > 2000 or not re.fullmatch(ISSUER, value):
        raise UnfitValueError(
            f"{describe(value)} is not an issuer such as https://id.example.org/realm, without a "
            "query"
        )
    return value


def _header(value: str) -> str:
    if not re.fullmatch(HEADER, value):
        raise UnfitValueError(
            f"{describe(value)} is not the name of a header such as X-Forwarded-For"
        )
    return value


def _role(value: str) -> str:
    if len(value) > ROLE_MOST:
        raise UnfitValueError(
            f"{describe(value)} has {len(value)} characters; at most {ROLE_MOST} leave room for "
            "the names of the roles that log in for it"
        )
    if not re.fullmatch(ROLE, value):
        raise UnfitValueError(
            f"{describe(value)} is not a usable name: lower-case letters, digits and underscores, "
            "no digit first"
        )
    return database_name(role_name(value))


def _line(value: str) -> str:
    """Value of an environment variable, taken as it stands: one line."""
    if not value:
        raise UnfitValueError("must not be empty")
    if not value.isprintable():
        raise UnfitValueError(f"{describe(value)} is not one line of printable text")
    return value


def _listen_address(value: str) -> str:
    try:
        address = ipaddress.ip_address(value)
    except ValueError:
        raise UnfitValueError(
            f"{describe(value)} is not an address to listen on such as 0.0.0.0"
        ) from None
    if address.is_loopback:
        raise UnfitValueError(
            f"{describe(value)} is the container's own loopback, where nobody reaches it; write "
            "0.0.0.0"  # noqa: S104 (an advice, within a container)
        )
    return str(address)


def _mounted_path(value: str) -> str:
    if len(value) > 4000 or not re.fullmatch(MOUNTED_PATH, value) or ".." in value.split("/"):
        raise UnfitValueError(
            f"{describe(value)} is not an absolute path such as /srv/dumps, of letters, digits, "
            "dots, hyphens and underscores"
        )
    return value


Host = Annotated[
    str,
    AfterValidator(_host),
    WithJsonSchema({"type": "string", "pattern": HOST, "maxLength": 253}),
]
"""A host name that clients ask for, with its port where that is not the scheme's own."""

Origin = Annotated[
    str,
    AfterValidator(_origin),
    WithJsonSchema({"type": "string", "pattern": ORIGIN, "maxLength": 262}),
]
"""Scheme and host of a public URL (spec: notes-app §2.1, `ORIGIN`)."""

IssuerUrl = Annotated[
    str, AfterValidator(_issuer), WithJsonSchema({"type": "string", "pattern": ISSUER})
]
"""The URL of an OpenID Connect issuer."""

Header = Annotated[
    str, AfterValidator(_header), WithJsonSchema({"type": "string", "pattern": HEADER})
]
"""The name of a request's header."""

OwnerName = Annotated[
    str,
    AfterValidator(_role),
    WithJsonSchema({"type": "string", "pattern": ROLE, "maxLength": ROLE_MOST}),
]
"""A role or database of an application, as PostgreSQL spells it without quotes."""

ListenAddress = Annotated[str, AfterValidator(_listen_address), WithJsonSchema({"type": "string"})]
"""An address of the container to listen on."""

Line = Annotated[
    str,
    AfterValidator(_line),
    WithJsonSchema({"type": "string", "minLength": 1, "pattern": r"^[^\x00-\x1f\x7f-\x9f]+$"}),
]
"""One line of printable text."""

MountedPath = Annotated[
    str, AfterValidator(_mounted_path), WithJsonSchema({"type": "string", "pattern": MOUNTED_PATH})
]
"""A directory of a node."""
