"""Tests the preview of an import: it writes nothing, and the import does what it has shown."""

import random
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.imported import PNG
from tests.postgres import Postgres
from tests.replica import Client, Replica
from tests.uploads import pieces
from tests.workspace import grant, page, space
from tests.zips import finished, imported, left_behind, zipped

Start = Callable[..., Replica]
Person = Callable[[str], Client]
WORDS = ["alpha", "Beta", "gämma", "δ", "e f", "one", "two", "10", "2"]
ZIP = "application/zip"


def previewed(client: Client, home: str, content: bytes, **query: str) -> dict[str, Any]:
    return imported(client, home, content, preview="true", **query)


def begun(client: Client, job: dict[str, Any], mode: str = "once") -> dict[str, Any]:
    answer = client.post(f"/api/v1/jobs/{job['id']}/begin", params={"mode": mode})
    assert answer.status_code == 202, answer.text
    return finished(client, answer.json())


def pages_of(client: Client, job: dict[str, Any]) -> list[dict[str, Any]]:
    """All pages of a preview, read in small parts."""
    found = list[dict[str, Any]]()
    while True:
        url = f"/api/v1/jobs/{job['id']}/preview"
        after = found[-1]["number"] if found else -1
        part = client.ok("GET", f"{url}?after={after}&limit=7")
        if not part:
            return found
        found += part


def report(client: Client, job: dict[str, Any]) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = client.ok("GET", f"/api/v1/jobs/{job['id']}/report")
    return lines


def random_zip(seed: int) -> bytes:
    """A zip of pages, folders, files, links, and of what cannot be imported."""
    rng = random.Random(seed)
    kind = rng.choice(["files", "notion", "obsidian", "outline"])
    entries = list[tuple[str, bytes]]()
    folders = [""]
    for _ in range(rng.randint(1, 15)):
        folder = rng.choice(folders)
        name = rng.choice(WORDS) + (f" {rng.getrandbits(128):032x}" if kind == "notion" else "")
        target = rng.choice(WORDS)
        body = f"# {name}\n\nwords [a](<{target}.md>) [[{target}]] ![p](pic.png)\n".encode()
        ending = rng.choice([".md", ".html", ".csv", ".png", ".bin", ".md", ".md"])
        if ending in {".png", ".bin"}:
            body = PNG if ending == ".png" else rng.randbytes(rng.randint(0, 3000))
        elif rng.random() < 0.2:
            body = rng.choice([b"\xff\xfe\x00", b"> " * 60 + b"deep\n", b"---\na: &b [1]\n---\n"])
        entries.append((f"{folder}{name}{ending}", body))
        if rng.random() < 0.4:
            folders.append(f"{folder}{name}/")
    entries += [(rng.choice([".DS_Store", "../up.md", "__MACOSX/x.md", "aux/\x00.md"]), b"x")]
    if kind == "obsidian":
        entries.append((".obsidian/app.json", b"{}"))
    if kind == "outline":
        entries.append((f"c/uploads/{'0' * 8}-0000-4000-8000-{'0' * 12}/"
                        f"{'1' * 8}-0000-4000-8000-{'1' * 12}/pic.png", PNG))  # fmt: skip
    return zipped(*dict(entries).items())


@pytest.mark.parametrize("seed", range(12))
def test_the_import_does_what_the_preview_shows(admin: Client, seed: int) -> None:
    content = random_zip(seed)
    home = space(admin)
    job = previewed(admin, home, content)
    assert job["state"] == "done", job
    assert job["kind"] == "import-preview"
    shown, lines, counted = pages_of(admin, job), report(admin, job), job["result"]
    assert admin.ok("GET", f"/api/v1/spaces/{home}/tree") == []
    done = begun(admin, job)
    assert done["kind"] == "import"
    assert done["result"] == counted
    assert report(admin, done) == lines
    tree = admin.ok("GET", f"/api/v1/spaces/{home}/tree")
    assert [(n["id"], n["parent_id"], n["title"]) for n in _in_order(tree)] == [
        (p["id"], p["parent_id"], p["title"]) for p in _in_order(shown)
    ]
    for one in shown:
        listed = admin.ok("GET", f"/api/v1/nodes/{one['id']}/attachments")
        assert len(listed) == one["files"], one
    # An import that nobody has previewed first does the same, but for the ids.
    plain = space(admin)
    other = imported(admin, plain, content)
    assert other["result"] == counted
    assert [(i["path"], i["outcome"], i["notes"]) for i in report(admin, other)] == [
        (i["path"], i["outcome"], i["notes"]) for i in lines
    ]
    assert _shape(admin, plain) == _shape(admin, home)


def _in_order(nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Parents before children, siblings in their order, as a reader sees them."""
    below = dict[Any, list[dict[str, Any]]]()
    for node in nodes:
        below.setdefault(node["parent_id"], []).append(node)
    found, waiting = list[dict[str, Any]](), list(reversed(below.get(None, [])))
    while waiting:
        found.append(waiting.pop())
        waiting += reversed(below.get(found[-1]["id"], []))
    return found


def _shape(client: Client, home: str) -> list[tuple[str, int, list[str]]]:
    nodes = client.ok("GET", f"/api/v1/spaces/{home}/tree")
    names = {node["id"]: at for at, node in enumerate(_in_order(nodes))}
    found = list[tuple[str, int, list[str]]]()
    for node in _in_order(nodes):
        files = client.ok("GET", f"/api/v1/nodes/{node['id']}/attachments")
        above = names.get(node["parent_id"], -1)
        found.append((node["title"], above, sorted(file["name"] for file in files)))
    return found


def test_a_preview_tells_what_is_there_already(admin: Client) -> None:
    home = space(admin)
    content = zipped(("Plan.md", b"a\n"), ("New.md", b"b\n"), ("New/Plan.md", b"c\n"))
    page(admin, home, "Plan")
    job = previewed(admin, home, content)
    shown = {(p["title"], p["parent_id"] is None): p["exists"] for p in pages_of(admin, job)}
    assert shown == {("New", True): False, ("Plan", False): False, ("Plan", True): True}
    assert "already" not in job["result"]
    first = begun(admin, job)
    again = previewed(admin, home, content)
    assert again["result"]["already"] == first["id"]
    assert again["id"] != first["id"]
    assert begun(admin, again)["result"]["pages"] == 0
    third = begun(admin, previewed(admin, home, content), "copy")
    assert third["result"]["pages"] == 3
    fourth = begun(admin, previewed(admin, home, content), "replace")
    assert fourth["result"]["pages"] == 3
    assert len(admin.ok("GET", f"/api/v1/spaces/{home}/tree")) == 1 + 3 + 3


def test_a_repeated_preview_and_a_repeated_beginning_are_one_job(
    admin: Client, postgres: Postgres
) -> None:
    home = space(admin)
    content = zipped(("a.md", b"a\n"))
    job = previewed(admin, home, content)
    assert previewed(admin, home, content)["id"] == job["id"]
    zips = f"SELECT count(*) FROM uploads WHERE space_id = '{home}' AND name LIKE '%.zip'"
    assert postgres.sql(zips, "main") == [(1,)]
    begun(admin, job)
    assert begun(admin, job)["result"]["pages"] == 1
    assert len(admin.ok("GET", f"/api/v1/spaces/{home}/tree")) == 1
    assert left_behind(postgres, "main", job["id"]) == {"import_report": 1}


def test_a_cancelled_preview_leaves_nothing(admin: Client, postgres: Postgres) -> None:
    home = space(admin)
    job = previewed(admin, home, zipped(("a.md", b"![](b.png)\n"), ("b.png", PNG)))
    admin.ok("DELETE", f"/api/v1/jobs/{job['id']}")
    assert admin.get(f"/api/v1/jobs/{job['id']}").status_code == 404
    assert left_behind(postgres, "main", job["id"]) == {}
    assert admin.ok("GET", f"/api/v1/spaces/{home}/tree") == []
    done = imported(admin, home, zipped(("c.md", b"c\n")))
    assert admin.delete(f"/api/v1/jobs/{done['id']}").status_code == 409
    assert admin.ok("GET", f"/api/v1/jobs/{done['id']}")["state"] == "done"


def test_a_running_import_is_cancelled(own_replica: Start, postgres: Postgres) -> None:
    """Nothing of an import stays that is cancelled while pages are stored."""
    replica = own_replica()
    database = replica.database_url.rsplit("/", 1)[1]
    rng = random.Random(9)
    files = [(f"f{n}.bin", rng.randbytes(3_000_000)) for n in range(12)]
    pages = [(f"p{n}.md", b"words\n") for n in range(300)]
    with replica.client() as client:
        client.set_up()
        home = space(client)
        url = f"/api/v1/spaces/{home}/imports"
        sent = {"content": zipped(*pages, *files), "headers": {"content-type": ZIP}}
        job = client.post(url, **sent).json()
        deadline = time.monotonic() + 30
        while not client.ok("GET", f"/api/v1/jobs/{job['id']}")["progress"].get("pages"):
            assert time.monotonic() < deadline
        client.ok("DELETE", f"/api/v1/jobs/{job['id']}")
        # The next job begins after the cancelled one has noticed.
        assert imported(client, home, zipped(("after.md", b"a\n")))["state"] == "done"
        assert [n["title"] for n in client.ok("GET", f"/api/v1/spaces/{home}/tree")] == ["after"]
        assert left_behind(postgres, database, job["id"]) == {}


def test_nobody_else_sees_begins_or_cancels_it(admin: Client, person: Person) -> None:
    other = person("other")
    job = previewed(admin, space(admin), zipped(("a.md", b"a\n")))
    url = f"/api/v1/jobs/{job['id']}"
    assert other.get(f"{url}/preview").status_code == 404
    assert other.post(f"{url}/begin").status_code == 404
    assert other.delete(url).status_code == 404
    assert admin.ok("GET", url)["state"] == "done"


def test_who_has_lost_the_right_cannot_begin(admin: Client, person: Person) -> None:
    writer = person("writer")
    home = space(admin)
    grant(admin, f"/api/v1/spaces/{home}/members", editor=writer)
    job = previewed(writer, home, zipped(("a.md", b"a\n")))
    grant(admin, f"/api/v1/spaces/{home}/members", viewer=writer)
    assert writer.post(f"/api/v1/jobs/{job['id']}/begin").status_code == 403
    assert admin.ok("GET", f"/api/v1/spaces/{home}/tree") == []


def test_a_preview_waits_a_day(own_replica: Start, postgres: Postgres) -> None:
    first = own_replica()
    database = first.database_url.rsplit("/", 1)[1]
    with first.client() as client:
        client.set_up()
        home = space(client)
        kept = previewed(client, home, zipped(("kept.md", b"![](b.png)\n"), ("b.png", PNG)))
        gone = previewed(client, home, zipped(("gone.md", b"![](b.png)\n"), ("b.png", PNG)))
        jar = dict(client.jar)
    first.stop()
    # A zip that arrived slowly: its upload is older than what was read from it.
    postgres.sql("UPDATE uploads SET expires_at = now() - interval '1 minute'", database)
    postgres.sql(
        f"UPDATE jobs SET finished_at = now() - interval '25 hours' WHERE id = '{gone['id']}'",
        database,
    )
    with own_replica(first.database_url).client() as client:
        client.jar.update(jar)
        deadline = time.monotonic() + 20
        while client.get(f"/api/v1/jobs/{gone['id']}").status_code == 200:
            assert time.monotonic() < deadline
        assert left_behind(postgres, database, gone["id"]) == {}
        assert begun(client, kept)["result"]["files"] == 1


def test_a_killed_replica_changes_nothing_in_the_preview(
    own_replica: Start, postgres: Postgres
) -> None:
    first = own_replica()
    content = zipped(*[(f"p{n}.md", f"words {n}\n".encode()) for n in range(200)])
    with first.client() as client:
        client.set_up()
        home = space(client)
        url = f"/api/v1/spaces/{home}/imports?preview=true"
        job = client.post(url, content=content, headers={"content-type": ZIP}).json()
        deadline = time.monotonic() + 20
        while client.ok("GET", f"/api/v1/jobs/{job['id']}")["progress"].get("pages", 0) < 50:
            assert time.monotonic() < deadline
        jar = dict(client.jar)
    assert first.process is not None
    first.process.kill()
    first.process.wait()
    database = first.database_url.rsplit("/", 1)[1]
    with own_replica(first.database_url).client() as client:
        client.jar.update(jar)
        postgres.sql("UPDATE jobs SET heartbeat_at = now() - interval '16 minutes'", database)
        postgres.sql("NOTIFY app_jobs", database)
        job = finished(client, client.ok("GET", f"/api/v1/jobs/{job['id']}"))
        assert len(pages_of(client, job)) == 200
        assert begun(client, job)["result"]["pages"] == 200
        assert len(client.ok("GET", f"/api/v1/spaces/{home}/tree")) == 200


def test_a_large_zip_comes_in_chunks(admin: Client, postgres: Postgres) -> None:
    home = space(admin)
    content = zipped(("a.md", b"[f](f.bin)\n"), ("f.bin", random.Random(1).randbytes(9_000_000)))
    url = f"/api/v1/spaces/{home}/imports"
    upload = admin.ok("POST", f"{url}/uploads", {"name": "big.zip", "size": len(content)})
    assert upload["missing"] == [0, 1, 2]
    half = {"json": {"upload_id": upload["id"]}, "params": {"preview": "true"}}
    assert admin.post(url, **half).status_code == 409
    for number, part in reversed(pieces(content)):
        headers = {"content-type": "application/octet-stream", "upload-id": upload["id"],
                   "upload-chunk": str(number)}  # fmt: skip
        answer = admin.post(f"{url}/uploads", content=part, headers=headers)
        assert answer.status_code == 200, answer.text
    assert admin.ok("GET", f"{url}/uploads/{upload['id']}")["missing"] == []
    answer = admin.post(url, **half)
    assert answer.status_code == 202, answer.text
    job = finished(admin, answer.json())
    assert (job["name"], job["space_id"], job["parent_id"]) == ("big.zip", home, None)
    assert admin.delete(f"{url}/uploads/{upload['id']}").status_code == 409
    # The same upload for another place would be read and deleted by two jobs.
    other = page(admin, home, "other")
    taken = admin.post(url, json={"upload_id": upload["id"]}, params={"parent_id": other})
    assert taken.status_code == 409
    assert begun(admin, job)["result"]["files"] == 1
    count = f"SELECT count(*) FROM uploads WHERE space_id = '{home}'"
    assert postgres.sql(count, "main") == [(0,)]


def test_an_upload_of_a_zip_belongs_to_who_opened_it(admin: Client, person: Person) -> None:
    other = person("another")
    home = space(admin)
    url = f"/api/v1/spaces/{home}/imports"
    body = {"name": "big.zip", "size": 10}
    assert other.post(f"{url}/uploads", json=body).status_code == 404
    grant(admin, f"/api/v1/spaces/{home}/members", viewer=other)
    assert other.post(f"{url}/uploads", json=body).status_code == 403
    grant(admin, f"/api/v1/spaces/{home}/members", editor=other)
    upload = admin.ok("POST", f"{url}/uploads", body)
    assert other.get(f"{url}/uploads/{upload['id']}").status_code == 404
    assert other.delete(f"{url}/uploads/{upload['id']}").status_code == 404
    assert other.post(url, json={"upload_id": upload["id"]}).status_code == 404
    admin.ok("DELETE", f"{url}/uploads/{upload['id']}")
    assert admin.get(f"{url}/uploads/{upload['id']}").status_code == 404
    for wrong in ({}, {"upload_id": upload["id"], "attachment_id": upload["id"]}):
        assert admin.post(url, json=wrong).status_code == 422
