"""Uses the files of a page in Chromium: list, download, deletion."""

import json

import pytest

from tests.imported import PNG
from tests.judges.programs import front, node
from tests.judges.test_accessibility import PLAIN
from tests.judges.two_people import Start, team
from tests.uploads import attach
from tests.workspace import grant, page

pytestmark = pytest.mark.judge
SCENARIOS = 20
#: A question, the screen in four looks, and an upload that goes on and one that waits.
CHECKED = 7


@pytest.mark.timeout(400)
def test_the_files_of_a_page_in_a_browser(own_replica: Start) -> None:
    replica = own_replica(ORIGIN="", PROTOCOL_HEADER="x-forwarded-proto")
    with replica.client(headers=PLAIN) as client:
        home, people = team(client, "viewer")
        made = page(client, home, "Plan")
        sketch = attach(client, made, "sketch.png", PNG, "image/png")["id"]
        attach(client, made, "table.csv", b"a,b,c,d\n" * 1000, "text/csv")
        url = f"/api/v1/attachments/{sketch}"
        text = {"base_version": 1, "markdown": f"![a sketch]({url})\n\n[the sketch]({url})\n"}
        client.ok("PUT", f"/api/v1/nodes/{made}", text)
        shown, closed = page(client, home, "Shown"), page(client, home, "Closed")
        for one in (shown, closed):
            attach(client, one, "shown.txt", b"words", "text/plain")
        grant(client, f"/api/v1/nodes/{closed}/permissions")
        given = {
            **people,
            "page": made,
            "shown": shown,
            "closed": closed,
        }
        with front(replica) as base:
            done = node("workspace_files.mjs", base, base, json.dumps(given), timeout_s=360)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS + CHECKED, done.stdout
