"""Tests the approval of domains by an administrator."""

import time
from collections.abc import Callable

from notes.db.connect import open_connection
from notes.db.migrate import migrate
from tests.postgres import Postgres
from tests.replica import Replica
from tests.test_spaces_share import until
from tests.workspace import space

Start = Callable[..., Replica]
OWN = "password of mine"


def test_a_domain_is_served_once_an_administrator_approves_it(own_replica: Start) -> None:
    first = own_replica()
    second = own_replica(first.database_url)
    ask = "/internal/tls-ask?domain=bank.example.org"
    with first.client() as admin, first.client() as bob, second.client() as asking:
        admin.set_up()
        body = {"email": "bob@example.org", "name": "Bob", "password": OWN}
        admin.ok("POST", "/api/v1/users", body)
        bob.log_in("bob@example.org", OWN)
        spaces = [space(bob) for _ in range(6)]
        change = {"domain": "bank.example.org", "site_enabled": True}
        claimed = bob.ok("PATCH", f"/api/v1/spaces/{spaces[0]}", change)
        assert claimed["domain_approved"] is False
        time.sleep(1)
        assert asking.get(ask).status_code == 404
        with second.client(host="bank.example.org") as visitor:
            assert visitor.get("/").status_code == 404
        # A claim does not reserve the name.
        other = space(admin)
        approval = f"/api/v1/spaces/{other}/domain/approval"
        assert admin.ok("PATCH", f"/api/v1/spaces/{other}", change)["domain_approved"] is True
        until(lambda: asking.get(ask).status_code == 200)
        wanted = {"domain": "bank.example.org"}
        admin.problem(409, "PUT", f"/api/v1/spaces/{spaces[0]}/domain/approval", json=wanted)
        bob.problem(403, "PUT", approval, json=wanted)
        listed = admin.ok("GET", "/api/v1/domains")
        assert [(d["space_id"], d["approved"], d["claimed_by_name"]) for d in listed] == [
            (spaces[0], False, "Bob"),
            (other, True, "Ada"),
        ]
        admin.ok("DELETE", approval)
        until(lambda: asking.get(ask).status_code == 404)
        admin.ok("PUT", f"/api/v1/spaces/{spaces[0]}/domain/approval", wanted)
        until(lambda: asking.get(ask).status_code == 200)
        # The approval is for this name, not for the space's next claim.
        bob.ok("PATCH", f"/api/v1/spaces/{spaces[0]}", {"domain": "mint.example.org"})
        until(lambda: asking.get(ask).status_code == 404)
        admin.problem(409, "PUT", f"/api/v1/spaces/{spaces[0]}/domain/approval", json=wanted)
        assert asking.get(ask.replace("bank", "mint")).status_code == 404
        for number, one in enumerate(spaces[1:5]):
            bob.ok("PATCH", f"/api/v1/spaces/{one}", {"domain": f"d{number}.example.org"})
        last = {"domain": "d9.example.org"}
        bob.problem(409, "PATCH", f"/api/v1/spaces/{spaces[5]}", json=last)
        bob.ok("PATCH", f"/api/v1/spaces/{spaces[1]}", {"domain": ""})
        bob.ok("PATCH", f"/api/v1/spaces/{spaces[5]}", last)
        assert "Approve d9.example.org" in admin.get("/settings").text


async def test_domains_in_use_stay_approved(postgres: Postgres) -> None:
    url = postgres.database("domains")
    conn = await open_connection(url, "test")
    await migrate(conn, until=7)
    await conn.execute(
        "INSERT INTO spaces (slug, name, domain, site_enabled) VALUES"
        " ('a', 'a', 'used.example.org', true), ('b', 'b', 'unused.example.org', false)"
    )
    await migrate(conn)
    rows = await (await conn.execute("SELECT slug, approved_domain FROM spaces")).fetchall()
    await conn.close()
    assert {r["slug"]: r["approved_domain"] for r in rows} == {"a": "used.example.org", "b": None}
