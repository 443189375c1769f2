"""The notes application on a cluster that was restored: people sign in and find their pages.

The former swarm is gone with its nodes' volumes. What is left is the repository and the
application's encryption key, which a person keeps elsewhere; nothing else is done by hand.
"""

from __future__ import annotations

import base64
import time

import httpx
import pytest

from tests.e2e.cluster.deployment import Deployment
from tests.e2e.cluster.repository import BUCKET, archived
from tests.e2e.cluster.test_backup import RESTORED, deploy_from_backup
from tests.e2e.notes_client import ADMIN, QUICK, WEB, Visitor, app_manifest, is_served, secrets_of
from tests.e2e.swarm_facts import MEMBER_NODES, connect, container_of, eventually, quick_manifest
from tests.lab.lab import Lab
from tests.lab.product_images import publish
from tests.support.member_programs import MemberPrograms
from tests.support.object_store import SECRET_KEY, ObjectStore

pytestmark = [pytest.mark.lab, pytest.mark.images]

KEY = "app_encryption_key"


def signed_in(lab: Lab) -> Visitor:
    """Sign in with the administrator's password, without making the administrator."""
    visitor = Visitor(lab, MEMBER_NODES)
    for _ in MEMBER_NODES:
        try:
            answer = visitor.request("POST", "/api/v1/session", ADMIN)
        except httpx.HTTPError:  # no replica runs there, and the visitor goes to the next node
            continue
        assert answer.status_code == httpx.codes.OK, answer.text
        return visitor
    raise AssertionError("no replica answers")


def key_of(lab: Lab) -> str:
    """Return the application's encryption key, as a replica sees it."""
    for name in MEMBER_NODES:
        if container := container_of(lab.node(name), WEB):
            read = lab.node(name).docker("exec", container, "cat", f"/run/secrets/{KEY}")
            return read.stdout
    raise AssertionError("no replica runs")


@pytest.mark.timeout(1500)
def test_people_find_their_pages_on_a_restored_cluster(
    backed_up: Deployment, store: ObjectStore, programs: MemberPrograms
) -> None:
    lab, operator = backed_up.lab, backed_up.operator
    app = app_manifest(publish(lab.registry, ["notes"], lab.settings)["notes"], QUICK)
    operator.write(app, "notes.yaml")
    eventually(lambda: is_served(lab), "both replicas to be ready", 180)
    visitor = Visitor(lab, MEMBER_NODES)
    eventually(lambda: answers(visitor), "a replica", 30)
    visitor.sign_in()
    made = visitor.request("POST", "/api/v1/spaces", {"slug": "kept", "name": "Kept"})
    assert made.status_code == httpx.codes.CREATED, made.text
    nodes = f"/api/v1/spaces/{made.json()['id']}/nodes"
    pages = [visitor.request("POST", nodes, {"title": "before the backup"}).json()["id"]]
    asked = operator.command("backup", "now")
    assert asked.returncode == 0, asked.stderr
    pages.append(visitor.request("POST", nodes, {"title": "after it"}).json()["id"])
    with connect(lab, MEMBER_NODES[0], 5000) as connection:
        (name,) = connection.execute("SELECT pg_walfile_name(pg_switch_wal())").fetchall()[0]
        eventually(lambda: archived(connection, name), "the archive to have the last page", 120)
    secret, key = secrets_of(lab, WEB)[KEY], key_of(lab)
    told = "".join(operator.lines)

    credentials = (programs.secrets / "backup_credentials").read_text()
    fields = RESTORED.format(bucket=BUCKET, endpoint=store.endpoint, target="")
    wanted = "".join(line for line in fields.splitlines(True) if "target:" not in line)
    begun = time.monotonic()
    deploy_from_backup(backed_up, credentials, quick_manifest(lab) + wanted)
    lab.manager.docker("secret", "create", secret, "-", text=key)
    operator.write(app, "notes.yaml")
    eventually(lambda: is_served(lab), "both replicas to be ready on the restored cluster", 300)
    print(f"from a bare swarm to the restored application: {time.monotonic() - begun:.0f} s")
    assert key_of(lab) == key
    visitor = signed_in(lab)
    titles = [visitor.request("GET", f"/api/v1/nodes/{page}").json()["title"] for page in pages]
    assert titles == ["before the backup", "after it"]
    again = visitor.request("POST", nodes, {"title": "on the restored cluster"})
    assert again.status_code == httpx.codes.CREATED, again.text
    told += "".join(operator.lines)
    assert SECRET_KEY not in told
    assert key.strip() not in told
    assert base64.b64encode(key.encode()).decode() not in told


def answers(visitor: Visitor) -> bool:
    """Return True if the visitor's present node has a replica; the next one is taken otherwise."""
    try:
        return visitor.request("GET", "/readyz").status_code == httpx.codes.OK
    except httpx.HTTPError:
        return False
