"""Tests which answers are compressed, and that none is that holds a secret."""

import asyncio
import gzip
import random
import threading

import msgspec
import pytest
from starlette.requests import Request

from notes import app
from notes.http.compression import LONG_BYTES, NO_SECRET, THREAD_BYTES, compressed
from notes.http.problems import Problem
from notes.routes import OPERATIONS
from tests.replica import Client
from tests.workspace import page, space

GZIP = {"accept-encoding": "gzip, deflate, br"}
PLAIN = {"accept-encoding": "identity"}
#: Fields of answers that are a secret, or lead to one.
SECRETS = {"secret", "token", "password", "url", "start", "redirect_uri"}
#: The address in a look is an entry of the public navigation.
PUBLIC = {"get_look", "put_look", "put_logo", "delete_logo"}


@pytest.fixture
def long_page(admin: Client) -> str:
    return page(admin, space(admin), markdown="words of a page\n\n" * 2000)


def test_long_json_is_compressed_for_who_can_read_it(admin: Client, long_page: str) -> None:
    path = f"/api/v1/nodes/{long_page}"
    plain = admin.get(path, headers=PLAIN)
    short = admin.get(path, headers=GZIP)
    assert "content-encoding" not in plain.headers
    assert short.headers["content-encoding"] == "gzip"
    assert short.content == plain.content
    assert int(short.headers["content-length"]) < len(plain.content) / 5
    for answer in (plain, short):
        assert answer.headers["vary"] == "accept-encoding"
        assert answer.headers["cache-control"] == "no-store"
        assert "etag" not in answer.headers
    head = admin.head(path, headers=GZIP)
    for name in ("content-encoding", "content-length", "vary"):
        assert head.headers[name] == short.headers[name]
    assert head.content == b""
    for refused in ("", "br", "gzip;q=0", "identity"):
        answer = admin.get(path, headers={"accept-encoding": refused})
        assert "content-encoding" not in answer.headers, refused
    described = admin.get("/api/v1/openapi.json", headers=GZIP)
    assert described.headers["content-encoding"] == "gzip"
    assert described.json()["openapi"] == "3.1.0"


def test_short_json_files_pages_and_streams_stay_as_they_are(admin: Client, long_page: str) -> None:
    node = f"/api/v1/nodes/{long_page}"
    admin.post(f"/p/{long_page}/files", files={"file": ("a.txt", b"x" * 9000, "text/plain")})
    file = admin.ok("GET", f"{node}/attachments")[0]["id"]
    part = {"range": "bytes=0-7999"}
    for path, more in (
        ("/api/v1/me", {}), (f"{node}/export", {}), (f"/p/{long_page}", {}),
        (f"/api/v1/attachments/{file}", {}), (f"/api/v1/attachments/{file}", part),
    ):  # fmt: skip
        answer = admin.get(path, headers={**GZIP, **more})
        assert answer.status_code == (206 if more else 200), path
        assert "content-encoding" not in answer.headers, path
    with admin.stream("GET", "/api/v1/events", headers=GZIP) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        assert "content-encoding" not in stream.headers


def test_long_markdown_is_compressed(admin: Client, long_page: str) -> None:
    path = f"/api/v1/nodes/{long_page}/markdown"
    plain, short = admin.get(path, headers=PLAIN), admin.get(path, headers=GZIP)
    assert "content-encoding" not in plain.headers
    assert short.headers["content-encoding"] == "gzip"
    assert short.headers["content-type"] == plain.headers["content-type"]
    assert short.text == plain.text
    assert int(short.headers["content-length"]) < len(plain.content) / 5
    other = admin.get(path, headers={**GZIP, "sec-fetch-site": "cross-site"})
    assert "content-encoding" not in other.headers


def test_a_problem_with_the_present_state_is_compressed(admin: Client, long_page: str) -> None:
    path = f"/api/v1/nodes/{long_page}"
    stale = {"base_version": 99, "title": "Late", "doc": {"type": "doc", "content": []}}
    plain = admin.put(path, json=stale, headers=PLAIN)
    short = admin.put(path, json=stale, headers=GZIP)
    assert plain.status_code == short.status_code == 409
    assert "content-encoding" not in plain.headers
    assert short.headers["content-encoding"] == "gzip"
    assert short.headers["content-type"] == "application/problem+json"
    assert short.json() == plain.json()
    for answer in (plain, short):
        assert answer.headers["vary"] == "accept-encoding"
    missing = admin.get("/api/v1/nodes/x", headers=GZIP)
    assert missing.status_code == 404
    assert "content-encoding" not in missing.headers


def test_the_members_are_compressed_and_their_tag_names_each_form(admin: Client) -> None:
    home = space(admin)
    path = f"/api/v1/spaces/{home}/members"
    me = admin.ok("GET", "/api/v1/me")["id"]
    grants = [{"principal": me, "kind": "user", "role": "manager"}]
    for number in range(40):
        body = {"name": f"Group {number} " + "of many people " * 3}
        group = admin.ok("POST", "/api/v1/groups", body, 201)["id"]
        grants.append({"principal": group, "kind": "group", "role": "viewer"})
    assert admin.put(path, json={"grants": grants}).status_code == 200
    plain, short = admin.get(path, headers=PLAIN), admin.get(path, headers=GZIP)
    assert short.headers["content-encoding"] == "gzip"
    assert short.json() == plain.json()
    assert short.headers["etag"] != plain.headers["etag"]
    # Either of them is the state that a change expects.
    for answer in (plain, short):
        expected = {"if-match": answer.headers["etag"]}
        assert admin.put(path, json={"grants": grants}, headers=expected).status_code == 200
    late = {"if-match": short.headers["etag"]}
    admin.ok("PUT", path, {"grants": grants[:-1]})
    assert admin.put(path, json={"grants": grants}, headers=late).status_code == 412


async def test_a_problem_of_an_operation_with_a_secret_stays_as_it_is() -> None:
    problem = Problem(409, "It has changed.", current="x" * 2 * LONG_BYTES)
    for secret, coded in ((False, True), (True, False), (None, False)):
        marks = {} if secret is None else {NO_SECRET: not secret}
        headers = [(b"accept-encoding", b"gzip")]
        scope = {"type": "http", "method": "GET", "path": "/api/v1/x", "headers": headers, **marks}
        answer = await app._problem(Request(scope), problem)
        assert ("content-encoding" in answer.headers) is coded


def test_who_is_on_another_site_learns_no_length(admin: Client, long_page: str) -> None:
    for came, coded in (("cross-site", False), ("same-site", False), ("same-origin", True),
                        ("none", True)):  # fmt: skip
        headers = {**GZIP, "sec-fetch-site": came}
        answer = admin.get(f"/api/v1/nodes/{long_page}", headers=headers)
        assert ("content-encoding" in answer.headers) is coded, came


def test_links_are_not_compressed(admin: Client, long_page: str) -> None:
    path = f"/api/v1/nodes/{long_page}/shares"
    for _ in range(20):
        admin.ok("POST", path, {}, 201)
    answer = admin.get(path, headers=GZIP)
    assert len(answer.content) > LONG_BYTES
    assert "content-encoding" not in answer.headers


def test_every_operation_that_answers_with_a_secret_is_marked() -> None:
    marked = {op.name for op in OPERATIONS if op.has_secret}
    found = set[str]()
    for op in OPERATIONS:
        if op.path.startswith("/api/"):
            try:
                _, parts = msgspec.json.schema_components([op.returns])
            except TypeError:  # it makes its answer itself, which is not compressed
                continue
            named = {name for part in parts.values() for name in part.get("properties", {})}
            if named & SECRETS:
                found.add(op.name)
    assert found - PUBLIC <= marked
    assert marked - found == {"list_tokens", "list_invitations"}


async def test_a_large_answer_is_compressed_beside_the_event_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads = list[bool]()
    real = gzip.compress

    def note(*args: object, **more: object) -> bytes:
        threads.append(threading.current_thread() is threading.main_thread())
        return real(*args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(gzip, "compress", note)
    small, large = (random.Random(1).randbytes(size) for size in (THREAD_BYTES, THREAD_BYTES + 1))
    for content in (small, large):
        assert gzip.decompress(await asyncio.wait_for(compressed(content), 60)) == content
    assert threads == [True, False]
