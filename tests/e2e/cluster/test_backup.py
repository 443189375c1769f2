"""Base backup and archived WAL of a running cluster, from which a new one begins.

The cluster gets its repository, a real S3 server, by an edit. The first base backup is a job that
the operator starts, the second one is asked for by a command. Then the leader's node loses power,
the lead is moved once more while the repository is away, the former leader's node loses power
before it is back, and a table is dropped. A cluster that begins from the repository has
all that was acknowledged before.
"""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest

from queenright.core.kinds.postgres_cluster.schema.parameters import REPLICA_NOTE
from tests.e2e.cluster.conftest import switch_over, well_again
from tests.e2e.cluster.deployment import Deployment
from tests.e2e.cluster.repository import BUCKET, FIELDS, archived, noted, rows, stored
from tests.e2e.shown_secrets import Watch, places, shown_in, watching
from tests.e2e.swarm_facts import (
    MEMBER_NODES,
    connect,
    container_of,
    eventually,
    is_whole,
    leader_node,
    quick_manifest,
    read_secret,
    service,
)
from tests.e2e.writer import Writer, drop_table
from tests.lab.lab import Lab
from tests.support.member_programs import MemberPrograms
from tests.support.object_store import SECRET_KEY, ObjectStore

pytestmark = [pytest.mark.lab, pytest.mark.images]

LOOK_S = 0.2
"""Barman takes a second to begin."""
RESTORED = """  roles: [{{name: app, passwordSecret: app_pw}}]
  backup:
    repository:
      prefix: restored
      bucket: {bucket}
      credentials: backup_credentials
      endpoint: "{endpoint}"
  bootstrap:
    from:
      backup:
        repository: {{bucket: {bucket}, credentials: backup_credentials, endpoint: "{endpoint}"}}
        cluster: main
        target: {{time: {target}}}
"""


@pytest.fixture(scope="module", autouse=True)
def watch() -> Iterator[Watch]:
    """Every process of all tests here, among them those that archive and copy."""
    with watching(LOOK_S) as found:
        yield found


def check_that_no_secret_is_shown(deployment: Deployment, watch: Watch) -> None:
    """Look for the key of the repository and the passwords in all that there is to read."""
    lab, found = deployment.lab, places(deployment.lab, deployment.operator, watch)
    for seen in ("barman-cloud-backup\0", "barman-cloud-wal-archive\0", "barman-cloud-restore\0"):
        assert seen in found["arguments"], "the search sees what it searches"
    assert "AWS_SHARED_CREDENTIALS_FILE" in found["environments"], "as above"
    passwords = {read_secret(lab, name) for name in ("pg_superuser_pw", "pg_replication_pw")}
    assert shown_in(found, {SECRET_KEY, *passwords}) == []


def deploy_from_backup(deployment: Deployment, credentials: str, target: str) -> None:
    """Begin again from a bare swarm, with a cluster that is restored; only the store stays."""
    lab, operator = deployment.lab, deployment.operator
    operator.stop(signal.SIGKILL)
    for directory in (operator.manifests, operator.state):
        shutil.rmtree(directory)
    operator.manifests.mkdir()
    lab.reset()
    lab.manager.docker("secret", "create", "backup_credentials", "-", text=credentials)
    operator.write(target)
    operator.start()


def logged(lab: Lab, number: int) -> str:
    """Return what all containers of a member have logged, the oldest last."""
    node = lab.node(MEMBER_NODES[number - 1])
    label = f"label=com.docker.swarm.service.name=main_member-{number}"
    found = node.docker("ps", "-aq", "--filter", label).stdout.split()
    logs = [node.docker("logs", container, check=False) for container in found]
    return "".join(log.stdout + log.stderr for log in logs)


@pytest.mark.timeout(600)
def test_a_backup_is_made_when_a_person_asks_for_it(
    backed_up: Deployment, programs: MemberPrograms
) -> None:
    first = noted(backed_up.lab)["id"]
    assert stored(backed_up)[0]["id"] == first
    asked = backed_up.operator.command("backup", "now")
    assert asked.returncode == 0, asked.stderr
    files, second = programs.stored(BUCKET), noted(backed_up.lab)["id"]
    newest, older = stored(backed_up)[:2]
    assert any(f"/{newest['end_wal']}.gz" in name for name in files)
    assert (newest["id"], older["id"], newest["status"]) == (second, first, "DONE")
    assert newest["due_for_removal"] is older["due_for_removal"] is False
    shown = backed_up.operator.command("backup", "show", second)
    assert second in shown.stdout
    assert SECRET_KEY not in shown.stdout + asked.stdout + "".join(backed_up.operator.lines)


@pytest.mark.timeout(600)
def test_a_drill_proves_the_backup_and_finds_one_without_its_data(
    backed_up: Deployment, programs: MemberPrograms
) -> None:
    lab, operator = backed_up.lab, backed_up.operator
    proven = operator.command("backup", "verify")
    assert proven.returncode == 0, proven.stderr + proven.stdout
    print(proven.stdout)
    newest = stored(backed_up)[0]["id"]
    assert f"(base backup {newest} on {MEMBER_NODES[2]})" in proven.stdout
    assert "last proven restore: " in operator.command("status").stdout
    data = [n for n in programs.stored(BUCKET) if f"/{newest}/data" in n]
    programs.stored(BUCKET, *data)
    failed = operator.command("backup", "verify")
    assert failed.returncode == 1, failed.stdout
    assert f"base backup {newest} is not restored: Missing file " in failed.stderr
    operator.wait_for(lambda: "backup/main/drill/failed" in operator.holds(), "the hold", 30)
    eventually(lambda: not service(lab, "main_backup_drill"), "the job to go", 60)
    assert SECRET_KEY not in proven.stdout + failed.stderr + "".join(operator.lines)
    # A backup of a replica ends in a WAL file that the leader archives later; the job waits for it.
    assert operator.command("backup", "now").returncode == 0
    again = operator.command("backup", "verify")
    assert again.returncode == 0, again.stderr + again.stdout
    operator.wait_for(lambda: "backup/main/drill/failed" not in operator.holds(), "no hold", 30)


@pytest.mark.timeout(600)
def test_a_replica_is_made_from_the_backup(backed_up: Deployment, store: ObjectStore) -> None:
    """The next test goes on with the setting: a power cut, a rewind and a switchover."""
    lab, operator = backed_up.lab, backed_up.operator
    eventually(lambda: not service(lab, "main_base_backup"), "the job to go", 60)
    well_again(backed_up)
    versions = [service(lab, f"main_member-{n}")["Version"] for n in (1, 2, 3)]
    fields = FIELDS.format(bucket=BUCKET, endpoint=store.endpoint, node=MEMBER_NODES[2])
    fields = fields.replace("    schedule:", "    createReplicasFrom: backup\n    schedule:")
    operator.carry_out(quick_manifest(lab) + fields)
    number = 3 if leader_node(lab) != MEMBER_NODES[2] else 2
    node = lab.node(MEMBER_NODES[number - 1])
    eventually(lambda: "replica-wal-restore" in restore_command(lab, number), "the parameter", 20)
    begun, copied = time.monotonic(), "replica has been created using basebackup"
    copies = logged(lab, number).count(copied)
    container = container_of(node, f"main_member-{number}")
    asked = node.docker(
        "exec", container, "patronictl", "reinit", "main", f"member-{number}", "--force"
    )
    assert "Success" in asked.stdout
    word = "replica has been created using queenright_backup"
    eventually(lambda: word in logged(lab, number), "the replica", 90)
    eventually(lambda: is_whole(lab), "one leader and two streaming replicas with lag 0", 60)
    print(f"made from the backup and whole in {time.monotonic() - begun:.0f} s")
    assert logged(lab, number).count(copied) == copies, "no member was copied"
    container = container_of(node, f"main_member-{number}")  # a slow copy is ended, and goes on
    left = node.docker(
        "exec", container, "ls", "-A", "/home/postgres/raft", "/home/postgres/pgdata"
    )
    assert ".from-backup" not in left.stdout
    eventually(lambda: not noted_replica(lab, number), "the archive's end", 30)
    assert [service(lab, f"main_member-{n}")["Version"] for n in (1, 2, 3)] == versions
    assert SECRET_KEY not in logged(lab, number)


def restore_command(lab: Lab, number: int) -> str:
    with connect(lab, MEMBER_NODES[number - 1], 5432) as connection:
        ((found,),) = connection.execute("SHOW restore_command").fetchall()
        return str(found)


def noted_replica(lab: Lab, number: int) -> bool:
    """Return True while a member fetches WAL from the archive."""
    node = lab.node(MEMBER_NODES[number - 1])
    container = container_of(node, f"main_member-{number}")
    return node.docker("exec", container, "test", "-e", REPLICA_NOTE, check=False).returncode == 0


def moved_while_files_wait(
    deployment: Deployment, store: ObjectStore, programs: MemberPrograms, writer: Writer
) -> None:
    """Move the lead while the repository is away, and cut the former leader's power before it is
    back: the next leader archives what the former one could not."""
    lab = deployment.lab
    store.stop_proxy()
    waiting = []
    for _ in range(4):
        writer.wait_for_a_write()
        with connect(lab, leader_node(lab), 5432) as connection:
            waiting += connection.execute("SELECT pg_walfile_name(pg_switch_wal())").fetchall()
    begun = time.monotonic()
    former = lab.node(switch_over(deployment))
    eventually(lambda: leader_node(lab) not in ("", former.name), "the next leader", 60)
    print(f"switched over with the repository away in {time.monotonic() - begun:.0f} s")
    former.power_cut()
    # The writer's proxy may be on that node.
    with connect(lab, leader_node(lab), 5432) as connection:
        connection.execute("INSERT INTO acknowledged VALUES ('while files wait', 1)")
    store.start_proxy()
    # The archiver tries again at once when another file is finished, and else after a minute.
    with connect(lab, leader_node(lab), 5432) as connection:
        connection.execute("SELECT pg_switch_wal()")
    wanted = {f"/{name}.gz" for (name,) in waiting}
    eventually(
        lambda: all(name in "".join(programs.stored(BUCKET)) for name in wanted),
        "the former timeline's files",
        240,
        every_s=2.0,
    )
    former.start()


def written_and_dropped(
    deployment: Deployment, store: ObjectStore, programs: MemberPrograms
) -> tuple[list[tuple[Any, ...]], str, int]:
    """Write through power cuts and switchovers, and drop the table; return its rows, a moment a
    second before, and the timeline."""
    lab = deployment.lab
    eventually(lambda: not service(lab, "main_base_backup"), "the job to go", 60)
    well_again(deployment)
    leader = leader_node(lab)
    entry = next(node for node in MEMBER_NODES if node != leader)
    with Writer(lab, entry, "backup", 0.05) as writer:
        writer.wait_for_a_write()
        lab.node(leader).power_cut()
        eventually(lambda: leader_node(lab) not in ("", leader), "another leader", 120)
        writer.wait_for_a_write()
        lab.node(leader).start()
        well_again(deployment)
        moved_while_files_wait(deployment, store, programs, writer)
        writer.wait_for_a_write(120)
    well_again(deployment)
    with connect(lab, leader_node(lab), 5432) as connection:
        before = rows(connection)
        moment, timeline = drop_table(connection)
        (name,) = connection.execute("SELECT pg_walfile_name(pg_switch_wal())").fetchall()[0]
        eventually(lambda: archived(connection, name), "the archive to have the drop", 120)
    return before, moment, timeline


@pytest.mark.timeout(1500)
def test_a_cluster_begins_as_another_was_a_second_before_a_table_was_dropped(
    backed_up: Deployment, store: ObjectStore, programs: MemberPrograms, watch: Watch
) -> None:
    lab, operator, deployment = backed_up.lab, backed_up.operator, backed_up
    backup = noted(lab)
    assert backup["failures"] == 0
    assert backup["size"] > 1_000_000
    before, moment, timeline = written_and_dropped(deployment, store, programs)
    password = read_secret(lab, "pg_superuser_pw")
    assert len(before) > 100
    check_that_no_secret_is_shown(deployment, watch)

    credentials = (programs.secrets / "backup_credentials").read_text()
    wanted = {"bucket": BUCKET, "endpoint": store.endpoint, "target": f'"{moment}:00"'}
    early = quick_manifest(lab) + RESTORED.format(**{**wanted, "target": '"2026-01-01T00:00Z"'})
    deploy_from_backup(deployment, credentials, early)
    line = eventually(lambda: refusals(lab), "the refusal", 120)[0]
    assert line.startswith("target time 2026-01-01 00:00:00+00:00 is not covered, as no base")
    assert backup["id"] in line
    # One that is ended in the middle, which leaves Patroni's word that it bootstraps, begins again.
    first = lab.node(MEMBER_NODES[0])
    first.docker("kill", container_of(first, "main_member-1"))
    operator.wait_for(
        lambda: "is not covered" in operator.holds().get("restore/main", ""), "the hold", 120
    )
    eventually(lambda: len(refusals(lab)) > 1, "the next refusal", 60)
    # An edit of the target takes effect while the restore fails, as often as it takes.
    later = quick_manifest(lab) + RESTORED.format(**{**wanted, "target": '"2026-01-02T00:00Z"'})
    operator.write(later)
    operator.wait_for(
        lambda: "2026-01-02" in operator.holds().get("restore/main", ""), "the other target", 30
    )
    eventually(lambda: "2026-01-02 00:00:00" in "".join(refusals(lab)), "the third refusal", 90)

    begun = time.monotonic()
    operator.carry_out(quick_manifest(lab) + RESTORED.format(**wanted))
    eventually(lambda: is_whole(lab), "one leader and two streaming replicas with lag 0", 120)
    print(f"restored and whole in {time.monotonic() - begun:.0f} s: {len(before)} rows")
    assert read_secret(lab, "pg_superuser_pw") != password
    with connect(lab, MEMBER_NODES[0], 5000) as connection:
        assert rows(connection) == before
        connection.execute("INSERT INTO acknowledged VALUES ('restored', 1)")
        (now,) = connection.execute("SELECT timeline_id FROM pg_control_checkpoint()").fetchall()[0]
        assert now > timeline
        (name,) = connection.execute("SELECT pg_walfile_name(pg_switch_wal())").fetchall()[0]
        eventually(lambda: archived(connection, name), "the archive of its own", 120)

    # What a cluster began with has no effect on it any more, and is no reason to restart a member.
    versions = [service(lab, f"main_member-{n}")["Version"] for n in (1, 2, 3)]
    operator.carry_out(quick_manifest(lab) + RESTORED.format(**wanted).partition("  bootstrap:")[0])
    assert [service(lab, f"main_member-{n}")["Version"] for n in (1, 2, 3)] == versions
    check_that_no_secret_is_shown(deployment, watch)


def refusals(lab: Lab) -> list[str]:
    """Return the reasons for which the first member has restored nothing."""
    begin = "cluster-restore: restored nothing: "
    lines = logged(lab, 1).splitlines()
    return [line.removeprefix(begin) for line in lines if line.startswith(begin)]
