"""Tests that an import is complete or absent, however it ends, and that its cost is bounded."""

import functools
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from tests.postgres import Postgres
from tests.replica import Client, Replica
from tests.workspace import page, space
from tests.zips import finished, imported, left_behind, zipped

Start = Callable[..., Replica]
PAGES, FILES = 40, 4


@functools.cache
def big() -> bytes:
    rng = random.Random(5)
    return zipped(
        *[(f"p{n}.md", f"words [next](p{n + 1}.md)\n".encode()) for n in range(PAGES)],
        *[(f"f{n}.bin", rng.randbytes(5_000_000)) for n in range(FILES)],
    )


def database_of(replica: Replica) -> str:
    return replica.database_url.rsplit("/", 1)[1]


def seen(postgres: Postgres, database: str) -> tuple[object, ...]:
    """The numbers of pages, versions, files, links, audit entries and page events."""
    return postgres.sql(
        "SELECT (SELECT count(*) FROM nodes), (SELECT count(*) FROM revisions),"
        " (SELECT count(*) FROM attachments), (SELECT count(*) FROM links),"
        " (SELECT count(*) FROM audit WHERE action = 'page.imported'),"
        " (SELECT count(*) FROM events WHERE kind = 'page.made')",
        database,
    )[0]


NOTHING = (0, 0, 0, 0, 0, 0)
ALL = (PAGES, PAGES, FILES, PAGES - 1, PAGES, PAGES)


@contextmanager
def held(url: str, lock: str) -> Iterator[None]:
    """Holds a lock that the import needs at some point."""
    with psycopg.connect(url) as conn:
        conn.execute(lock)  # type: ignore[call-overload]
        yield


def begin(client: Client, home: str) -> dict[str, Any]:
    answer = client.post(
        f"/api/v1/spaces/{home}/imports",
        content=big(),
        headers={"content-type": "application/zip"},
    )
    assert answer.status_code == 202, answer.text
    return answer.json()  # type: ignore[no-any-return]


def wait_for(postgres: Postgres, database: str, query: str, what: object) -> None:
    """Waits until the query's one value is `what`."""
    deadline = time.monotonic() + 150
    with psycopg.connect(postgres.url(database), autocommit=True) as conn:
        while (found := conn.execute(query).fetchone()) != (what,):  # type: ignore[call-overload]
            assert time.monotonic() < deadline, found
            time.sleep(0.02)


POINTS = {
    # The lock that the import waits for, and the query that shows that it waits.
    "pages": (
        "LOCK import_report IN SHARE MODE",
        "SELECT count(*) > 0 FROM pg_stat_activity WHERE query LIKE 'INSERT INTO import_%'"
        " AND wait_event_type = 'Lock'",
    ),
    "files": (
        "LOCK import_files IN SHARE MODE",
        "SELECT count(*) > 0 FROM pg_stat_activity WHERE query LIKE 'INSERT INTO import_files%'"
        " AND wait_event_type = 'Lock'",
    ),
    "publishing": (
        "LOCK revisions IN SHARE MODE",
        "SELECT count(*) > 0 FROM pg_stat_activity WHERE query LIKE 'INSERT INTO revisions%'"
        " AND wait_event_type = 'Lock'",
    ),
    "the last statement": (
        "LOCK audit IN SHARE MODE",
        "SELECT count(*) > 0 FROM pg_stat_activity WHERE query LIKE 'INSERT INTO audit%page.imp%'"
        " AND wait_event_type = 'Lock'",
    ),
}


@pytest.mark.parametrize("point", POINTS)
def test_a_replica_killed_while_importing_leaves_nothing_half_done(
    own_replica: Start, postgres: Postgres, point: str
) -> None:
    first = own_replica()
    database = database_of(first)
    lock, waits = POINTS[point]
    with first.client() as client:
        client.set_up()
        home = space(client)
        with held(first.database_url, lock):
            job = begin(client, home)
            wait_for(postgres, database, waits, True)
            assert client.ok("GET", f"/api/v1/spaces/{home}/tree") == []
            assert first.process is not None
            first.process.kill()
            first.process.wait()
        jar = dict(client.jar)
    wait_for(
        postgres,
        database,
        f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{database}'"
        " AND backend_type = 'client backend' AND pid <> pg_backend_pid()",
        0,
    )
    assert seen(postgres, database) == NOTHING
    postgres.sql("UPDATE jobs SET heartbeat_at = now() - interval '16 minutes'", database)
    second = own_replica(first.database_url)
    with second.client() as client:
        client.jar.update(jar)
        done = finished(client, client.ok("GET", f"/api/v1/jobs/{job['id']}"))
        assert done["state"] == "done", done
        assert len(client.ok("GET", f"/api/v1/jobs/{job['id']}/report")) == PAGES + FILES
    assert seen(postgres, database) == ALL
    assert set(left_behind(postgres, database, job["id"])) == {"import_report"}


def test_a_job_that_was_done_is_not_done_again(own_replica: Start, postgres: Postgres) -> None:
    """Like a replica killed between creating the pages and marking the job as done."""
    replica = own_replica()
    database = database_of(replica)
    with replica.client() as client:
        client.set_up()
        job = finished(client, begin(client, space(client)))
        assert job["state"] == "done", job
        postgres.sql("UPDATE jobs SET state = 'queued'; NOTIFY app_jobs", database)
        wait_for(postgres, database, "SELECT attempt FROM jobs WHERE state = 'done'", 2)
    assert seen(postgres, database) == ALL


MIDDLE = f"p{PAGES * 3 // 4}"  # not of the first batch
REFUSALS = {
    "a page in the middle": ("nodes", f"WHEN (new.title = '{MIDDLE}')", "P0001"),
    "a file": ("attachments", "WHEN (new.name = 'f3.bin')", "P0001"),
    "a chunk": ("chunks", "WHEN (new.number = 1)", "P0001"),
    "a full disk while reading": ("import_pages", f"WHEN (new.title = '{MIDDLE}')", "53100"),
    "a full disk while storing": ("chunks", "WHEN (new.number = 1)", "53100"),
    "a full disk while publishing": ("revisions", "", "53100"),
    "the report": ("audit", "WHEN (new.action = 'page.imported')", "P0001"),
}


@pytest.mark.parametrize("what", REFUSALS)
def test_what_the_database_refuses_leaves_nothing(
    own_replica: Start, postgres: Postgres, what: str
) -> None:
    replica = own_replica()
    database = database_of(replica)
    table, when, state = REFUSALS[what]
    with replica.client() as client:
        client.set_up()
        home = space(client)
        # The zip itself is stored in chunks too.
        answer = begin_paused(client, home, postgres, database)
        postgres.sql(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
            f" $$ BEGIN RAISE EXCEPTION 'never' USING ERRCODE = '{state}'; END $$;"
            f" CREATE TRIGGER t BEFORE INSERT ON {table} FOR EACH ROW {when}"
            " EXECUTE FUNCTION refuse();"
            " UPDATE jobs SET run_at = now(); NOTIFY app_jobs",
            database,
        )
        job = finished(client, answer)
        assert job["state"] == "failed", job
        if state == "53100":
            assert "disk is full" in job["error"]
    assert seen(postgres, database) == NOTHING
    assert left_behind(postgres, database, job["id"]) == {}


def begin_paused(client: Client, home: str, postgres: Postgres, database: str) -> dict[str, Any]:
    """Queues an import that no replica begins yet."""
    postgres.sql(
        "ALTER TABLE jobs ALTER COLUMN run_at SET DEFAULT now() + interval '1 h'", database
    )
    return begin(client, home)


def test_who_may_not_write_any_more_imports_nothing(
    admin: Client, person: Callable[[str], Client], postgres: Postgres
) -> None:
    """The permission is checked when the pages are published, not only when the zip arrives."""
    ann = person("Ann")
    home = space(admin, everyone_role="editor")
    with held(postgres.url("main"), "LOCK import_pages IN SHARE MODE"):
        job = begin(ann, home)
        wait_for(
            postgres,
            "main",
            "SELECT count(*) > 0 FROM pg_stat_activity WHERE query LIKE 'INSERT INTO import_pages%'"
            " AND wait_event_type = 'Lock'",
            True,
        )
        admin.ok("PATCH", f"/api/v1/spaces/{home}", {"everyone_role": "viewer"})
    done = finished(ann, job)
    assert done["state"] == "failed"
    assert "no longer" in done["error"]
    assert admin.ok("GET", f"/api/v1/spaces/{home}/tree") == []
    assert left_behind(postgres, "main", job["id"]) == {}


def test_nobody_replaces_pages_that_they_may_not_change(
    admin: Client, person: Callable[[str], Client]
) -> None:
    ann = person("Ann")
    home = space(admin, everyone_role="editor")
    content = zipped(("a.md", b"words\n"))
    imported(ann, home, content)
    top = ann.ok("GET", f"/api/v1/spaces/{home}/tree")[0]["id"]
    hidden = page(admin, home, "hidden", parent_id=top)
    me = admin.ok("GET", "/api/v1/me")["id"]
    grants = [{"principal": me, "kind": "user", "role": "manager"}]
    admin.ok("PUT", f"/api/v1/nodes/{hidden}/permissions", {"grants": grants})
    job = imported(ann, home, content, mode="replace")
    assert job["state"] == "failed"
    assert "may not change" in job["error"]
    assert len(admin.ok("GET", f"/api/v1/spaces/{home}/tree")) == 2


def test_an_import_that_waits_keeps_its_zip(own_replica: Start, postgres: Postgres) -> None:
    first = own_replica()
    database = database_of(first)
    with first.client() as client:
        client.set_up()
        job = begin_paused(client, space(client), postgres, database)
        jar = dict(client.jar)
    assert first.stop() == 0
    postgres.sql("UPDATE uploads SET expires_at = now() - interval '1 h'", database)
    second = own_replica(first.database_url)
    with second.client() as client:
        client.jar.update(jar)
        postgres.sql("UPDATE jobs SET run_at = now(); NOTIFY app_jobs", database)
        done = finished(client, client.ok("GET", f"/api/v1/jobs/{job['id']}"))
        assert done["state"] == "done", done
