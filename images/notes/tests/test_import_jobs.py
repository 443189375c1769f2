"""Tests the jobs of imports: another replica's, refused ones, housekeeping, SIGTERM."""

import json
import random
import time
from collections.abc import Callable

import psycopg
import pytest

from tests.postgres import Postgres
from tests.replica import Client, Replica
from tests.uploads import attach
from tests.workspace import page, space
from tests.zips import finished, imported, tree, zipped

Start = Callable[..., Replica]


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
        # As after fifteen minutes without a heartbeat, but without waiting.
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
    # Like a change between the check and the job.
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
    assert "deleted" in done["error"]
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
    """A stopped replica, a space in its database, and the cookies of the space's creator."""
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
