"""Tests comments and files that are sent again under the key of the first request."""

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID, uuid4

import pytest

from notes.files.chunks import CHUNK_BYTES
from tests.postgres import Postgres
from tests.quota_counters import is_exact
from tests.replica import Client, Replica
from tests.uploads import attach, opened, pieces, send
from tests.workspace import grant, page, space

Person = Callable[[str], Client]


@pytest.fixture
def home(admin: Client) -> str:
    """A page that everybody may comment on."""
    return page(admin, space(admin, everyone_role="commenter"))


def post(client: Client, node: str, key: str, **more: Any) -> dict[str, Any]:
    body = {"body": "A remark", "key": key, **more}
    made: dict[str, Any] = client.ok("POST", f"/api/v1/nodes/{node}/comments", body, 201)
    return made


def listed(client: Client, node: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.ok("GET", f"/api/v1/nodes/{node}/comments")
    return found


def known(client: Client, *keys: str) -> set[str]:
    found = client.ok("POST", "/api/v1/repeats/known", {"keys": list(keys)})
    return set(found["keys"])


def test_a_repeated_comment_is_made_once(replica: Replica, admin: Client, home: str) -> None:
    key = str(uuid4())
    ids = list[str]()

    def send() -> None:
        with replica.client() as client:
            client.jar.update(admin.jar)
            ids.append(post(client, home, key)["id"])

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ids) == 4
    assert ids == [one["id"] for one in listed(admin, home)] * 4
    assert known(admin, key, str(uuid4())) == {key}


def test_a_comment_that_was_deleted_is_not_made_again(admin: Client, person: Person) -> None:
    node = page(admin, space(admin, everyone_role="commenter"))
    bob = person("Bob")
    key, answer = str(uuid4()), str(uuid4())
    thread = post(bob, node, key)["id"]
    post(bob, node, answer, parent_id=thread)
    admin.ok("DELETE", f"/api/v1/comments/{thread}")
    url = f"/api/v1/nodes/{node}/comments"
    bob.problem(410, "POST", url, json={"body": "A remark", "key": key})
    lost = {"body": "A reply", "parent_id": thread, "key": str(uuid4())}
    bob.problem(410, "POST", url, json=lost)
    change = {"body": "Another", "key": str(uuid4()), "node_id": node}
    bob.problem(410, "PATCH", f"/api/v1/comments/{thread}", json=change)
    assert listed(admin, node) == []
    assert known(bob, key, answer) == {key, answer}


def test_nobody_takes_the_id_of_another_persons_comment(
    postgres: Postgres, admin: Client, person: Person, home: str
) -> None:
    bob, eve = person("Bob"), person("Eve")
    key = str(uuid4())
    lost = post(bob, home, key)["id"]
    lose(postgres, lost)
    assert known(eve, key) == set()
    assert post(eve, home, key)["id"] != lost
    # Eve manages a page of her own, and says there that the comment was deleted.
    hers = page(eve, space(eve))
    eve.ok("DELETE", f"/api/v1/comments/{lost}?node_id={hers}")
    eve.problem(404, "DELETE", f"/api/v1/comments/{lost}?node_id={home}")
    assert post(bob, home, key)["id"] == lost
    assert sorted(c["author_name"] for c in listed(admin, home)) == ["Bob", "Eve"]


def test_a_lost_deletion_keeps_a_lost_comment_away(
    postgres: Postgres, admin: Client, person: Person, home: str
) -> None:
    bob = person("Bob")
    for deleter in (bob, admin):
        key = str(uuid4())
        lost = post(bob, home, key)["id"]
        lose(postgres, lost)
        url = f"/api/v1/comments/{lost}?node_id={home}&key={uuid4()}"
        deleter.ok("DELETE", url)
        deleter.ok("DELETE", url)
        refused = {"body": "A remark", "key": key}
        bob.problem(410, "POST", f"/api/v1/nodes/{home}/comments", json=refused)
    assert listed(admin, home) == []


def test_a_change_is_made_once_and_only_on_what_it_was_based(admin: Client, home: str) -> None:
    comment = post(admin, home, str(uuid4()))["id"]
    url = f"/api/v1/comments/{comment}"
    first = {"body": "first", "key": str(uuid4()), "bases": [None]}
    admin.ok("PATCH", url, first)
    [now] = listed(admin, home)
    admin.ok("PATCH", url, {"body": "second", "key": str(uuid4()), "bases": [now["edited_at"]]})
    # The first one again: it is done, and undoes nothing.
    admin.ok("PATCH", url, first)
    assert listed(admin, home)[0]["body"] == "second"
    late = {"body": "late", "key": str(uuid4()), "bases": [None, now["edited_at"]]}
    admin.problem(409, "PATCH", url, json=late)
    assert known(admin, late["key"]) == set()
    admin.problem(422, "PATCH", url, json={"body": "x", "resolved": True, "bases": []})
    assert listed(admin, home)[0]["body"] == "second"


def test_a_thread_that_somebody_opened_again_stays_open(
    admin: Client, person: Person, home: str
) -> None:
    bob = person("Bob")
    url = f"/api/v1/comments/{post(admin, home, str(uuid4()))['id']}"
    bob.ok("PATCH", url, {"resolved": True, "key": str(uuid4()), "bases": [None]})
    admin.ok("PATCH", url, {"resolved": False})
    lost = {"resolved": True, "key": str(uuid4()), "bases": [None]}
    bob.problem(409, "PATCH", url, json=lost)
    [now] = listed(admin, home)
    assert now["resolved_at"] is None
    assert now["state_changed_at"] is not None


def test_who_lost_access_sends_nothing_again(admin: Client, person: Person) -> None:
    where = space(admin)
    node = page(admin, where)
    bob = person("Bob")
    grant(admin, f"/api/v1/spaces/{where}/members", commenter=bob)
    key = str(uuid4())
    post(bob, node, key)
    grant(admin, f"/api/v1/spaces/{where}/members")
    body = {"body": "A remark", "key": key}
    bob.problem(404, "POST", f"/api/v1/nodes/{node}/comments", json=body)
    assert known(bob, key) == {key}


def form(client: Client, node: str, key: str, data: bytes) -> dict[str, Any]:
    files, headers = {"file": ("n.txt", data, "text/plain")}, {"upload-key": key}
    answer = client.post(f"/api/v1/nodes/{node}/uploads", files=files, headers=headers)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def in_chunks(client: Client, node: str, key: str, data: bytes) -> str:
    upload = opened(client, node, data, key=key)
    if "missing" not in upload:
        return str(upload["id"])
    for number, part in pieces(data):
        answer = send(client, node, upload["id"], number, part)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def test_a_file_that_is_sent_again_is_the_same_attachment(
    replica: Replica, admin: Client, home: str
) -> None:
    key, data = str(uuid4()), b"some words" * 1000
    made = form(admin, home, key, data)["id"]
    assert form(admin, home, key, data)["id"] == made
    assert in_chunks(admin, home, key, data) == made
    # Two that were on their way together.
    two = str(uuid4())
    uploads = [opened(admin, home, data, key=two)["id"] for _ in range(2)]
    ends = [send(admin, home, upload, 0, data).json()["id"] for upload in uploads]
    assert ends[0] == ends[1] != made
    assert opened(admin, home, data, key=two)["id"] == ends[0]
    files = admin.ok("GET", f"/api/v1/nodes/{home}/attachments")
    assert sorted(one["id"] for one in files) == sorted([made, ends[0]])
    assert admin.get(f"/api/v1/attachments/{ends[0]}").content == data
    assert known(admin, key, two) == {key, two}
    is_exact(replica)


def test_a_repeated_last_chunk_of_a_keyed_file_is_answered_like_the_first(
    replica: Replica, admin: Client, person: Person
) -> None:
    place, eve = space(admin), person("Eve")
    home = page(admin, place)
    grant(admin, f"/api/v1/spaces/{place}/members", editor=eve)
    key, data = str(uuid4()), random.Random(1).randbytes(CHUNK_BYTES + 10)
    uploads = [opened(admin, home, data, key=key)["id"] for _ in range(2)]
    for upload in uploads:
        assert send(admin, home, upload, 0, data[:CHUNK_BYTES]).status_code == 200

    def end(upload: str) -> tuple[int, str]:
        with replica.client() as client:
            client.jar.update(admin.jar)
            answer = send(client, home, upload, 1, data[CHUNK_BYTES:])
            return answer.status_code, answer.json().get("id")

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(end, uploads * 4))
    assert {status for status, _ in together} == {201}, together
    assert len({made for _, made in together}) == 1
    assert [end(upload) for upload in uploads] == together[:2]
    assert admin.get(f"/api/v1/attachments/{together[0][1]}").content == data
    other = page(admin, place)
    assert send(admin, other, uploads[0], 1, data[CHUNK_BYTES:]).status_code == 404
    assert send(eve, home, uploads[0], 1, data[CHUNK_BYTES:]).status_code == 404
    is_exact(replica)


def test_a_file_that_was_lost_has_the_same_address_again(
    replica: Replica, postgres: Postgres, admin: Client, person: Person, home: str
) -> None:
    key, data = str(uuid4()), b"some words" * 1000
    made = form(admin, home, key, data)["id"]
    postgres.sql(f"DELETE FROM attachments WHERE id = '{made}'", "main")
    postgres.sql(f"DELETE FROM client_requests WHERE key = '{key}'", "main")
    eve = person("Eve")
    hers = page(eve, space(eve))
    assert form(eve, hers, key, b"hers")["id"] != made
    assert known(admin, key) == set()
    assert in_chunks(admin, home, key, data) == made
    assert admin.get(f"/api/v1/attachments/{made}").content == data
    is_exact(replica)


def test_a_file_that_was_deleted_is_not_made_again(admin: Client, home: str) -> None:
    key = str(uuid4())
    made = form(admin, home, key, b"words")["id"]
    admin.ok("DELETE", f"/api/v1/attachments/{made}")
    url = f"/api/v1/nodes/{home}/uploads"
    admin.problem(410, "POST", url, json={"name": "n", "size": 5, "key": key})
    file: dict[str, Any] = {"files": {"file": ("n", b"words", "text/plain")}}
    admin.problem(410, "POST", url, headers={"upload-key": key}, **file)
    admin.problem(422, "POST", url, headers={"upload-key": "no key"}, **file)
    assert attach(admin, home, "n", b"words", "text/plain")["id"] != made


def lose(postgres: Postgres, comment: str) -> None:
    """Takes a comment and its request away, as a failover does."""
    assert UUID(comment)
    postgres.sql(f"DELETE FROM comments WHERE id = '{comment}'", "main")
    postgres.sql(f"DELETE FROM client_requests WHERE object_id = '{comment}'", "main")
