"""Opens a long page in Chromium, which draws its beginning first."""

import json

import pytest

from tests.judges.programs import front, node
from tests.judges.two_people import Start, two_people

pytestmark = pytest.mark.judge
SCENARIOS = 20
PARTS = 10
PARAGRAPHS = 30


def long_text(other: str) -> str:
    """Markdown of many headings and paragraphs, with a link to the other page in each part."""
    return (
        "".join(
            f"## Part {part}\n\nSee [the other page](/p/{other}).\n\n"
            + "".join(f"Paragraph {number} has words.\n\n" for number in range(PARAGRAPHS))
            for part in range(PARTS)
        )
        + "The last line.\n"
    )


def long_table() -> str:
    """Markdown of many lines, and a table of many rows after them."""
    rows = "".join(f"| cell {number} | b |\n" for number in range(60))
    table = f"| head | b |\n| --- | --- |\n{rows}\n"
    lines = [f"Line {number}.\n\n" for number in range(100)]
    return "".join([*lines[:62], table, *lines[62:], "The last line.\n"])


@pytest.mark.timeout(300)
def test_a_long_page_keeps_its_places(own_replica: Start) -> None:
    pages = {"other": ("Other", "words\n"), "long": ("Long", ""), "rows": ("Rows", long_table())}
    one, _, found = two_people(own_replica, pages)
    with one.client(headers={"authorization": f"Bearer {found['token']}"}) as client:
        body = {"base_version": 1, "title": "Long", "markdown": long_text(found["other"])}
        client.ok("PUT", f"/api/v1/nodes/{found['long']}", body)
    given = {name: found[name] for name in ("ada", "long", "other", "rows")}
    given["blocks"] = PARTS * (PARAGRAPHS + 2) + 1
    with front(one) as base:
        done = node("workspace_long.mjs", base, json.dumps(given), timeout_s=250)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
