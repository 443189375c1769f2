"""Tests that each link of the plain history leads to versions that are there."""

import re

import psycopg

from tests.editing import Editor, saved, typed
from tests.replica import Client, Replica
from tests.workspace import page, space

#: More than a page of the list has.
MANY = 205


def _pairs(text: str) -> list[tuple[int, int]]:
    found = re.findall(r"/diff\?old=(\d+)&amp;new=(\d+)", text)
    return [(int(old), int(new)) for old, new in found]


def test_changes_are_those_since_the_version_before_that_is_there(admin: Client) -> None:
    node = page(admin, space(admin), markdown="first\n")
    editor = Editor(admin, node)
    for version in (2, 3):  # the version of these edits replaces itself
        editor.write(typed("more "))
        saved(admin, node, version)
    text = admin.get(f"/p/{node}/history").text
    assert _pairs(text) == [(1, 3)]
    shown = admin.get(f"/p/{node}/diff?old=1&new=3")
    assert shown.status_code == 200
    assert "more more" in shown.text


def test_the_history_goes_on_past_the_end_of_a_list(replica: Replica, admin: Client) -> None:
    node = page(admin, space(admin))
    last = 2 * MANY + 1  # every other version is gone
    with psycopg.connect(replica.database_url, autocommit=True) as conn:
        conn.execute(
            "INSERT INTO revisions (node_id, version, title, doc) SELECT r.node_id, v, r.title,"
            " r.doc FROM revisions r, generate_series(3, %s, 2) v WHERE r.node_id = %s",
            (last, node),
        )
    path, found = f"/p/{node}/history", list[tuple[int, int]]()
    while True:
        text = admin.get(path).text
        found += _pairs(text)
        older = re.search(r'rel="next" href="([^"]+)"', text)
        if older is None:
            break
        path = older[1]
    assert found == [(new - 2, new) for new in range(last, 1, -2)]
    assert f'href="/p/{node}/history"' in text, "no way back to the newest"


def test_two_versions_of_the_list_can_be_compared(admin: Client) -> None:
    node = page(admin, space(admin), markdown="first\n")
    url = f"/api/v1/nodes/{node}"
    assert "<select" not in admin.get(f"/p/{node}/history").text, "there is nothing to compare"
    for number in (2, 3):
        base = admin.ok("GET", url)
        given = {"base_version": number - 1, "base_updated_at": base["updated_at"]}
        admin.ok("PUT", url, {**given, "title": "A page", "markdown": f"text {number}\n"})
    text = admin.get(f"/p/{node}/history").text
    form = re.search(rf'<form action="/p/{node}/diff".*?</form>', text, re.DOTALL)
    assert form
    assert re.findall(r'<option value="(\d+)"', form[0]) == ["3", "2", "1"] * 2
    assert re.findall(r'<option value="(\d+)" selected', form[0]) == ["2", "3"]
    assert "<ins>text 3" in admin.get(f"/p/{node}/diff?old=1&new=3").text
