"""Uses import with its preview, export and jobs in Chromium, with a reload in the middle."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.imported import PNG
from tests.judges.programs import front, node
from tests.judges.test_accessibility import PLAIN
from tests.replica import ADMIN, PASSWORD, Replica
from tests.workspace import grant, page, space
from tests.zips import imported, zipped

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]
SCENARIOS = 34
#: Four screens in six looks, and four as they come.
CHECKED = 28
SMALL = zipped(
    ("Handbook.md", b"# Handbook\n\n![p](Handbook/logo.png) [no](gone.md)\n"),
    ("Handbook/logo.png", PNG),
    ("Handbook/First day.md", b"See [the handbook](../Handbook.md).\n"),
    ("Handbook/First day/Keys.md", b"Ask at the desk.\n"),
    ("Plan.md", b"Another plan.\n"),
    ("__MACOSX/._Plan.md", b"x"),
)


@pytest.mark.timeout(600)
def test_import_export_and_jobs_in_a_browser(own_replica: Start, tmp_path: Path) -> None:
    replica = own_replica(ORIGIN="", PROTOCOL_HEADER="x-forwarded-proto")
    rng = random.Random(4)
    large = zipped(("Film.md", b"[film](film.bin)\n"), ("film.bin", rng.randbytes(17_000_000)))
    (tmp_path / "handbook.zip").write_bytes(SMALL)
    (tmp_path / "large.zip").write_bytes(large)
    (tmp_path / "broken.zip").write_bytes(b"PK no zip at all")
    with replica.client(headers=PLAIN) as client:
        client.set_up()
        bob = {"email": "bob@example.org", "name": "Bob", "password": PASSWORD}
        client.user_id = client.ok("POST", "/api/v1/users", bob)["id"]  # type: ignore[attr-defined]
        home = space(client, name="Team")
        grant(client, f"/api/v1/spaces/{home}/members", viewer=client)
        body = {"name": "test", "scopes": ["read", "write"]}
        plan = page(client, home, "Plan", markdown="We release on Tuesday.\n")
        page(client, home, "Below", parent_id=plan, markdown="Details.\n")
        theirs = space(client, name="Of Bob")
        grant(client, f"/api/v1/spaces/{theirs}/members", editor=client)
        with replica.client(headers=PLAIN) as bobs:
            bobs.log_in("bob@example.org", PASSWORD)
            imported(bobs, theirs, SMALL, preview="true")
        given = {
            "ada": {"email": ADMIN, "password": PASSWORD},
            "bob": bob,
            "token": client.ok("POST", "/api/v1/tokens", body)["secret"],
            "space": home,
            "other": space(client, name="Films"),
            "plan": plan,
            "files": str(tmp_path),
        }
        with front(replica) as base:
            done = node("workspace_transfer.mjs", base, base, json.dumps(given), timeout_s=550)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS + CHECKED, done.stdout
