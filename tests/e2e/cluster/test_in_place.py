"""A restore in place on the lab: a cluster goes back to the second before a table was dropped, and
forth again to the data that it had.

Everything is done by the command, as a person does it. The former members' volumes stay on their
nodes, the archive goes on in the same place, and what can't be restored is refused before anything
is stopped.
"""

from __future__ import annotations

import json
import time
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest

from queenright.core.kinds.postgres_cluster.in_place.note import RESTORED_LABEL
from tests.e2e.cluster.conftest import switch_over, well_again
from tests.e2e.cluster.deployment import Deployment
from tests.e2e.cluster.repository import noted, rows
from tests.e2e.swarm_facts import (
    MEMBER_NODES,
    connect,
    eventually,
    leader_node,
    serves,
    service,
)
from tests.e2e.writer import Writer, drop_table
from tests.lab.lab import Lab
from tests.support.object_store import SECRET_KEY

pytestmark = [pytest.mark.lab, pytest.mark.images]

SETTLES_S = 15
"""The time after a change of a member in which none is disrupted."""
MEMBERS = ("main_member-1", "main_member-2", "main_member-3")


def volumes(lab: Lab) -> list[str]:
    """Return the volumes of the cluster on its nodes."""
    found = (lab.node(node).docker("volume", "ls", "-q").stdout.split() for node in MEMBER_NODES)
    return sorted(name for names in found for name in names if name.startswith("main_member-"))


def mounted(lab: Lab) -> list[str]:
    """Return the volumes that the members' services mount."""
    return sorted(
        mount["Source"]
        for name in MEMBERS
        for mount in service(lab, name)["Spec"]["TaskTemplate"]["ContainerSpec"]["Mounts"]
        if mount["Type"] == "volume"
    )


def restored_note(lab: Lab) -> dict[str, Any]:
    asked = lab.manager.docker("config", "inspect", "main_cluster").stdout
    labels = json.loads(asked)[0]["Spec"]["Labels"]
    found: dict[str, Any] = json.loads(labels.get(RESTORED_LABEL, "{}"))
    return found


def through_the_proxy(lab: Lab) -> psycopg.Connection[tuple[Any, ...]]:
    """Connect to the leader, as soon as the proxy has seen it: it checks every other second."""
    eventually(lambda: serves(lab, MEMBER_NODES[0]), "the proxy to know the leader", 30)
    return connect(lab, MEMBER_NODES[0], 5000)


def utc(moment: str) -> datetime:
    return datetime.fromisoformat(f"{moment}:00")


def dropped(deployment: Deployment) -> tuple[list[tuple[Any, ...]], datetime, int]:
    """Write through a switchover, and drop the table a second later; return its rows, a moment in
    between, and the timeline."""
    lab = deployment.lab
    entry = next(node for node in MEMBER_NODES if node != leader_node(lab))
    with Writer(lab, entry, "in-place", 0.05) as writer:
        writer.wait_for_a_write()
        time.sleep(SETTLES_S)
        switch_over(deployment)
        writer.wait_for_a_write()
        time.sleep(2)
    well_again(deployment)
    with connect(lab, leader_node(lab), 5432) as connection:
        before = rows(connection)
        moment, timeline = drop_table(connection)
    return before, utc(moment), timeline


@pytest.mark.timeout(1500)
def test_a_cluster_goes_back_in_place_and_forth_to_what_it_had(backed_up: Deployment) -> None:
    lab, operator = backed_up.lab, backed_up.operator
    eventually(lambda: not service(lab, "main_base_backup"), "the job to go", 60)
    well_again(backed_up)
    first = noted(lab)["id"]
    before, moment, timeline = dropped(backed_up)
    assert len(before) > 50
    versions = [service(lab, name)["Version"] for name in MEMBERS]
    early = operator.command("restore", "main", "--to-time", "2026-01-01T00:00:00Z", "--force")
    assert early.returncode == 1
    assert "is not covered, as no base backup ended before it" in early.stderr
    assert [service(lab, name)["Version"] for name in MEMBERS] == versions
    former = mounted(lab)

    begun = time.monotonic()
    done = operator.command(
        "restore", "main", "--to-time", moment.isoformat(), "--force", timeout_s=600
    )
    print(f"{done.stderr}{done.stdout}in {time.monotonic() - begun:.0f} s: {len(before)} rows")
    assert done.returncode == 0, done.stderr
    with through_the_proxy(lab) as connection:
        assert rows(connection) == before
        connection.execute("INSERT INTO acknowledged VALUES ('restored', 1)")
        (now,) = connection.execute("SELECT timeline_id FROM pg_control_checkpoint()").fetchall()[0]
    assert now > timeline
    assert not {*mounted(lab)} & {*former}
    assert {*volumes(lab)} >= {*former, *mounted(lab)}
    operator.wait_for(lambda: noted(lab).get("id", "") > first, "a base backup of the new one", 300)
    well_again(backed_up)
    assert restored_note(lab)["timeline"] == timeline

    # The present timeline left the former one at that moment.
    between = (moment + timedelta(seconds=0.9)).isoformat()
    refused = operator.command("restore", "main", "--to-time", between, "--force")
    assert refused.returncode == 1
    assert f"--timeline {timeline}" in refused.stderr

    back = operator.command("restore", "main", "--former", "--force", timeout_s=600)
    print(back.stderr + back.stdout)
    assert back.returncode == 0, back.stderr
    assert mounted(lab) == former
    with through_the_proxy(lab) as connection:
        asked = connection.execute("SELECT to_regclass('acknowledged')::text").fetchall()
        assert asked == [(None,)]
    well_again(backed_up)
    told = "".join(operator.lines) + done.stdout + done.stderr + back.stdout
    assert SECRET_KEY not in told
