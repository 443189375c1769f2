"""Properties of the plan for any world."""

from __future__ import annotations

import dataclasses

from hypothesis import given, settings
from hypothesis import strategies as st

from queenright.core.actions import (
    AdjustService,
    CreateSecret,
    RemoveNetwork,
    RemoveService,
)
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.observed import Known, Node, Observed, Unknown
from queenright.core.planning.plan import Plan
from queenright.core.swarm.diff import diff, disrupts
from tests.fakes.service_templates import template_of
from tests.properties.worlds import DOCUMENTS, pairs, worlds
from tests.support.builders import MANIFEST, MEMBERS, bare_swarm, plan_for, swarm_of, three_nodes
from tests.support.changed import live, with_swarm
from tests.support.examples import EXAMPLES

"""The default run is the same each time; another number looks further."""

fast = settings(max_examples=EXAMPLES, deadline=None, derandomize=EXAMPLES <= 80)


def disruptions(plan: Plan) -> set[str]:
    return {action.disrupts for action in plan.actions if action.disrupts}


def lock_holders(observed: Observed) -> set[str]:
    return {
        name
        for name, reading in observed.members.items()
        if isinstance(reading, Known) and reading.value.holds_lock
    }


@given(st.sampled_from(MEMBERS), DOCUMENTS)
@settings(max_examples=30, deadline=None)
def test_a_converged_world_gives_an_empty_plan(leader: str, text: str) -> None:
    if "member:17" in text:
        return
    plan = plan_for(three_nodes(leader, text=text), text)
    assert plan.is_converged, (plan.actions, plan.holds)


@given(pairs(), DOCUMENTS)
@fast
def test_the_order_in_which_things_were_read_does_not_matter(
    pair: tuple[Observed, Observed], text: str
) -> None:
    first, second = (plan_for(observed, text) for observed in pair)
    assert set(first.holds) == set(second.holds)
    assert {action.key for action in first.actions} == {action.key for action in second.actions}
    assert first.id == second.id


@given(worlds(), DOCUMENTS)
@fast
def test_at_most_one_service_is_disrupted_and_never_the_leaders(
    observed: Observed, text: str
) -> None:
    found = disruptions(plan_for(observed, text))
    assert len(found) <= 1
    assert not found & lock_holders(observed)


@given(worlds(), DOCUMENTS)
@fast
def test_a_member_is_disrupted_only_where_every_other_is_well(
    observed: Observed, text: str
) -> None:
    for name in disruptions(plan_for(observed, text)) - {"main_proxy"}:
        for other, reading in observed.members.items():
            assert isinstance(reading, Known), f"{name} is disrupted while {other} is unknown"
            assert other == name or reading.value.is_well


@given(worlds(), DOCUMENTS, st.sampled_from([f"main_{name}" for name in MEMBERS]))
@fast
def test_knowing_less_never_disrupts_more(observed: Observed, text: str, name: str) -> None:
    unknown = {**observed.members, name: Unknown("timed out")}
    less = dataclasses.replace(observed, members=unknown)
    assert disruptions(plan_for(less, text)) <= disruptions(plan_for(observed, text)) | {
        "main_proxy"
    }
    nothing = dataclasses.replace(observed, swarm=Unknown("no answer"))
    assert plan_for(nothing, text).actions == ()


@given(worlds(), DOCUMENTS)
@fast
def test_nothing_is_removed_that_has_a_document(observed: Observed, text: str) -> None:
    for action in plan_for(observed, text).actions:
        assert not isinstance(action, RemoveService | RemoveNetwork)


@given(worlds(), DOCUMENTS)
@fast
def test_no_secret_of_the_data_is_made_where_data_may_be(observed: Observed, text: str) -> None:
    swarm = swarm_of(observed)
    started = swarm.config("main_cluster") or any(swarm.service(f"main_{name}") for name in MEMBERS)
    made = {a.secret.name for a in plan_for(observed, text).actions if isinstance(a, CreateSecret)}
    assert not (started and made - {"pg_rest_pw"})


@given(worlds(), DOCUMENTS)
@fast
def test_an_adjustment_never_touches_the_task_template(observed: Observed, text: str) -> None:
    for action in plan_for(observed, text).actions:
        if isinstance(action, AdjustService):
            present = live(observed, action.service.name).value
            assert not disrupts(diff(action.service, present))
            assert template_of(action.service) == template_of(present)


@given(worlds(), DOCUMENTS)
@fast
def test_the_guards_agree_with_the_rules(observed: Observed, text: str) -> None:
    """A plan that the rules make is never refused: a refusal would stand for ever."""
    plan = plan_for(observed, text)
    refusal = first_refusal(plan, observed)
    assert refusal is None, (refusal, plan.actions)


@given(worlds(), DOCUMENTS)
@fast
def test_every_step_says_why(observed: Observed, text: str) -> None:
    plan = plan_for(observed, text)
    for step in (*plan.actions, *plan.holds):
        assert step.reason
        assert "\n" not in step.reason
    keys = [action.key for action in plan.actions]
    assert len(keys) == len(set(keys)), "no action twice"


@given(st.permutations(swarm_of(bare_swarm()).nodes))
@settings(max_examples=24, deadline=None)
def test_a_first_deployment_is_the_same_plan_in_whatever_order_nodes_are_read(
    found: list[Node],
) -> None:
    mixed = with_swarm(bare_swarm(), nodes=tuple(found))
    assert plan_for(mixed).id == plan_for(bare_swarm()).id


def test_the_empty_plan_is_the_same_plan() -> None:
    assert plan_for(three_nodes()).id == plan_for(three_nodes("member-1"), MANIFEST).id
