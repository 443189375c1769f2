"""Decides whether a member may start, from its environment, its secrets and its template.

Every problem is found before anything is written, and all of them are told at once. No message
ever contains a secret's value. (spec: database-cluster §2.2, §2.3, §7)
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .template import TemplateError, Value, fill, placeholders

REQUIRED = ("NODE_NAME", "RAFT_SELF", "RAFT_PARTNERS", "FAILOVER_PRIORITY")
#: Placeholder -> name of the secret file.
SECRETS: Mapping[str, str] = {
    "PG_REPLICATION_PW": "pg_replication_pw",
    "PG_SUPERUSER_PW": "pg_superuser_pw",
    "PG_REST_PW": "pg_rest_pw",
}
#: Those that every member needs, whatever its template says (spec: database-cluster §2.3).
ALWAYS_NEEDED = ("PG_REPLICATION_PW", "PG_SUPERUSER_PW")
_HOST_PORT = re.compile(r"^[A-Za-z0-9._-]+:[0-9]{1,5}$")
_ADDRESS = re.compile(r"^[A-Za-z0-9._-]+$")


OTHERWISE, NO_ROOM, RAFT_UNREADABLE = 1, 81, 82
"""Exit statuses of the entry point: swarm shows a task's status to the operator, and no log."""


class StartError(Exception):
    """The member cannot start; `reasons` has one line for each thing that is wrong, and `status` is
    the exit status of the container."""

    def __init__(self, *reasons: str, status: int = OTHERWISE) -> None:
        super().__init__("\n".join(reasons))
        self.reasons, self.status = reasons, status


@dataclass(frozen=True, slots=True)
class Paths:
    """The files and folders of a member, below a root that is / in the image."""

    template: Path
    secrets: Path
    config: Path
    data: Path
    raft: Path

    @classmethod
    def under(cls, root: Path) -> "Paths":
        return cls(
            template=root / "etc/patroni/patroni.yml.tpl",
            secrets=root / "run/secrets",
            config=root / "tmp/patroni.yml",
            data=root / "home/postgres/pgdata",
            raft=root / "home/postgres/raft",
        )


def generate(environ: Mapping[str, str], paths: Paths) -> str:
    """The text of Patroni's configuration; StartError with every reason why there is none."""
    reasons: list[str] = []
    template = _template(paths.template, reasons)
    wanted = placeholders(template)
    values: dict[str, Value] = {**_variables(environ, wanted, reasons)}
    for placeholder, name in SECRETS.items():
        if placeholder in ALWAYS_NEEDED or placeholder in wanted:
            values[placeholder] = _secret(name, paths.secrets / name, reasons)
    if reasons:
        raise StartError(*reasons)
    try:
        return fill(template, values)
    except TemplateError as error:
        raise StartError(f"template {paths.template}: {error}") from None


def _template(path: Path, reasons: list[str]) -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        reasons.append(f"template {path} cannot be read: {error.strerror}")
        return ""
    except UnicodeDecodeError:
        reasons.append(f"template {path} is not UTF-8 text")
        return ""
    if not text.strip():
        reasons.append(f"template {path} is empty")
    return text


def _variables(
    environ: Mapping[str, str], wanted: frozenset[str], reasons: list[str]
) -> Mapping[str, Value]:
    needed = (*REQUIRED, *(["NODE_CONNECT"] if "NODE_CONNECT" in wanted else []))
    given = {name: environ.get(name, "").strip() for name in (*REQUIRED, "NODE_CONNECT")}
    reasons.extend(
        f"environment variable {name} is empty or unset" for name in needed if not given[name]
    )
    values: dict[str, Value] = {name: text for name, text in given.items() if text}
    if given["RAFT_SELF"] and not _HOST_PORT.match(given["RAFT_SELF"]):
        reasons.append("environment variable RAFT_SELF is not <host_ip>:<port>")
    if given["RAFT_PARTNERS"]:
        values["RAFT_PARTNERS"] = _partners(given["RAFT_PARTNERS"], given["RAFT_SELF"], reasons)
    if given["FAILOVER_PRIORITY"]:
        values["FAILOVER_PRIORITY"] = _priority(given["FAILOVER_PRIORITY"], reasons)
    if given["NODE_CONNECT"] and not _ADDRESS.match(given["NODE_CONNECT"]):
        reasons.append("environment variable NODE_CONNECT is not an IPv4 address or a host name")
    return values


def _partners(text: str, own: str, reasons: list[str]) -> tuple[str, ...]:
    shape = "environment variable RAFT_PARTNERS is not a JSON list of <host_ip>:<port> strings"
    try:
        partners = json.loads(text)
    except ValueError:
        reasons.append(shape)
        return ()
    if not isinstance(partners, list) or not all(
        isinstance(partner, str) and _HOST_PORT.match(partner) for partner in partners
    ):
        reasons.append(shape)
        return ()
    if own in partners:
        reasons.append(f"environment variable RAFT_PARTNERS lists this member itself ({own})")
    if len(set(partners)) != len(partners):
        reasons.append("environment variable RAFT_PARTNERS lists a partner twice")
    return tuple(partners)


def _priority(text: str, reasons: list[str]) -> int:
    try:
        priority = int(text)
    except ValueError:
        priority = -1
    if priority < 0:
        reasons.append("environment variable FAILOVER_PRIORITY is not a whole number from 0 up")
    return priority


def _secret(name: str, path: Path, reasons: list[str]) -> str:
    try:
        secret = path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        reasons.append(f"secret {name} is missing: there is no file {path}")
        return ""
    except OSError as error:
        reasons.append(f"secret {name} cannot be read from {path}: {error.strerror}")
        return ""
    except UnicodeDecodeError:
        reasons.append(f"secret {name} in {path} is not UTF-8 text")
        return ""
    if not secret:
        reasons.append(f"secret {name} in {path} is empty")
    elif any(character in secret for character in "\0\n\r"):
        reasons.append(f"secret {name} in {path} has more than one line")
    return secret
