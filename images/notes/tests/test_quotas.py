"""Tests quotas: exact counters, races, messages, and limits set by administrators."""

import concurrent.futures
import contextlib
import io
import os
import random
import time
import zipfile
from collections.abc import Iterator

import psycopg
import pytest

from notes.jobs.housekeeping import _STATEMENTS
from tests.postgres import Postgres
from tests.quota_counters import (
    act_at_random,
    client_of,
    edit,
    is_exact,
    page_in,
    person,
    space_of,
    upload,
    used_in,
)
from tests.replica import Client, Replica
from tests.zips import imported


@pytest.fixture(scope="module")
def two(postgres: Postgres) -> Iterator[tuple[Replica, Replica]]:
    """Two replicas of one database."""
    env = {"ORIGIN": "https://notes.example.org", "ADDRESS_HEADER": "x-forwarded-for"}
    url = postgres.database("quotas")
    with Replica(url, env).running() as first, Replica(url, env).running() as second:
        with first.client() as client:
            client.set_up()
        yield first, second
        for running in (first, second):
            assert not [line for line in running.lines() if line["level"] == "error"]
        is_exact(first)


@pytest.fixture
def admin(two: tuple[Replica, Replica]) -> Iterator[Client]:
    with client_of(two[0]) as client:
        yield client.log_in()


def test_edits_count_from_their_save_to_their_end(
    two: tuple[Replica, Replica], admin: Client
) -> None:
    client, _ = person(admin, two[0])
    space = space_of(client)
    node = page_in(client, space, markdown="words\n")
    assert edit(client, node, 50_000).status_code == 200
    begun = used_in(client, space)
    # A save of an API client first saves the edits that wait.
    client.problem(409, "PUT", f"/api/v1/nodes/{node}", json={"base_version": 1, "markdown": "x"})
    # The edit, and the version that it made.
    assert used_in(client, space) - begun > 100_000
    assert client.ok("GET", "/api/v1/me/usage")["bytes"]["used"] > 100_000
    is_exact(two[0])
    with psycopg.connect(two[0].database_url, autocommit=True) as conn:
        # A space that is full: what is deleted may not need room first.
        conn.execute("UPDATE space_usage SET bytes_limit = 1 WHERE space_id = %s", (space,))
        older = "at = at - interval '31 days' WHERE node_id = %s"
        for name in ("page_edits", "page_logs", "page_snapshots"):
            conn.execute(f"UPDATE {name} SET {older}", (node,))
        conn.execute("SET notes.housekeeping = 'on'")
        for statement in _STATEMENTS:
            if "page_edits" in statement or "page_snapshots" in statement:
                conn.execute(statement)
        count = "SELECT (SELECT count(*) FROM page_edits WHERE node_id = %(n)s),"
        count += " (SELECT count(*) FROM page_snapshots WHERE node_id = %(n)s)"
        assert conn.execute(count, {"n": node}).fetchone() == (0, 1)
        conn.execute("UPDATE space_usage SET bytes_limit = NULL WHERE space_id = %s", (space,))
    is_exact(two[0])
    assert client.ok("GET", f"/api/v1/nodes/{node}/edits/1")["seq"] == 1
    assert edit(client, node, 10).status_code == 200
    client.ok("DELETE", f"/api/v1/nodes/{node}")
    client.ok("DELETE", f"/api/v1/nodes/{node}?forever=true")
    is_exact(two[0])
    assert client.ok("GET", "/api/v1/me/usage")["bytes"]["used"] == 0


def test_everything_is_counted(two: tuple[Replica, Replica], admin: Client) -> None:
    client, user = person(admin, two[0])
    space, other = space_of(client), space_of(client)
    node = page_in(client, space, markdown="words " * 1000)
    usage = client.ok("GET", f"/api/v1/spaces/{space}/usage")
    assert usage["pages"] == {"used": 1, "limit": 50_000, "is_own": False}
    assert 6_000 < usage["bytes"]["used"] < 8_000
    client.ok("PUT", f"/api/v1/nodes/{node}", {"base_version": 1, "title": "Q", "markdown": "less"})
    made = upload(client, node, 1_000_000).json()["id"]
    comment = client.ok("POST", f"/api/v1/nodes/{node}/comments", {"body": "c" * 5000})["id"]
    grown = client.ok("GET", f"/api/v1/spaces/{space}/usage")["bytes"]["used"]
    assert 1_005_000 < grown - usage["bytes"]["used"] < 1_010_000
    mine = client.ok("GET", "/api/v1/me/usage")
    assert mine["bytes"]["used"] == grown
    assert (mine["pages"]["used"], mine["spaces"]["used"]) == (1, 2)
    assert admin.ok("GET", f"/api/v1/users/{user}/usage") == mine
    client.ok("POST", f"/api/v1/nodes/{node}/move", {"space_id": other})
    assert client.ok("GET", f"/api/v1/spaces/{space}/usage")["bytes"]["used"] == 0
    assert client.ok("GET", f"/api/v1/spaces/{other}/usage")["bytes"]["used"] == grown
    client.ok("PATCH", f"/api/v1/comments/{comment}", {"body": "c"})
    client.ok("DELETE", f"/api/v1/attachments/{made}")
    assert client.ok("GET", "/api/v1/me/usage")["bytes"]["used"] < grown - 1_004_000
    client.ok("DELETE", f"/api/v1/nodes/{node}")
    assert client.ok("GET", f"/api/v1/spaces/{other}/usage")["pages"]["used"] == 1
    client.ok("DELETE", f"/api/v1/nodes/{node}?forever=true")
    assert client.ok("GET", f"/api/v1/spaces/{other}/usage")["bytes"]["used"] == 0
    client.ok("DELETE", f"/api/v1/spaces/{other}")
    assert client.ok("GET", "/api/v1/me/usage") == {
        "bytes": {"used": 0, "limit": 20 * 1024**3, "is_own": False},
        "pages": {"used": 0, "limit": 50_000, "is_own": False},
        "spaces": {"used": 1, "limit": 100, "is_own": False},
    }
    is_exact(two[0])


def test_a_refusal_names_the_limit(two: tuple[Replica, Replica], admin: Client) -> None:
    client, user = person(admin, two[0])
    space = space_of(client)
    node = page_in(client, space)
    admin.ok("PUT", f"/api/v1/users/{user}/quota", {"spaces": 1, "pages": 1, "bytes": 100_000})
    path = f"/api/v1/spaces/{space}/nodes"
    for method, where, body, status, name in (
        ("POST", "/api/v1/spaces", {"slug": "onemore", "name": "Q"}, 403, "account_spaces"),
        ("POST", path, {"title": "Q"}, 403, "account_pages"),
        (
            "PUT",
            f"/api/v1/nodes/{node}",
            {"base_version": 1, "markdown": "x" * 100_000},
            413,
            "account_bytes",
        ),
        ("POST", f"/api/v1/nodes/{node}/uploads", {"name": "a", "size": 10**6}, 413,
         "account_bytes"),
    ):  # fmt: skip
        problem = client.problem(status, method, where, json=body)
        assert problem["errors"][0]["field"] == name
        assert name in problem["detail"]
        assert "administrator" in problem["detail"]
    admin.ok("PUT", f"/api/v1/users/{user}/quota", {})
    admin.ok("PUT", f"/api/v1/spaces/{space}/quota", {"pages": 1, "bytes": 50_000})
    assert client.problem(403, "POST", path, json={"title": "Q"})["errors"][0]["field"] == (
        "space_pages"
    )
    assert upload(client, node, 100_000).status_code == 413
    admin.ok("PUT", f"/api/v1/spaces/{space}/quota", {})
    assert upload(client, node, 100_000).status_code == 201
    # An account above its limit may still delete.
    limited = admin.ok("PUT", f"/api/v1/spaces/{space}/quota", {"bytes": 10})
    assert (limited["bytes"]["limit"], limited["bytes"]["is_own"]) == (10, True)
    assert limited["pages"]["is_own"] is False
    client.ok("DELETE", f"/api/v1/nodes/{node}")
    client.ok("DELETE", f"/api/v1/nodes/{node}?forever=true")
    is_exact(two[0])


def test_only_administrators_set_limits(two: tuple[Replica, Replica], admin: Client) -> None:
    client, user = person(admin, two[0])
    space = space_of(client)
    for path in (f"/api/v1/users/{user}/quota", f"/api/v1/spaces/{space}/quota"):
        client.problem(403, "PUT", path, json={"bytes": 1})
    before = admin.ok("GET", "/api/v1/quotas")
    client.problem(403, "PUT", "/api/v1/quotas", json=before)
    admin.ok("PUT", "/api/v1/quotas", {**before, "account_spaces": 1})
    assert client.ok("GET", "/api/v1/me/usage")["spaces"] == {
        "used": 1,
        "limit": 1,
        "is_own": False,
    }
    client.problem(403, "POST", "/api/v1/spaces", json={"slug": "another", "name": "Q"})
    admin.ok("PUT", "/api/v1/quotas", before)
    stranger, _ = person(admin, two[0])
    stranger.problem(404, "GET", f"/api/v1/spaces/{space}/usage")


def test_an_upload_that_cannot_fit_is_refused_at_its_beginning(
    two: tuple[Replica, Replica], admin: Client
) -> None:
    client, _ = person(admin, two[0])
    space = space_of(client)
    node = page_in(client, space)
    admin.ok("PUT", f"/api/v1/spaces/{space}/quota", {"bytes": 1_000_000})

    def never_ending() -> Iterator[bytes]:
        yield b'--b\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\n'
        for _ in range(600):
            time.sleep(0.1)
            yield b"x" * 1000

    begun = time.monotonic()
    for path, kind in (
        (f"/api/v1/nodes/{node}/uploads", "multipart/form-data; boundary=b"),
        (f"/api/v1/spaces/{space}/imports", "application/zip"),
    ):
        with contextlib.suppress(OSError):
            answer = client.post(
                path,
                content=never_ending(),
                headers={"content-type": kind, "content-length": "60000000"},
            )
            assert answer.status_code == 413
            assert "space_bytes" in answer.text
    assert time.monotonic() - begun < 20
    is_exact(two[0])


def test_two_replicas_pass_no_limit(two: tuple[Replica, Replica], admin: Client) -> None:
    client, _ = person(admin, two[0])
    space = space_of(client)
    nodes = [page_in(client, space) for _ in range(8)]
    used = client.ok("GET", "/api/v1/me/usage")["bytes"]["used"]
    admin.ok("PUT", f"/api/v1/spaces/{space}/quota", {"bytes": used + 5 * 100_500, "pages": 12})
    clients = []
    for number in range(8):
        other = client_of(two[number % 2])
        other.jar.update(client.jar)
        clients.append(other)

    def strike(number: int) -> tuple[int, int]:
        other = clients[number % 8]
        done = upload(other, nodes[number % 8], 100_000).status_code
        path = f"/api/v1/spaces/{space}/nodes"
        return done, other.post(path, json={"title": "Q"}).status_code

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        found = list(pool.map(strike, range(16)))
    uploads = [status for status, _ in found]
    pages = [status for _, status in found]
    assert uploads.count(201) <= 5
    assert set(uploads) == {201, 413}
    assert set(pages) <= {201, 403, 413}
    usage = client.ok("GET", f"/api/v1/spaces/{space}/usage")
    assert usage["bytes"]["used"] <= usage["bytes"]["limit"]
    assert usage["pages"]["used"] <= 12
    is_exact(two[0])


def test_resumable_uploads_reserve_their_place(two: tuple[Replica, Replica], admin: Client) -> None:
    client, user = person(admin, two[0])
    node = page_in(client, space_of(client))
    used = client.ok("GET", "/api/v1/me/usage")["bytes"]["used"]
    admin.ok("PUT", f"/api/v1/users/{user}/quota", {"bytes": used + 2_000_000})
    path = f"/api/v1/nodes/{node}/uploads"
    first = client.ok("POST", path, {"name": "a", "size": 1_500_000})
    client.problem(413, "POST", path, json={"name": "b", "size": 1_000_000})
    data = os.urandom(1_500_000)
    headers = {
        "content-type": "application/octet-stream",
        "upload-id": first["id"],
        "upload-chunk": "0",
    }
    assert client.post(path, content=data, headers=headers).status_code == 201
    assert client.ok("GET", "/api/v1/me/usage")["bytes"]["used"] == used + 1_500_500
    second = client.ok("POST", path, {"name": "b", "size": 400_000})
    client.ok("DELETE", f"{path}/{second['id']}")
    assert client.ok("GET", "/api/v1/me/usage")["bytes"]["used"] == used + 1_500_500
    is_exact(two[0])


def test_an_import_beyond_the_limit_says_so(two: tuple[Replica, Replica], admin: Client) -> None:
    client, _ = person(admin, two[0])
    space = space_of(client)
    admin.ok("PUT", f"/api/v1/spaces/{space}/quota", {"pages": 3})
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number in range(6):
            archive.writestr(f"{number}.md", "words")
    seen = imported(client, space, packed.getvalue())
    assert seen["state"] == "failed"
    assert "space_pages" in seen["error"]


@pytest.mark.parametrize("seed", range(3))
def test_counters_are_exact_whatever_is_done_at_once(
    two: tuple[Replica, Replica], admin: Client, seed: int
) -> None:
    client, user = person(admin, two[0])
    spaces = [space_of(client), space_of(client)]
    nodes = [page_in(client, spaces[n % 2]) for n in range(4)]
    admin.ok("PUT", f"/api/v1/users/{user}/quota", {"bytes": 3_000_000})

    def act(number: int) -> None:
        source = random.Random(100 * seed + number)
        with client_of(two[number % 2]) as other:
            other.jar.update(client.jar)
            for _ in range(12):
                what, answer = act_at_random(other, source, nodes, spaces)
                assert answer.status_code < 500, (what, answer.text)

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        list(pool.map(act, range(6)))
    is_exact(two[0])
    assert client.ok("GET", "/api/v1/me/usage")["bytes"]["used"] <= 3_000_000
