"""Tests the limits of imports: pages, memory, dying replicas, and unfinished jobs of a person."""

import io
import random
import time
import zipfile
from collections.abc import Callable

import pytest

from notes.jobs.job import JobFailedError
from notes.jobs.runner import MOST_DEATHS
from notes.quotas.limits import ROW_BYTES
from notes.transfer.api import MOST_UNFINISHED
from notes.transfer.archive import gather
from notes.transfer.import_job import SMALL_BYTES
from notes.transfer.import_plan import MAX_PAGES
from notes.transfer.json_plans import MAX_ITEMS
from notes.transfer.opening import plan_of
from notes.words.spoken import Spoken
from tests.postgres import Postgres
from tests.quota_counters import is_exact
from tests.replica import Client, Replica
from tests.workspace import space
from tests.zips import finished, imported, left_behind, zipped

Start = Callable[..., Replica]
Person = Callable[[str], Client]
FOLDERS = 39
ZIP = {"content-type": "application/zip"}


def deep(entries: int, folder: str = "a") -> bytes:
    """A zip of empty pages, each in folders of its own."""
    below = f"/{folder}" * (FOLDERS - 1)
    return zipped(*[(f"{number:05}{below}/x.md", b"") for number in range(entries)])


def refused(content: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        read = gather([archive], 10_000_000)
        with pytest.raises(JobFailedError) as caught:
            plan_of(read, "x.zip")
    return str(caught.value)


def test_a_zip_of_deep_folders_makes_no_more_pages_than_a_replica_holds(admin: Client) -> None:
    job = imported(admin, space(admin), deep(MAX_PAGES // (FOLDERS + 1) + 1))
    assert job["state"] == "failed"
    assert job["error"] == f"The zip makes more than {MAX_PAGES} pages; split it."
    assert "mehr als 50000 Seiten" in Spoken("de").said(job["error"])


def test_long_paths_of_many_folders_are_refused() -> None:
    assert refused(deep(500, "x" * 95)) == "The zip has too many long paths; split it."


def test_a_list_of_too_many_empty_items_is_refused() -> None:
    items = b"{}, " * MAX_ITEMS
    said = refused(zipped(("data.json", b'{"book": {"pages": [' + items + b"{}]}}")))
    assert said == f"data.json: it has more than {MAX_ITEMS} items."


def test_a_job_that_replicas_die_at_is_given_up(own_replica: Start, postgres: Postgres) -> None:
    replica = own_replica()
    database = replica.database_url.rsplit("/", 1)[1]
    with replica.client() as client:
        client.set_up()
        home = space(client)
        pages = zipped(*[(f"p{n}.md", b"words\n" * 500) for n in range(600)])
        job = client.post(f"/api/v1/spaces/{home}/imports", content=pages, headers=ZIP).json()
        jar = dict(client.jar)
    for number in range(1, MOST_DEATHS + 1):
        running = [(number, "running", number - 1)]
        deadline = time.monotonic() + 30
        while postgres.sql("SELECT attempt, state, deaths FROM jobs", database) != running:
            assert time.monotonic() < deadline, postgres.sql("TABLE jobs", database)
        assert replica.process is not None
        replica.process.kill()
        replica.process.wait()
        postgres.sql("UPDATE jobs SET heartbeat_at = now() - interval '16 minutes'", database)
        replica = own_replica(replica.database_url)
    with replica.client() as client:
        client.jar.update(jar)
        job = finished(client, client.ok("GET", f"/api/v1/jobs/{job['id']}"))
        assert job["state"] == "failed"
        assert job["error"].startswith(f"The job was given up after {MOST_DEATHS} replicas died")
        assert left_behind(postgres, database, job["id"]) == {}
        assert client.ok("GET", f"/api/v1/spaces/{home}/tree") == []
        assert imported(client, home, zipped(("a.md", b"words\n")))["state"] == "done"


def test_one_person_has_few_unfinished_imports(
    admin: Client, person: Person, postgres: Postgres
) -> None:
    writer = person("many")
    homes = [space(writer), space(writer)]
    contents = [zipped((f"{n}.md", b"words\n")) for n in range(MOST_UNFINISHED + 1)]
    jobs = [
        imported(writer, homes[number % 2], content, preview="true")
        for number, content in enumerate(contents[:-1])
    ]
    url = f"/api/v1/spaces/{homes[0]}/imports"
    said = writer.problem(409, "POST", url, content=contents[-1], headers=ZIP)["detail"]
    assert said.startswith(f"your imports: {MOST_UNFINISHED} wait")
    count = f"SELECT count(*) FROM uploads WHERE space_id = '{homes[0]}' AND job_id IS NULL"
    assert postgres.sql(count, "main") == [(0,)]
    # A repeat is no other job, and others are not held up.
    assert imported(writer, homes[0], contents[0], preview="true")["id"] == jobs[0]["id"]
    assert imported(admin, space(admin), contents[-1])["state"] == "done"
    writer.ok("DELETE", f"/api/v1/jobs/{jobs[1]['id']}")
    assert imported(writer, homes[0], contents[-1])["state"] == "done"


def test_what_a_preview_has_read_counts_once_for_both_quotas(
    replica: Replica, admin: Client, person: Person, postgres: Postgres
) -> None:
    writer = person("reader")
    home = space(writer)
    me = writer.ok("GET", "/api/v1/me")["id"]
    files = [(f"{n}.bin", random.Random(n).randbytes(2_000)) for n in range(120)]
    files += [("large.bin", random.Random(5).randbytes(SMALL_BYTES + 1))]
    content = zipped(("a.md", b"words\n"), ("b.md", b"more words " * 20_000), *files)
    held = sum(len(data) + ROW_BYTES for _, data in files) + 220_000

    def used() -> set[int]:
        usages = [writer.ok("GET", f"/api/v1/{of}/usage") for of in ("me", f"spaces/{home}")]
        return {usage["bytes"]["used"] for usage in usages}

    assert used() == {0}
    job = imported(writer, home, content, preview="true")
    (waiting,) = used()
    is_exact(replica)
    writer.ok("DELETE", f"/api/v1/jobs/{job['id']}")
    assert used() == {0}
    imported(writer, home, content)
    (now,) = used()
    assert held < now < held + 4 * ROW_BYTES
    assert waiting == now + len(content) + ROW_BYTES
    is_exact(replica)
    # The zip fits, all that is in it does not.
    admin.ok("PUT", f"/api/v1/users/{me}/quota", {"bytes": now + len(content) + held // 2})
    job = imported(writer, home, content, preview="true", mode="copy")
    assert job["state"] == "failed"
    assert "account_bytes" in job["error"]
    assert left_behind(postgres, "main", job["id"]) == {}
    assert used() == {now}
    is_exact(replica)


def test_thousands_of_files_are_counted_together(admin: Client, postgres: Postgres) -> None:
    """One update of a counter for each of them took 40 s for their insertion and deletion."""
    home = space(admin)
    begun = time.monotonic()
    postgres.sql(
        "INSERT INTO uploads (space_id, user_id, name, media_type, reserved)"
        f" SELECT id, created_by, 'x', '', 700 FROM spaces, generate_series(1, 20000)"
        f" WHERE id = '{home}'",
        "main",
    )
    assert admin.ok("GET", f"/api/v1/spaces/{home}/usage")["bytes"]["used"] == 20_000 * 700
    postgres.sql(f"DELETE FROM uploads WHERE space_id = '{home}'", "main")
    assert admin.ok("GET", f"/api/v1/spaces/{home}/usage")["bytes"]["used"] == 0
    assert time.monotonic() - begun < 20
