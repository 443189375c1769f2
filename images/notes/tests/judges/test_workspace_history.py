"""Uses the moments of a page in Chromium: the list, one of them, what changed, the restore."""

import json
from collections.abc import Callable

import psycopg
import pytest

from notes.jobs.housekeeping import _STATEMENTS
from tests.editing import Editor, saved, typed
from tests.judges.programs import front, node
from tests.judges.test_accessibility import PLAIN
from tests.replica import ADMIN, PASSWORD, Replica
from tests.workspace import grant, page, space

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]
SCENARIOS = 21
#: Three screens in six looks.
CHECKED = 18
WORDS = ("red ", "green ", "blue ", "late ")


def edited(replica: Replica, node_id: str, *editors: Editor) -> None:
    """Writes `WORDS` in two bursts: the last one an hour after the others."""
    for number, word in enumerate(WORDS):
        editor = editors[number % len(editors)]
        editor.read()
        editor.write(typed(word))
    with psycopg.connect(replica.database_url, autocommit=True) as conn:
        conn.execute(
            "UPDATE page_edits SET at = date_trunc('hour', now()) - make_interval(hours =>"
            " CASE WHEN seq < 4 THEN 2 ELSE 1 END, secs => -seq) WHERE node_id = %s",
            (node_id,),
        )


def trimmed(replica: Replica, node_id: str) -> None:
    """Lets the edits of a page be older than edits are kept."""
    with psycopg.connect(replica.database_url, autocommit=True) as conn:
        for name in ("page_edits", "page_logs", "page_snapshots"):
            conn.execute(
                f"UPDATE {name} SET at = at - interval '31 days' WHERE node_id = %s", (node_id,)
            )
        conn.execute("SET notes.housekeeping = 'on'")
        for statement in _STATEMENTS:
            if "page_edits" in statement or "page_snapshots" in statement:
                conn.execute(statement)


@pytest.mark.timeout(600)
def test_the_moments_of_a_page_in_a_browser(own_replica: Start) -> None:
    replica = own_replica(ORIGIN="", PROTOCOL_HEADER="x-forwarded-proto")
    with replica.client(headers=PLAIN) as client, replica.client(headers=PLAIN) as other:
        client.set_up()
        bob = {"email": "bob@example.org", "name": "Bob", "password": PASSWORD}
        cleo = {"email": "cleo@example.org", "name": "Cleo", "password": PASSWORD}
        for who, one in ((bob, client), (cleo, other)):
            one.user_id = client.ok("POST", "/api/v1/users", who)["id"]  # type: ignore[attr-defined]
        home = space(client, name="Team")
        grant(client, f"/api/v1/spaces/{home}/members", viewer=client, editor=other)
        other.log_in(cleo["email"])
        body = {"name": "test", "scopes": ["read", "write"]}
        given = {
            "ada": {"email": ADMIN, "password": PASSWORD},
            "bob": bob,
            "token": client.ok("POST", "/api/v1/tokens", body)["secret"],
            "plan": page(client, home, "Plan", markdown="words\n"),
            "notes": page(client, home, "Notes", markdown="words\n"),
            "old": page(client, home, "Old", markdown="words\n"),
            "fresh": page(client, home, "Fresh", markdown="words\n"),
        }
        edited(replica, given["plan"], Editor(client, given["plan"]), Editor(other, given["plan"]))
        edited(replica, given["notes"], Editor(client, given["notes"]))
        Editor(client, given["old"]).write(typed("x"))
        saved(client, given["old"], 2)
        trimmed(replica, given["old"])
        with front(replica) as base:
            done = node("workspace_history.mjs", base, base, json.dumps(given), timeout_s=550)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS + CHECKED, done.stdout
