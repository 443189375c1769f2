"""Settings from environment variables, checked as a whole.

Pure: returns one frozen ``Settings`` from a mapping of variables, or every problem at once with the
variable's name. Nothing here reads a file or the real environment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Literal, TypeVar, cast, get_args
from urllib.parse import urlsplit

from queenright.core.manifest.quantities import parse_duration

LogFormat = Literal["auto", "json", "console"]
LogLevel = Literal["debug", "info", "warning", "error"]

DEFAULT_MANIFESTS = Path("/etc/queenright")
DEFAULT_STATE_DIR = Path("/var/lib/queenright")
DEFAULT_SECRETS_DIR = Path("/run/secrets")
DEFAULT_DOCKER_HOST = "unix:///var/run/docker.sock"

LOOPBACK = "127.0.0.1"
HOST_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")

PREFIX = "QUEENRIGHT_"

T = TypeVar("T")


class SettingsError(ValueError):
    """Unusable settings; ``problems`` has one line each, with the variable's name."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class PollIntervals:
    """Intervals of the loop, in seconds. ``resync_s`` is only the fallback for missed triggers."""

    resync_s: float = 15.0
    file_poll_s: float = 0.1
    member_poll_s: float = 1.0
    replica_poll_s: float = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Docker:
    """The address of the engine, in the variables of the Docker SDK and client."""

    host: str = DEFAULT_DOCKER_HOST
    tls_verify: bool = False
    cert_path: Path | None = None

    @property
    def environment(self) -> dict[str, str]:
        """The variables that the Docker SDK's ``from_env`` takes."""
        found = {"DOCKER_HOST": self.host}
        if self.tls_verify:
            found["DOCKER_TLS_VERIFY"] = "1"
        if self.cert_path is not None:
            found["DOCKER_CERT_PATH"] = str(self.cert_path)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Listen:
    """The address of the page. ``names`` are the host names by which browsers may call it, besides
    localhost and addresses; ``token_file`` has the token that they have to give."""

    address: str
    port: int
    names: tuple[str, ...] = ()
    token_file: Path | None = None

    @property
    def is_loopback(self) -> bool:
        return ip_address(self.address).is_loopback


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of the operator. Durations are seconds.

    ``state_dir`` None keeps nothing on disk: the log stream alone is the audit trail. A secret that
    is mounted under ``secrets_dir`` by its name is read there. ``resync_interval_s`` is only the
    fallback for missed file edits, Docker events and member changes. ``listen`` None shows no page.
    """

    manifests: Path = DEFAULT_MANIFESTS
    state_dir: Path | None = DEFAULT_STATE_DIR
    secrets_dir: Path = DEFAULT_SECRETS_DIR
    docker: Docker = field(default_factory=Docker)
    log_format: LogFormat = "auto"
    log_level: LogLevel = "info"
    resync_interval_s: float = 15.0
    file_poll_interval_s: float = 0.1
    member_poll_interval_s: float = 1.0
    docker_timeout_s: float = 10.0
    member_timeout_s: float = 2.0
    listen: Listen | None = None


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Return the settings in ``environment``. Raises ``SettingsError`` with all problems at once.

    An empty variable counts as unset, except ``QUEENRIGHT_STATE_DIR``, where it means none.
    """
    reader = _Reader(environment)
    settings = Settings(
        manifests=reader.read("QUEENRIGHT_MANIFESTS", _path, DEFAULT_MANIFESTS),
        state_dir=_state_dir(reader, environment),
        secrets_dir=reader.read("QUEENRIGHT_SECRETS_DIR", _path, DEFAULT_SECRETS_DIR),
        docker=Docker(
            host=reader.read("DOCKER_HOST", _docker_host, DEFAULT_DOCKER_HOST),
            tls_verify=bool(environment.get("DOCKER_TLS_VERIFY")),
            cert_path=reader.read("DOCKER_CERT_PATH", _path, None),
        ),
        log_format=reader.read("QUEENRIGHT_LOG_FORMAT", _log_format, "auto"),
        log_level=reader.read("QUEENRIGHT_LOG_LEVEL", _log_level, "info"),
        resync_interval_s=reader.read("QUEENRIGHT_RESYNC_INTERVAL", _at_least(1), 15.0),
        file_poll_interval_s=reader.read("QUEENRIGHT_FILE_POLL_INTERVAL", _at_least(0.01), 0.1),
        member_poll_interval_s=reader.read("QUEENRIGHT_MEMBER_POLL_INTERVAL", _at_least(0.1), 1.0),
        docker_timeout_s=reader.read("QUEENRIGHT_DOCKER_TIMEOUT", _at_least(0.5), 10.0),
        member_timeout_s=reader.read("QUEENRIGHT_MEMBER_TIMEOUT", _at_least(0.1), 2.0),
        listen=_listen(reader),
    )
    reader.note_unknown()
    if reader.problems:
        raise SettingsError(tuple(reader.problems))
    return settings


class _Reader:
    """Reads variables one by one, and collects their problems."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._known: set[str] = {"QUEENRIGHT_STATE_DIR"}
        self.problems: list[str] = []

    def read(self, name: str, parse: Callable[[str], T], default: T) -> T:
        self._known.add(name)
        text = self._environment.get(name, "").strip()
        if not text:
            return default
        try:
            return parse(text)
        except ValueError as error:
            self.problems.append(f"{name}: {error}")
            return default

    def note_unknown(self) -> None:
        """Report unknown variables: a misspelt one would silently leave the default in force."""
        for name in sorted(self._environment):
            if name.startswith(PREFIX) and name not in self._known:
                known = ", ".join(sorted(k for k in self._known if k.startswith(PREFIX)))
                self.problems.append(f"{name}: unknown setting; the settings are {known}")


def _state_dir(reader: _Reader, environment: Mapping[str, str]) -> Path | None:
    if environment.get("QUEENRIGHT_STATE_DIR", str(DEFAULT_STATE_DIR)).strip() == "":
        return None
    return reader.read("QUEENRIGHT_STATE_DIR", _path, DEFAULT_STATE_DIR)


def _listen(reader: _Reader) -> Listen | None:
    place = reader.read("QUEENRIGHT_LISTEN", _address_and_port, None)
    token_file = reader.read("QUEENRIGHT_LISTEN_TOKEN_FILE", _path, None)
    no_names: tuple[str, ...] = ()
    names = reader.read("QUEENRIGHT_LISTEN_NAMES", _host_names, no_names)
    if place is None:
        return None
    listen = Listen(address=place[0], port=place[1], names=names, token_file=token_file)
    if token_file is None and not listen.is_loopback:
        reader.problems.append(
            f"QUEENRIGHT_LISTEN: {listen.address} can be reached from other machines; set "
            "QUEENRIGHT_LISTEN_TOKEN_FILE to a file with a token, or listen on 127.0.0.1"
        )
    return listen


def _address_and_port(text: str) -> tuple[str, int]:
    address, colon, port = text.rpartition(":")
    host = address.removeprefix("[").removesuffix("]") if colon else LOOPBACK
    host = LOOPBACK if host.lower() == "localhost" else host
    number = int(port) if port.isascii() and port.isdigit() and len(port) < 6 else 0
    has_brackets = address.startswith("[") and address.endswith("]")
    if not _is_address(host) or (":" in host) != has_brackets or not 0 < number < 65536:
        raise ValueError(
            f'must be ADDRESS:PORT or PORT, such as 127.0.0.1:8790 or [::1]:8790, not "{text}"'
        )
    return host, number


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _host_names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip().lower() for name in text.split(",") if name.strip())
    for name in names:
        if not HOST_NAME.fullmatch(name):
            raise ValueError(f'must be host names with commas between them, not "{name}"')
    return names


def _path(text: str) -> Path:
    if "\0" in text:
        raise ValueError("must be a path, without a null byte")
    return Path(text)


def _docker_host(text: str) -> str:
    expected = "must be an address such as unix:///var/run/docker.sock or tcp://10.0.0.5:2376"
    if text.startswith("ssh://"):
        raise ValueError(
            f'{expected}; ssh is not supported: forward the socket behind "{text}" (ssh -N -L '
            "$HOME/docker.sock:/var/run/docker.sock HOST), and set unix://$HOME/docker.sock"
        )
    if not text.startswith(("unix://", "tcp://", "http://", "https://")) or not _has_port(text):
        raise ValueError(f'{expected}, not "{text}"')
    return text


def _has_port(address: str) -> bool:
    """Return True if the address has a valid port or none."""
    try:
        return urlsplit(address).port != 0
    except ValueError:
        return False


def _log_format(text: str) -> LogFormat:
    return cast("LogFormat", _one_of(text, get_args(LogFormat)))


def _log_level(text: str) -> LogLevel:
    return cast("LogLevel", _one_of(text, get_args(LogLevel)))


def _one_of(text: str, allowed: tuple[str, ...]) -> str:
    if text.lower() not in allowed:
        raise ValueError(f'must be one of {", ".join(allowed)}, not "{text}"')
    return text.lower()


def _at_least(least_s: float) -> Callable[[str], float]:
    def parse(text: str) -> float:
        seconds = float(parse_duration(text))
        if seconds < least_s:
            raise ValueError(f'must be at least {least_s:g} s, not "{text}"')
        return seconds

    return parse
