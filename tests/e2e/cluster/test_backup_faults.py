"""Faults under writes on a cluster with a repository: the repository is cut off, and the leader's
node loses power in the middle of a base backup.

The cut lasts ``BACKUP_CUT_OFF_S`` seconds, a minute by default; the ten minutes of the promise take
`BACKUP_CUT_OFF_S=600`. From 330 s on the hold that wants attention is waited for, too. The base
backups in whose middle the power goes are made beside a replica; `BACKUP_FROM=replica,leader` has
them made beside the leader as well, whose second try waits five minutes.
"""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.e2e.cluster.conftest import well_again
from tests.e2e.cluster.deployment import Deployment
from tests.e2e.cluster.repository import BUCKET, FIELDS, noted, stored
from tests.e2e.losses import Watch
from tests.e2e.swarm_facts import (
    MEMBER_NODES,
    connect,
    container_of,
    eventually,
    leader_node,
    quick_manifest,
    read_secret,
    service,
)
from tests.e2e.writer import Writer, writing
from tests.lab.lab import Lab
from tests.support.member_programs import MemberPrograms
from tests.support.object_store import SECRET_KEY, ObjectStore

pytestmark = [pytest.mark.lab, pytest.mark.images]

CUT_OFF_S = float(os.environ.get("BACKUP_CUT_OFF_S", "60"))
SOURCES = os.environ.get("BACKUP_FROM", "replica").split(",")
HOLD_S = 330.0
"""A hold asks for attention after five minutes; the operator asks the leader once in a while."""
SWITCHES_S = 10.0
LONGEST_PAUSE_S = 5.0
"""Between two writes while nothing fails but the repository, on a machine with other work."""
JOB = "main_base_backup"
MUCH = (
    "CREATE TABLE IF NOT EXISTS much AS SELECT n, md5(random()::text) || md5(random()::text) || "
    "md5(random()::text) AS text FROM generate_series(1, 1500000) n"
)


def switched(lab: Lab) -> str:
    """Finish a WAL file on the leader and return its name."""
    with connect(lab, leader_node(lab), 5432) as connection:
        ((name,),) = connection.execute("SELECT pg_walfile_name(pg_switch_wal())").fetchall()
        return str(name)


def are_stored(programs: MemberPrograms, names: list[str]) -> bool:
    there = "".join(programs.stored(BUCKET))
    return all(f"/{name}.gz" in there for name in names)


def status_with_the_password(deployment: Deployment, directory: Path) -> str:
    """Return what `queenright status` prints where the superuser's secret is mounted beside it, as
    it needs it to ask the leader for its archive."""
    (directory / "pg_superuser_pw").write_text(read_secret(deployment.lab, "pg_superuser_pw"))
    environment = deployment.operator.environment
    environment["QUEENRIGHT_SECRETS_DIR"] = str(directory)
    try:
        return deployment.operator.command("status").stdout
    finally:
        del environment["QUEENRIGHT_SECRETS_DIR"]


def idle(deployment: Deployment) -> None:
    """Wait until no job of a backup is there, and all members are well."""
    eventually(lambda: not service(deployment.lab, JOB), "the job to go", 120)
    well_again(deployment)


@pytest.mark.timeout(900 + 2 * CUT_OFF_S)
def test_a_repository_that_is_cut_off_under_writes_costs_nothing(
    backed_up: Deployment, store: ObjectStore, programs: MemberPrograms, tmp_path: Path
) -> None:
    lab, operator = backed_up.lab, backed_up.operator
    idle(backed_up)
    cause = f"{store.endpoint} does not answer; see that it runs and is reached from this node"
    names = list[str]()
    with writing(lab, MEMBER_NODES[0], "cut off") as writer:
        begun = time.monotonic()
        store.stop_proxy()
        while time.monotonic() - begun < CUT_OFF_S:
            names.append(switched(lab))
            time.sleep(SWITCHES_S)
        said = status_with_the_password(backed_up, tmp_path)
        assert f"the last try failed: {cause}" in said
        if CUT_OFF_S >= HOLD_S:
            assert cause in operator.holds().get("backup/main", "")
        acknowledged = len(writer.rows)
        pause_s = writer.longest_gap_s(begun)
        store.start_proxy()
        back = time.monotonic()
        eventually(lambda: are_stored(programs, names), "the archive to catch up", 300 + CUT_OFF_S)
        caught_up_s = time.monotonic() - back
        operator.wait_for(lambda: "backup/main" not in operator.holds(), "no hold", 120)
    print(
        f"cut off for {CUT_OFF_S:.0f} s: {len(names)} files waited, {acknowledged} rows written, "
        f"longest pause {pause_s:.2f} s, all archived {caught_up_s:.0f} s after it was back"
    )
    assert pause_s < LONGEST_PAUSE_S
    proven = operator.command("backup", "verify", timeout_s=400)
    assert proven.returncode == 0, proven.stderr + proven.stdout
    print(proven.stdout)
    assert SECRET_KEY not in said + proven.stdout + "".join(operator.lines)


def job_node(lab: Lab) -> str:
    """Return the node on which a base backup is being made; empty where none is."""
    return next((name for name in MEMBER_NODES if container_of(lab.node(name), JOB)), "")


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("source", SOURCES)
def test_the_leaders_node_loses_power_in_the_middle_of_a_base_backup(
    backed_up: Deployment, store: ObjectStore, source: str
) -> None:
    """A job beside a replica goes on, or fails and is begun again; one on the leader's node is
    lost with it, and another one is made."""
    lab, operator = backed_up.lab, backed_up.operator
    idle(backed_up)
    fields = FIELDS.format(bucket=BUCKET, endpoint=store.endpoint, node=MEMBER_NODES[2])
    fields = fields.replace("    schedule:", f"    from: {source}\n    schedule:")
    operator.carry_out(quick_manifest(lab) + fields)
    with connect(lab, leader_node(lab), 5432) as connection:
        connection.execute(MUCH)
    before, done, leader = stored(backed_up)[0]["id"], noted(lab)["done"], leader_node(lab)
    entry = next(node for node in MEMBER_NODES if node != leader)
    with ThreadPoolExecutor(1) as beside, Writer(lab, entry, f"cut {source}", 0.05) as writer:
        asked = beside.submit(operator.command, "backup", "now", timeout_s=600)
        node = eventually(lambda: job_node(lab), "the base backup to begin", 120)
        assert (node == leader) is (source == "leader")
        time.sleep(4)
        assert job_node(lab) == node, "it is still being made"
        assert noted(lab)["done"] == done
        watch = Watch(lab, entry, writer)
        cut = watch.brace()
        lab.node(leader).power_cut()
        eventually(lambda: leader_node(lab) not in ("", leader), "another leader", 120)
        writer.wait_for_a_write()
        lab.node(leader).start()
        eventually(lambda: noted(lab)["done"] != done, "a base backup", 600)
        took_s = time.monotonic() - cut
        answer = asked.result(600)
        writer.wait_for_a_write()
        lost = watch.lost()
    print(
        f"from {source}: another base backup {took_s:.0f} s after the power cut, {len(lost)} "
        f"acknowledged rows lost; the command ended "
        f"with {answer.returncode}: {answer.stdout}{answer.stderr}"
    )
    newest = next(one for one in stored(backed_up) if one["status"] == "DONE")
    assert newest["id"] > before
    well_again(backed_up)
    proven = operator.command("backup", "verify", timeout_s=400)
    assert proven.returncode == 0, proven.stderr + proven.stdout
