"""Reads the settings from environment variables and reports all errors (spec: notes-app §2.1).

Decides the settings from a mapping of variables alone. Invariant: a `Settings` exists only if every
variable is valid, so no later code has to check again.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from notes.middleware.hostname import normal_host

T = TypeVar("T")

KEY_MIN_CHARACTERS = 32  # spec: notes-app §2.1
MEGABYTE = 1024 * 1024
_UNITS = {"": 1, "K": 1024, "M": MEGABYTE, "G": 1024 * MEGABYTE}
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
OIDC_REQUIRED = ("OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET")


@dataclass(frozen=True, slots=True)
class Problem:
    """One error in one variable."""

    variable: str
    message: str

    def __str__(self) -> str:
        return f"{self.variable}: {self.message}"


class ConfigError(Exception):
    """The environment is invalid; `problems` holds every error."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(str(p) for p in problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class OidcSettings:
    """Settings of single sign-on; all required ones are present."""

    issuer: str
    client_id: str
    client_secret: str
    groups_claim: str | None
    admin_group: str | None


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of the process, validated."""

    database_url: str
    encryption_key: str
    origin: str | None
    oidc: OidcSettings | None
    max_attachment_bytes: int
    extra_hosts: frozenset[str]
    port: int
    host: str
    body_limit_bytes: int
    shutdown_timeout_s: int
    protocol_header: str | None
    host_header: str | None
    address_header: str | None
    xff_depth: int
    max_connections: int
    max_connections_per_address: int

    @property
    def main_host(self) -> str | None:
        """The host of `ORIGIN`, with its port unless it is the scheme's default."""
        return None if self.origin is None else normal_host(urlsplit(self.origin).netloc)

    def __repr__(self) -> str:
        return f"Settings(origin={self.origin!r}, port={self.port})"


class _Reader:
    """Reads variables one by one and collects their errors."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ
        self.problems: list[Problem] = []

    def raw(self, name: str) -> str | None:
        """The value of `name`, or the content of the file that `name`_FILE names."""
        value, path = self.environ.get(name), self.environ.get(f"{name}_FILE")
        if path:
            if value:
                self.wrong(name, f"set both directly and by {name}_FILE; keep one of them")
                return None
            try:
                value = Path(path).read_text("utf-8").rstrip("\r\n")
            except (OSError, UnicodeDecodeError) as error:
                reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
                self.wrong(f"{name}_FILE", f"cannot read {path}: {reason}")
                return None
            if not value:
                self.wrong(f"{name}_FILE", f"{path} is empty")
                return None
        if value is not None and "\0" in value:
            self.wrong(name, "contains a NUL byte")
            return None
        return value or None

    def wrong(self, name: str, message: str) -> None:
        self.problems.append(Problem(name, message))

    def failed(self, name: str) -> bool:
        return any(p.variable in {name, f"{name}_FILE"} for p in self.problems)

    def get(self, name: str, parse: Callable[[str], T], default: T) -> T:
        value = self.raw(name)
        if value is None:
            return default
        try:
            return parse(value)
        except ValueError as error:
            self.wrong(name, str(error))
            return default

    def required(self, name: str, parse: Callable[[str], str]) -> str:
        value = self.get(name, parse, "")
        if not value and not self.failed(name):
            self.wrong(name, f"is required (or {name}_FILE)")
        return value


def load(environ: Mapping[str, str]) -> Settings:
    """The settings in `environ`.

    Raises `ConfigError` with all problems, not only the first.
    """
    env = _Reader(environ)
    settings = Settings(
        database_url=env.required("DATABASE_URL", _database_url),
        encryption_key=env.required("APP_ENCRYPTION_KEY", _key),
        origin=env.get("ORIGIN", _origin, None),
        oidc=_oidc(env),
        max_attachment_bytes=env.get("MAX_ATTACHMENT_MB", _whole(1, 1_048_576), 1024) * MEGABYTE,
        extra_hosts=env.get("APP_EXTRA_HOSTS", _hosts, frozenset()),
        port=env.get("PORT", _whole(0, 65_535), 3000),
        host=env.get("HOST", _listen_host, "0.0.0.0"),  # noqa: S104 - the contract's default
        body_limit_bytes=env.get("BODY_SIZE_LIMIT", parse_size, 256 * MEGABYTE),
        shutdown_timeout_s=env.get("SHUTDOWN_TIMEOUT", _whole(0, 86_400), 20),
        protocol_header=env.get("PROTOCOL_HEADER", _header, None),
        host_header=env.get("HOST_HEADER", _header, None),
        address_header=env.get("ADDRESS_HEADER", _header, None),
        xff_depth=env.get("XFF_DEPTH", _whole(1, 100), 1),
        max_connections=env.get("MAX_CONNECTIONS", _whole(16, 1_000_000), 4096),
        max_connections_per_address=env.get(
            "MAX_CONNECTIONS_PER_ADDRESS", _whole(1, 1_000_000), 1024
        ),
    )
    if env.problems:
        raise ConfigError(env.problems)
    return settings


def _oidc(env: _Reader) -> OidcSettings | None:
    issuer = env.get("OIDC_ISSUER", _issuer, None)
    client_id, secret = env.raw("OIDC_CLIENT_ID"), env.raw("OIDC_CLIENT_SECRET")
    claim, group = env.raw("OIDC_GROUPS_CLAIM"), env.raw("OIDC_ADMIN_GROUP")
    given = dict(zip(OIDC_REQUIRED, (issuer, client_id, secret), strict=True))
    if not any((*given.values(), claim, group)):
        return None
    for name, value in given.items():
        if value is None and not env.failed(name):
            env.wrong(name, "is required when any other OIDC_ variable is set")
    if group and not claim:
        env.wrong("OIDC_GROUPS_CLAIM", "is required when OIDC_ADMIN_GROUP is set")
    return OidcSettings(issuer or "", client_id or "", secret or "", claim, group)


def parse_size(text: str) -> int:
    """The number of bytes in `256M`, `512K`, `1G` or a plain number."""
    match = re.fullmatch(r"(\d{1,12})([KMG]?)", text.strip(), re.IGNORECASE)
    if match is None or int(match[1]) == 0:
        raise ValueError(f"{text!r} is not a size; write bytes, or a number with K, M or G")
    return int(match[1]) * _UNITS[match[2].upper()]


def _database_url(text: str) -> str:
    from psycopg.conninfo import conninfo_to_dict
    from psycopg.errors import ProgrammingError

    try:
        conninfo_to_dict(text)
    except ProgrammingError:
        # The library's message may quote the string with its password.
        raise ValueError(
            "is not a PostgreSQL connection string; write postgresql://user:password@host/database"
        ) from None
    return text


def _key(text: str) -> str:
    if len(text) < KEY_MIN_CHARACTERS:
        raise ValueError(
            f"has {len(text)} characters; at least {KEY_MIN_CHARACTERS} are required"
            " (for example 32 random bytes in base64)"
        )
    return text


def _origin(text: str) -> str:
    message = f"{text!r} is not an origin; write https://notes.example.org without a path"
    try:
        parts = urlsplit(text)
        host = normal_host(parts.netloc)
    except ValueError:
        raise ValueError(message) from None
    extra = parts.username or parts.query or parts.fragment or parts.path.strip("/")
    if parts.scheme not in {"http", "https"} or host is None or extra:
        raise ValueError(message)
    return f"{parts.scheme}://{host}"


def _issuer(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.netloc or parts.query or parts.fragment:
        raise ValueError(f"{text!r} is not an issuer URL; write https://id.example.org/realm")
    return text


def _hosts(text: str) -> frozenset[str]:
    hosts = set[str]()
    for item in filter(None, (part.strip() for part in text.split(","))):
        host = normal_host(item)
        if host is None:
            raise ValueError(f"{item!r} is not a host name")
        hosts.add(host)
    return frozenset(hosts)


def _listen_host(text: str) -> str:
    if re.fullmatch(r"[0-9A-Za-z.:_-]+", text) is None:
        raise ValueError(f"{text!r} is not an address to listen on")
    return text


def _header(text: str) -> str:
    if _HEADER_NAME.fullmatch(text) is None:
        raise ValueError(f"{text!r} is not a header name")
    return text.lower()


def _whole(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if re.fullmatch(r"\d{1,9}", text.strip()) is None or not low <= int(text) <= high:
            raise ValueError(f"{text!r} is not a whole number from {low} to {high}")
        return int(text)

    return parse
