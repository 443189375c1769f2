"""Creates zips, imports and exports them, and looks at what is there afterwards."""

import io
import time
import zipfile
from typing import Any

from tests.postgres import Postgres
from tests.replica import Client


def finished(client: Client, job: dict[str, Any], timeout_s: float = 150) -> dict[str, Any]:
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
    assert answer.status_code == 200, answer.text
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


def left_behind(postgres: Postgres, database: str, job: str) -> dict[str, object]:
    """The rows that a failed import has left in the database."""
    found = {
        table: postgres.sql(f"SELECT count(*) FROM {table} WHERE job_id = '{job}'", database)[0][0]
        for table in (
            "import_pages", "import_files", "import_revisions", "import_comments",
            "import_report", "uploads",
        )
    }  # fmt: skip
    found["chunks"] = postgres.sql(
        "SELECT count(*) FROM chunks c WHERE NOT EXISTS (SELECT 1 FROM attachments a"
        " WHERE a.id = c.file_id) AND NOT EXISTS (SELECT 1 FROM uploads u WHERE u.id = c.file_id)",
        database,
    )[0][0]
    return {table: count for table, count in found.items() if count}
