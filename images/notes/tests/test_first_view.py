"""Tests what the workspace answers at a page's address. Its files have to be built."""

import asyncio
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import cast
from uuid import uuid4

import pytest
from starlette.requests import Request

from notes.http.context import App
from notes.http.problems import Problem
from notes.web import first_view
from tests.replica import Client
from tests.workspace import grant, page, space

Person = Callable[[str], Client]
HOSTILE = '</script><script>alert(1)</script><!-- <div id="app"></div>'
TEXT = (
    f"# One\n\nWords of [a page](/p/{uuid4()}#x).\n\n## Two\n\n{HOSTILE}\n\n"
    "## Three\n\n- [x] done\n\n```\n</p>\n\n two\n```\n"
)
GZIP = {"accept-encoding": "gzip", "sec-fetch-site": "same-origin"}


class Shown(HTMLParser):
    """The elements, the text outside of scripts, and the content of the data element."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags = list[tuple[str, dict[str, str | None]]]()
        self.text = self.data = ""
        self._script: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._script = dict(attrs).get("type") if tag == "script" else None

    def handle_endtag(self, tag: str) -> None:
        self._script = None if tag == "script" else self._script

    def handle_data(self, data: str) -> None:
        if self._script:
            self.data += data
        else:
            self.text += data

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]


def _shown(client: Client, id: str) -> Shown:
    answer = client.get(f"/w/p/{id}")
    assert answer.status_code == 200
    return Shown(answer.text)


def test_the_first_answer_has_the_text_and_waits_for_no_script(admin: Client) -> None:
    made = page(admin, space(admin), 'A "title" & more', markdown=TEXT)
    answer = admin.get(f"/w/p/{made}")
    shown = Shown(answer.text)
    for words in ('A "title" & more', "Words of", "a page", "alert(1)", "☑", "</p>\n\n two\n"):
        assert words in shown.text
    assert shown.of("main") == [{"id": "main", "tabindex": "-1"}]
    assert [one.get("id") for one in shown.of("h1")] == ["title"]
    assert not re.search("skeleton|aria-busy|Loading|hidden", answer.text)
    # as the workspace draws it: links to pages stay in it, and there is a list of contents
    assert any((one["href"] or "").startswith("/w/p/") for one in shown.of("a"))
    assert {"#one", "#two", "#three"} <= {one["href"] for one in shown.of("a")}
    # without scripts the whole plain page
    refresh = {"http-equiv": "refresh", "content": f"0; url=/p/{made}"}
    assert refresh in shown.of("meta")
    assert admin.get(f"/p/{made}").status_code == 200


def test_the_document_comes_with_the_text_and_ends_no_element(admin: Client) -> None:
    made = page(admin, space(admin), HOSTILE, markdown=TEXT)
    answer = admin.get(f"/w/p/{made}")
    shown = Shown(answer.text)
    assert json.loads(shown.data) == admin.ok("GET", f"/api/v1/nodes/{made}")
    kinds = [(one.get("type"), "src" in one) for one in shown.of("script")]
    assert sorted(kinds) == [("application/json", False), ("module", True)]
    me = admin.ok("GET", "/api/v1/me")["id"]
    assert [one["data-user"] for one in shown.of("script") if "data-user" in one] == [me]
    # the policy of the shell, and nothing that a browser or the service worker keeps
    assert answer.headers["content-security-policy"] == admin.get("/w").headers[
        "content-security-policy"
    ]  # fmt: skip
    assert answer.headers["cache-control"] == "no-store"
    assert "x-notes-build" not in answer.headers
    assert "etag" not in answer.headers
    assert HOSTILE not in answer.text


def test_who_may_not_read_it_gets_what_everybody_gets(
    admin: Client, person: Person, anybody: Client
) -> None:
    home = space(admin)
    made = page(admin, home, "Hidden", markdown="words that are hidden")
    bob, eve = person("Bob"), person("Eve")
    grant(admin, f"/api/v1/spaces/{home}/members", viewer=bob)
    assert "words that are hidden" in _shown(bob, made).text
    gone = page(admin, home, "Gone", markdown="words that are hidden")
    admin.delete(f"/api/v1/nodes/{gone}")
    shell = anybody.get("/w")
    for who, path in (
        (eve, made), (anybody, made), (eve, str(uuid4())), (admin, str(uuid4())), (bob, gone),
        (admin, gone), (admin, "any"), (admin, made.upper()), (bob, f"{made}/share"),
    ):  # fmt: skip
        answer = who.get(f"/w/p/{path}")
        assert answer.status_code == 200, path
        assert answer.content == shell.content, path
        for name in ("cache-control", "etag", "vary", "content-length"):
            assert answer.headers[name] == shell.headers[name]
    grant(admin, f"/api/v1/nodes/{made}/permissions")
    assert bob.get(f"/w/p/{made}").content == shell.content
    assert bob.get("/w").content == shell.content


def test_a_public_page_is_not_signed_in_for(admin: Client, anybody: Client) -> None:
    home = space(admin)
    admin.ok("PATCH", f"/api/v1/spaces/{home}", {"public": True})
    made = page(admin, home, markdown="words for all")
    assert "words for all" in anybody.get(f"/p/{made}").text
    assert anybody.get(f"/w/p/{made}").content == anybody.get("/w").content


def test_it_is_compressed_as_the_answer_of_the_api_is(admin: Client) -> None:
    home = space(admin)
    made = page(admin, home, markdown="words of a page\n\n" * 400)
    path = f"/w/p/{made}"
    assert admin.get(path, headers=GZIP).headers["content-encoding"] == "gzip"
    assert int(admin.get(path, headers=GZIP).headers["content-length"]) < 12_000
    other = admin.get(path, headers={**GZIP, "sec-fetch-site": "cross-site"})
    assert "content-encoding" not in other.headers
    for name in ("accept-encoding", "accept-language", "cookie"):
        assert name in other.headers["vary"]
    share = admin.ok("POST", f"/api/v1/nodes/{made}/shares", {})
    assert share["url"] in admin.get(f"/p/{made}").text
    assert share["url"].rpartition("/s/")[2] not in admin.get(path).text
    # a long page would come twice: the script asks for it, and draws its beginning first
    long = page(admin, home, markdown="words of a page\n\n" * 4000)
    assert admin.get(f"/w/p/{long}").content == admin.get("/w").content


@pytest.mark.parametrize(
    ("headers", "root", "words"),
    [
        ({"accept-language": "de"}, '<html lang="de">', "Zum Inhalt"),
        ({"cookie": "notes-language=qps"}, '<html lang="qps" dir="rtl">', ""),
        ({}, '<html lang="en">', "Skip to the content"),
    ],
)
def test_it_is_in_the_language_of_its_reader(
    admin: Client, headers: dict[str, str], root: str, words: str
) -> None:
    made = page(admin, space(admin), markdown="عربي\n")
    session = {"cookie": "; ".join(f"{name}={value}" for name, value in admin.jar.items())}
    both = "; ".join(filter(None, (session["cookie"], headers.get("cookie"))))
    answer = admin.get(f"/w/p/{made}", headers={**headers, "cookie": both})
    assert root in answer.text
    assert words in answer.text


@pytest.mark.parametrize("failure", [None, Problem(503, "busy"), RuntimeError("broken")])
async def test_what_fails_leaves_the_shell(
    monkeypatch: pytest.MonkeyPatch, failure: Exception | None
) -> None:
    """The script of a shell without a page asks for it, says what is wrong, and asks again."""

    async def view(*_: object) -> None:
        if failure:
            raise failure
        await asyncio.sleep(60)

    monkeypatch.setattr(first_view, "_view", view)
    monkeypatch.setattr(first_view, "PATIENCE_S", 0.05)
    scope = {"type": "http", "method": "GET", "path": "/w/p/x", "headers": []}
    route = first_view.routes(cast("App", None))[0]
    answer = await route.endpoint(Request(scope))
    assert (answer.status_code, b'<div id="app"></div>' in answer.body) == (200, True)


def test_a_session_that_has_ended_leaves_the_shell(admin: Client) -> None:
    made = page(admin, space(admin))
    admin.jar["__Host-notes"] = "x" * 43
    assert admin.get(f"/w/p/{made}").content == admin.get("/w").content
