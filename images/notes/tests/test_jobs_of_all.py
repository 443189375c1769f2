"""Tests that an administrator sees and cancels everybody's jobs, and nobody else does."""

from collections.abc import Callable

from tests.replica import Client
from tests.workspace import grant, space
from tests.zips import imported, zipped

Person = Callable[[str], Client]
ALL = "/api/v1/jobs?all=true"


def previewed(client: Client, home: str, text: str) -> str:
    """Reads a zip without importing it; returns the job's id."""
    job = imported(client, home, zipped((f"{text}.md", b"# Inside\n")), preview="true")
    return str(job["id"])


def test_administrators_see_the_jobs_of_everybody(admin: Client, person: Person) -> None:
    ann, bob = person("Ann"), person("Bob")
    home = space(admin)
    grant(admin, f"/api/v1/spaces/{home}/members", editor=ann)
    job = previewed(ann, home, "Secretplan")
    listed = {one["id"]: one for one in admin.ok("GET", ALL)}
    seen = listed[job]
    assert (seen["user_id"], seen["user_name"]) == (ann.user_id, "Ann")  # type: ignore[attr-defined]
    assert (seen["kind"], seen["state"], seen["space_id"]) == ("import-preview", "done", home)
    assert "Secretplan" not in str(seen), "no file of the zip is named"
    mine = f"{ALL}&user_id={ann.user_id}"  # type: ignore[attr-defined]
    assert [one["id"] for one in admin.ok("GET", mine)] == [job]
    assert admin.ok("GET", f"{mine}&state=done")
    assert admin.ok("GET", f"{mine}&state=failed") == []
    admin.problem(422, "GET", f"{mine}&state=lost")
    # What it has read is for its user alone; without `all` an administrator sees their own.
    assert job not in {one["id"] for one in admin.ok("GET", "/api/v1/jobs")}
    for path in ("", "/preview", "/report"):
        assert admin.get(f"/api/v1/jobs/{job}{path}").status_code == 404
    admin.problem(404, "POST", f"/api/v1/jobs/{job}/begin")
    assert [one["id"] for one in ann.ok("GET", "/api/v1/jobs")] == [job]
    for one in (ann, bob):
        one.problem(403, "GET", ALL)
    bob.problem(403, "GET", f"/api/v1/jobs?user_id={ann.user_id}")  # type: ignore[attr-defined]


def test_an_administrator_needs_the_scope_for_it(admin: Client) -> None:
    made = admin.ok("POST", "/api/v1/tokens", {"name": "T", "scopes": ["read", "write"]})
    header = {"authorization": f"Bearer {made['secret']}"}
    kept = dict(admin.jar)
    admin.jar.clear()
    admin.problem(403, "GET", ALL, headers=header)
    assert admin.get("/api/v1/jobs", headers=header).status_code == 200
    admin.jar.update(kept)


def test_an_administrator_cancels_the_import_of_somebody(admin: Client, person: Person) -> None:
    ann, bob = person("Ann"), person("Bob")
    home = space(admin)
    grant(admin, f"/api/v1/spaces/{home}/members", editor=ann, manager=bob)
    job = previewed(ann, home, "A")
    bob.problem(404, "DELETE", f"/api/v1/jobs/{job}")
    assert admin.delete(f"/api/v1/jobs/{job}").status_code == 204
    assert ann.get(f"/api/v1/jobs/{job}").status_code == 404
    entry = admin.ok("GET", f"/api/v1/audit?space_id={home}")[0]
    assert (entry["action"], entry["detail"]) == ("job.cancelled", {"user_id": ann.user_id})  # type: ignore[attr-defined]
    own = previewed(ann, home, "B")
    assert ann.delete(f"/api/v1/jobs/{own}").status_code == 204
    assert admin.ok("GET", f"/api/v1/audit?space_id={home}")[0]["id"] == entry["id"]
