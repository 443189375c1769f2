"""Tests uploads: whole, in chunks, interrupted and invalid."""

import asyncio
import hashlib
import os
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest

from notes.files import chunks
from notes.files.chunks import CHUNK_BYTES
from notes.files.summing import sums_of
from notes.http.viewer import Viewer
from tests.postgres import Postgres
from tests.replica import Client, Replica
from tests.uploads import attach, opened, pieces, send
from tests.workspace import page, space

Person = Callable[[str], Client]
SIZE = 2 * CHUNK_BYTES + 12_345


@pytest.fixture
def home(admin: Client) -> str:
    return page(admin, space(admin))


def test_chunks_come_in_any_order_twice_and_together(
    replica: Replica, admin: Client, home: str
) -> None:
    data = random.Random(1).randbytes(SIZE)
    upload = opened(admin, home, data, sha256=hashlib.sha256(data).hexdigest())
    assert upload["chunk_size"] == CHUNK_BYTES
    assert upload["missing"] == [0, 1, 2]
    parts = pieces(data)
    parts = [*reversed(parts), *parts]
    answers = list[int]()

    def work(number: int, part: bytes) -> None:
        with replica.client() as client:
            client.jar.update(admin.jar)
            total = hashlib.sha256(part).hexdigest()
            answer = send(
                client, home, upload["id"], number, part, **{"upload-checksum": f"sha256={total}"}
            )
            answers.append(answer.status_code)

    threads = [threading.Thread(target=work, args=part) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(answers) <= {200, 201}
    assert 201 in answers
    again = send(admin, home, upload["id"], 0, parts[-3][1])
    assert again.status_code == 201
    got = admin.get(f"/api/v1/attachments/{upload['id']}")
    assert hashlib.sha256(got.content).digest() == hashlib.sha256(data).digest()
    assert len(admin.ok("GET", f"/api/v1/nodes/{home}/attachments")) == 1


def test_an_upload_whose_end_was_cut_short_is_ended_by_any_chunk(
    admin: Client, home: str, postgres: Postgres
) -> None:
    """The replica died after storing the last chunk and before creating the attachment."""
    upload = opened(admin, home, b"all of it")
    values = f"'{upload['id']}', 0, 9, 'all of it'"
    postgres.sql(f"INSERT INTO chunks (file_id, number, size, data) VALUES ({values})", "main")
    url = f"/api/v1/nodes/{home}/uploads/{upload['id']}"
    assert admin.ok("GET", url)["missing"] == []
    assert send(admin, home, upload["id"], 0, b"all of it").status_code == 201
    assert admin.get(f"/api/v1/attachments/{upload['id']}").content == b"all of it"


def test_what_is_missing_is_told_and_an_upload_can_be_aborted(
    admin: Client, postgres: Postgres, home: str
) -> None:
    data = os.urandom(SIZE)
    upload = opened(admin, home, data)["id"]
    assert send(admin, home, upload, 1, pieces(data)[1][1]).json()["missing"] == [0, 2]
    assert admin.ok("GET", f"/api/v1/nodes/{home}/uploads/{upload}")["missing"] == [0, 2]
    admin.problem(404, "GET", f"/api/v1/attachments/{upload}")
    admin.ok("DELETE", f"/api/v1/nodes/{home}/uploads/{upload}")
    admin.problem(404, "GET", f"/api/v1/nodes/{home}/uploads/{upload}")
    left = postgres.sql(f"SELECT count(*) FROM chunks WHERE file_id = '{upload}'", "main")
    assert left[0][0] == 0


def test_wrong_chunks_are_refused_and_change_nothing(
    admin: Client, person: Person, postgres: Postgres, home: str
) -> None:
    data = os.urandom(SIZE)
    first = pieces(data)[0][1]
    upload = opened(admin, home, data)["id"]
    cases: list[tuple[Any, int, str]] = [
        (send(admin, home, upload, 0, first[:-1]), 422, "body"),
        (send(admin, home, upload, 0, first + b"x"), 413, "body"),
        (send(admin, home, upload, 3, b"x"), 422, "upload-chunk"),
        (send(admin, home, upload, -1, b"x"), 422, "upload-chunk"),
        (send(admin, home, "nonsense", 0, first), 422, "upload-id"),
        (send(admin, home, upload, 0, first, **{"upload-checksum": "x"}), 422, "upload-checksum"),
        (
            send(admin, home, upload, 0, first, **{"upload-checksum": "sha256=" + "0" * 64}),
            422,
            "upload-checksum",
        ),
    ]
    for answer, status, field in cases:
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (status, field)
    assert send(admin, home, str(uuid4()), 0, first).status_code == 404
    assert send(person("Eve"), home, upload, 0, first).status_code == 404
    assert len(admin.ok("GET", f"/api/v1/nodes/{home}/uploads/{upload}")["missing"]) == 3
    send(admin, home, upload, 0, first)
    assert send(admin, home, upload, 0, b"y" * CHUNK_BYTES).status_code == 409
    postgres.sql(f"UPDATE uploads SET expires_at = now() WHERE id = '{upload}'", "main")
    assert send(admin, home, upload, 1, first).status_code == 410


def test_a_file_that_is_not_the_announced_one_does_not_become_an_attachment(
    admin: Client, home: str
) -> None:
    upload = opened(admin, home, b"abc", sha256="0" * 64)["id"]
    refused = send(admin, home, upload, 0, b"abc")
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "sha256"
    admin.problem(404, "GET", f"/api/v1/attachments/{upload}")


@pytest.mark.parametrize("what", ["file", "zip"])
def test_a_repeated_end_does_not_read_the_file_again(
    admin: Client, postgres: Postgres, what: str
) -> None:
    at = space(admin)
    first, other = b"the first", b"the other"
    url = f"/api/v1/nodes/{page(admin, at)}" if what == "file" else f"/api/v1/spaces/{at}/imports"
    total = hashlib.sha256(other).hexdigest()
    body = {"name": "x.zip", "size": 9, "sha256": total}
    upload = admin.ok("POST", f"{url}/uploads", body)["id"]

    def end(data: bytes) -> int:
        headers = {"content-type": "application/octet-stream", "upload-id": upload,
                   "upload-chunk": "0"}  # fmt: skip
        answer = admin.post(f"{url}/uploads", content=data, headers=headers)
        if what == "zip":
            answer = admin.post(url, json={"upload_id": upload})
        return int(answer.status_code)

    assert end(first) == 422
    # As nobody can: now the bytes are the announced ones, for those who read them.
    change = f"UPDATE chunks SET data = '{other.decode()}' WHERE file_id = '{upload}'"
    postgres.sql(change, "main")
    assert end(other) == 422


def test_one_file_of_an_account_is_summed_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    running, most = Counter[UUID](), Counter[UUID]()
    ann, bob, everybody = uuid4(), uuid4(), uuid4()

    class Db:
        async def one(self, *_: object) -> dict[str, None]:
            return {"summed_sha256": None}

        async def do(self, *_: object) -> int:
            return 1

    async def sums(_: object, owner: UUID, size: int) -> chunks.Sums:
        running[owner] += 1
        most[owner] = max(most[owner], running[owner])
        most[everybody] = max(most[everybody], running.total())
        await asyncio.sleep(0.02)
        running[owner] -= 1
        return chunks.Sums(b"", size)

    async def work() -> None:
        calls = {
            person: SimpleNamespace(app=SimpleNamespace(db=Db()), viewer=Viewer(person, "x"))
            for person in (ann, bob)
        }
        # The upload's id is its owner's here, so that the sum knows whose it is.
        await asyncio.gather(*(sums_of(calls[one], one, 1) for one in (ann, bob) * 4))

    monkeypatch.setattr(chunks, "sums", sums)
    asyncio.run(work())
    assert most == {ann: 1, bob: 1, everybody: 2}


def test_sizes_have_limits(admin: Client, home: str) -> None:
    url = f"/api/v1/nodes/{home}/uploads"
    over = {"name": "x", "size": 200 * 1024 * 1024 + 1}
    assert admin.problem(413, "POST", url, json=over)["errors"][0]["field"] == "size"
    admin.problem(422, "POST", url, json={"name": "x", "size": -1})

    def form() -> Iterator[bytes]:
        yield b'--b\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\n'
        for _ in range(65):
            yield b"x" * 1024 * 1024
        yield b"\r\n--b--\r\n"

    headers = {"content-type": "multipart/form-data; boundary=b"}
    admin.problem(413, "POST", url, content=form(), headers=headers)
    assert admin.ok("GET", f"/api/v1/nodes/{home}/attachments") == []


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("multipart/form-data", b"", 400),
        ("multipart/form-data; boundary=b", b"no form", 400),
        ("multipart/form-data; boundary=b", b'--b\r\ncontent-disposition: form-data; name="file";'
         b' filename="x"\r\n\r\nends too early', 400),
        ("multipart/form-data; boundary=b", b'--b\r\ncontent-disposition: form-data; name="a"\r\n'
         b"\r\nv\r\n--b--\r\n", 422),
        ("text/csv", b"a,b", 415),
        ("application/json", b"{", 400),
    ],
)  # fmt: skip
def test_broken_forms_are_refused(
    admin: Client, home: str, kind: str, body: bytes, status: int
) -> None:
    url = f"/api/v1/nodes/{home}/uploads"
    admin.problem(status, "POST", url, content=body, headers={"content-type": kind})


def test_forms_of_any_bytes_are_answered(admin: Client, home: str) -> None:
    rng = random.Random(5)
    heads = [
        b'form-data; name="file"; filename="x"',
        b'form-data; name="file"',
        b'form-data; name="',
        b"form-data; name=a; filename*=utf-8''%ff",
        b'form-data; name="file"; filename="\xff\x00"',
        b"",
    ]
    kinds = [b"", b"content-type: \xff\r\n", b"x: y\r\n"]
    for _ in range(150):
        form = b""
        for _ in range(rng.randint(0, 3)):
            head = b"--B\r\ncontent-disposition: " + rng.choice(heads) + b"\r\n"
            content = rng.randbytes(rng.choice([0, 1, 20, 70_000]))
            form += head + rng.choice(kinds) + b"\r\n" + content + b"\r\n"
        form += rng.choice([b"--B--\r\n", b"--B--", b"", b"--B"])
        kind = rng.choice(
            ["; boundary=B", '; boundary="B"', "; boundary=", "; boundary=" + "x" * 300]
        )
        answer = admin.post(
            f"/api/v1/nodes/{home}/uploads",
            content=form,
            headers={"content-type": f"multipart/form-data{kind}"},
        )
        assert answer.status_code < 500, (form[:300], answer.text)


def test_a_form_makes_an_attachment(admin: Client, home: str) -> None:
    data = os.urandom(5_000_000)
    made = attach(admin, home, "../../etc/ü\r\nx: y.txt", data, "text/plain; charset=x")
    assert made["sha256"] == hashlib.sha256(data).hexdigest()
    assert "/" not in made["name"]
    got = admin.get(f"/api/v1/attachments/{made['id']}")
    assert got.content == data
    assert "x" not in got.headers
    assert attach(admin, home, "empty", b"", "text/plain")["size"] == 0
