"""schemathesis calls every operation that the OpenAPI document describes, rightly and wrongly.

No operation is left out but one: the stream of events never ends, so that no answer could be
checked; Chromium's own EventSource judges it (test_event_source.py).
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
from tests.test_files import attach, opened
from tests.test_pages import page, space

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]
Document = dict[str, Any]
TAKES_AWAY = {
    "delete_attachment", "delete_comment", "delete_group", "delete_node", "delete_share",
    "delete_space", "delete_token", "patch_user",
}  # fmt: skip
ENDLESS = "get_events"
#: What one has to be signed out for, or to have no installation yet.
AT_THE_DOOR = {"get_setup", "post_setup", "post_session", "delete_session"}
CHECKS = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance",
    "response_schema_conformance", "response_headers_conformance", "unsupported_method",
)  # fmt: skip


def make(client: Client) -> dict[str, str]:
    """One thing of each kind: ids by the first word of the path that leads to it."""
    home = space(client)
    made = page(client, home, markdown="text\n")
    client.ok("PUT", f"/api/v1/nodes/{made}", {"base_version": 1, "markdown": "more\n"})
    zipped = {"content": b"no zip", "headers": {"content-type": "application/zip"}}
    return {
        "spaces": home,
        "nodes": made,
        "comments": client.ok("POST", f"/api/v1/nodes/{made}/comments", {"body": "x"})["id"],
        "shares": client.ok("POST", f"/api/v1/nodes/{made}/shares", {})["id"],
        "attachments": attach(client, made, "a.txt", b"abc", "text/plain")["id"],
        "groups": client.ok("POST", "/api/v1/groups", {"name": made})["id"],
        "users": client.ok("POST", "/api/v1/users", {"email": f"{made}@a.example", "name": "E"})[
            "id"
        ],
        "tokens": client.ok("POST", "/api/v1/tokens", {"name": "T", "scopes": ["read"]})["id"],
        "jobs": client.post(f"/api/v1/spaces/{home}/imports", **zipped).json()["id"],
        "upload": opened(client, made, b"abc")["id"],
    }


def disposable(client: Client, real: dict[str, str]) -> dict[str, str]:
    """Things that may be taken away, none of which goes with another."""
    return {
        **make(client),
        "spaces": space(client),
        "nodes": page(client, real["spaces"]),
        "upload": opened(client, real["nodes"], b"abc")["id"],
    }


def known(document: Document, real: dict[str, str], spare: dict[str, str]) -> Document:
    """The document, with ids that exist: what takes something away gets those in `spare`."""
    for path, _, operation in operations(document):
        name = operation["operationId"]
        things = spare if name in TAKES_AWAY else real
        ids = {"id": things.get(path.split("/")[3]), "upload_id": things["upload"]}
        if name == "delete_upload":
            ids["upload_id"] = spare["upload"]
        if name == "restore_node":
            ids["id"] = spare["trashed"]
        for parameter in operation["parameters"]:
            if found := ids.get(parameter["name"]):
                parameter["schema"] = {"type": "string", "enum": [found]}
            if parameter["name"] in {"version", "old", "new"}:
                parameter["schema"] = {"type": "integer", "enum": [1, 2]}
    schemas = document["components"]["schemas"]
    grant = schemas["GrantToSomebody"] = copy.deepcopy(schemas["Grant"])
    grant["properties"]["principal"] = {"type": "string", "enum": [real["users"]]}
    grant["properties"]["kind"] = {"type": "string", "enum": ["user"]}
    schemas["GrantsIn"]["properties"]["grants"]["items"]["$ref"] += "ToSomebody"
    return document


def operations(document: Document) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (path, method.upper(), operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


def judge(
    replica: Replica, document: Document, folder: Path, *words: str, **spared: str
) -> dict[str, set[int]]:
    """Lets schemathesis judge; which statuses it got for each operation."""
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
        # Until it is ready it says so.
        if "exception" in line or (line.get("status", 0) >= 500 and line["path"] != "/readyz")
    ]
    assert not told, "\n".join(told)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    return statuses(replica, document)


def statuses(replica: Replica, document: Document) -> dict[str, set[int]]:
    """What the replica says that it answered, by operation."""
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
    """The oldest server to be had: here every statement of the application is run at least once."""
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
        spared[client.ok("GET", "/api/v1/me")["id"]] = spare["users"]
        document = known(client.ok("GET", "/api/v1/openapi.json"), real, spare)
    header = f"Authorization: Bearer {token['secret']}"
    got = judge(
        replica, document, tmp_path, "-H", header, "--exclude-operation-id", ENDLESS, **spared
    )
    names = {operation["operationId"] for *_, operation in operations(document)}
    # The judge signed nobody out, and saw what every operation answers when all is well.
    hollow = sorted(n for n in names if not any(status < 300 for status in got[n]))
    assert set(hollow) <= AT_THE_DOOR | {ENDLESS}, hollow


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
