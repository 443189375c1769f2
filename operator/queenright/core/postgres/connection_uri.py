"""The application's connection string, as a template without its password.

Pure: hosts and options from the document and its cluster. Invariant: only ``filled`` puts a
password in, and its result goes into a swarm secret and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from queenright.core.swarm.digest import digest


@dataclass(frozen=True, slots=True)
class UrlTemplate:
    """A libpq URI (PostgreSQL manual, 34.1.1.2) with several hosts, tried in their order."""

    hosts: tuple[str, ...]
    port: int
    database: str
    role: str
    parameters: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """The URI without a password, for people and for comparison."""
        return self._with("")

    def filled(self, password: str) -> str:
        """Return the whole URI with the password percent-encoded."""
        return self._with(f":{quote(password, safe='')}")

    def _with(self, password: str) -> str:
        hosts = ",".join(f"{bracketed(host)}:{self.port}" for host in self.hosts)
        query = "&".join(f"{name}={quote(value, safe='')}" for name, value in self.parameters)
        user, database = quote(self.role, safe=""), quote(self.database, safe="")
        return f"postgresql://{user}{password}@{hosts}/{database}?{query}"


def bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def url_secret_name(app: str, template: UrlTemplate, password_id: str) -> str:
    """Return the secret's name, which differs for another template or another password."""
    return f"{app}_database_url-{digest(template, password_id)}"
