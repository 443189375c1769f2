"""Tests that copies of pages have the words of the last moment, and those that cannot be saved."""

import io
import json
import zipfile
from collections.abc import Callable

from tests.editing import HELLO, Editor, typed
from tests.replica import Client
from tests.workspace import page, space


def exported(client: Client, home: str, query: str = "") -> dict[str, str]:
    """The texts of an export by their paths."""
    answer = client.get(f"/api/v1/spaces/{home}/export{query}")
    assert answer.status_code == 200, answer.text
    with zipfile.ZipFile(io.BytesIO(answer.content)) as found:
        return {name: found.read(name).decode() for name in found.namelist()}


def markdown(client: Client, node: str) -> str:
    return client.get(f"/api/v1/nodes/{node}/markdown").text


def test_the_markdown_has_what_was_written_a_moment_ago(admin: Client) -> None:
    node = page(admin, space(admin), doc=HELLO)
    Editor(admin, node).write(typed("oh "))
    assert markdown(admin, node) == "oh hello\n"


def test_an_export_has_what_was_written_a_moment_ago(admin: Client) -> None:
    home = space(admin)
    Editor(admin, page(admin, home, "Old", doc=HELLO)).write(typed("oh "), title="New")
    found = exported(admin, home, "?history=true")
    assert found["Old.md"] == "oh hello\n"
    [entry] = json.loads(found["notes-export.json"])["pages"]
    assert entry["title"] == "New"
    assert entry["versions"][-1]["title"] == "New"


def test_what_cannot_be_saved_is_copied_too(admin: Client, person: Callable[[str], Client]) -> None:
    home = space(admin)
    admin.ok("PATCH", f"/api/v1/spaces/{home}", {"public": True})
    node = page(admin, home, "Full", doc=HELLO)
    me = admin.ok("GET", "/api/v1/me")
    link = [{"type": "link", "attrs": {"href": f"mention:{me['id']}"}}]
    editor = Editor(admin, node)
    editor.write(typed("@me", marks=link))
    editor.write(typed("oh "))
    admin.ok("PUT", f"/api/v1/spaces/{home}/quota", {"bytes": 10})
    assert "oh " in markdown(admin, node)
    assert me["id"] in markdown(admin, node)
    assert "oh " in exported(admin, home)["Full.md"]
    # Who reads it only because it is public learns of a mention the name alone.
    eve = person("Eve")
    for text in (markdown(eve, node), exported(eve, home)["Full.md"]):
        assert "oh " in text
        assert me["id"] not in text
    assert admin.ok("GET", f"/api/v1/nodes/{node}")["version"] == 1
    admin.ok("PUT", f"/api/v1/spaces/{home}/quota", {})
