"""The rounds of power losses, and the judgement of their figures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.power_losses.judge import (
    Figures,
    line,
    newly_lost,
    other_rows,
    table,
    why_no_amount,
)
from tests.power_losses.script import FIRST_BY_S, LAST_BY_S, ROLES, VARIANTS, Round, rounds
from tests.soak.judge import Acknowledged

BY_NAME = {variant.name: variant for variant in VARIANTS}


def one(name: str = "plain") -> Round:
    return rounds(1, 1, [name])[0]


def figures(name: str = "plain", **fields: object) -> Figures:
    usual = Figures(one(name), 9.0, 14.0, 200, 0, 0)
    return replace(usual, **fields)  # type: ignore[arg-type]


def test_a_seed_makes_the_same_rounds_and_takes_all_variants_in_turn() -> None:
    first = rounds(1, 100)
    assert first == rounds(1, 100)
    assert first != rounds(2, 100)
    assert first[60:] == rounds(1, 100, first=60)
    assert [one.variant for one in first[:21]] == list(VARIANTS)
    assert len(VARIANTS) == 21 == len(BY_NAME)


def test_the_nodes_lose_power_and_come_back_in_every_order() -> None:
    many = rounds(3, 200)
    cuts = {tuple(role for role, _ in one.cut_after) for one in many}
    starts = {tuple(role for role, _ in one.start_after) for one in many}
    assert len(cuts) == len(starts) == 6
    assert all(one.cut_after[0][1] == 0 and one.cut_after[-1][1] <= 1 for one in many)
    assert {one.cut_after[-1][1] > 0 for one in many} == {True, False}
    assert {one.with_manager for one in many} == {True, False}


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_a_round_does_what_its_variant_says(variant: object) -> None:
    for plan in (plan for plan in rounds(5, 100) if plan.variant is variant):
        assert len({*plan.damaged}) == plan.variant.damaged
        assert {*plan.damaged} <= {*ROLES}
        expected = {*ROLES} - {plan.variant.away}
        assert {role for role, _ in plan.returning} == expected
        if plan.variant.first:
            role, at = plan.start_after[0]
            assert (role, at) == (plan.variant.first, 0)
            assert all(later >= FIRST_BY_S for _, later in plan.start_after[1:])
        if plan.variant.last:
            role, at = plan.start_after[-1]
            assert role == plan.variant.last
            assert at >= LAST_BY_S


def test_an_unknown_variant_is_refused() -> None:
    with pytest.raises(ValueError, match="no such variant: flood"):
        rounds(1, 1, ["plain", "flood"])


@pytest.mark.parametrize(
    ("name", "fields", "fault"),
    [
        ("plain", {}, ""),
        ("plain", {"wrong": "waited"}, "not whole: waited"),
        ("plain", {"lost": 3}, "3 rows lost"),
        ("plain", {"beside": 2}, "2 rows by two at once"),
        ("plain", {"held": "accept"}, "a person was needed: accept"),
        ("plain", {"differs": ("member-2 (lacks 1)",)}, "other rows than the leader: member-2"),
        ("leader-late", {"lost": 3}, ""),
        ("leader-late", {"beside": 3}, "3 rows by two at once"),
        ("newest-gone", {"held": "accept", "lost": 90}, ""),
        ("newest-gone", {"lost": 90}, "a leader without its owner's word"),
    ],
)
def test_a_promise_that_is_broken_is_named(
    name: str, fields: dict[str, object], fault: str
) -> None:
    found = figures(name, **fields)
    assert bool(found.faults) == bool(fault)
    assert fault in " ".join(found.faults)
    assert ("BROKEN" in line(found)) == bool(fault)


def test_a_row_is_lost_once() -> None:
    told = [Acknowledged("w", number, 0.0, 1) for number in range(5)]
    rows = frozenset(("w", number) for number in (0, 1))
    lost = newly_lost(told, rows, frozenset())
    assert lost == {("w", 2), ("w", 3), ("w", 4)}
    assert newly_lost(told, rows, lost) == frozenset()


def test_a_replica_with_other_rows_is_named() -> None:
    rows = frozenset(("w", number) for number in range(5))
    held = {"member-1": rows, "member-2": rows, "member-3": rows - {("w", 1)} | {("x", 1)}}
    assert other_rows(held, "member-1") == ("member-3 (lacks 1, has 1 others)",)
    assert other_rows(held | {"member-3": rows}, "member-1") == ()


def test_a_hold_has_to_tell_the_field_and_the_amount() -> None:
    field = "acceptLoss: {leader: member-2, timeline: 4} in the file"
    amount = "with member-2 (…) what only member-1 has (at least 800 bytes) is lost"
    assert why_no_amount(f"{field}; {amount}", "member-2", "member-1") == ""
    assert "how to accept" in why_no_amount(amount, "member-2", "member-1")
    nothing = "with member-2 (…) what only member-1 has is lost"
    assert "how many bytes" in why_no_amount(f"{field}; {nothing}", "member-2", "member-1")
    assert "only member-3 has" in why_no_amount(f"{field}; {amount}", "member-2", "member-3")


def test_the_table_counts_what_came_back_by_itself() -> None:
    found = [
        figures(),
        figures(whole_s=31.0, lost=1),
        figures("newest-gone", held="accept", lost=80),
        figures("cut-3", wrong="waited"),
    ]
    text = table(found)
    assert "| as they were | 2 | 1 | 9 s | 14-31 s | 400 | 1 | 0 |" in text
    assert "| all Raft journals cut in half | 1 | 0 | - | - | 200 | 0 | 0 |" in text
    assert "4 power losses: 1 came back without a person, 1 held" in text
    assert "2 broke a promise" in text
