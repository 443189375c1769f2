"""Two people who edit in one space, by two replicas of one database, for the browsers' scripts."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.judges.test_accessibility import PLAIN
from tests.replica import ADMIN, PASSWORD, Client, Replica
from tests.workspace import grant, page, space

Start = Callable[..., Replica]


def two_people(
    own_replica: Start,
    pages: Mapping[str, tuple[str, str]],
    scopes: Sequence[str] = ("read", "write"),
) -> tuple[Replica, Replica, dict[str, Any]]:
    """Starts the replicas; returns them, and what a script is given: people, a token, pages.

    ``pages`` has the title and the text of each page by the name that the script has for it.
    """
    env = {"ORIGIN": "", "PROTOCOL_HEADER": "x-forwarded-proto"}
    one = own_replica(**env)
    other = own_replica(one.database_url, **env)
    with one.client(headers=PLAIN) as client:
        home, given = team(client, "editor", scopes)
        for name, (title, text) in pages.items():
            given[name] = page(client, home, title, markdown=text)
    return one, other, given


def team(
    client: Client, role: str, scopes: Sequence[str] = ("read", "write")
) -> tuple[str, dict[str, Any]]:
    """Sets up a replica; returns a space in which Bob has the role, and the people and a token."""
    client.set_up()
    bob = {"email": "bob@example.org", "name": "Bob", "password": PASSWORD}
    client.user_id = client.ok("POST", "/api/v1/users", bob)["id"]  # type: ignore[attr-defined]
    home = space(client, name="Team")
    grant(client, f"/api/v1/spaces/{home}/members", **{role: client})
    body = {"name": "test", "scopes": list(scopes)}
    return home, {
        "ada": {"email": ADMIN, "password": PASSWORD},
        "bob": bob,
        "token": client.ok("POST", "/api/v1/tokens", body)["secret"],
    }
