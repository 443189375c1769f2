"""What a handler is told about the request it answers: who asks, through which host, from where."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from starlette.requests import Request

from notes.http.problems import Problem

if TYPE_CHECKING:
    from notes.services import Services

Scope = Literal["read", "write", "admin"]
SCOPES: tuple[Scope, ...] = ("read", "write", "admin")


@dataclass(frozen=True, slots=True)
class Site:
    """Which site a host name stands for: the main one, or that of one space."""

    space_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """The request as the application sees it (spec: notes-app §2.1)."""

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
    """Who asks. `user_id` is None for somebody not signed in."""

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
    def person(self) -> UUID:
        """Raises a 401 for somebody not signed in."""
        if self.user_id is None:
            raise Problem(401, "Sign in first.")
        return self.user_id


ANYBODY = Viewer()


@dataclass(frozen=True, slots=True)
class Call:
    """One request on its way through a handler."""

    request: Request
    seen: Seen
    viewer: Viewer
    app: "Services"
