"""The way inside of a page and to it in Chromium: contents, addresses of headings, backlinks."""

import json

import pytest

from tests.judges.programs import front, node
from tests.judges.test_accessibility import PLAIN
from tests.judges.two_people import Start, two_people
from tests.replica import ADMIN, PASSWORD
from tests.workspace import grant, page, space

pytestmark = pytest.mark.judge
SCENARIOS = 38
FILL = "\n\nWords that say what was decided, and why.\n\n" * 12
#: Headings with the names of the workspace's own parts, one twice, one that is no Latin.
HEADINGS = (
    *("Plan", "Title", "Main", "Contents", "Beside", "Linked", "Plan"),
    *("Über uns", "Topbar", "Beside title"),
)
LONG = FILL + "".join(f"# {heading}{FILL}" for heading in HEADINGS)


@pytest.mark.timeout(600)
def test_the_ways_inside_of_a_page_and_to_it(own_replica: Start) -> None:
    pages = {"long": ("Long", LONG), "short": ("Short", "# One\n\nwords\n")}
    one, other, given = two_people(own_replica, pages)
    with one.client(headers=PLAIN) as client:
        client.log_in(ADMIN, PASSWORD)
        home = client.ok("GET", f"/api/v1/nodes/{given['long']}")["space_id"]
        link = f"Read [what we decided](/p/{given['long']}#%C3%BCber-uns).\n"
        given["linking"] = page(client, home, "Linking", markdown=link)
        hidden = space(client, name="Hidden")
        grant(client, f"/api/v1/spaces/{hidden}/members")
        given["hidden"] = page(client, hidden, "Secret plans", markdown=link)
        given["home"] = home
    with front(one) as first, front(other) as second:
        done = node("workspace_contents.mjs", first, second, json.dumps(given), timeout_s=500)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
