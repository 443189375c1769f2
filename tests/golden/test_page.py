"""The page of a small state, to the letter: what a change of it does is for a person to read."""

from __future__ import annotations

import dataclasses

from queenright.core.observed import Unknown
from queenright.engine.pages import SightPages
from tests.golden.compare import assert_golden
from tests.support.app_builders import known, served
from tests.support.changed import with_member
from tests.support.sights import StillTime, pass_with_app, sight_of

ACTION = {"kind": "create-service", "key": "create-service/main_proxy"}
SAID = "it is missing"
INTENT = {
    "phase": "intent",
    "seq": 5,
    "at": "2026-01-01T11:59:59.000Z",
    "cluster": "main",
    "action": ACTION,
    "reason": SAID,
    "rule": "proxies",
    "trigger": {"kind": "docker", "detail": "service main_proxy remove"},
}
MOVED = {
    "phase": "measured",
    "seq": 4,
    "at": "2026-01-01T11:58:00.000Z",
    "cluster": "main",
    "leader_before": "member-2",
    "leader": "member-1",
    "timeline": 2,
    "cause": "not planned by the operator",
    "write_gap_ms": 1502,
    "lost_rows": 0,
}
OUTCOME = INTENT | {"phase": "outcome", "seq": 6, "intent_seq": 5, "outcome": "done"}


def pages() -> SightPages:
    """A cluster with a silent member, and the application on it."""
    seen = with_member(known(served()), "member-3", Unknown("timed out"))
    sight = sight_of(pass_with_app(dataclasses.replace(seen)), problems=("x.yaml:3: name: twice",))
    sight.take(MOVED)
    sight.take(INTENT)
    sight.take(OUTCOME)
    sight.take(INTENT | {"seq": 7, "at": "2026-01-01T12:00:01.000Z"})
    return SightPages(sight, StillTime())


async def test_the_page_of_all_documents() -> None:
    assert_page("page-all.html", (await pages().page("/")).body)


async def test_the_page_of_one_cluster() -> None:
    assert_page("page-cluster.html", (await pages().page("/clusters/main")).body)


def assert_page(name: str, body: bytes) -> None:
    """Compare it with a line for each element, so that a difference can be read."""
    assert_golden(name, body.decode().replace("><", ">\n<"))
