"""The cluster at rest before an action, and the model's observation after it."""

from __future__ import annotations

import dataclasses
from typing import Any

from queenright.core.actions import AnyAction
from queenright.core.forecast.effects import after
from queenright.core.forecast.tasks import Change
from queenright.core.observed import Known, MemberStatus, Observed, SwarmState
from queenright.core.planning.faults import DocumentKey
from queenright.core.postgres.catalog import Catalog, Database, Role
from queenright.core.postgres.connection_uri import UrlTemplate
from tests.support.builders import NOW, desired, three_nodes

WANTED = desired(was_whole=True)
KEY = DocumentKey("PostgresCluster", "main")
REST: dict[str, Any] = {"cluster": "main", "address": "10.77.0.12", "port": 8008, "reason": "r"}
RAFT: dict[str, Any] = {**REST, "port": 5010}
SQL: dict[str, Any] = {"cluster": "main", "host": "h", "port": 5432, "secret": "s", "reason": "r"}
VOTERS = [f"10.77.0.{n}:5010" for n in (12, 13, 14)]
URL = UrlTemplate(("h",), 5432, "d", "r", ())


def begun() -> Observed:
    """The cluster at rest: member-1 leads; one role and one database are there."""
    seen = three_nodes()
    catalog = Catalog(
        (Role("r"),), (Database("d", "r", extensions=()),), available=frozenset({"e"})
    )
    return dataclasses.replace(seen, catalogs={"main": Known(catalog)})


def done(action: AnyAction, seen: Observed | None = None) -> Observed:
    return after(action, seen or begun(), {KEY: WANTED}, Change(NOW, 500))


def swarm(seen: Observed) -> SwarmState:
    assert isinstance(seen.swarm, Known)
    return seen.swarm.value


def member(seen: Observed, name: str) -> MemberStatus:
    found = seen.members[f"main_{name}"]
    assert isinstance(found, Known)
    return found.value


def catalog(seen: Observed) -> Catalog:
    found = seen.catalogs["main"]
    assert isinstance(found, Known)
    return found.value


def live(name: str) -> Any:
    found = swarm(begun()).service(name)
    assert found is not None
    return found


def changed(name: str, **fields: object) -> dict[str, Any]:
    found = live(name)
    service = dataclasses.replace(found.value, **fields)
    return {"id": found.id, "version": found.version, "service": service, "reason": "r"}


def with_waiting(*names: str) -> Observed:
    """These members wait for a restart."""
    seen = begun()
    for name in names:
        waits = dataclasses.replace(
            member(seen, name),
            pending_restart=True,
            pending_changes={"shared_buffers": ("1", "2")},
        )
        seen = dataclasses.replace(seen, members={**seen.members, f"main_{name}": Known(waits)})
    return seen


def task_ids(seen: Observed, name: str) -> list[str]:
    found = swarm(seen).service(name)
    return [task.id for task in swarm(seen).running_tasks(found.id)] if found else []
