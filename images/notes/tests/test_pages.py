"""Tests pages, comments, permissions and bad input through the API of a replica."""

import threading
from collections.abc import Callable
from uuid import uuid4

import pytest

from tests.replica import Client, Replica
from tests.workspace import page, space, titles

Person = Callable[[str], Client]


def test_markdown_goes_in_and_comes_out(admin: Client) -> None:
    made = page(admin, space(admin), markdown="# Hello\n\n**world**\n")
    assert admin.get(f"/api/v1/nodes/{made}/markdown").text == "# Hello\n\n**world**\n"
    assert admin.ok("GET", f"/api/v1/nodes/{made}")["doc"]["content"][0]["type"] == "heading"


def test_a_stale_save_changes_nothing_and_shows_both_versions(admin: Client) -> None:
    made = page(admin, space(admin), markdown="one\n")
    url = f"/api/v1/nodes/{made}"
    admin.ok("PUT", url, {"base_version": 1, "markdown": "theirs\n", "title": "Theirs"})
    refused = admin.problem(
        409, "PUT", url, json={"base_version": 1, "markdown": "mine\n", "title": "Mine"}
    )
    assert refused["current"]["theirs"]["title"] == "Theirs"
    assert refused["current"]["theirs"]["version"] == 2
    assert "mine" in str(refused["current"]["yours"]["doc"])
    assert admin.get(f"{url}/markdown").text == "theirs\n"


def test_a_repeated_save_is_answered_as_the_first(admin: Client) -> None:
    url = f"/api/v1/nodes/{page(admin, space(admin))}"
    body = {"base_version": 1, "markdown": "same\n"}
    first, again = admin.ok("PUT", url, body), admin.ok("PUT", url, body)
    assert first == again
    assert first["version"] == 2


def test_of_many_saves_at_once_one_wins(replica: Replica, admin: Client) -> None:
    url = f"/api/v1/nodes/{page(admin, space(admin))}"
    answers = list[int]()

    def save(number: int) -> None:
        with replica.client() as client:
            client.jar.update(admin.jar)
            body = {"base_version": 1, "markdown": f"by {number}\n"}
            answers.append(client.put(url, json=body).status_code)

    threads = [threading.Thread(target=save, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [200, *[409] * 7]


def test_revisions_diff_and_way_back(admin: Client) -> None:
    made = page(admin, space(admin), markdown="a red apple\n")
    url = f"/api/v1/nodes/{made}"
    admin.ok("PUT", url, {"base_version": 1, "markdown": "a green apple\n"})
    listed = admin.ok("GET", f"{url}/revisions")
    assert [r["version"] for r in listed] == [2, 1]
    assert listed[0]["author_name"] == "Ada"
    pieces = admin.ok("GET", f"{url}/diff?old=1&new=2")["pieces"]
    assert {"kind": "removed", "text": "red"} in pieces
    assert {"kind": "added", "text": "green"} in pieces
    back = admin.ok("POST", f"{url}/revisions/1/restore", {"base_version": 2})
    assert back["version"] == 3
    assert admin.get(f"{url}/markdown").text == "a red apple\n"
    assert admin.ok("GET", f"{url}/revisions")[0]["restored_from"] == 1
    admin.problem(404, "GET", f"{url}/revisions/9")
    admin.problem(409, "POST", f"{url}/revisions/1/restore", json={"base_version": 1})


def test_links_are_known_from_both_ends(admin: Client) -> None:
    home = space(admin)
    target = page(admin, home, "target")
    source = page(admin, home, "source", markdown=f"see [it](/p/{target})\n")
    found = admin.ok("GET", f"/api/v1/nodes/{target}/backlinks")
    assert [ref["id"] for ref in found] == [source]
    admin.ok("PUT", f"/api/v1/nodes/{source}", {"base_version": 1, "markdown": "no more\n"})
    assert admin.ok("GET", f"/api/v1/nodes/{target}/backlinks") == []


def test_comments_favourites_and_templates(admin: Client, person: Person) -> None:
    home = space(admin, everyone_role="commenter")
    made = page(admin, home, markdown="text\n")
    bob = person("Bob")
    url = f"/api/v1/nodes/{made}"
    thread = bob.ok("POST", f"{url}/comments", {"body": "Why?", "quote": "text"}, 201)
    admin.ok("POST", f"{url}/comments", {"body": "So.", "parent_id": thread["id"]}, 201)
    assert [c["author_name"] for c in bob.ok("GET", f"{url}/comments")] == ["Bob", "Ada"]
    admin.problem(403, "PATCH", f"/api/v1/comments/{thread['id']}", json={"body": "mine now"})
    admin.ok("PATCH", f"/api/v1/comments/{thread['id']}", {"resolved": True})
    assert bob.ok("GET", f"{url}/comments")[0]["resolved_at"] is not None
    bob.ok("DELETE", f"/api/v1/comments/{thread['id']}")
    assert bob.ok("GET", f"{url}/comments") == []
    bob.problem(422, "POST", f"{url}/comments", json={"body": "x", "parent_id": str(uuid4())})
    bob.problem(403, "PUT", url, json={"base_version": 1, "markdown": "no"})
    bob.ok("PUT", f"{url}/favourite")
    assert [f["id"] for f in bob.ok("GET", "/api/v1/favourites")] == [made]
    bob.ok("DELETE", f"{url}/favourite")
    assert bob.ok("GET", "/api/v1/favourites") == []
    template = page(admin, home, "Minutes", markdown="- [ ] agenda\n", is_template=True)
    copy = page(admin, home, "Monday", template_id=template)
    assert admin.get(f"/api/v1/nodes/{copy}/markdown").text == "- [ ] agenda\n"


def test_what_may_not_be_seen_does_not_exist(admin: Client, person: Person) -> None:
    home = space(admin)
    made = page(admin, home, "Secret", markdown="hidden treasure\n")
    bob = person("Bob")
    unknown = bob.problem(404, "GET", f"/api/v1/nodes/{uuid4()}")
    for path in (f"/nodes/{made}", f"/nodes/{made}/revisions", f"/nodes/{made}/comments"):
        assert bob.problem(404, "GET", f"/api/v1{path}") == unknown
    bob.problem(404, "GET", f"/api/v1/spaces/{home}/tree")
    assert bob.get("/api/v1/search", params={"q": "treasure"}).json() == []
    bob.problem(404, "PUT", f"/api/v1/nodes/{made}", json={"base_version": 1, "title": "x"})


def test_permissions_of_a_page_hold_below_it(admin: Client, person: Person) -> None:
    home = space(admin, everyone_role="viewer")
    top = page(admin, home, "top")
    below = page(admin, home, "below", parent_id=top, markdown="restricted words\n")
    bob, eve = person("Bob"), person("Eve")
    eve.ok("GET", f"/api/v1/nodes/{below}")
    grants = [{"principal": bob.user_id, "kind": "user", "role": "editor"}]  # type: ignore[attr-defined]
    admin.ok("PUT", f"/api/v1/nodes/{top}/permissions", {"grants": grants})
    eve.problem(404, "GET", f"/api/v1/nodes/{below}")
    assert titles(eve, home) == []
    assert eve.get("/api/v1/search", params={"q": "restricted"}).json() == []
    assert len(bob.get("/api/v1/search", params={"q": "restricted"}).json()) == 1
    bob.ok("PUT", f"/api/v1/nodes/{below}", {"base_version": 1, "title": "changed"})
    bob.problem(403, "PUT", f"/api/v1/nodes/{top}/permissions", json={"grants": []})
    admin.ok("POST", f"/api/v1/nodes/{below}/move", {})
    eve.ok("GET", f"/api/v1/nodes/{below}")
    nobody = [{"principal": str(uuid4()), "kind": "user", "role": "viewer"}]
    admin.problem(422, "PUT", f"/api/v1/nodes/{top}/permissions", json={"grants": nobody})


def test_groups_open_spaces(admin: Client, person: Person) -> None:
    bob = person("Bob")
    home = space(admin)
    name = f"team {home}"
    group = admin.ok("POST", "/api/v1/groups", {"name": name, "members": [bob.user_id]}, 201)  # type: ignore[attr-defined]
    bob.problem(404, "GET", f"/api/v1/spaces/{home}")
    me = admin.ok("GET", "/api/v1/me")["id"]
    grants = [
        {"principal": me, "kind": "user", "role": "manager"},
        {"principal": group["id"], "kind": "group", "role": "editor"},
    ]
    admin.ok("PUT", f"/api/v1/spaces/{home}/members", {"grants": grants})
    assert bob.ok("GET", f"/api/v1/spaces/{home}")["role"] == "editor"
    admin.problem(422, "PUT", f"/api/v1/spaces/{home}/members", json={"grants": grants[1:]})
    admin.ok("DELETE", f"/api/v1/groups/{group['id']}")
    bob.problem(404, "GET", f"/api/v1/spaces/{home}")


def test_changes_are_on_record(admin: Client) -> None:
    home = space(admin)
    made = page(admin, home, "Recorded")
    admin.ok("PUT", f"/api/v1/nodes/{made}", {"base_version": 1, "title": "Renamed"})
    admin.ok("DELETE", f"/api/v1/nodes/{made}")
    entries = admin.ok("GET", f"/api/v1/audit?node_id={made}")
    assert [e["action"] for e in entries] == ["page.trashed", "page.saved", "page.made"]
    assert {e["actor_name"] for e in entries} == {"Ada"}


EXPIRES = b'{"name": "a", "scopes": ["read"], "expires_at": "%s"}'


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "field"),
    [
        ("POST", "/spaces/{s}/nodes", b"{", 400, "body"),
        ("POST", "/spaces/{s}/nodes", b'{"title": "\xff"}', 400, "body"),
        ("POST", "/spaces/{s}/nodes", b'{"title": "\\ud800"}', 400, "body"),
        ("POST", "/spaces/{s}/nodes", b"[]", 422, "body"),
        ("POST", "/spaces/{s}/nodes", b"{}", 422, "title"),
        ("POST", "/spaces/{s}/nodes", b'{"title": 1}', 422, "title"),
        ("POST", "/spaces/{s}/nodes", b'{"title": " "}', 422, "title"),
        ("POST", "/spaces/{s}/nodes", b'{"title": "a\\u0000b"}', 422, "title"),
        ("POST", "/spaces/{s}/nodes", b'{"title": "a", "colour": 1}', 422, "colour"),
        ("POST", "/spaces/{s}/nodes", b'{"title": "a", "doc": {"type": "x"}}', 422, "doc"),
        (
            "POST",
            "/spaces/{s}/nodes",
            b'{"title": "a", "doc": {}, "markdown": ""}',
            422,
            "markdown",
        ),
        ("POST", "/spaces/{s}/nodes", b'{"title":"a","doc":{"a":' + b"[" * 100_000, 400, "body"),
        ("POST", "/spaces/{s}/nodes", b'{"title": "a\\n"}', 422, "title"),
        ("POST", "/spaces", b'{"slug": "line\\n", "name": "a"}', 422, "slug"),
        ("POST", "/spaces", b'{"slug": "line", "name": "a\\n"}', 422, "name"),
        ("POST", "/users", b'{"email": "a@b.example\\n", "name": "a"}', 422, "email"),
        ("POST", "/tokens", EXPIRES % b"0001-01-01T00:00:00+23:59", 422, "expires_at"),
        ("POST", "/nodes/{n}/shares", b'{"expires_at": "0001-01-01T00:00:00Z"}', 422, "expires_at"),
        ("PUT", "/nodes/{n}", b'{"base_version": 1e99}', 422, "base_version"),
        ("PUT", "/nodes/{n}", b'{"base_version": 99999999999999999999999}', 422, "base_version"),
        ("GET", "/nodes/not-an-id", None, 404, "id"),
        ("GET", "/nodes/{n}/revisions?limit=0", None, 422, "limit"),
        ("GET", "/nodes/{n}/revisions?limit=1&limit=2", None, 422, "limit"),
        ("GET", "/nodes/{n}/revisions/99999999999999", None, 404, "version"),
        ("GET", "/nodes/{n}/diff?old=1", None, 422, "new"),
        ("GET", "/search", None, 422, "q"),
        ("GET", "/search?q=a&space_id=1", None, 422, "space_id"),
    ],
)
def test_bad_input_is_named(
    admin: Client, method: str, path: str, body: bytes | None, status: int, field: str
) -> None:
    home = space(admin)
    url = "/api/v1" + path.format(s=home, n=page(admin, home))
    headers = {"content-type": "application/json"} if body is not None else {}
    told = admin.problem(status, method, url, content=body, headers=headers)
    assert told["errors"][0]["field"] == field


def test_a_document_of_any_depth_is_answered(admin: Client) -> None:
    url = f"/api/v1/spaces/{space(admin)}/nodes"
    # About the decoder's maximum depth; later steps allow less.
    for depth in range(955, 985):
        doc = '{"a":' * depth + "1" + "}" * depth
        body = f'{{"title": "x", "doc": {doc}}}'
        answer = admin.post(url, content=body, headers={"content-type": "application/json"})
        assert answer.status_code in {400, 422}, (depth, answer.text)


def test_other_media_types_and_methods_are_refused(admin: Client) -> None:
    url = f"/api/v1/spaces/{space(admin)}/nodes"
    admin.problem(415, "POST", url, content=b"<a/>", headers={"content-type": "text/xml"})
    refused = admin.request("DELETE", url)
    assert refused.status_code == 405
    assert refused.headers["allow"] == "POST"
