"""Zips in and out: exact round trips, and everything that is refused."""

import hashlib
import io
import json
import os
import random
import stat
import struct
import subprocess
import time
import zipfile
import zlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from notes.transfer.exporting import _unused
from notes.transfer.zip_write import Entry, zip_stream
from tests.postgres import Postgres
from tests.replica import Client, Replica
from tests.test_files import attach
from tests.test_pages import page, space

Start = Callable[..., Replica]


def finished(client: Client, job: dict[str, Any], timeout_s: float = 60) -> dict[str, Any]:
    deadline = time.monotonic() + timeout_s
    while job["state"] in {"queued", "running"}:
        assert time.monotonic() < deadline, job
        time.sleep(0.05)
        job = client.ok("GET", f"/api/v1/jobs/{job['id']}")
    return job


def imported(client: Client, home: str, content: bytes, **query: str) -> dict[str, Any]:
    answer = client.post(
        f"/api/v1/spaces/{home}/imports",
        params=query,
        content=content,
        headers={"content-type": "application/zip"},
    )
    assert answer.status_code == 202, answer.text
    return finished(client, answer.json())


def exported(client: Client, home: str) -> bytes:
    answer = client.get(f"/api/v1/spaces/{home}/export")
    assert answer.status_code == 200
    return answer.content


def zipped(*entries: tuple[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return out.getvalue()


def tree(client: Client, home: str) -> list[tuple[str, str | None, str]]:
    nodes = client.ok("GET", f"/api/v1/spaces/{home}/tree")
    names = {node["id"]: node["title"] for node in nodes}
    return [
        (
            n["title"],
            names.get(n["parent_id"]),
            client.get(f"/api/v1/nodes/{n['id']}/markdown").text,
        )
        for n in nodes
    ]


@pytest.mark.judge
@pytest.mark.parametrize("command", [["unzip", "-tqq"], ["7z", "t", "-bso0"]], ids=lambda c: c[0])
def test_an_export_is_a_zip_to_others(admin: Client, tmp_path: Path, command: list[str]) -> None:
    home = space(admin)
    made = page(admin, home, "Ä page: with/slashes", markdown="text\n")
    attach(admin, made, "pic (1).png", os.urandom(5_000_000), "image/png")
    archive = tmp_path / "export.zip"
    archive.write_bytes(exported(admin, home))
    subprocess.run([*command, str(archive)], check=True)


def test_a_round_trip_is_exact(admin: Client) -> None:
    home = space(admin)
    top = page(admin, home, "Top / of: all? ü", markdown="# Hi\n\ntext\n")
    page(admin, home, "same", parent_id=top, markdown="first\n")
    second = page(admin, home, "Same", parent_id=top, markdown="second\n")
    data = os.urandom(5_000_000)
    file = attach(admin, home_page := page(admin, home, "a"), "pic (1).png", data, "image/png")[
        "id"
    ]
    text = f"[second](/p/{second}) ![pic](/api/v1/attachments/{file}) [out](https://x.example/)\n"
    admin.ok("PUT", f"/api/v1/nodes/{home_page}", {"base_version": 1, "markdown": text})
    first = exported(admin, home)
    copy = space(admin)
    job = imported(admin, copy, first)
    assert job["state"] == "done", job
    assert job["progress"]["pages"] == 4
    assert exported(admin, copy) == first
    originals, copies = tree(admin, home), tree(admin, copy)
    assert [t[:2] for t in originals] == [t[:2] for t in copies]
    last = admin.ok("GET", f"/api/v1/spaces/{copy}/tree")
    new = next(n["id"] for n in last if n["title"] == "a")
    files = admin.ok("GET", f"/api/v1/nodes/{new}/attachments")
    assert [(f["name"], f["type"], f["sha256"]) for f in files] == [
        ("pic (1).png", "image/png", hashlib.sha256(data).hexdigest())
    ]
    linked = next(n["id"] for n in last if n["title"] == "Same")
    assert f"/p/{linked}" in admin.get(f"/api/v1/nodes/{new}/markdown").text


def test_a_foreign_zip_becomes_pages(admin: Client) -> None:
    home = space(admin)
    content = zipped(
        ("README.md", b"\xef\xbb\xbfhello [b](notes/b.md#part)\n"),
        ("notes/a.md", b"![p](img/p.png)\n"),
        ("notes/b.md", b"b\n"),
        ("notes/img/p.png", b"png"),
        ("__MACOSX/x", b"skip"),
    )
    parent = page(admin, home, "Imported here")
    job = imported(admin, home, content, parent_id=parent)
    assert job["state"] == "done", job
    found = {title: (above, text) for title, above, text in tree(admin, home)}
    assert found["README"][0] == "Imported here"
    assert found["notes"][0] == "Imported here"
    assert found["a"][0] == "notes"
    assert "/api/v1/attachments/" in found["a"][1]
    assert "/p/" in found["README"][1]
    assert "#part" in found["README"][1]


def test_a_zip_of_many_chunks_is_imported(admin: Client) -> None:
    """Larger than what an import holds in memory, so that everything is read more than once."""
    home = space(admin)
    # Made in another order than they lie in the zip.
    files = {f"f{9 - n}.bin": os.urandom(6_000_000) for n in range(5)}
    job = imported(admin, home, zipped(("p.md", b"words\n"), *files.items()))
    assert job["state"] == "done", job
    node = admin.ok("GET", f"/api/v1/spaces/{home}/tree")[0]["id"]
    made = admin.ok("GET", f"/api/v1/nodes/{node}/attachments")
    assert {f["name"]: f["sha256"] for f in made} == {
        name: hashlib.sha256(data).hexdigest() for name, data in files.items()
    }


def link() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        info = zipfile.ZipInfo("link.md")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    return out.getvalue()


def damaged() -> bytes:
    content = bytearray(zipped(("a.md", b"some words " * 100)))
    content[40] ^= 0xFF
    return bytes(content)


def lying() -> bytes:
    """A directory that says another size than there is."""
    content = bytearray(zipped(("a.md", b"x" * 1000)))
    at = content.index(b"PK\1\2")
    content[at + 24 : at + 28] = struct.pack("<I", 10)
    return bytes(content)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"no zip at all", "not a zip"),
        (b"", "not a zip"),
        (zipped(("../../etc/x.md", b"x")), "leads out"),
        (zipped(("/etc/x.md", b"x")), "leads out"),
        (zipped(("a\\..\\b.md", b"x")), "leads out"),
        (zipped(("C:/x.md", b"x")), "leads out"),
        (zipped(("a/./b.md", b"x")), "leads out"),
        (zipped(("bomb.bin", bytes(50_000_000))), "unpacks to far more"),
        (zipped(("x.md", b"\xff\xfe")), "not UTF-8"),
        (zipped(("x.md", b">" * 60 + b" deep")), "more than 40 levels"),
        (zipped(("notes-export.json", b"{")), "damaged"),
        (link(), "links cannot"),
        (damaged(), "damaged"),
        (lying(), "damaged"),
    ],
)
def test_bad_zips_are_refused_and_leave_nothing(admin: Client, content: bytes, said: str) -> None:
    home = space(admin)
    job = imported(admin, home, content)
    assert job["state"] == "failed"
    assert said in job["error"]
    assert admin.ok("GET", f"/api/v1/spaces/{home}/tree") == []


def test_imports_are_asked_for_soundly(admin: Client, anybody: Client) -> None:
    home = space(admin)
    url = f"/api/v1/spaces/{home}/imports"
    anybody.problem(401, "POST", url, content=b"x", headers={"content-type": "application/zip"})
    admin.problem(415, "POST", url, content=b"x", headers={"content-type": "image/png"})
    admin.problem(400, "POST", url, content=b"{", headers={"content-type": "application/json"})
    long = b" " * 70_000 + b"{}"
    admin.problem(413, "POST", url, content=long, headers={"content-type": "application/json"})
    made = page(admin, home)
    file = attach(
        admin, made, "x.zip", zipped(("p.md", b"from an attachment\n")), "application/zip"
    )
    job = finished(admin, admin.ok("POST", url, {"attachment_id": file["id"]}, 202))
    assert job["state"] == "done"
    assert len(tree(admin, home)) == 2


def test_a_job_whose_replica_died_is_done_by_another(
    own_replica: Start, postgres: Postgres
) -> None:
    first = own_replica()
    rng = random.Random(3)
    big = zipped(
        *[(f"p{n}.md", b"words\n") for n in range(200)],
        *[(f"f{n}.bin", rng.randbytes(4_000_000)) for n in range(6)],
    )
    with first.client() as client:
        client.set_up()
        home = space(client)
        answer = client.post(
            f"/api/v1/spaces/{home}/imports",
            content=big,
            headers={"content-type": "application/zip"},
        ).json()
        deadline = time.monotonic() + 20
        while client.ok("GET", f"/api/v1/jobs/{answer['id']}")["progress"].get("pages", 0) < 50:
            assert time.monotonic() < deadline
        jar = dict(client.jar)
    assert first.process is not None
    first.process.kill()
    first.process.wait()
    database = first.database_url.rsplit("/", 1)[1]
    second = own_replica(first.database_url)
    with second.client() as client:
        client.jar.update(jar)
        assert client.ok("GET", f"/api/v1/jobs/{answer['id']}")["state"] == "running"
        # Fifteen minutes of silence, without the waiting.
        postgres.sql("UPDATE jobs SET heartbeat_at = now() - interval '16 minutes'", database)
        postgres.sql("NOTIFY app_jobs", database)
        assert finished(client, client.ok("GET", f"/api/v1/jobs/{answer['id']}"))["state"] == "done"
        assert len(client.ok("GET", f"/api/v1/spaces/{home}/tree")) == 200
    count = "SELECT count(*), count(DISTINCT name) FROM attachments"
    assert postgres.sql(count, database) == [(6, 6)]
    assert postgres.sql("SELECT count(*) FROM uploads", database) == [(0,)]
    assert postgres.sql("SELECT attempt FROM jobs", database) == [(2,)]


@pytest.mark.parametrize("fate", ["trashed", "deleted"])
def test_nothing_is_imported_below_a_page_that_is_gone(
    admin: Client, postgres: Postgres, fate: str
) -> None:
    home = space(admin)
    keeper, parent = page(admin, home, "keeper"), page(admin, home, "parent")
    content = zipped(("p.md", b"words\n"), ("p.files/f.bin", b"x"))
    file = attach(admin, keeper, "x.zip", content, "application/zip")
    admin.ok("DELETE", f"/api/v1/nodes/{parent}")
    if fate == "deleted":
        admin.ok("DELETE", f"/api/v1/nodes/{parent}?forever=true")
    # As it is when that happens between the question and the job.
    payload = json.dumps({"file_id": file["id"], "parent_id": parent})
    me = admin.ok("GET", "/api/v1/me")["id"]
    job = postgres.sql(
        f"INSERT INTO jobs (kind, space_id, user_id, payload)"
        f" VALUES ('import', '{home}', '{me}', '{payload}') RETURNING id",
        "main",
    )[0][0]
    postgres.sql("NOTIFY app_jobs", "main")
    done = finished(admin, admin.ok("GET", f"/api/v1/jobs/{job}"))
    assert done["state"] == "failed"
    assert "gone" in done["error"]
    assert [title for title, *_ in tree(admin, home)] == ["keeper"]


_REFUSE = """
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'never'; END $$;
"""


def test_a_job_that_the_database_refuses_is_not_begun_for_ever(
    own_replica: Start, postgres: Postgres
) -> None:
    replica = own_replica()
    database = replica.database_url.rsplit("/", 1)[1]
    trigger = "CREATE TRIGGER t BEFORE INSERT ON revisions FOR EACH ROW EXECUTE FUNCTION refuse()"
    postgres.sql(_REFUSE + trigger, database)
    with replica.client() as client:
        client.set_up()
        job = imported(client, space(client), zipped(("a.md", b"words\n")))
        assert job["state"] == "failed"
    assert postgres.sql("SELECT attempt FROM jobs", database) == [(1,)]


def stopped_with_a_space(own_replica: Start) -> tuple[Replica, str, dict[str, str]]:
    """A replica that has ended, a space in its database, and the cookies of who made it."""
    replica = own_replica()
    with replica.client() as client:
        client.set_up()
        home = space(client)
        jar = dict(client.jar)
    assert replica.stop() == 0
    return replica, home, jar


def test_housekeeping_that_fails_holds_up_no_job(own_replica: Start, postgres: Postgres) -> None:
    first, home, jar = stopped_with_a_space(own_replica)
    database = first.database_url.rsplit("/", 1)[1]
    postgres.sql(
        _REFUSE + "CREATE TRIGGER t BEFORE DELETE ON uploads FOR EACH ROW WHEN (old.name = 'stuck')"
        " EXECUTE FUNCTION refuse();"
        " INSERT INTO uploads (name, media_type, expires_at) VALUES ('stuck', '', '2020-01-01');"
        " INSERT INTO rate_limits VALUES ('x', '2020-01-01', 1)",
        database,
    )
    second = own_replica(first.database_url)
    with second.client() as client:
        client.jar.update(jar)
        assert imported(client, home, zipped(("a.md", b"words\n")))["state"] == "done"
    assert postgres.sql("SELECT 1 FROM rate_limits WHERE bucket = 'x'", database) == []


def test_what_another_replica_deletes_holds_up_no_job(
    own_replica: Start, postgres: Postgres
) -> None:
    first, home, jar = stopped_with_a_space(own_replica)
    database = first.database_url.rsplit("/", 1)[1]
    postgres.sql(
        "INSERT INTO uploads (name, media_type, expires_at) VALUES ('big', '', '2020-01-01')",
        database,
    )
    with psycopg.connect(first.database_url) as conn:
        conn.execute("SELECT FROM uploads FOR UPDATE")
        second = own_replica(first.database_url)
        with second.client() as client:
            client.jar.update(jar)
            assert imported(client, home, zipped(("a.md", b"words\n")))["state"] == "done"


def test_deleting_many_files_may_take_its_time(own_replica: Start, postgres: Postgres) -> None:
    replica = own_replica()
    postgres.sql(
        "CREATE FUNCTION in_time() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " IF current_setting('statement_timeout')::interval < '5 min' THEN"
        " RAISE EXCEPTION 'a gigabyte would take too long'; END IF; RETURN old; END $$;"
        " CREATE TRIGGER t BEFORE DELETE ON attachments FOR EACH ROW EXECUTE FUNCTION in_time()",
        replica.database_url.rsplit("/", 1)[1],
    )
    with replica.client() as client:
        client.set_up()
        home = space(client)
        made, other = page(client, home), page(client, home)
        file, *_ = [attach(client, place, "f", b"x", "") for place in (made, made, other)]
        client.ok("DELETE", f"/api/v1/attachments/{file['id']}")
        client.ok("DELETE", f"/api/v1/nodes/{made}")
        client.ok("DELETE", f"/api/v1/nodes/{made}?forever=true")
        client.ok("DELETE", f"/api/v1/spaces/{home}")


def test_pages_of_one_title_are_named_at_once() -> None:
    class Counted(dict[str, int]):
        asked = 0

        def __contains__(self, key: object) -> bool:
            self.asked += 1
            return super().__contains__(key)

    used = Counted()
    titles = ["Untitled (2)", *["Untitled"] * 500, *["untitled"] * 500]
    stems = [_unused(used, "a/", title, ".md") for title in titles]
    assert len({stem.lower() for stem in stems}) == len(titles)
    assert stems[1:4] == ["a/Untitled", "a/Untitled (3)", "a/Untitled (4)"]
    assert used.asked < 3 * len(titles), "every name is looked for from the first number on"


@pytest.mark.slow
def test_sigterm_gives_a_running_job_back_at_once(own_replica: Start, postgres: Postgres) -> None:
    first = own_replica()
    big = zipped(*[(f"p{n}.md", b"words\n" * 50) for n in range(800)])
    with first.client() as client:
        client.set_up()
        home = space(client)
        client.post(
            f"/api/v1/spaces/{home}/imports",
            content=big,
            headers={"content-type": "application/zip"},
        )
        time.sleep(0.4)
        jar = dict(client.jar)
    assert first.stop() == 0
    database = first.database_url.rsplit("/", 1)[1]
    assert postgres.sql("SELECT state FROM jobs", database)[0][0] in {"queued", "done"}
    second = own_replica(first.database_url)
    with second.client() as client:
        client.jar.update(jar)
        for job in client.ok("GET", "/api/v1/jobs"):
            assert finished(client, job)["state"] == "done"
        assert len(client.ok("GET", f"/api/v1/spaces/{home}/tree")) == 800


async def test_zips_beyond_4_gb_and_65535_entries_have_wide_directories() -> None:
    size = 5 * 1024**3
    piece = bytes(1024 * 1024)

    async def nothing() -> AsyncIterator[bytes]:
        for _ in range(size // len(piece)):
            yield piece

    async def entries() -> AsyncIterator[Entry]:
        yield Entry("big", size, 0, nothing())
        for number in range(70_000):
            yield Entry(f"s{number}", 1, zlib.crc32(b"x"), b"x")

    tail = b""
    total = 0
    async for part in zip_stream(entries()):
        total += len(part)
        tail = (tail + part)[-200:] if len(part) < 1024 else part[-8_000_000:]
    assert b"PK\6\6" in tail
    assert b"PK\6\7" in tail
    assert total > size
