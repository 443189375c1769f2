"""Invites people, and opens the links of invitations as they do."""

import itertools
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from tests.replica import Client, Replica

OWN = "password of mine"
GERMAN = {"accept-language": "de"}
_numbers = itertools.count(1)


def invite(admin: Client, **more: Any) -> dict[str, Any]:
    """A new invitation, with the `path` of its page and its `secret`."""
    body = {"email": f"invited{next(_numbers)}@example.org", **more}
    made: dict[str, Any] = admin.ok("POST", "/api/v1/invitations", body, 201)
    path = made["url"].removeprefix("https://notes.example.org")
    return {**made, "path": path, "secret": path.split("/")[2]}


@contextmanager
def stranger(replica: Replica, **more: Any) -> Iterator[Client]:
    """A client without a session, with an address of its own."""
    address = ".".join(["10", *(str(secrets.randbelow(256)) for _ in range(3))])
    with replica.client(headers={"x-forwarded-for": address, **more}) as client:
        yield client


def accept(client: Client, made: dict[str, Any], name: str = "Bob", **more: str) -> httpx.Response:
    """Sends the form of an invitation."""
    return client.post(made["path"], data={"name": name, "password": OWN, **more})


def joined(client: Client, made: dict[str, Any], name: str = "Bob") -> str:
    """Accepts an invitation; returns the id of the person, who is signed in."""
    answer = accept(client, made, name)
    assert (answer.status_code, answer.headers["location"]) == (303, "/"), answer.text
    return str(client.ok("GET", "/api/v1/me")["id"])


def listed(admin: Client, made: dict[str, Any]) -> dict[str, Any] | None:
    """An invitation as the list has it; None if it is not there."""
    found = [one for one in admin.ok("GET", "/api/v1/invitations") if one["id"] == made["id"]]
    return found[0] if found else None
