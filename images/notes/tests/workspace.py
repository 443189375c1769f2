"""Creates spaces and pages through the API, and gives users roles there."""

import itertools
from typing import Any

from tests.replica import Client

_numbers = itertools.count(1)


def space(client: Client, **more: Any) -> str:
    body = {"slug": f"s{next(_numbers)}", "name": "A space", **more}
    return str(client.ok("POST", "/api/v1/spaces", body, 201)["id"])


def page(client: Client, space_id: str, title: str = "A page", **more: Any) -> str:
    body = {"title": title, **more}
    return str(client.ok("POST", f"/api/v1/spaces/{space_id}/nodes", body, 201)["id"])


def titles(client: Client, space_id: str, parent: str | None = None) -> list[str]:
    tree = client.ok("GET", f"/api/v1/spaces/{space_id}/tree")
    return [node["title"] for node in tree if node["parent_id"] == parent]


def grant(admin: Client, what: str, **roles: Client) -> None:
    """Gives users roles on a page or in a space; the administrator becomes a manager too."""
    me = admin.ok("GET", "/api/v1/me")["id"]
    grants = [{"principal": me, "kind": "user", "role": "manager"}]
    for role, one in roles.items():
        grants.append({"principal": one.user_id, "kind": "user", "role": role})  # type: ignore[attr-defined]
    admin.ok("PUT", what, {"grants": grants})
