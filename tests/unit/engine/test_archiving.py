"""Archiving in the observation: whom the operator asks, and what it logs of the answer."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta

from queenright.core.observed import Archiving, Known, MemberStatus, Unknown
from queenright.engine.archiving import archive_figures, observe_archiving
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.support.builders import BACKUP, MEMBERS, desired, manifest, status, swarm_of, three_nodes

AT = datetime(2026, 1, 1, tzinfo=UTC)
LAST = "000000010000000000000007"
WITH = manifest(backup=BACKUP)


def readings(*leaders: str) -> dict[str, Known[MemberStatus] | Unknown]:
    return {f"main_{name}": Known(status(name, leaders[0] if leaders else "")) for name in MEMBERS}


def asked(found: dict[str, Known[MemberStatus] | Unknown]) -> Known[Archiving] | Unknown:
    async def ask() -> Known[Archiving] | Unknown:
        swarm = swarm_of(three_nodes(text=WITH))
        return await observe_archiving(World().ports, desired(WITH), swarm, found)

    return run_virtual(ask)


def test_without_one_proven_leader_nobody_is_asked() -> None:
    both = readings("member-1") | {"main_member-2": Known(status("member-2", "member-2"))}
    for found in (readings(), both):
        assert asked(found) == Unknown("no leader on which all observations agree")


def test_what_can_not_be_read_is_unknown_with_its_reason() -> None:
    found = asked(readings("member-1"))
    assert isinstance(found, Unknown)
    assert "pg_superuser_pw" in found.why


def test_the_log_has_the_age_and_what_waits_of_each_cluster_that_archives() -> None:
    observed = three_nodes(text=WITH)
    assert archive_figures(observed) == {}
    working = Archiving(
        AT, True, LAST, AT - timedelta(seconds=23), waiting=2, waiting_bytes=2 << 24
    )
    found = {
        "main": Known(working),
        "now": Known(dataclasses.replace(working, last_at=AT, waiting_bytes=0)),
        "new": Known(Archiving(AT, is_on=True)),
        "off": Known(Archiving(AT, is_on=False)),
        "silent": Unknown("no answer"),
    }
    assert archive_figures(dataclasses.replace(observed, archiving=found)) == {
        "archived_s_ago": {"main": 23.0, "now": 0.0},
        "archive_waiting_bytes": {"main": 2 << 24, "now": 0, "new": 0},
    }
