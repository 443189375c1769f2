"""The knowledge of the page: the last pass alone, its documents, and the news."""

from __future__ import annotations

import anyio
import pytest

from queenright.core.kinds.postgres_cluster.kind import PostgresClusterKind
from queenright.core.observed import Observed, Unknown
from queenright.core.planning.plan import Plan, Refusal
from queenright.engine.planning import PlannedPass
from queenright.engine.sight import FRESH_S, NO_FILE, Sight
from tests.support.builders import plan_for, three_nodes
from tests.support.changed import with_member
from tests.support.sights import StillTime, cluster_pass, pass_with_app, sight_of


async def test_members_and_proxies_are_shown_on_their_nodes() -> None:
    sight = sight_of(cluster_pass(three_nodes(leader="member-2", down={"node4"})))
    detail = await sight.detail("clusters", "main")
    assert detail is not None
    tones = {(place.node, part.sort): part.tone for place in detail.places for part in place.parts}
    assert tones == {
        ("node2", "member"): "well",
        ("node2", "proxy"): "well",
        ("node3", "member"): "leader",
        ("node3", "proxy"): "well",
        ("node4", "member"): "unknown",
        ("node4", "proxy"): "unknown",
    }
    assert [place.is_ready for place in detail.places] == [True, True, False]


async def test_a_cluster_and_its_application_lead_to_each_other() -> None:
    sight = sight_of(pass_with_app())
    cluster = await sight.detail("clusters", "main")
    app = await sight.detail("applications", "notes")
    assert cluster is not None
    assert app is not None
    assert [one.name for one in cluster.carries] == ["notes"]
    assert app.rests_on is not None
    assert app.rests_on.name == "main"
    parts = [part for place in app.places for part in place.parts]
    assert {(part.node, part.sort, part.tone) for part in parts} == {
        ("node3", "replica", "well"),
        ("node4", "replica", "well"),
    }


async def test_a_refusal_and_a_hold_are_conditions() -> None:
    sight = sight_of(cluster_pass(), {"main": Refusal("quorum", "it would lose quorum")})
    (entry,) = (await sight.entries()).values()
    assert (entry.condition, entry.word) == ("needs you", "it would lose quorum")
    seen = with_member(three_nodes(), "member-3", Unknown("timed out"))
    (entry,) = (await sight_of(cluster_pass(seen, plan_for(seen))).entries()).values()
    assert entry.condition == "held"


async def test_what_the_last_pass_does_not_know_is_not_there() -> None:
    sight = sight_of(cluster_pass())
    assert await sight.detail("clusters", "other") is None
    assert await sight.detail("applications", "main") is None
    assert await Sight(StillTime()).detail("clusters", "main") is None
    assert await Sight(StillTime()).entries() == {}


async def test_a_swarm_that_can_not_be_read_is_named() -> None:
    plan = Plan("main", "")
    sight = sight_of(cluster_pass(Observed(Unknown("no manager answers")), plan))
    assert sight.basis().blind == "no manager answers"
    detail = await sight.detail("clusters", "main")
    assert detail is not None
    assert detail.places == ()


async def test_entries_are_made_again_for_a_later_pass_and_at_most_once_a_second() -> None:
    clock = StillTime()
    sight = sight_of(cluster_pass(), clock=clock)
    first = await sight.entries()
    clock.at_s += FRESH_S / 2
    sight.note(PlannedPass(three_nodes()), {}, ())
    assert await sight.entries() is first
    clock.at_s += FRESH_S
    assert await sight.entries() == {}


async def test_a_file_that_is_not_valid_is_named_until_a_pass_ends() -> None:
    sight = Sight(StillTime())
    sight.wait_for_file(("cluster.yaml:3: spec: it is missing",))
    assert sight.basis().waits == NO_FILE
    assert sight.basis().problems == ("cluster.yaml:3: spec: it is missing",)
    sight.note(cluster_pass(), {}, ())
    assert sight.basis().waits == ""


async def test_news_wake_whoever_waits() -> None:
    sight = Sight(StillTime())
    seen: list[int] = []

    async def wait() -> None:
        seen.append(await sight.changed(sight.version))

    async with anyio.create_task_group() as group:
        group.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        assert seen == []
        sight.take({"phase": "stop"})
    assert seen == [1]


async def test_a_fault_of_the_picture_leaves_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise IndexError("a secret")

    monkeypatch.setattr(PostgresClusterKind, "parts", fails)
    detail = await sight_of(cluster_pass()).detail("clusters", "main")
    assert detail is not None
    assert detail.places == ()
    assert detail.entry.condition == "converged"


async def test_a_fault_while_noting_never_reaches_the_pass() -> None:
    sight = Sight(StillTime())
    sight.take({"phase": "intent", "action": object(), "seq": object()})
    sight.note(None, {}, ())  # type: ignore[arg-type]
    assert sight.version == 2
