"""Tests the look of a space's site: colours, navigation, logo, and what other programs read."""

import contextlib
import re
import time
from collections.abc import Callable, Iterator
from typing import Any
from xml.etree import ElementTree

import pytest

from notes.spaces.colours import DARK_GROUND, LEAST, LIGHT_GROUND, contrast, shades
from tests.imported import PNG
from tests.replica import Client, Replica
from tests.uploads import attach
from tests.workspace import grant, page, space

Person = Callable[[str], Client]
SVG = b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>'
BYTES = {"content-type": "application/octet-stream"}
XML = {"m": "http://www.sitemaps.org/schemas/sitemap/0.9", "a": "http://www.w3.org/2005/Atom"}


def site(admin: Client, domain: str, **more: Any) -> str:
    """Creates a public space with a site at the domain."""
    made = space(admin, name="Handbook", description="How we work")
    body = {"domain": domain, "site_enabled": True, "public": True, **more}
    admin.ok("PATCH", f"/api/v1/spaces/{made}", body)
    return made


@contextlib.contextmanager
def visitor(replica: Replica, domain: str) -> Iterator[Client]:
    """A client without a session at the domain, after the replica serves it."""
    with replica.client(host=domain, headers={"x-forwarded-for": "10.9.8.7"}) as client:
        until(lambda: client.get("/robots.txt").status_code == 200)
        yield client


def until(what: Callable[[], bool], timeout_s: float = 5) -> float:
    begun = time.monotonic()
    while not what():
        assert time.monotonic() - begun < timeout_s
        time.sleep(0.02)
    return time.monotonic() - begun


def put_look(client: Client, made: str, version: int = 0, **more: Any) -> Any:
    return client.ok("PUT", f"/api/v1/spaces/{made}/look", {"base_version": version, **more})


@pytest.mark.parametrize(
    "accent", ["#000000", "#ffffff", "#ffff00", "#0000ff", "#777777", "#0b57a4", "#16181c"]
)
def test_every_accent_is_readable_in_light_and_dark(accent: str) -> None:
    found = shades(accent)
    assert contrast(found.light, LIGHT_GROUND) >= LEAST
    assert contrast(found.dark, DARK_GROUND) >= LEAST
    if contrast(accent, LIGHT_GROUND) >= LEAST:
        assert found.light == accent


def test_the_contrast_is_that_of_the_guidelines() -> None:
    assert round(contrast("#000000", "#ffffff"), 2) == 21
    assert round(contrast("#777777", "#ffffff"), 2) == 4.48
    assert round(contrast("#ffffff", "#0b57a4"), 1) == 7.2


def test_the_look_is_shown_on_the_site_within_moments(replica: Replica, admin: Client) -> None:
    home = site(admin, "look.example.org")
    made = page(admin, home, "Welcome", markdown="Hello *everybody*.\n")
    with visitor(replica, "look.example.org") as client:
        before = client.get(f"/p/{made}")
        assert "Welcome – Handbook" in before.text
        links = [{"label": "Shop", "url": "https://shop.example"},
                 {"label": "Start here", "url": f"/p/{made}"}]  # fmt: skip
        look = put_look(admin, home, accent="#FFD500", links=links)
        assert (look["accent"], look["version"], look["logo"]) == ("#ffd500", 1, None)
        assert look["shown"]["light"] != "#ffd500" == look["shown"]["dark"]
        admin.put(f"/api/v1/spaces/{home}/logo", content=PNG, headers=BYTES).raise_for_status()
        known = {"if-none-match": before.headers["etag"]}
        until(lambda: "brand" in (now := client.get(f"/p/{made}", headers=known)).text
              and "<img src" in now.text)  # fmt: skip
        shown = client.get(f"/p/{made}", headers=known)
        assert shown.status_code == 200
        assert '<a href="https://shop.example">Shop</a>' in shown.text
        assert f'<a href="/p/{made}" aria-current="page">Start here</a>' in shown.text
        sheet = re.search(r'href="(/colours\.css\?v=\w+)"', shown.text)
        assert sheet
        policy = shown.headers["content-security-policy"]
        assert "https://look.example.org/colours.css" in policy
        assert "unsafe" not in policy
        assert "nonce" not in policy
        assert " style=" not in shown.text
        colours = client.get(sheet[1])
        assert colours.headers["content-type"].startswith("text/css")
        assert f"--link: {look['shown']['light']};" in colours.text
        assert "immutable" not in colours.headers["cache-control"]
        assert client.get("/colours.css?v=old").headers["cache-control"] == "private, no-cache"
        logo = re.search(r'<img src="([^"]+)" alt="">', shown.text)
        assert logo
        answer = client.get(logo[1])
        assert (answer.content, answer.headers["content-type"]) == (PNG, "image/png")
        same = client.get(f"/p/{made}", headers={"if-none-match": shown.headers["etag"]})
        assert same.status_code == 304
        assert same.headers["content-security-policy"] == policy
        for path in ("/", "/search?q=everybody", "/login", "/nowhere", f"/p/{made}/pages"):
            assert "Handbook</span>" in client.get(path).text, path


def test_a_page_of_a_site_describes_itself(replica: Replica, admin: Client) -> None:
    home = site(admin, "card.example.org")
    made = page(admin, home, 'A "page"', markdown="Hello.\n")
    file = attach(admin, made, "a.png", PNG, "image/png")["id"]
    text = f"Hello & <b>.\n\n![x](/api/v1/attachments/{file})\n"
    admin.ok("PUT", f"/api/v1/nodes/{made}", {"base_version": 1, "markdown": text})
    restricted = page(admin, home, "Closed")
    grant(admin, f"/api/v1/nodes/{restricted}/permissions")

    def properties(text: str) -> dict[str, str]:
        return dict(re.findall(r'<meta property="og:(\w+)" content="([^"]*)">', text))

    with visitor(replica, "card.example.org") as client:
        shown = client.get(f"/p/{made}").text
        url = f"https://card.example.org/p/{made}"
        assert f'<link rel="canonical" href="{url}">' in shown
        assert properties(shown) == {
            "type": "article", "title": "A &#34;page&#34;", "url": url, "site_name": "Handbook",
            "description": "Hello &amp; &lt;b&gt;.",
            "image": f"https://card.example.org/api/v1/attachments/{file}",
        }  # fmt: skip
        front = properties(client.get("/").text)
        assert (front["url"], front["title"]) == ("https://card.example.org/", "Handbook")
        assert front["description"] == "How we work"
        admin.put(f"/api/v1/spaces/{home}/logo", content=PNG, headers=BYTES).raise_for_status()
        until(lambda: "/logo?v=" in properties(client.get("/").text).get("image", ""))
    assert f'<link rel="canonical" href="{url}">' in admin.get(f"/p/{made}").text
    assert "canonical" not in admin.get(f"/p/{restricted}").text
    assert "card.example" not in admin.get(f"/p/{restricted}").text
    admin.ok("PATCH", f"/api/v1/spaces/{home}", {"site_enabled": False})
    assert "canonical" not in admin.get(f"/p/{made}").text


def test_other_programs_find_what_anybody_may_read(replica: Replica, admin: Client) -> None:
    home = site(admin, "map.example.org")
    made = page(admin, home, "Open & <new>", markdown="Words & more\n")
    template = page(admin, home, "Template", is_template=True)
    trashed = page(admin, home, "Gone")
    admin.ok("DELETE", f"/api/v1/nodes/{trashed}")
    closed = page(admin, home, "Closed")
    grant(admin, f"/api/v1/nodes/{closed}/permissions")
    with visitor(replica, "map.example.org") as client:
        client.log_in()  # an administrator, who sees more: the files are the same
        answer = client.get("/sitemap.xml")
        found = ElementTree.fromstring(answer.content).findall(".//m:loc", XML)
        assert [one.text for one in found] == [
            "https://map.example.org/", f"https://map.example.org/p/{made}",
        ]  # fmt: skip
        etag = {"if-none-match": answer.headers["etag"]}
        assert client.get("/sitemap.xml", headers=etag).status_code == 304
        assert client.get("/sitemap.xml?part=2").status_code == 404
        read = client.get("/feed.xml")
        feed = ElementTree.fromstring(read.content)
        assert feed.findtext("a:title", namespaces=XML) == "Handbook"
        entries = feed.findall("a:entry", XML)
        assert [e.findtext("a:title", namespaces=XML) for e in entries] == ["Open & <new>"]
        assert entries[0].findtext("a:summary", namespaces=XML) == "Words & more"
        for unseen in (template, trashed, closed, "Ada"):
            assert unseen not in answer.text + read.text
        assert "Sitemap: https://map.example.org/sitemap.xml" in client.get("/robots.txt").text
    for path in ("/robots.txt", "/sitemap.xml", "/feed.xml", "/colours.css"):
        assert admin.get(path).status_code == 404, "the main site has none"


def test_a_site_asks_search_engines_to_stay_away(replica: Replica, admin: Client) -> None:
    home = site(admin, "quiet.example.org")
    made = page(admin, home, "Quiet")
    with visitor(replica, "quiet.example.org") as client:
        first = client.get(f"/p/{made}")
        assert "noindex" not in first.text
        assert "x-robots-tag" not in first.headers
        put_look(admin, home, is_indexed=False)
        until(lambda: client.get("/sitemap.xml").status_code == 404)
        shown = client.get(f"/p/{made}", headers={"if-none-match": first.headers["etag"]})
        assert '<meta name="robots" content="noindex">' in shown.text
        assert shown.headers["x-robots-tag"] == "noindex"
        assert client.get("/robots.txt").text == "User-agent: *\nDisallow:\n"
        assert client.get("/feed.xml").headers["x-robots-tag"] == "noindex"


def test_a_private_space_shows_nothing_of_its_look(
    replica: Replica, admin: Client, person: Person
) -> None:
    home = site(admin, "closed.example.org", public=False, name="Unspoken")
    made = page(admin, home, "Hidden")
    put_look(admin, home, accent="#123456", links=[{"label": "Hiddenlink", "url": "/p/x"}])
    admin.put(f"/api/v1/spaces/{home}/logo", content=PNG, headers=BYTES).raise_for_status()
    logo = f"/api/v1/spaces/{home}/logo"
    with visitor(replica, "closed.example.org") as client:
        for path in ("/", f"/p/{made}", "/login", "/search?q=x", "/nowhere", "/sitemap.xml",
                     "/feed.xml", "/robots.txt", "/colours.css", logo):  # fmt: skip
            answer = client.get(path, follow_redirects=True)
            for word in ("Unspoken", "Hiddenlink", "#123456", home, "/logo"):
                assert word not in answer.text or word in path, (path, word)
        for path in ("/sitemap.xml", "/feed.xml", "/colours.css", logo):
            assert client.get(path).status_code == 404, path
        assert client.get("/robots.txt").text == "User-agent: *\nDisallow: /\n"
        client.log_in()
        for path in ("/", f"/p/{made}", "/search?q=x"):
            answer = client.get(path)
            assert "Hiddenlink" in answer.text, path
            assert answer.headers["x-robots-tag"] == "noindex", path
        assert client.get(logo).content == PNG
        assert "--link" in client.get("/colours.css").text
    outsider = person("Outsider")
    assert outsider.get(logo).status_code == 404
    assert outsider.get(f"/api/v1/spaces/{home}/look").status_code == 404


def test_only_managers_change_the_look(admin: Client, person: Person) -> None:
    home = space(admin)
    editor, manager = person("Editor"), person("Manager")
    grant(admin, f"/api/v1/spaces/{home}/members", editor=editor, manager=manager)
    url = f"/api/v1/spaces/{home}"
    assert editor.get(f"{url}/look").status_code == 403
    editor.problem(403, "PUT", f"{url}/look", json={"base_version": 0})
    editor.problem(403, "PUT", f"{url}/logo", content=PNG, headers=BYTES)
    editor.problem(403, "DELETE", f"{url}/logo")
    assert put_look(manager, home, accent="#0b57a4")["version"] == 1
    assert manager.ok("GET", f"{url}/look")["accent"] == "#0b57a4"
    entry = admin.ok("GET", f"/api/v1/audit?space_id={home}")[0]
    assert (entry["action"], entry["detail"]) == ("space.changed", {"fields": ["look"]})


def test_of_two_managers_the_second_does_not_overwrite(admin: Client) -> None:
    home = space(admin)
    put_look(admin, home, accent="#0b57a4")
    for version in (0, 2):
        problem = admin.problem(
            409, "PUT", f"/api/v1/spaces/{home}/look", json={"base_version": version}
        )
        assert problem["current"]["accent"] == "#0b57a4"
    assert put_look(admin, home, 1)["accent"] is None


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)", "JAVASCRIPT:alert(1)", "java\nscript:alert(1)", "data:text/html,x",
        "vbscript:x", "//evil.example", "/\\evil.example", "\\\\evil.example", "https:evil.example",
        "https://", "ftp://a.example", "evil.example", "/a b", "https://a.example/\u202egnp",
        "https://[::1", "file:///etc/passwd", "mailto:", "http:\\\\a.example", "x" * 501, "",
    ],
)  # fmt: skip
def test_a_hostile_link_is_refused(admin: Client, url: str) -> None:
    home = space(admin)
    body = {"base_version": 0, "links": [{"label": "Link", "url": url}]}
    admin.problem(422, "PUT", f"/api/v1/spaces/{home}/look", json=body)
    assert admin.ok("GET", f"/api/v1/spaces/{home}/look")["version"] == 0


def test_links_are_bounded_and_in_one_line(admin: Client) -> None:
    home, url = space(admin), "mailto:a@a.example"
    for links in (
        [{"label": label, "url": url}] for label in ("", " ", "\u200b", "x" * 41, "a\0b", "\u202e")
    ):
        body = {"base_version": 0, "links": links}
        admin.problem(422, "PUT", f"/api/v1/spaces/{home}/look", json=body)
    many = {"base_version": 0, "links": [{"label": "x", "url": "/"}] * 9}
    admin.problem(422, "PUT", f"/api/v1/spaces/{home}/look", json=many)
    look = put_look(admin, home, links=[{"label": "\u202eone\n  two", "url": url}])
    assert look["links"] == [{"label": "one two", "url": url}]


@pytest.mark.parametrize("accent", ["red", "#fff", "#12345g", "#123456;}", "#123456\n", ""])
def test_only_a_colour_is_a_colour(admin: Client, accent: str) -> None:
    body = {"base_version": 0, "accent": accent}
    admin.problem(422, "PUT", f"/api/v1/spaces/{space(admin)}/look", json=body)


def test_a_logo_is_a_small_picture_that_runs_nothing(admin: Client) -> None:
    url = f"/api/v1/spaces/{space(admin)}/logo"
    for data in (b"", b"<html><script>1</script></html>", b"%PDF-1.7", b"\x89PNG", b"\xff\xfe",
                 b"<!--" + b"--><!--" * 580,
                 b"<!DOCTYPE svg [<!ENTITY a 'b'>]><svg></svg>"):  # fmt: skip
        admin.problem(422, "PUT", url, content=data, headers=BYTES)
    admin.problem(413, "PUT", url, content=PNG + b"\0" * 262_144, headers=BYTES)
    admin.problem(415, "PUT", url, content=PNG, headers={"content-type": "text/html"})
    assert admin.get(url).status_code == 404
    lies = admin.put(url, content=SVG, headers={"content-type": "image/png"}).json()
    assert lies["version"] == 0
    assert (lies["logo"]["type"], lies["logo"]["size"]) == ("image/svg+xml", len(SVG))
    answer = admin.get(lies["logo"]["url"])
    assert answer.headers["content-type"] == "image/svg+xml"
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert policy.endswith("; sandbox")
    assert answer.headers["x-content-type-options"] == "nosniff"
    known = {"if-none-match": answer.headers["etag"]}
    assert admin.get(url, headers=known).status_code == 304
    assert admin.ok("DELETE", url)["logo"] is None
    assert admin.get(url).status_code == 404


def test_a_share_link_is_not_listed(admin: Client, anybody: Client) -> None:
    made = page(admin, space(admin), "Shared")
    share = admin.ok("POST", f"/api/v1/nodes/{made}/shares", {}, 201)
    shown = anybody.get(share["url"].removeprefix("https://notes.example.org"))
    assert '<meta name="robots" content="noindex">' in shown.text
