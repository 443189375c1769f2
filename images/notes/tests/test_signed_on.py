"""Tests what a single sign-on sets at an account: its groups and its administrator flag."""

from collections.abc import AsyncIterator

import pytest

from notes.auth.oidc_claims import Person
from notes.auth.oidc_routes import _account
from notes.db.pool import Database
from tests.postgres import Postgres
from tests.replica import Client, Replica
from tests.test_gained_access import fill, group

ISSUER = "https://id.example"


@pytest.fixture
async def db(replica: Replica, postgres: Postgres) -> AsyncIterator[Database]:
    opened = Database(postgres.url("main"))
    await opened.open()
    yield opened
    await opened.close()


def known(
    name: str, *groups: str, is_admin: bool | None = None, email: str | None = None
) -> Person:
    """A person as the provider describes them."""
    address = email or f"{name.lower()}@signed-on.example"
    return Person(ISSUER, name, address, True, name, frozenset(groups), is_admin)


async def sign_on(db: Database, person: Person) -> str:
    return str(await db.transact(lambda conn: _account(conn, person)))


def members(admin: Client, name: str) -> set[str]:
    groups = admin.ok("GET", "/api/v1/groups")
    return set(next(one["members"] for one in groups if one["name"] == name))


async def test_who_leaves_a_group_at_the_provider_leaves_it_here(
    admin: Client, db: Database
) -> None:
    """Also after an administrator has set the members of the group."""
    by_hand = await sign_on(db, known("Hand"))
    made = group(admin)
    name = made["name"]
    gone, stays = [await sign_on(db, known(one, name)) for one in ("Gone", "Stays")]
    everybody = {"name": name, "members": [by_hand, gone, stays]}
    admin.ok("PUT", f"/api/v1/groups/{made['id']}", everybody)
    assert members(admin, name) == {by_hand, gone, stays}
    await sign_on(db, known("Gone"))
    await sign_on(db, known("Hand"))
    await sign_on(db, known("Stays", name))
    assert members(admin, name) == {by_hand, stays}
    fill(admin, made)
    assert members(admin, name) == set()
