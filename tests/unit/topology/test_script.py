"""The topology script's edits."""

from __future__ import annotations

import random

import pytest

from tests.topology.script import (
    FIRST,
    MANAGER,
    OTHERS,
    PREFERRED,
    STEPS,
    Edit,
    Members,
    Place,
    Step,
    chosen_steps,
    edit_of,
    line_of,
    most_nodes,
)

NODES = [f"node{number}" for number in range(1, 8)]
BY_NAME = {step.name: step for step in STEPS}


def first(count: int) -> Members:
    return dict(list(FIRST.items())[:count])


def edited(step: Step, members: Members, leader: str = "member-2", seed: int = 1) -> Edit:
    free = sorted({*NODES} - {place.node for place in members.values()})
    return edit_of(step, members, leader, free, random.Random(seed))


def moved(edit: Edit, members: Members) -> set[str]:
    return {n for n, place in edit.after.items() if n in members and place != members[n]}


def test_without_names_all_steps_come_each_with_as_many_members_as_it_needs() -> None:
    assert chosen_steps([]) == [*STEPS]
    assert [step.name for step in chosen_steps(["rename", "address"])] == ["address", "rename"]
    assert chosen_steps(["two-dead", "shrink", "rename"])[0].members == 5


@pytest.mark.parametrize(
    ("names", "wrong"),
    [(["grow", "rename"], "rename: needs 3"), (["growth"], "no such step: growth")],
)
def test_steps_that_do_not_fit_are_refused(names: list[str], wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        chosen_steps(names)


def test_only_two_dead_nodes_of_five_need_a_seventh_node() -> None:
    assert most_nodes(STEPS) == 7
    assert most_nodes([step for step in STEPS if step.name != "two-dead"]) <= 6


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_each_edit_has_its_members_on_nodes_of_their_own(step: Step, seed: int) -> None:
    members = first(step.members)
    edit = edited(step, members, seed=seed)
    assert edit == edited(step, members, seed=seed), "a seed decides the edit"
    nodes = [place.node for place in edit.after.values()]
    assert len({*nodes}) == len(nodes) == {"grow": 5, "shrink": 3}.get(step.name, step.members)
    assert not {*edit.dead} & {MANAGER, *nodes}
    assert [place.priority for place in edit.after.values()].count(PREFERRED) <= 1
    if step.name != "move-leader":
        assert edit.after["member-2"].node == members["member-2"].node, "the leader stays"


def test_each_step_does_what_its_title_says() -> None:
    five, three = first(5), first(3)
    edit = edited(BY_NAME["two-dead"], five)
    assert len(edit.dead) == len(moved(edit, five)) == 2
    assert {five[name].node for name in moved(edit, five)} == {*edit.dead}
    assert moved(edited(BY_NAME["move-leader"], three), three) == {"member-2"}
    by_itself = edited(BY_NAME["dead-by-itself"], three)
    assert [by_itself.after[name].node for name in moved(by_itself, three)] == [*by_itself.spares]
    renamed = edited(BY_NAME["rename"], three).after
    assert {p.node for p in renamed.values()} == {p.node for p in three.values()}
    assert renamed.keys() - three.keys() == {"member-4"}
    assert edited(BY_NAME["address"], three).readdressed in {"node2", "node4"}
    after = edited(BY_NAME["priority"], three).after
    assert after["member-1"].priority == OTHERS
    assert PREFERRED in {place.priority for place in after.values()}


def test_the_manager_gets_a_member_last_and_loses_it_first() -> None:
    members = {**first(4), "member-5": Place(MANAGER)}
    assert MANAGER not in {p.node for p in edited(BY_NAME["shrink"], members).after.values()}
    for seed in range(20):
        after = edited(BY_NAME["grow"], first(3), seed=seed).after
        assert MANAGER not in {place.node for place in after.values()}


def test_a_line_has_only_the_fields_that_differ_from_the_defaults() -> None:
    assert line_of("a", Place("node2")) == "name: a, node: node2"
    assert line_of("a", Place("node2", "10.0.0.1", 3)).endswith(
        "address: 10.0.0.1, failoverPriority: 3"
    )
