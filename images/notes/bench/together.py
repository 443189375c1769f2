"""Measures the way of an edit: from one browser's editor to another browser on another replica.

Two processes of Chromium and two replicas of one database; all clocks are the machine's.
"""

import json
from collections.abc import Iterator

from bench.budgets import BUDGETS
from bench.figures import Figure
from bench.stand import found_by, postgres
from bench.web import document
from tests.judges.programs import front, node
from tests.judges.test_accessibility import PLAIN
from tests.replica import ADMIN, PASSWORD, Replica
from tests.workspace import grant, page, space

EDITS = 100
BLOCKS = 100


def measure() -> Iterator[Figure]:
    """Yields how long an edit takes to be seen by a reader, and by another editor."""
    env = {"ORIGIN": "", "PROTOCOL_HEADER": "x-forwarded-proto"}
    with (
        postgres() as server,
        Replica(server.database("together"), env).running() as one,
        Replica(one.database_url, env).running() as other,
    ):
        with one.client(headers=PLAIN) as client:
            client.set_up()
            bob = {"email": "bob@example.org", "name": "Bob", "password": PASSWORD}
            client.user_id = client.ok("POST", "/api/v1/users", bob)["id"]  # type: ignore[attr-defined]
            home = space(client, name="Team")
            grant(client, f"/api/v1/spaces/{home}/members", editor=client)
            given = {
                "ada": {"email": ADMIN, "password": PASSWORD},
                "bob": bob,
                "page": page(client, home, "Shared", doc=document(BLOCKS)),
                "edits": EDITS,
            }
        with front(one) as first, front(other) as second:
            done = node("together_figures.mjs", first, second, json.dumps(given), timeout_s=900)
    yield from map(figure, found_by(done))


def figure(found: dict[str, float | str]) -> Figure:
    """The figure of a line: the way from the request is judged; that from the key has a pause."""
    name = f"edit, {found['from']} to seen by who {found['to']}, p95"
    target = BUDGETS["together"].get(name)
    note = f"p50 {float(found['p50']):.0f} ms, most {float(found['most']):.0f} ms, {EDITS} edits"
    return Figure(name, float(found["p95"]), "ms", at_most=target, note=note)
