"""Values that describe who sends a request: account, host, address."""

import ipaddress
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from notes.http.look import Look
from notes.http.problems import Problem

Scope = Literal["read", "write", "admin"]
SCOPES: tuple[Scope, ...] = ("read", "write", "admin")


@dataclass(frozen=True, slots=True)
class Site:
    """The site of a host name: the main one, or that of one space, which has a look."""

    space_id: UUID | None = None
    look: Look | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """Scheme, host, client address and site of a request (spec: notes-app §2.1)."""

    scheme: str
    host: str
    address: str
    site: Site = field(default=Site())

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.host}"

    @property
    def secure(self) -> bool:
        return self.scheme == "https"


@dataclass(frozen=True, slots=True)
class Viewer:
    """The user of a request. `user_id` is None if they are not signed in."""

    user_id: UUID | None = None
    name: str = "anonymous"
    email: str = ""
    is_admin: bool = False
    groups: tuple[UUID, ...] = ()
    scopes: frozenset[Scope] = frozenset()
    via: Literal["nobody", "session", "token"] = "nobody"

    @property
    def access(self) -> tuple[UUID | None, list[UUID], bool]:
        """The last three arguments of the SQL functions `space_role` and `page_role`."""
        return self.user_id, list(self.groups), self.is_admin

    @property
    def rights(self) -> dict[str, Any]:
        """`access` by name, for statements that need it more than once."""
        return {"person": self.user_id, "groups": list(self.groups), "admin": self.is_admin}

    @property
    def person(self) -> UUID:
        """The user's id. Raises a 401 if they are not signed in."""
        if self.user_id is None:
            raise Problem(401, "Sign in first.")
        return self.user_id


ANYBODY = Viewer()


def network(address: str) -> str:
    """The address, or for IPv6 its /64 network, which usually belongs to one client."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if parsed.version == 6 and parsed.ipv4_mapped is None:
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return address
