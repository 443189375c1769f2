"""Reads pages in Chromium (code, films, PDF, pictures, what is new), and makes new ones."""

import json
from pathlib import Path

import pytest

from tests.judges.programs import front, node
from tests.judges.test_accessibility import PLAIN
from tests.judges.test_media import sound
from tests.judges.two_people import Start, two_people
from tests.replica import ADMIN, PASSWORD
from tests.uploads import attach

pytestmark = pytest.mark.judge
SCENARIOS = 38
#: A page with files and a larger picture in four looks; a changed page, a template, a shared text.
CHECKED = 11
CODE = '```py\ndef add(a):  # why\n    return a + "two # words"\n```\n\n```\nplain 7\n```\n'
SVG = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="3000" height="2000">'
    b'<rect width="3000" height="2000" fill="#a00"/></svg>'
)
PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>endobj\ntrailer<</Root 1 0 R>>\n"
)


@pytest.mark.timeout(600)
def test_pages_are_read_and_made_in_a_browser(own_replica: Start) -> None:
    pages = {
        "code": ("Code", CODE),
        "plan": ("Plan", "First.\n\nSecond.\n\nThird.\n"),
        "media": ("Media", ""),
    }
    one, _, given = two_people(own_replica, pages)
    film = (Path(__file__).parent.parent / "data" / "film.webm").read_bytes()
    with one.client(headers=PLAIN) as client:
        client.log_in(ADMIN, PASSWORD)
        files = {
            "a film.webm": ("video/webm", film),
            "a sound.wav": ("audio/wav", sound()),
            "a paper.pdf": ("application/pdf", PDF),
        }
        found = {
            name: attach(client, given["media"], name, data, kind)["id"]
            for name, (kind, data) in files.items()
        }
        given["pdf"] = found["a paper.pdf"]
        chart = attach(client, given["media"], "chart.svg", SVG, "image/svg+xml")["id"]
        text = f"![a chart](/api/v1/attachments/{chart})\n\n" + "\n\n".join(
            f"[{name}](/api/v1/attachments/{id_})" for name, id_ in found.items()
        )
        body = {"base_version": 1, "markdown": text}
        client.ok("PUT", f"/api/v1/nodes/{given['media']}", body)
        share = client.ok("POST", f"/api/v1/nodes/{given['media']}/shares", {})
        given["share"] = "/s/" + share["url"].partition("/s/")[2]
    with front(one) as base:
        done = node("workspace_reading.mjs", base, json.dumps(given), timeout_s=550)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS + CHECKED, done.stdout
