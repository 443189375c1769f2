"""Tests that a link's token is added only to addresses of this site's pages and files."""

from uuid import UUID

import pytest

from notes.doc.html_writer import html
from notes.doc.markdown_parser import parse
from tests.replica import Client
from tests.uploads import attach
from tests.workspace import page, space

ID = UUID("0b8f9c2e-1111-4222-8333-944444444444")
FILES, PAGES = "/s/SECRET/attachments/", "/s/SECRET/p/"
PATHS = (f"/p/{ID}", f"/api/v1/attachments/{ID}")


def shared(address: str) -> str:
    link = {"type": "link", "attrs": {"href": address}}
    line = [
        {"type": "text", "text": "x", "marks": [link]},
        {"type": "image", "attrs": {"src": address}},
    ]
    doc = {"type": "doc", "content": [{"type": "paragraph", "content": line}]}
    return html(doc, FILES, PAGES)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("more", ["", "#a-heading", "?download=true", "?download=1#t=5"])
def test_own_addresses_are_led_through_the_link(path: str, more: str) -> None:
    made = shared(path + more)
    base = PAGES if "/p/" in path else FILES
    assert f'href="{base}{ID}{more}"' in made
    assert f'src="{base}{ID}{more}"' in made


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "lookalike",
    [
        "https://evil.example{}", "HTTPS://EVIL.example{}", "http://notes.example.org{}",
        "https://notes.example.org.evil.example{}", "https://notes.example.org@evil.example{}",
        "https://user:pass@evil.example:8443{}", "https://evil.example:443{}", "//evil.example{}",
        "/{}", "//{}", "/\\{}", "\\{}", "https:{}", "http://evil.example/?x={}",
        "https://evil.example#{}", "https://evil.example/a%2F..{}", "/%2e%2e{}", "/..{}", "..{}",
        "{}/..", "{}/../../evil", "{}@evil.example", "{}%2f..", "{}.evil.example", "{}:80", "{}x",
        "mailto:a@b.example?subject={}", "?{}", "#{}", "x{}", "/api{}", "/s/OTHER{}",
    ],
)  # fmt: skip
def test_other_addresses_get_no_token(path: str, lookalike: str) -> None:
    assert "SECRET" not in shared(lookalike.format(path))


@pytest.mark.parametrize(
    "address",
    [PATHS[0].upper(), PATHS[1].replace("api", "API"), PATHS[0].replace("-", "%2d"),
     PATHS[0].replace("/p/", "/%70/"), "/p/", f"/p/{'0' * 36}", "/api/v1/attachments/"],
)  # fmt: skip
def test_addresses_that_are_none_of_ours_get_no_token(address: str) -> None:
    assert "SECRET" not in shared(address)


def test_text_that_looks_like_html_gets_no_token() -> None:
    text = f'`href="{PATHS[0]}"` <a href="{PATHS[0]}">x</a>\n\n<a href="{PATHS[1]}">\n'
    assert "SECRET" not in html(parse(text), FILES, PAGES)


def test_a_shared_page_gives_its_token_to_nobody(admin: Client, anybody: Client) -> None:
    home = space(admin)
    top = page(admin, home, "Top")
    file = attach(admin, top, "a.png", b"png", "image/png")["id"]
    below = page(admin, home, "Below", parent_id=top)
    text = (
        f"![own](/api/v1/attachments/{file}) [below](/p/{below}#a)\n"
        f"[foreign](https://evil.example/api/v1/attachments/{file})"
        f" [foreign](https://evil.example/p/{below}) [foreign](//evil.example/p/{below})\n"
    )
    admin.ok("PUT", f"/api/v1/nodes/{top}", {"base_version": 1, "markdown": text})
    share = admin.ok("POST", f"/api/v1/nodes/{top}/shares", {"include_children": True}, 201)
    path = share["url"].removeprefix("https://notes.example.org")
    shown = anybody.get(path).text
    assert f'src="{path}/attachments/{file}"' in shown
    assert f'href="{path}/p/{below}#a"' in shown
    foreign = [part.partition('"')[0] for part in shown.split('href="')[1:]]
    assert len([url for url in foreign if "evil.example" in url]) == 3
    assert not any("evil.example" in url and path in url for url in foreign)
