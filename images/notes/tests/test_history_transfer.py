"""Tests exports with comments and versions, their import, and names valid on all systems."""

import io
import json
import os
import zipfile
from collections.abc import Callable
from typing import Any

from notes.transfer.export_plan import _unused
from tests.postgres import Postgres
from tests.replica import Client
from tests.uploads import attach
from tests.workspace import page, space
from tests.zips import exported, imported, tree, zipped

WHOLE = {"comments": "true", "history": "true"}


def whole_export(client: Client, home: str) -> bytes:
    answer = client.get(f"/api/v1/spaces/{home}/export", params=WHOLE)
    assert answer.status_code == 200, answer.text
    return answer.content


def around(client: Client, home: str, title: str) -> tuple[list[Any], list[Any]]:
    """The versions and the comments of a page, without fields that must differ."""
    nodes = client.ok("GET", f"/api/v1/spaces/{home}/tree")
    node = next(n["id"] for n in nodes if n["title"] == title)
    versions = client.ok("GET", f"/api/v1/nodes/{node}/revisions")
    texts = [
        json.dumps(client.ok("GET", f"/api/v1/nodes/{node}/revisions/{v['version']}")["doc"])
        for v in versions
    ]
    for other in nodes:  # ids have to differ
        texts = [text.replace(other["id"], other["title"]) for text in texts]
    seen = [
        (v["version"], v["title"], v["author_name"], v["created_at"], v["restored_from"])
        for v in versions
    ]
    comments = client.ok("GET", f"/api/v1/nodes/{node}/comments")
    bodies = {c["id"]: c["body"] for c in comments}
    said = [
        (c["body"], bodies.get(c["parent_id"]), c["author_name"], c["quote"], c["created_at"],
         c["edited_at"], c["resolved_at"])
        for c in comments
    ]  # fmt: skip
    return [*seen, *texts], said


def test_an_export_with_comments_and_history_imports_as_the_same(
    admin: Client, person: Callable[[str], Client], postgres: Postgres
) -> None:
    ann = person("Ann")
    home = space(admin)
    admin.ok("PATCH", f"/api/v1/spaces/{home}", {"everyone_role": "editor"})
    top = page(admin, home, "Top", markdown="one\n")
    below = page(admin, home, "Below", parent_id=top, markdown="text\n")
    data = os.urandom(5_000_000)
    attach(admin, below, "f.bin", data, "application/x-thing")
    ann.ok("PUT", f"/api/v1/nodes/{top}", {"base_version": 1, "markdown": "two\n"})
    link = f"three, see [it](/p/{below})\n"
    admin.ok("PUT", f"/api/v1/nodes/{top}", {"base_version": 2, "title": "Top!", "markdown": link})
    admin.ok("POST", f"/api/v1/nodes/{top}/revisions/2/restore", {"base_version": 3})
    first = ann.ok("POST", f"/api/v1/nodes/{top}/comments", {"body": "Hm?", "quote": "two"}, 201)
    answer = {"body": "Yes.", "parent_id": first["id"]}
    admin.ok("POST", f"/api/v1/nodes/{top}/comments", answer, 201)
    ann.ok("PATCH", f"/api/v1/comments/{first['id']}", {"body": "Hm!", "resolved": True})
    postgres.sql(
        "UPDATE revisions SET created_at = created_at - interval '9 days' * (9 - version)"
        f" WHERE node_id = '{top}'",
        "main",
    )
    original = whole_export(admin, home)
    copy = space(admin)
    job = imported(admin, copy, original)
    assert job["state"] == "done", job
    before, after = tree(admin, home), tree(admin, copy)
    assert [t[:2] for t in before] == [t[:2] for t in after]
    assert around(admin, home, "Top") == around(admin, copy, "Top")
    versions, comments = around(admin, copy, "Top")
    assert [v[2] for v in versions[:4]] == ["Ada", "Ada", "Ann", "Ada"], versions[:4]
    assert [c[2] for c in comments] == ["Ann", "Ada"]
    # A link in an old version leads, in the copy of that version, to the copy.
    nodes = {n["title"]: n["id"] for n in admin.ok("GET", f"/api/v1/spaces/{copy}/tree")}
    third = admin.ok("GET", f"/api/v1/nodes/{nodes['Top']}/revisions/3")
    assert nodes["Below"] in json.dumps(third["doc"])
    # The second export is equal, byte for byte.
    assert names_less_ids(whole_export(admin, copy)) == names_less_ids(original)
    # The copy's authors are names, not accounts.
    wrote = postgres.sql(
        f"SELECT author_id FROM comments WHERE node_id = '{nodes['Top']}'"
        f" UNION ALL SELECT author_id FROM revisions WHERE node_id = '{nodes['Top']}'",
        "main",
    )
    assert {row[0] for row in wrote} == {None}


def names_less_ids(content: bytes) -> dict[str, Any]:
    found = dict[str, Any]()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            if name.endswith("comments.json"):
                comments = json.loads(data)
                ids = {c["id"]: n for n, c in enumerate(comments)}
                for c in comments:
                    c["id"], c["parent"] = ids[c["id"]], ids.get(c.get("parent"))
                found[name] = comments
            else:
                found[name] = data
    return found


def test_a_plain_export_carries_neither(admin: Client) -> None:
    home = space(admin)
    made = page(admin, home, "P", markdown="one\n")
    admin.ok("PUT", f"/api/v1/nodes/{made}", {"base_version": 1, "markdown": "two\n"})
    admin.ok("POST", f"/api/v1/nodes/{made}/comments", {"body": "secret"}, 201)
    with zipfile.ZipFile(io.BytesIO(exported(admin, home))) as archive:
        assert archive.namelist() == ["P.md", "notes-export.json"]
        assert b"secret" not in archive.read("notes-export.json")


def test_nobody_without_an_account_exports_who_wrote_what(admin: Client, anybody: Client) -> None:
    home = space(admin)
    page(admin, home, "P")
    admin.ok("PATCH", f"/api/v1/spaces/{home}", {"public": True})
    anybody.problem(401, "GET", f"/api/v1/spaces/{home}/export")
    for flag in WHOLE:
        anybody.problem(401, "GET", f"/api/v1/spaces/{home}/export?{flag}=true")


def test_what_may_not_be_seen_is_in_no_export(
    admin: Client, person: Callable[[str], Client]
) -> None:
    ann = person("Ann")
    home = space(admin)
    admin.ok("PATCH", f"/api/v1/spaces/{home}", {"everyone_role": "viewer"})
    seen = page(admin, home, "seen", markdown="seen\n")
    hidden = page(admin, home, "hidden", parent_id=seen, markdown="sesame one\n")
    admin.ok("PUT", f"/api/v1/nodes/{hidden}", {"base_version": 1, "markdown": "sesame two\n"})
    admin.ok("POST", f"/api/v1/nodes/{hidden}/comments", {"body": "sesame three"}, 201)
    attach(admin, hidden, "sesame.bin", b"sesame four", "")
    me = admin.ok("GET", "/api/v1/me")["id"]
    admin.ok(
        "PUT",
        f"/api/v1/nodes/{hidden}/permissions",
        {"grants": [{"principal": me, "kind": "user", "role": "manager"}]},
    )
    for url in (f"spaces/{home}", f"nodes/{seen}"):
        content = ann.get(f"/api/v1/{url}/export", params=WHOLE).content
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            assert "seen.md" in archive.namelist()
            for name in archive.namelist():
                assert b"sesame" not in archive.read(name)
                assert "hidden" not in name
        assert b"sesame" not in content
    ann.problem(404, "GET", f"/api/v1/nodes/{hidden}/export")


def test_names_are_taken_by_every_system(admin: Client) -> None:
    home = space(admin)
    parent = None
    titles = ["CON", "aux.txt", "COM1", 'a<b>:c|d?*"e\\f/g', "dot.", "n" * 300, "ü" * 250]
    for title in titles:
        page(admin, home, title, markdown="x\n")
    for depth in range(12):
        parent = page(admin, home, f"a rather long title at the depth {depth}", parent_id=parent)
    content = exported(admin, home)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
    for name in names:
        assert len(name.encode()) <= 240, name
        for part in name.split("/"):
            assert not set('<>:"|?*\\') & set(part), name
            assert part
            assert part == part.strip(" ."), name
            assert part.split(".")[0].lower() not in {"con", "aux", "com1", "nul", "prn"}, name
    assert len({name.casefold() for name in names}) == len(names)
    copy = space(admin)
    assert imported(admin, copy, content)["state"] == "done"
    assert sorted(tree(admin, copy)) == sorted(tree(admin, home))
    assert exported(admin, copy) == content


def test_an_export_made_anew_on_a_mac_or_on_windows_imports_alike(admin: Client) -> None:
    """A re-created zip: decomposed names, backslashes, entries for folders."""
    import unicodedata

    home = space(admin)
    top = page(admin, home, "Über: uns", markdown="x\n")
    page(admin, home, "Größe", parent_id=top, markdown=f"[up](/p/{top})\n")
    content = exported(admin, home)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = [(name, archive.read(name)) for name in archive.namelist()]
    for change in (
        lambda name: unicodedata.normalize("NFD", name),
        lambda name: "./" + name,
    ):
        copy = space(admin)
        again = zipped(*[(change(n), d) for n, d in entries], ("__MACOSX/._x", b"x"))
        assert imported(admin, copy, again)["state"] == "done"
        assert [t[:2] for t in tree(admin, copy)] == [t[:2] for t in tree(admin, home)]
        assert "/p/" in tree(admin, copy)[1][2]


def test_devices_have_other_names() -> None:
    used = dict[str, int]()
    assert _unused(used, "", "con", ".md") == "_con"
    assert _unused(used, "", "NUL.tar", "") == "_NUL.tar"
    assert _unused(used, "", "consul", ".md") == "consul"
