"""Opens pages in Chromium: the server's text first, then the workspace in its place."""

import json

import pytest

from tests.judges.programs import front, node
from tests.judges.test_accessibility import PLAIN
from tests.judges.two_people import Start, two_people
from tests.replica import ADMIN, PASSWORD
from tests.workspace import grant

pytestmark = pytest.mark.judge
SCENARIOS = 29
PARTS = ("One", "Two", "Three", "Four", "Five")
TEXT = "\n".join(
    f"# {name}\n\nWords of part {number}, [a link](/p/x) and `code`.\n\n"
    f"- [x] done\n- [ ] open, with some *more* words\n\n> quoted\n\n```py\na = {number}\n```\n\n"
    "| a | b |\n|---|---|\n| 1 | 2 |\n"
    for number, name in enumerate(PARTS, 1)
)


@pytest.mark.timeout(400)
def test_a_page_is_there_before_its_script(own_replica: Start) -> None:
    pages = {
        "page": ("A page with a title that is long enough for two lines on a telephone", TEXT),
        "news": ("News", "older words\n"),
        "hidden": ("Hidden", TEXT),
    }
    one, _, given = two_people(own_replica, pages)
    with one.client(headers=PLAIN) as client:
        client.log_in(ADMIN, PASSWORD)
        grant(client, f"/api/v1/nodes/{given['hidden']}/permissions")
    with front(one) as base:
        done = node("workspace_first.mjs", base, json.dumps(given), timeout_s=350)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
