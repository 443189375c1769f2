"""Tests notifications: who gets which, once, and only of what they may read."""

import io
import zipfile
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest

from notes.notifications import record
from tests.editing import HELLO, Editor, saved, typed
from tests.replica import Client, Replica
from tests.workspace import grant, page, space
from tests.zips import imported

Person = Callable[[str], Client]


def at(client: Client) -> str:
    """A mention of a client's user, in Markdown."""
    return f"[@Somebody](mention:{client.user_id})"  # type: ignore[attr-defined]


def told(client: Client, **more: Any) -> list[tuple[str, str, int]]:
    """The kinds, titles and counts of a user's unread notifications, newest first."""
    found = client.get("/api/v1/notifications", params={"unread": "true", **more}).json()
    listed = [(one["kind"], one["title"], one["times"]) for one in found["notifications"]]
    counted = client.ok("GET", "/api/v1/notifications/unread")["unread"]
    assert counted == found["unread"] >= len(listed)
    return listed


def read_all(client: Client) -> None:
    client.ok("POST", "/api/v1/notifications/read", {"until": 2**40})


def team(admin: Client, **members: Client) -> str:
    """A space with members, who have read that they are."""
    made = space(admin, name="Team")
    grant(admin, f"/api/v1/spaces/{made}/members", **members)
    for one in members.values():
        read_all(one)
    return made


def linked(client: Client, name: str = "@Bob") -> dict[str, Any]:
    """The step that types a mention at the beginning of a page."""
    href = f"mention:{client.user_id}"  # type: ignore[attr-defined]
    return typed(name, marks=[{"type": "link", "attrs": {"href": href}}])


def test_a_mention_in_a_page_is_told_once(admin: Client, person: Person) -> None:
    bob = person("Bob")
    node = page(admin, team(admin, viewer=bob), "Plans", markdown=f"Ask {at(bob)}.\n")
    assert told(bob) == [("mention", "Plans", 1)]
    one = bob.ok("GET", "/api/v1/notifications")["notifications"][0]
    assert (one["node_id"], one["actor_name"], one["is_read"]) == (node, "Ada", False)
    read_all(bob)
    url = f"/api/v1/nodes/{node}"
    texts = ["Gone.\n", f"{at(bob)} is back.\n", f"{at(bob)} is back again.\n"]
    for version, text in enumerate(texts, 1):
        admin.ok("PUT", url, {"base_version": version, "markdown": text})
    admin.ok("POST", f"{url}/revisions/1/restore", {"base_version": 4})
    assert told(bob) == []
    admin.ok("PUT", url, {"base_version": 5, "markdown": f"{at(bob)} and, below, {at(bob)}\n"})
    assert told(bob) == [("mention", "Plans", 1)]
    # Nobody gets one of what they write themselves.
    page(admin, space(admin), markdown=f"[@me](mention:{admin.ok('GET', '/api/v1/me')['id']})\n")
    assert all(kind != "mention" for kind, *_ in told(admin))


def test_a_mention_that_is_typed_is_told_with_the_edit(
    admin: Client, person: Person, replica: Replica
) -> None:
    bob = person("Bob")
    node = page(admin, team(admin, viewer=bob), "Typed", doc=HELLO)
    editor = Editor(admin, node)
    body = editor.body(linked(bob))
    assert editor.send(body).status_code == editor.send(body).status_code == 200
    assert told(bob) == [("mention", "Typed", 1)]
    read_all(bob)
    found = saved(admin, node, 2)
    assert found["doc"]["content"][0]["content"][0]["text"] == "@Bob"
    assert told(bob) == []
    # The edit log is how others' mentions come: also those that are undone and done again.
    editor.read()
    gone = {"stepType": "replace", "from": 1, "to": 5}
    editor.write(gone)
    editor.write(linked(bob))
    assert told(bob) == []
    editor.write(linked(bob, "@Bob") | {"from": 10, "to": 10})
    assert told(bob) == [("mention", "Typed", 1)]


def test_comments_are_told_to_those_whom_they_are_for(admin: Client, person: Person) -> None:
    ann, bob, eve = person("Ann"), person("Bob"), person("Eve")
    home = team(admin, editor=ann, commenter=bob, viewer=eve)
    node = page(ann, home, "Talk")
    url = f"/api/v1/nodes/{node}/comments"
    thread = bob.ok("POST", url, {"body": f"Why, {at(eve)}?"}, 201)["id"]
    # Ann created the page, Eve is mentioned, and Bob has written it.
    assert told(ann) == [("comment", "Talk", 1)]
    assert told(eve) == [("mention", "Talk", 1)]
    excerpt = eve.ok("GET", "/api/v1/notifications")["notifications"][0]["excerpt"]
    assert excerpt == "Why, @Somebody?"
    assert told(bob) == []
    for body in ("So.", "Or so."):
        ann.ok("POST", url, {"body": body, "parent_id": thread}, 201)
    assert told(bob) == [("reply", "Talk", 2)]
    # One gets one for a comment, by its nearest reason.
    read_all(bob)
    ann.ok("POST", url, {"body": f"{at(bob)}: look.", "parent_id": thread}, 201)
    assert told(bob) == [("mention", "Talk", 1)]
    read_all(eve)
    comment = f"/api/v1/comments/{thread}"
    for body in ("Why?", f"Why, {at(eve)}?", f"{at(eve)}, {at(admin_of(admin))}"):
        bob.ok("PATCH", comment, {"body": body})
    assert told(eve) == []
    assert ("mention", "Talk", 1) in told(admin)
    plain = bob.get(f"/p/{node}").text
    assert "@Somebody" in plain
    assert "mention:" not in plain
    read_all(admin)


def admin_of(admin: Client) -> Client:
    admin.user_id = admin.ok("GET", "/api/v1/me")["id"]  # type: ignore[attr-defined]
    return admin


def test_watching_and_settings_decide_what_one_is_told(admin: Client, person: Person) -> None:
    ann, bob = person("Ann"), person("Bob")
    node = page(admin, team(admin, editor=ann, commenter=bob), "Watched")
    url = f"/api/v1/nodes/{node}"
    assert bob.ok("GET", f"{url}/watch") == {"watching": False}
    assert admin.ok("GET", f"{url}/watch") == {"watching": True}
    bob.ok("PUT", f"{url}/watch")
    admin.ok("DELETE", f"{url}/watch")
    assert bob.ok("GET", f"{url}/watch") == {"watching": True}
    read_all(admin)
    for version in (1, 2, 3):
        ann.ok("PUT", url, {"base_version": version, "markdown": f"{version}\n"})
    ann.ok("POST", f"{url}/comments", {"body": "Done."}, 201)
    # Many edits are one notification.
    assert told(bob) == [("comment", "Watched", 1), ("edit", "Watched", 3)]
    assert ("edit", "Watched", 3) not in told(admin)
    assert told(ann) == []
    read_all(bob)
    wanted = {"mention": True, "reply": True, "comment": True, "edit": False, "access": True}
    assert bob.ok("PUT", "/api/v1/notification-settings", {"edit": False}) == wanted
    assert bob.ok("GET", "/api/v1/notification-settings") == wanted
    ann.ok("PUT", url, {"base_version": 4, "markdown": "more\n"})
    assert told(bob) == []


def test_access_is_told_to_those_who_had_none(admin: Client, person: Person) -> None:
    ann, bob = person("Ann"), person("Bob")
    home = space(admin, name="Given")
    node = page(admin, home, "Shared")
    for _ in range(2):
        grant(admin, f"/api/v1/spaces/{home}/members", viewer=ann)
        grant(admin, f"/api/v1/nodes/{node}/permissions", viewer=bob, editor=ann)
    assert told(ann) == [("access", "Given", 1)]
    assert told(bob) == [("access", "Shared", 1)]
    read_all(bob)
    # Taken away and given again at once: told once.
    grant(admin, f"/api/v1/nodes/{node}/permissions", editor=ann)
    grant(admin, f"/api/v1/nodes/{node}/permissions", editor=ann, viewer=bob)
    assert told(bob) == []


def test_nobody_is_told_of_what_they_may_not_read(admin: Client, person: Person) -> None:
    ann, bob, eve = person("Ann"), person("Bob"), person("Eve")
    home = team(admin, editor=ann, viewer=bob)
    node = page(ann, home, "Secret", markdown=f"{at(bob)} {at(eve)}\n")
    assert told(bob) == [("mention", "Secret", 1)]
    assert told(eve) == []
    # Checked again when it is shown.
    grant(admin, f"/api/v1/spaces/{home}/members", editor=ann)
    assert told(bob) == []
    assert bob.ok("GET", "/api/v1/notifications")["notifications"] == []
    grant(admin, f"/api/v1/spaces/{home}/members", editor=ann, viewer=bob)
    assert ("mention", "Secret", 1) in told(bob)
    ann.ok("DELETE", f"/api/v1/nodes/{node}")
    assert ("mention", "Secret", 1) not in told(bob)
    # A public space makes nobody a person who works there.
    open_one = team(admin, editor=ann)
    admin.ok("PATCH", f"/api/v1/spaces/{open_one}", {"public": True})
    page(ann, open_one, "Open", markdown=f"{at(eve)}\n")
    assert told(eve) == []


def test_others_notifications_are_out_of_reach(admin: Client, person: Person) -> None:
    ann, bob = person("Ann"), person("Bob")
    page(admin, team(admin, viewer=bob), "Mine", markdown=f"{at(bob)}\n")
    one = bob.ok("GET", "/api/v1/notifications")["notifications"][0]
    ann.ok("POST", "/api/v1/notifications/read", {"ids": [one["id"], str(uuid4())]})
    assert told(bob) == [("mention", "Mine", 1)]
    bob.problem(422, "POST", "/api/v1/notifications/read", json={})
    bob.problem(422, "POST", "/api/v1/notifications/read", json={"ids": [], "until": 1})
    bob.ok("POST", "/api/v1/notifications/read", {"ids": [one["id"]]})
    assert told(bob) == []
    assert bob.ok("GET", "/api/v1/notifications")["notifications"][0]["is_read"] is True


def text_of(answer: httpx.Response) -> str:
    """The text of an answer; of a zip, that of its entries."""
    if answer.headers["content-type"] != "application/zip":
        return answer.text
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        return "\n".join(archive.read(name).decode() for name in archive.namelist())


def test_readers_of_a_public_space_see_names_and_no_accounts(
    admin: Client, person: Person, replica: Replica
) -> None:
    bob = person("Bob")
    home = team(admin, viewer=bob)
    node = page(admin, home, "Open", doc=HELLO)
    Editor(admin, node).write(linked(bob))
    saved(admin, node, 2)
    admin.ok("PATCH", f"/api/v1/spaces/{home}", {"public": True})
    stranger, who = person("Stranger"), str(bob.user_id)  # type: ignore[attr-defined]
    url = f"/api/v1/nodes/{node}"
    paths = (url, f"{url}/live", f"{url}/edits", f"{url}/edits/1", f"{url}/edits/1/diff?since=0",
             f"{url}/markdown", f"{url}/revisions/2", f"{url}/export?history=true",
             f"/p/{node}", f"{url}/diff?old=1&new=2")  # fmt: skip
    for path in paths:
        seen, hidden = bob.get(path), stranger.get(path)
        assert seen.status_code == hidden.status_code == 200, path
        assert "@Bob" in text_of(hidden), path
        assert who not in text_of(hidden), path
        assert path.startswith("/p/") or who in text_of(seen), path
    link = admin.ok("POST", f"{url}/shares", {}, 201)["url"]
    shown = replica.client().get("/s/" + link.rpartition("/s/")[2])
    assert "@Bob" in shown.text
    assert who not in shown.text


def test_the_lookup_shows_known_people_who_may_read(admin: Client, person: Person) -> None:
    ann, bob, eve, zoe = person("Ann"), person("Bob"), person("Eve"), person("Zoe")
    home = team(admin, commenter=ann, viewer=bob)
    space(eve)
    node = page(admin, home)

    def names(client: Client, typed: str = "", of: str = node) -> list[str]:
        found = client.get(f"/api/v1/nodes/{of}/mentionable", params={"q": typed})
        assert found.status_code == 200, found.text
        return [one["name"] for one in found.json()]

    assert names(ann) == ["Ada", "Bob"]
    assert names(ann, "bo") == ["Bob"]
    assert names(ann, "Zoe") == []
    bob.problem(403, "GET", f"/api/v1/nodes/{node}/mentionable")
    zoe.problem(404, "GET", f"/api/v1/nodes/{node}/mentionable")
    # Bob loses the page: he is known, but cannot read it.
    grant(admin, f"/api/v1/nodes/{node}/permissions", commenter=ann)
    assert names(ann) == ["Ada"]


def test_a_hostile_member_makes_few_notifications(
    admin: Client, person: Person, replica: Replica
) -> None:
    ann, bob = person("Ann"), person("Bob")
    home = team(admin, editor=ann, viewer=bob)
    node = page(ann, home, "Spam", markdown=f"{at(bob)} x\n\n" * 2_000)
    url = f"/api/v1/nodes/{node}"
    for version in range(1, 4):
        ann.ok("PUT", url, {"base_version": version, "markdown": f"{at(bob)} x\n\n" * version})
    many = "".join(f"[@x](mention:{uuid4()}) " for _ in range(2_000))
    ann.ok("PUT", url, {"base_version": 4, "markdown": many})
    for _ in range(20):
        ann.ok("POST", f"{url}/comments", {"body": f"{at(bob)} " * 300}, 201)
    kinds = [kind for kind, *_ in told(bob)]
    assert kinds == ["mention"] * 21
    with psycopg.connect(replica.database_url, autocommit=True) as conn:
        # One person makes at most so many in an hour; then nothing more comes.
        conn.execute(
            "INSERT INTO notifications (user_id, kind, place, space_id, actor_id, read_at)"
            " SELECT %s, 'access', gen_random_uuid(), %s, %s, now()"
            f" FROM generate_series(1, {record.MOST_TOLD})",
            (ann.user_id, home, ann.user_id),  # type: ignore[attr-defined]
        )
        ann.ok("POST", f"{url}/comments", {"body": at(bob)}, 201)
        assert len(told(bob)) == len(kinds)
        conn.execute("DELETE FROM notifications WHERE user_id = %s", (ann.user_id,))  # type: ignore[attr-defined]


def test_an_import_tells_nobody(admin: Client, person: Person) -> None:
    bob = person("Bob")
    source, target = team(admin, viewer=bob), team(admin, viewer=bob)
    page(admin, source, "Moved", markdown=f"{at(bob)} here\n")
    read_all(bob)
    archive = admin.get(f"/api/v1/spaces/{source}/export").content
    assert imported(admin, target, archive)["state"] == "done"
    node = admin.ok("GET", f"/api/v1/spaces/{target}/tree")[0]["id"]
    assert told(bob) == []
    text = f"{at(bob)} here, changed\n"
    admin.ok("PUT", f"/api/v1/nodes/{node}", {"base_version": 1, "markdown": text})
    assert told(bob) == []
    text = f"{at(bob)} here, {at(bob)} there\n"
    admin.ok("PUT", f"/api/v1/nodes/{node}", {"base_version": 2, "markdown": text})
    assert told(bob) == [("mention", "Moved", 1)]


@pytest.mark.parametrize("name", ["Ada", "A*b_c", "Zoë [x]", "<b>"])
def test_a_mention_keeps_its_name_in_markdown(admin: Client, name: str) -> None:
    who = str(UUID(int=7))
    text = {"type": "text", "text": f"@{name}"}
    mark = {"type": "link", "attrs": {"href": f"mention:{who}"}}
    line = {"type": "paragraph", "content": [{**text, "marks": [mark]}]}
    doc = {"type": "doc", "content": [line]}
    node = page(admin, space(admin), doc=doc)
    written = admin.get(f"/api/v1/nodes/{node}/markdown").text
    again = page(admin, space(admin), markdown=written)
    assert admin.ok("GET", f"/api/v1/nodes/{again}")["doc"] == doc
    assert who not in admin.get(f"/p/{node}").text
