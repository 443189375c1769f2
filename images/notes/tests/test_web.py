"""Tests the HTML views with forms and links only, like a browser without scripts."""

import base64
import hashlib
import re
from collections.abc import Callable

import pytest

from tests.replica import ADMIN, PASSWORD, Client, Replica
from tests.workspace import page, space

Start = Callable[..., Replica]
Person = Callable[[str], Client]


def test_a_first_visit_leads_through_everything(own_replica: Start) -> None:
    replica = own_replica()
    with replica.client() as client:
        assert client.get("/").headers["location"] == "/w/setup"
        assert "first administrator" in client.get("/setup").text
        short = {"site_name": "N", "name": "A", "email": ADMIN, "password": "short"}
        refused = client.post("/setup", data=short)
        assert refused.status_code == 422
        assert "short" not in refused.text
        done = client.post("/setup", data={**short, "password": PASSWORD})
        assert (done.status_code, done.headers["location"]) == (303, "/")
        again = client.post("/setup", data={**short, "password": PASSWORD})
        assert again.status_code == 409
        made = client.post("/spaces", data={"name": "Team", "slug": "team"}).headers["location"]
        assert "Team" in client.get("/").text
        edit = client.post(f"{made}/pages", data={"title": "First <b>", "parent_id": ""})
        path = edit.headers["location"]
        assert "First &lt;b&gt;" in client.get(path).text
        text = {"title": "First", "base_version": "1", "markdown": "# Hi\r\n\r\n<script>x</script>"}
        shown = client.post(path, data=text).headers["location"]
        body = client.get(shown).text
        assert '<h2 id="hi">Hi</h2>' in body
        assert "<script>x" not in body
        conflict = client.post(path, data={**text, "markdown": "mine"})
        assert conflict.status_code == 409
        assert "mine" in conflict.text
        assert "&lt;script&gt;" in conflict.text
        client.post(path, data={**text, "base_version": "2", "markdown": "later"})
        assert "<ins>later" in client.get(f"{shown}/diff?old=2&new=3").text
        client.post(f"{shown}/revert", data={"version": "2", "base_version": "3"})
        assert "Go back to 2" in client.get(f"{shown}/history").text
        client.post(f"{shown}/comments", data={"body": "A remark"})
        client.post(f"{shown}/files", files={"file": ("a.txt", b"x", "text/plain")})
        client.post(f"{shown}/shares", data={"password": ""})
        client.post(f"{shown}/favourite", data={"favourite": "yes"})
        body = client.get(shown).text
        for expected in (
            "A remark",
            "a.txt",
            "https://notes.example.org/s/",
            "Remove from favourites",
        ):
            assert expected in body
        assert "<mark>Hi</mark>" in client.get("/search?q=hi").text
        client.post(f"{shown}/trash")
        assert "First" in client.get(f"{made}/trash").text
        client.post(f"{shown}/restore")
        secret = client.post("/settings/tokens", data={"name": "t"}).text
        found = re.search(r"nt_[A-Za-z0-9_-]{40,}", secret)
        assert found
        settings = client.get("/settings").text
        assert found[0] not in settings
        assert re.search(r"Version \d+\.\d+\.\d+</p>\s*</main>", settings)
        assert client.post("/logout").headers["location"] == "/login"
        assert client.get(shown).headers["location"].startswith("/login?return_to=%2Fp%2F")


def test_the_way_to_the_workspace_leads_to_the_same_place(admin: Client, anybody: Client) -> None:
    home = space(admin)
    admin.ok("PATCH", f"/api/v1/spaces/{home}", {"public": True})
    top, gone = page(admin, home), page(admin, home)
    page(admin, home, parent_id=top)
    admin.post(f"/p/{gone}/trash")
    around = f"/w/p/{top}"
    for path, leads in (
        ("/", "/w"), ("/settings", "/w"), (f"/p/{top}", around), (f"/p/{top}/edit", around),
        (f"/p/{top}/history", f"{around}/history"), (f"/p/{top}/backlinks", around),
        (f"/p/{top}/diff?old=1&new=1", f"{around}/history?version=1&amp;old=1"),
        (f"/p/{top}/move", around), (f"/p/{top}/pages", around),
        (f"/spaces/{home}", f"/w/s/{home}"), (f"/spaces/{home}/trash", f"/w/s/{home}/trash"),
        (f"/p/{gone}", f"/w/s/{home}/trash"),
    ):  # fmt: skip
        assert f'<li><a href="{leads}">Workspace</a></li>' in admin.get(path).text, path
    assert "Workspace" not in anybody.get(f"/p/{top}").text


def test_login_returns_to_this_site_only(replica: Replica) -> None:
    for number, (wanted, leads) in enumerate(
        (("/settings", "/settings"), ("https://evil.example/", "/"), ("//evil.example", "/"))
    ):
        with replica.client(headers={"x-forwarded-for": f"172.18.0.{number}"}) as client:
            data = {"email": ADMIN, "password": PASSWORD, "return_to": wanted}
            assert client.post("/login", data=data).headers["location"] == leads
            wrong = client.post("/login", data={**data, "password": "wrong"})
            assert wrong.status_code == 401
            assert "wrong" in wrong.text


def test_forms_of_other_sites_are_refused_in_words(admin: Client) -> None:
    answer = admin.post("/logout", data={"x": "y"}, headers={"origin": "https://evil.example"})
    assert answer.status_code == 403
    assert "Cross-site POST form submissions are forbidden" in answer.text


def test_who_may_see_one_page_of_a_space_sees_it(admin: Client, person: Person) -> None:
    guest = person("Guest")
    made = page(admin, space(admin), "For a guest", markdown="guest words\n")
    path = f"/api/v1/nodes/{made}/permissions"
    grant = {"principal": guest.user_id, "kind": "user", "role": "editor"}  # type: ignore[attr-defined]
    admin.ok("PUT", path, {"grants": [grant]})
    shown = guest.get(f"/p/{made}")
    assert shown.status_code == 200
    assert "guest words" in shown.text


def test_public_spaces_are_read_without_an_account(admin: Client, anybody: Client) -> None:
    home = space(admin)
    made = page(admin, home, "Public page", markdown="for everybody\n")
    assert anybody.get(f"/p/{made}").status_code == 303
    admin.ok("PATCH", f"/api/v1/spaces/{home}", {"public": True})
    assert "for everybody" in anybody.get(f"/p/{made}").text
    assert "Public page" in anybody.get(f"/spaces/{home}").text
    assert "Edit</a>" not in anybody.get(f"/p/{made}").text


@pytest.mark.parametrize(
    ("path", "data", "status"),
    [
        ("/login", {"email": "x"}, 422),
        ("/spaces", {"name": "x", "slug": "Not A Slug"}, 422),
        ("/p/00000000-0000-0000-0000-000000000000/edit", {"base_version": "x"}, 422),
        ("/p/not-an-id/edit", {}, 404),
    ],
)
def test_wrong_forms_are_explained(
    admin: Client, path: str, data: dict[str, str], status: int
) -> None:
    answer = admin.post(path, data=data)
    assert answer.status_code == status
    assert answer.headers["content-type"].startswith(("text/html", "application/problem"))


def test_a_view_allows_its_own_style_sheet_and_nothing_else(admin: Client) -> None:
    answer = admin.get("/")
    sheet = re.search(r"<style>(.*?)</style>", answer.text, re.DOTALL)
    assert sheet
    digest = base64.b64encode(hashlib.sha256(sheet[1].encode()).digest()).decode()
    policy = answer.headers["content-security-policy"]
    assert f"style-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert not re.search(r"script-src|unsafe|nonce", policy)
    assert not re.search(r"<script|\son\w+=|style=", answer.text)


def test_a_page_describes_itself_and_names_its_icon(own_replica: Start) -> None:
    """Search engines show the description; a browser asks for /favicon.ico if no icon is named."""
    text = '# One\n\nTwo *three* "<b>&" ' + "and more words " * 30 + "end\n"
    with own_replica().client() as client:
        client.set_up()
        home = space(client, name="Team")
        made = page(client, home, "Plan", markdown=text)
        empty = page(client, home, 'Only "a" title')
        link = client.ok("POST", f"/api/v1/nodes/{made}/shares", {})["url"]
        shown = [f"/p/{made}", link.partition("example.org")[2], f"/p/{empty}", "/login"]
        found = list[str]()
        for path in shown:
            body = client.get(path).text
            found += re.findall(r'<meta name="description" content="([^"]*)">', body)
            (icon,) = re.findall(r'<link rel="icon" href="([^"]+)"', body)
            answer = client.get(icon)
            assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")
    start = "One Two three &#34;&lt;b&gt;&amp;&#34; and more words and more words"
    assert found[0] == found[1]
    assert found[0].startswith(start)
    assert found[0].endswith(" …")
    assert len(found[0]) < 200
    assert found[2:] == ["Only &#34;a&#34; title", "Pages that a team writes together"]
