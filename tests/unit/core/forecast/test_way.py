"""The way of documents: waits, ends, documents that rest on others, and those that are gone."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import timedelta

from queenright.core.actions import AnyAction, UpdateService
from queenright.core.forecast.effects import after
from queenright.core.forecast.tasks import Change
from queenright.core.forecast.way import Forecast, Wait, Way
from queenright.core.kinds.kind import Desired
from queenright.core.observed import Known, Observed, Unknown
from queenright.core.planning.faults import DocumentKey
from queenright.core.planning.plan import Hold, Plan
from queenright.core.swarm.objects import DELETION_POLICY_LABEL
from tests.support.builders import MANIFEST, NOW, document, manifest, three_nodes
from tests.support.topology_worlds import deployed, text_of

GRACE = manifest(stopGracePeriod="90s")
KEY = DocumentKey("PostgresCluster", "main")


def way(observed: Observed, text: str) -> Way:
    (found,) = Forecast([document(text)], observed, NOW).ways()
    return found


def keys(found: Way) -> list[str]:
    return [step.action.key for step in found.actions]


def test_the_leader_restarts_last_and_after_a_switchover() -> None:
    found = way(three_nodes(), GRACE)
    disrupting = [step.action.key for step in found.actions if step.action.disrupts]
    assert disrupting == [
        "update-service/main_member-2",
        "update-service/main_member-3",
        "switchover/main",
        "update-service/main_member-1",
    ]
    assert found.is_whole
    rounds = [step.round for step in found.actions if step.action.disrupts]
    assert len({*rounds}) == 4, "one disruption a pass"


def test_a_converged_cluster_has_no_step() -> None:
    found = way(three_nodes(), MANIFEST)
    assert (found.steps, found.is_whole) == ((), True)


def test_a_wait_for_time_is_told_before_its_step() -> None:
    found = way(deployed(1, 2, 3), text_of(1, 2, 3, 4, 5))
    waits = [step for step in found.steps if isinstance(step, Wait)]
    assert [wait.hold.key for wait in waits] == ["create-service/main_member-5"]
    assert timedelta(seconds=30) < waits[0].longest <= timedelta(seconds=90)
    copies = {step.action.key: step.copies_from for step in found.actions if step.copies_from}
    assert copies == {
        "create-service/main_member-4": "member-1",
        "create-service/main_member-5": "member-1",
    }


def test_a_pause_of_a_day_is_waited_for_and_one_of_a_week_stops() -> None:
    def paused(hours: int) -> Way:
        until = f"{NOW + timedelta(hours=hours):%Y-%m-%dT%H:%MZ}"
        text = manifest(stopGracePeriod="90s", reconcile=f"{{state: paused, until: {until}}}")
        return way(three_nodes(), text)

    assert "update-service/main_member-2" in keys(paused(20))
    assert isinstance(paused(20).steps[0], Wait)
    week = paused(24 * 7)
    assert week.steps == ()
    assert any(hold.key == "reconcile/main" for hold in week.stops)


def test_an_unknown_member_stops_it_with_its_holds() -> None:
    found = way(three_nodes(unknown=["member-3"]), GRACE)
    assert found.steps == ()
    assert "update-service/main_member-2" in {hold.key for hold in found.stops}


def test_a_swarm_that_was_not_read_is_what_stops_it() -> None:
    found = way(Observed(Unknown("no answer")), GRACE)
    assert [hold.key for hold in found.stops] == ["preflight/swarm"]


def test_an_effect_that_is_not_modelled_ends_the_forecast_in_words() -> None:
    def forgetful(
        action: AnyAction,
        observed: Observed,
        desired: Mapping[DocumentKey, Desired],
        change: Change,
    ) -> Observed:
        if isinstance(action, UpdateService):
            return observed
        return after(action, observed, desired, change)

    (found,) = Forecast([document(GRACE)], three_nodes(), NOW, effect=forgetful).ways()
    assert not found.is_whole
    assert found.ends.startswith("update-service/main_member-2 comes again and again")
    assert keys(found) == ["update-service/main_member-2"] * 4


def test_a_document_that_can_not_be_planned_has_its_holds_and_no_steps() -> None:
    odd = Plan("main", "", holds=(Hold("unreadable/main", "a config can't be read"),))
    forecast = Forecast([document(GRACE)], three_nodes(), NOW, stopped={KEY: odd})
    (found,) = forecast.ways()
    assert (found.steps, found.stops) == ((), odd.holds)


def test_a_cluster_whose_document_is_gone_is_removed_after_a_minute_if_asked() -> None:
    def without_document(policy: str) -> Way:
        seen = three_nodes(text=manifest(deletionPolicy=policy))
        assert isinstance(seen.swarm, Known)
        labels = [live.value.labels for live in seen.swarm.value.configs]
        assert any(found.get(DELETION_POLICY_LABEL) == policy for found in labels)
        (found,) = Forecast([], seen, NOW).ways()
        return found

    removed = without_document("remove")
    assert removed.is_whole
    assert "remove-service/main_member-1" in keys(removed)
    assert any(isinstance(step, Wait) for step in removed.steps)
    assert not any(key.startswith("remove-service/") for key in keys(without_document("retain")))


def test_the_observation_that_was_given_is_not_changed() -> None:
    seen = three_nodes()
    before = dataclasses.replace(seen)
    way(seen, GRACE)
    assert seen == before
