"""A cluster with a repository: a real S3 server, the member image's programs, and what they have.

The fixtures are the package's own (``conftest``): several modules begin with a cluster that has a
base backup.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from queenright.core.kinds.postgres_cluster.backup.note import LAST_BACKUP_LABEL
from tests.contract.real_postgres import NOBODY
from tests.e2e.cluster.deployment import Deployment
from tests.e2e.swarm_facts import MEMBER_NODES, cluster_labels, quick_manifest, service
from tests.lab.lab import Lab
from tests.support.member_programs import MemberPrograms
from tests.support.object_store import ACCESS_KEY, SECRET_KEY, ObjectStore

BUCKET = "backups"
CHANGES_S = 420
FIELDS = """  backup:
    repository: {{bucket: {bucket}, credentials: backup_credentials, endpoint: "{endpoint}"}}
    schedule: 0 3 1 1 *
    retention: {{count: 2}}
    drill: {{node: {node}}}
  roles: [{{name: app, passwordSecret: app_pw}}]
"""


@pytest.fixture(scope="module")
def store(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    """The S3 server, at this machine's address in the lab's LAN."""
    found = ObjectStore(tmp_path_factory.mktemp("store") / "swift", host=lab.settings.gateway)
    try:
        yield found.start()
    finally:
        found.stop()


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A directory that PostgreSQL's user may pass, as pytest's own is not."""
    with tempfile.TemporaryDirectory(prefix="backup-") as found:
        Path(found).chmod(0o755)
        yield Path(found)


@pytest.fixture(scope="module")
def programs(store: ObjectStore, place: Path) -> MemberPrograms:
    """The member image's programs on this machine, for the same repository."""
    home = place / "programs"
    home.mkdir()
    variables = {"BACKUP_URL": f"s3://{BUCKET}/main", "BACKUP_ENDPOINT": store.endpoint}
    found = MemberPrograms(home, variables).lay_out()
    found.write_credentials(ACCESS_KEY, SECRET_KEY)
    for secret in found.secrets.iterdir():
        os.chown(secret, NOBODY, NOBODY)
        secret.chmod(0o400)
    found.make_bucket(BUCKET)
    return found


@pytest.fixture(scope="module")
def backed_up(deployment: Deployment, store: ObjectStore, programs: MemberPrograms) -> Deployment:
    """The cluster with its repository, by an edit, and a base backup that the operator began."""
    lab, operator = deployment.lab, deployment.operator
    credentials = (programs.secrets / "backup_credentials").read_text()
    lab.manager.docker("secret", "create", "backup_credentials", "-", text=credentials)
    fields = FIELDS.format(bucket=BUCKET, endpoint=store.endpoint, node=MEMBER_NODES[2])
    operator.write(quick_manifest(lab) + fields)
    operator.wait_for(lambda: noted(lab).get("id"), "a base backup", CHANGES_S)
    return deployment


def noted(lab: Lab) -> dict[str, Any]:
    """Return what the state config notes of the last base backup; empty where there is none."""
    found: dict[str, Any] = json.loads(cluster_labels(lab).get(LAST_BACKUP_LABEL, "{}"))
    return found


def stored(deployment: Deployment) -> list[dict[str, Any]]:
    """Return what ``queenright backup list`` shows, newest first."""
    found = deployment.operator.command("backup", "list", "--json")
    assert found.returncode == 0, found.stderr
    listed: list[dict[str, Any]] = json.loads(found.stdout)["backups"]
    assert not service(deployment.lab, "main_backup_list")
    return listed


def rows(connection: psycopg.Connection[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return connection.execute("SELECT writer, id FROM acknowledged ORDER BY 1, 2").fetchall()


def archived(connection: psycopg.Connection[tuple[Any, ...]], name: str) -> bool:
    """Return True if a file and all before it are in the repository."""
    asked = connection.execute("SELECT last_archived_wal FROM pg_stat_archiver").fetchall()
    last = str(asked[0][0] or "")
    return len(last) == len(name) and last[8:] >= name[8:]
