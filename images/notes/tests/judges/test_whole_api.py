"""schemathesis calls every operation of the OpenAPI document, with valid and invalid input.

One operation is left out: the event stream never ends, so its answer cannot be checked; Chromium's
EventSource tests it (test_event_source.py).
"""

import copy
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.judges.programs import HERE
from tests.postgres import Postgres, versions
from tests.replica import ADMIN, PASSWORD, Client, Replica
from tests.uploads import attach, opened
from tests.workspace import page, space

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]
Document = dict[str, Any]
TAKES_AWAY = {
    "cancel_job", "delete_attachment", "delete_comment", "delete_group", "delete_invitation",
    "delete_node",
    "delete_share", "delete_space", "delete_token", "end_session",
    "patch_user",
}  # fmt: skip
ENDLESS = "get_events"
CLAIMED = "claimed.example.org"
#: Operations that need a client without a session, or no installation yet.
AT_THE_DOOR = {"get_setup", "post_setup", "post_session", "delete_session"}
#: The first succeeds only after a sign-on at a provider (test_sign_on). Before the second the
#: judge, which has no session, ends all sessions (test_own_sessions).
ELSEWHERE = {"use_oidc_trial", "end_session"}
ZIP = {"name": "z.zip", "size": 3}
NO_ZIP: dict[str, Any] = {"content": b"no zip", "headers": {"content-type": "application/zip"}}
LOGO: dict[str, Any] = {
    "content": b"<svg></svg>", "headers": {"content-type": "application/octet-stream"},
}  # fmt: skip
PROVIDER = {"issuer": "https://i.example", "client_id": "c", "client_secret": "s"}
CHECKS = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance",
    "response_schema_conformance", "response_headers_conformance", "unsupported_method",
)  # fmt: skip


def make(client: Client) -> dict[str, str]:
    """Creates one object of each kind; returns ids by the first word of their paths."""
    home = space(client)
    made = page(client, home, markdown="text\n")
    client.ok("PUT", f"/api/v1/nodes/{made}", {"base_version": 1, "markdown": "more\n"})
    return {
        "spaces": home,
        "nodes": made,
        "logo": with_logo(client),
        "edited": page(client, home),
        "restored": restorable(client, home),
        "comments": client.ok("POST", f"/api/v1/nodes/{made}/comments", {"body": "x"})["id"],
        "shares": client.ok("POST", f"/api/v1/nodes/{made}/shares", {})["id"],
        "attachments": attach(client, made, "a.txt", b"abc", "text/plain")["id"],
        "groups": client.ok("POST", "/api/v1/groups", {"name": made})["id"],
        "users": client.ok("POST", "/api/v1/users", {"email": f"{made}@a.example", "name": "E"})[
            "id"
        ],
        "invitations": client.ok("POST", "/api/v1/invitations", {"email": f"{made}@i.example"})[
            "id"
        ],
        "people": client.ok("GET", "/api/v1/me")["id"],
        "tokens": client.ok("POST", "/api/v1/tokens", {"name": "T", "scopes": ["read"]})["id"],
        "jobs": client.post(f"/api/v1/spaces/{home}/imports", **NO_ZIP).json()["id"],
        "upload": opened(client, made, b"abc")["id"],
        "zip upload": client.ok("POST", f"/api/v1/spaces/{home}/imports/uploads", ZIP)["id"],
        "sessions": another_session(client),
        "settings": client.ok("POST", "/api/v1/settings/oidc/trials", PROVIDER)["id"],
    }


def with_logo(client: Client) -> str:
    """Creates a space whose site has a logo."""
    made = space(client)
    client.put(f"/api/v1/spaces/{made}/logo", **LOGO).raise_for_status()
    return made


def another_session(client: Client) -> str:
    """Signs the user in once more, with another browser; returns the id of that session."""
    own = {one["id"] for one in client.ok("GET", "/api/v1/sessions")}
    kept = dict(client.jar)
    client.jar.clear()
    client.log_in()
    client.jar.clear()
    client.jar.update(kept)
    listed = client.ok("GET", "/api/v1/sessions")
    return next(str(one["id"]) for one in listed if one["id"] not in own)


def restorable(client: Client, home: str) -> str:
    """Creates a page with two versions, which no operation but the restoring changes."""
    made = page(client, home, markdown="text\n")
    client.ok("PUT", f"/api/v1/nodes/{made}", {"base_version": 1, "markdown": "more\n"})
    return made


def disposable(client: Client, real: dict[str, str]) -> dict[str, str]:
    """Creates objects that may be deleted, none of which contains another."""
    imports = f"/api/v1/spaces/{real['spaces']}/imports"
    return {
        **make(client),
        # A preview may be discarded at any time, an import only before it is over.
        "jobs": client.post(f"{imports}?preview=true", **NO_ZIP).json()["id"],
        "zip upload": client.ok("POST", f"{imports}/uploads", ZIP)["id"],
        "spaces": space(client),
        "nodes": page(client, real["spaces"]),
        "upload": opened(client, real["nodes"], b"abc")["id"],
        "claimed": claimed(client),
    }


def claimed(client: Client) -> str:
    """Creates a space whose domain waits for approval."""
    made = space(client)
    client.ok("PATCH", f"/api/v1/spaces/{made}", {"domain": CLAIMED})
    return made


#: Operations with an object of their own.
OWN = {
    "post_edit": "edited", "get_moment": "edited", "get_moment_diff": "edited",
    "restore_revision": "restored", "get_logo": "logo", "delete_member": "logo",
}  # fmt: skip
AMPLE = [10**12, 10**12 + 1]


def known(document: Document, real: dict[str, str], spare: dict[str, str]) -> Document:
    """Puts existing ids into the document: operations that delete get those in `spare`."""
    for path, _, operation in operations(document):
        name = operation["operationId"]
        things = spare if name in TAKES_AWAY else real
        ids = {"id": things.get(path.split("/")[3]), "upload_id": things["upload"]}
        ids["principal"] = real["users"]
        if name == "delete_upload":
            ids["upload_id"] = spare["upload"]
        ids |= zip_ids(name, real, spare)
        if name == "restore_node":
            ids["id"] = spare["trashed"]
        ids["id"] = real.get(OWN.get(name, ""), ids["id"])
        if name in {"approve_domain", "withdraw_domain"}:
            ids["id"] = spare["claimed"]
        for parameter in operation["parameters"]:
            if found := ids.get(parameter["name"]):
                parameter["schema"] = {"type": "string", "enum": [found]}
            if (name, parameter["name"]) == ("post_zip_upload", "parent_id"):
                parameter["schema"] = {"type": "string", "enum": [real["nodes"]]}
            if parameter["name"] in {"version", "old", "new"}:
                parameter["schema"] = {"type": "integer", "enum": [1, 2]}
            if parameter["name"] == "seq":
                parameter["schema"] = {"type": "integer", "enum": [0]}
    schemas = document["components"]["schemas"]
    # The first edit of a page at its first version.
    schemas["EditIn"]["properties"] |= {
        "base_seq": {"enum": [0]},
        "base_id": {"enum": [real["first edit"]]},
        "steps": {"enum": [[]]},
    }
    schemas["RevertIn"]["properties"]["base_version"] = {"type": "integer", "enum": [2]}
    # The judge's own pages have to fit: small quotas have tests of their own.
    for quota in ("Quotas", "SpaceQuota", "AccountQuota"):
        for name in schemas[quota]["properties"]:
            schemas[quota]["properties"][name] = {"type": "integer", "enum": AMPLE}
    schemas["LookIn"]["properties"]["base_version"] = {"type": "integer", "enum": [0]}
    schemas["LinkIn"]["properties"]["url"] = {"type": "string", "enum": ["/p/x"]}
    schemas["LinkIn"]["properties"]["label"] = {"type": "string", "enum": ["A page"]}
    picture = {"schema": {"type": "string", "enum": [LOGO["content"].decode()]}}
    logo = document["paths"]["/api/v1/spaces/{id}/logo"]["put"]["requestBody"]
    logo["content"] = {"application/octet-stream": picture}
    schemas["ApprovalIn"]["properties"]["domain"] = {"type": "string", "enum": [CLAIMED]}
    grant = schemas["GrantToSomebody"] = copy.deepcopy(schemas["Grant"])
    grant["properties"]["principal"] = {"type": "string", "enum": [real["users"]]}
    grant["properties"]["kind"] = {"type": "string", "enum": ["user"]}
    schemas["GrantsIn"]["properties"]["grants"]["items"]["$ref"] += "ToSomebody"
    member = schemas["MemberToSomebody"] = copy.deepcopy(schemas["Member"])
    member["properties"] |= grant["properties"]
    schemas["MemberIn"]["properties"]["kind"] = {"type": "string", "enum": ["user"]}
    schemas["MembersIn"]["properties"]["grants"]["items"]["$ref"] += "ToSomebody"
    return document


def zip_ids(name: str, real: dict[str, str], spare: dict[str, str]) -> dict[str, str | None]:
    """The ids for an operation of zip uploads, else none."""
    if not name.endswith("zip_upload"):
        return {}
    # The one that is deleted is in the same space, which has to stay.
    owned = spare if name == "delete_zip_upload" else real
    return {"id": real["spaces"], "upload_id": owned["zip upload"]}


def operations(document: Document) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (path, method.upper(), operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


def judge(
    replica: Replica, document: Document, folder: Path, *words: str, **spared: str
) -> dict[str, set[int]]:
    """Runs schemathesis; returns the statuses of each operation."""
    (folder / "openapi.json").write_text(json.dumps(document))
    done = subprocess.run(
        [
            str(Path(sys.executable).with_name("schemathesis")),
            "run", str(folder / "openapi.json"), "--url", replica.url,
            "--checks", ",".join(CHECKS), "--phases", "coverage,fuzzing",
            "--max-examples", "4", "--seed", "1", "--workers", "1", "--request-timeout", "20",
            "--max-response-time", "15", "--suppress-health-check", "all", "--no-color", *words,
        ],
        capture_output=True, text=True, check=False, timeout=280, cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(HERE),
            "SCHEMATHESIS_HOOKS": "schemathesis_hooks",
            "NOTES_SPARED": json.dumps({"operations": sorted(TAKES_AWAY), "instead": spared}),
        },
    )  # fmt: skip
    told = [
        f"{line.get('method')} {line.get('path')} {line.get('status')} {line.get('exception')}"
        for line in replica.lines()
        # Before it is ready it answers 503.
        if "exception" in line or (line.get("status", 0) >= 500 and line["path"] != "/readyz")
    ]
    assert not told, "\n".join(told)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    return statuses(replica, document)


def statuses(replica: Replica, document: Document) -> dict[str, set[int]]:
    """The statuses in the replica's log, by operation."""
    shapes = [
        (method, re.compile(re.sub(r"{\w+}", "[^/]+", path)), operation["operationId"])
        for path, method, operation in operations(document)
    ]
    found = defaultdict[str, set[int]](set)
    for line in replica.lines():
        for method, shape, name in shapes:
            if line.get("method") == method and shape.fullmatch(line["path"]):
                found[name].add(line["status"])
    return found


@pytest.fixture
def oldest() -> Iterator[Postgres]:
    """The oldest PostgreSQL server here: every statement of the application runs on it."""
    with Postgres(min(versions())).serving() as server:
        yield server


def test_schemathesis_finds_no_fault(oldest: Postgres, own_replica: Start, tmp_path: Path) -> None:
    replica = own_replica(oldest.database("judged"), ORIGIN="")
    with replica.client() as client:
        client.set_up()
        scopes = {"name": "judge", "scopes": ["read", "write", "admin"]}
        token = client.ok("POST", "/api/v1/tokens", scopes)
        real = make(client)
        spare = disposable(client, real)
        spare["trashed"] = page(client, real["spaces"])
        client.ok("DELETE", f"/api/v1/nodes/{spare['trashed']}")
        spared = {real[kind]: spare[kind] for kind in real}
        spared[token["id"]] = spare["tokens"]
        spared[spare["claimed"]] = spare["spaces"]
        spared[client.ok("GET", "/api/v1/me")["id"]] = spare["users"]
        real["first edit"] = client.ok("GET", f"/api/v1/nodes/{real['edited']}/live")["id"]
        document = known(client.ok("GET", "/api/v1/openapi.json"), real, spare)
    header = f"Authorization: Bearer {token['secret']}"
    got = judge(
        replica, document, tmp_path, "-H", header, "--exclude-operation-id", ENDLESS, **spared
    )
    names = {operation["operationId"] for *_, operation in operations(document)}
    # schemathesis signed nobody out, and got a successful answer from every operation.
    hollow = sorted(n for n in names if not any(status < 300 for status in got[n]))
    assert set(hollow) <= AT_THE_DOOR | ELSEWHERE | {ENDLESS}, hollow


def test_schemathesis_finds_no_fault_with_a_new_installation(
    own_replica: Start, tmp_path: Path
) -> None:
    replica = own_replica(ORIGIN="")
    with replica.client() as client:
        document = client.ok("GET", "/api/v1/openapi.json")
    for name in ("SetupIn", "LoginIn"):
        properties = document["components"]["schemas"][name]["properties"]
        properties["email"] = {"type": "string", "enum": [ADMIN]}
        properties["password"] = {"type": "string", "enum": [PASSWORD]}
    words = [word for name in AT_THE_DOOR for word in ("--include-operation-id", name)]
    got = judge(replica, document, tmp_path, *words)
    assert {name for name in got if any(status < 300 for status in got[name])} >= AT_THE_DOOR
