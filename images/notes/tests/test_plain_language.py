"""Tests that every plain page is in one language: shown in the pseudo-language, no word is left."""

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx

import notes.web
from notes.words import pseudo
from notes.words.spoken import COOKIE
from tests.invited import invite, stranger
from tests.replica import ADMIN, Client, Replica
from tests.test_site_look import put_look, site, until, visitor
from tests.workspace import page, space
from tests.zips import imported, zipped

TEMPLATES = Path(str(notes.web.__file__)).parent / "templates"
#: Parts of the others.
PARTS = {"base.html", "tree.html"}
#: The name of the application, those of languages in themselves, and addresses.
NAMES = re.compile(
    r"\bNotes\b|A tour in English|Ein Rundgang auf Deutsch|\.md\b|\S*[.@]example\.org\S*"
)
ATTRIBUTES = {"aria-label", "alt", "title", "placeholder"}
#: Elements with no words of the application: Markdown, differences and secrets are of persons.
HIDDEN = {"style", "script", "pre", "textarea", "code"}
ODD = {COOKIE: pseudo.TAG}
#: What people write here has brackets, too: a letter outside of brackets is the application's.
MINE = "⟦x⟧"


class Words(HTMLParser):
    """The texts of a page, and those of its attributes that a person reads or hears."""

    def __init__(self) -> None:
        super().__init__()
        self.texts = list[str]()
        self._hidden = 0
        self.root: dict[str, str | None] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "html":
            self.root = given
        self._hidden += tag in HIDDEN
        self.texts += [value for name, value in attrs if name in ATTRIBUTES and value]
        if tag == "meta" and given.get("name") == "description":
            self.texts.append(given.get("content") or "")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in HIDDEN

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.texts.append(data)


def left(text: str) -> str:
    """The text outside of all brackets."""
    depth, found = 0, list[str]()
    for character in text:
        depth += (character == "⟦") - (character == "⟧")
        if depth == 0 and character != "⟧":
            found.append(character)
    assert depth == 0, text
    # The name of a field is that of the API in every language.
    return re.sub(r"^[a-z_]+: ", "", NAMES.sub("", "".join(found)).lstrip())


def check(answer: Any, where: str) -> str:
    """Fails for a word of a page that is not in the pseudo-language."""
    assert answer.headers["content-type"] == "text/html; charset=utf-8", (where, answer.text[:300])
    words = Words()
    words.feed(answer.text)
    assert words.root == {"lang": pseudo.TAG, "dir": "rtl"}, where
    for text in words.texts:
        # A bracket can be cut off with the end of a description.
        assert not re.search("[A-Za-z]{2}", left(text)), (where, text)
    return str(answer.text)


def seen(client: Client, shown: dict[str, set[int]], template: str, path: str, **more: Any) -> str:
    """Opens a page and checks it; notes that its template was shown."""
    method = more.pop("method", "GET")
    answer = client.request(method, path, headers={"accept": "text/html"}, **more)
    shown.setdefault(template, set()).add(answer.status_code)
    return check(answer, f"{template} at {path}")


def test_what_is_outside_of_brackets_is_found() -> None:
    assert left("⟦a ⟦b⟧ c⟧ d") == "d"
    assert left("⟦a⟧ (⟦b⟧)") == "()"


def read(client: Client, home: str, shown: dict[str, set[int]]) -> None:
    """Opens every page of a person who writes and administers."""
    top = page(client, home, MINE, markdown=f"# {MINE}\n\n# {MINE}\n\n# {MINE}\n")
    one = page(client, home, MINE, parent_id=top, markdown=f"[{MINE}](/p/{top})\n")
    page(client, home, MINE, parent_id=one)
    for _ in range(25):
        page(client, home, MINE, parent_id=top, markdown=f"[{MINE}](/p/{top})\n")
    page(client, home, MINE, is_template=True)
    made = client.ok("POST", f"/api/v1/nodes/{top}/comments", {"body": MINE})["id"]
    client.post(f"/p/{top}/comments/{made}/resolve", data={})
    client.ok("POST", f"/api/v1/nodes/{top}/comments", {"body": MINE})
    client.post(f"/p/{top}/files", files={"file": (MINE, b"x", "text/plain")})
    client.ok("POST", f"/api/v1/nodes/{top}/shares", {})
    gone = page(client, home, MINE)
    client.post(f"/p/{gone}/trash", data={})
    for text in ("one", "two"):
        node = client.ok("GET", f"/api/v1/nodes/{one}")
        base = {"base_version": node["version"], "base_updated_at": node["updated_at"]}
        written = {"title": f"⟦{text}⟧", "markdown": f"⟦{text}⟧", **base}
        assert client.post(f"/p/{one}/edit", data=written).status_code == 303
    client.post(f"/p/{one}/revert", data={"version": "1", **base, "base_version": "3"})
    zip_file = zipped(("⟦a⟧.md", b"[x](missing.md)\n"))
    done, again, broken = (imported(client, home, one) for one in (zip_file, zip_file, b"no zip"))
    assert again["result"]["already"] == done["id"]
    client.put(f"/api/v1/nodes/{top}/favourite")
    client.ok("POST", "/api/v1/tokens", {"name": MINE, "scopes": ["read", "write", "admin"]}, 201)
    for template, path in (
        ("home.html", "/"), ("space.html", f"/spaces/{home}"), ("page.html", f"/p/{top}"),
        ("page.html", f"/p/{one}"), ("first.html", f"/w/p/{top}"), ("edit.html", f"/p/{top}/edit"),
        ("pages.html", f"/p/{top}/pages"), ("backlinks.html", f"/p/{top}/backlinks"),
        ("backlinks.html", f"/p/{one}/backlinks"), ("move.html", f"/p/{one}/move"),
        ("move.html", f"/p/{one}/move?below={top}"), ("trash.html", f"/spaces/{home}/trash"),
        ("trashed.html", f"/p/{gone}"), ("search.html", "/search?q=nothing-at-all"),
        ("search.html", "/search"), ("history.html", f"/p/{one}/history"),
        ("diff.html", f"/p/{one}/diff?old=1&new=2"), ("import.html", f"/imports/{done['id']}"),
        ("import.html", f"/imports/{again['id']}"), ("import.html", f"/imports/{broken['id']}"),
        ("settings.html", "/settings"), ("error.html", f"/p/{home}"), ("error.html", "/nowhere"),
        ("error.html", f"/p/{top}/pages?position=x"),
        ("error.html", f"/p/{one}/diff?old=1&new=99"),
    ):  # fmt: skip
        seen(client, shown, template, path)
    old = {"title": MINE, "markdown": MINE, **base, "base_version": "1"}
    seen(client, shown, "edit.html", f"/p/{one}/edit", method="POST", data=old)
    seen(client, shown, "settings.html", "/settings/tokens", method="POST", data={"name": MINE})
    for path, data in (("/settings/users", {"name": MINE, "email": ADMIN}),
                       ("/settings/quotas", {"account_bytes": "x"}),
                       ("/settings", {"current_password": "wrong", "password": "long enough."}),
                       ("/spaces", {"name": MINE, "slug": "A B"}),
                       (f"/p/{one}/revert", {"version": "x"})):  # fmt: skip
        seen(client, shown, "error.html", path, method="POST", data=data)


def share(client: Client, home: str, **more: Any) -> str:
    """The path of a link to a new page with a page below."""
    top = page(client, home, MINE)
    page(client, home, MINE, parent_id=top)
    made = client.ok("POST", f"/api/v1/nodes/{top}/shares", {"include_children": True, **more}, 201)
    return str(made["url"].removeprefix("https://notes.example.org"))


def test_every_plain_page_is_in_the_language_of_its_reader(
    own_replica: Callable[..., Replica],
) -> None:
    """Covers every template; statuses are those of the same pages in English."""
    replica, shown = own_replica(ADDRESS_HEADER="x-forwarded-for"), dict[str, set[int]]()
    with stranger(replica) as client:
        client.jar.update(ODD)
        seen(client, shown, "setup.html", "/setup")
        seen(client, shown, "setup.html", "/setup", method="POST", data={"name": MINE})
    with replica.client() as admin, stranger(replica) as client:
        admin.set_up().log_in()
        admin.jar.update(ODD)
        client.jar.update(ODD)
        admin.ok("PATCH", "/api/v1/me", {"name": MINE})
        home = space(admin, name=MINE, description=MINE)
        claimed = {"domain": "claimed.example.org", "site_enabled": True}
        admin.ok("PATCH", f"/api/v1/spaces/{space(admin, name=MINE)}", claimed)
        read(admin, home, shown)
        opened, locked = share(admin, home), share(admin, home, password="open sesame")
        invitation = invite(admin, name=MINE)
        seen(client, shown, "shared.html", opened)
        seen(client, shown, "share_password.html", locked)
        seen(client, shown, "share_password.html", locked, method="POST", data={"password": "x"})
        seen(client, shown, "error.html", f"{opened}x")
        seen(client, shown, "login.html", "/login")
        wrong = {"email": "x@example.org", "password": "wrong"}
        seen(client, shown, "login.html", "/login", method="POST", data=wrong)
        seen(client, shown, "invitation.html", invitation["path"])
        bad = {"name": MINE, "password": "short"}
        seen(client, shown, "invitation.html", invitation["path"], method="POST", data=bad)
        seen(client, shown, "invitation.html", f"{invitation['path']}x")
        seen(admin, shown, "invitation.html", invitation["path"])
        crossed = {"method": "POST", "data": {"a": "b"}}
        client.headers["origin"] = "https://other.example.org"
        seen(client, shown, "error.html", "/login", **crossed)
        client.headers["origin"] = "https://notes.example.org"
        for _ in range(30):
            if client.post("/login", data=wrong).status_code == 429:
                break
        seen(client, shown, "error.html", "/login", method="POST", data=wrong)
        admin.jar["notes-unsent"] = f"{admin.jar['__Host-notes-user']}:2"
        seen(admin, shown, "sign_out.html", "/logout", method="POST", data={})
    assert set(shown) == {path.name for path in TEMPLATES.glob("*.html")} - PARTS
    assert {403, 404, 422, 429} <= shown["error.html"]


def test_a_public_site_is_in_the_language_of_its_reader(replica: Replica, admin: Client) -> None:
    made = site(admin, "odd.example.org")
    admin.ok("PATCH", f"/api/v1/spaces/{made}", {"name": MINE, "description": MINE})
    first = page(admin, made, MINE, markdown=f"# {MINE}\n")
    page(admin, made, MINE)
    with visitor(replica, "odd.example.org") as client:
        client.jar.update(ODD)
        until(lambda: "Handbook" not in client.get("/").text)
        shown = dict[str, set[int]]()
        for template, path in (("space.html", "/"), ("page.html", f"/p/{first}"),
                               ("search.html", "/search?q=nothing-at-all"),
                               ("error.html", "/nowhere"),
                               ("login.html", "/login")):  # fmt: skip
            seen(client, shown, template, path)


def test_the_workspace_of_a_browser_decides_the_language(replica: Replica, admin: Client) -> None:
    """Its cookie is before the browser's languages, and behind the language of a site."""
    made = site(admin, "chosen.example.org")
    first = page(admin, made, "Welcome", markdown="Hello.\n")
    english = {"accept-language": "en-GB,en;q=0.9"}
    with visitor(replica, "chosen.example.org") as client:
        before = client.get(f"/p/{first}", headers=english)
        assert '<html lang="en">' in before.text
        client.jar[COOKIE] = "de"
        after = client.get(
            f"/p/{first}", headers={**english, "if-none-match": before.headers["etag"]}
        )
        assert '<html lang="de">' in after.text
        assert after.headers["vary"] == "accept-language, cookie"
        for unknown in ("fr", "../de", "spoken", "pseudo", ""):
            client.jar[COOKIE] = unknown
            assert '<html lang="en">' in client.get(f"/p/{first}", headers=english).text, unknown
        client.jar[COOKIE] = "en"
        assert client.get("/manifest.webmanifest").json()["lang"] == "en"
        put_look(admin, made, language="de")
        until(lambda: 'lang="de"' in client.get(f"/p/{first}", headers=english).text)
        client.jar[COOKIE] = "de"
        manifest = client.get("/manifest.webmanifest").json()
        assert manifest["description"] == "Der Arbeitsbereich Ihres Teams"
        assert [one["name"] for one in manifest["shortcuts"]] == ["Suche", "Neue Seite"]


def test_dates_and_numbers_are_those_of_the_language(admin: Client) -> None:
    made = page(admin, space(admin), "Dated")
    assert re.search(r"20\d\d-\d\d-\d\d \d\d:\d\d UTC", admin.get(f"/p/{made}/history").text)
    assert re.search(r"of \d+\.\d [GT]B", admin.get("/settings").text)
    admin.jar[COOKIE] = "de"
    text = admin.get(f"/p/{made}/history").text
    assert re.search(r"\d\d\.\d\d\.20\d\d, \d\d:\d\d UTC", text)
    assert not re.search(r"20\d\d-\d\d-\d\d \d\d", text)
    assert re.search(r"von \d+,\d [GT]B", admin.get("/settings").text)


def test_a_refusal_before_the_routes_is_a_page_too(own_replica: Callable[..., Replica]) -> None:
    """A body that is too large, and a replica without its database."""
    html = {"accept": "text/html", "accept-language": "de"}
    with own_replica(BODY_SIZE_LIMIT="1000").client(headers=html) as client:
        refused = client.post("/spaces/x/import", content=b"x" * 2000)
        assert refused.status_code == 413
        assert '<html lang="de">' in refused.text
        assert "Der Inhalt ist größer als 1000 Byte (BODY_SIZE_LIMIT)." in refused.text
        assert refused.headers["connection"] == "close"
        document = client.post("/api/v1/session", content=b"x" * 2000)
        assert document.json()["detail"].startswith("The body is larger than")
    waiting = own_replica("postgresql://nobody@127.0.0.1:1/none", wait=False)
    with waiting.client(headers=html) as client:
        until(lambda: reached(client), 60)
        refused = client.get("/p/x")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert "Die Datenbank ist noch nicht erreichbar" in refused.text
        assert '<html lang="de">' in refused.text
        client.jar[COOKIE] = "de"
        document = client.get("/api/v1/me", headers={"accept": "*/*"})
        assert document.json()["title"] == "Zurzeit nicht erreichbar"


def reached(client: Client) -> bool:
    """True if the replica listens."""
    try:
        client.get("/healthz")
    except httpx.HTTPError:
        return False
    return True
