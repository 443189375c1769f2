"""The next step by the lease and by ages, and the labels."""

from __future__ import annotations

import pytest

from queenright.core.planning.lease import (
    KEPT_S,
    LEASE_S,
    MARGIN_S,
    OFFER_AFTER_S,
    OFFERED,
    RENEW_S,
    WAIT_S,
    Ages,
    Lease,
    Step,
    StoredLease,
    decide,
    labels_of,
    lease_of,
    may_act,
    offers,
    shares_lock,
)

OWN = Lease(process="own", host="node1")
MINE = StoredLease("c", 5, OWN)
OTHERS = StoredLease("c", 5, Lease(process="other", host="node2"))
FREE = StoredLease("c", 5, Lease(host="node2"))
NEVER = None


@pytest.mark.parametrize(
    ("seen", "renewed_s", "unchanged_s", "step"),
    [
        (MINE, 0.0, 0.0, Step.ACT),
        (MINE, RENEW_S, 0.0, Step.RENEW),
        (MINE, LEASE_S + 60, 0.0, Step.RENEW),
        (MINE, NEVER, 0.0, Step.RENEW),  # the answer to its own write was lost
        (OTHERS, 1.0, 0.0, Step.STOP),
        (OTHERS, LEASE_S + 60, WAIT_S + 60, Step.STOP),
        (OTHERS, NEVER, 0.0, Step.STAND_BY),
        (OTHERS, NEVER, LEASE_S, Step.STAND_BY),
        (OTHERS, NEVER, WAIT_S - 0.01, Step.STAND_BY),
        (OTHERS, NEVER, WAIT_S, Step.TAKE),
        (FREE, NEVER, 0.0, Step.TAKE),
        (FREE, 1.0, 0.0, Step.STOP),
        (None, NEVER, WAIT_S - 0.01, Step.STAND_BY),  # somebody removed it; another may act
        (None, NEVER, WAIT_S, Step.TAKE),
        (None, 1.0, 0.0, Step.TAKE),  # it makes its own again
        (None, LEASE_S, 0.0, Step.STAND_BY),
    ],
)
def test_the_next_step(
    seen: StoredLease | None, renewed_s: float | None, unchanged_s: float, step: Step
) -> None:
    assert decide(seen, OWN, Ages(renewed_s, unchanged_s)) is step


WANTED = StoredLease("c", 5, Lease(host="node2", wanted="third"))
OFFER = StoredLease("c", 5, Lease(process="other", host="node2", offered=OFFERED))
ASKED = StoredLease("c", 5, Lease(process="other", offered=OFFERED, wanted="third"))


@pytest.mark.parametrize(
    ("seen", "unchanged_s", "may_ask", "step"),
    [
        (OFFER, 0.0, True, Step.ASK),
        (OFFER, 0.0, False, Step.STAND_BY),
        (OFFER, RENEW_S, True, Step.STAND_BY),  # its holder may be gone
        (OFFER, WAIT_S, True, Step.TAKE),
        (ASKED, 0.0, True, Step.STAND_BY),  # for somebody else
        (OTHERS, 0.0, True, Step.STAND_BY),
        (WANTED, 0.0, True, Step.STAND_BY),
        (WANTED, KEPT_S, True, Step.TAKE),
        (StoredLease("c", 5, Lease(host="node2", wanted="own")), 0.0, True, Step.TAKE),
        (StoredLease("c", 5, Lease(process="other", wanted="own")), 0.0, True, Step.STAND_BY),
    ],
)
def test_an_offered_lease_is_asked_for_and_kept_for_the_one_that_asked(
    seen: StoredLease, unchanged_s: float, *, may_ask: bool, step: Step
) -> None:
    assert decide(seen, OWN, Ages(None, unchanged_s), may_ask=may_ask) is step


@pytest.mark.parametrize(
    ("leads_s", "acts_s", "offered"),
    [
        (None, None, False),
        (None, 999.0, False),
        (999.0, None, False),
        (OFFER_AFTER_S, OFFER_AFTER_S - 1, False),
        (OFFER_AFTER_S - 1, OFFER_AFTER_S, False),
        (OFFER_AFTER_S, OFFER_AFTER_S, True),
    ],
)
def test_a_lease_is_offered_where_raft_is_led(
    leads_s: float | None, acts_s: float | None, *, offered: bool
) -> None:
    assert offers(leads_s, acts_s) is offered


def test_the_first_operator_of_a_swarm_waits_for_nobody() -> None:
    assert decide(None, OWN, Ages(None, 0.0), is_first_look=True) is Step.TAKE
    assert decide(OTHERS, OWN, Ages(None, 0.0), is_first_look=True) is Step.STAND_BY


def test_a_holder_that_has_provably_ended_is_not_waited_for() -> None:
    assert decide(OTHERS, OWN, Ages(None, 0.0), has_ended=True) is Step.TAKE


def test_a_renewal_is_due_at_once_before_a_disruption() -> None:
    assert decide(MINE, OWN, Ages(0.1, 0.0), renew_s=0.0) is Step.RENEW


@pytest.mark.parametrize(
    ("renewed_s", "allowed"),
    [(None, False), (0.0, True), (LEASE_S - 0.01, True), (LEASE_S, False), (-1.0, False)],
)
def test_an_operator_acts_for_the_lease_alone(renewed_s: float | None, allowed: bool) -> None:
    assert may_act(renewed_s) is allowed


def test_another_one_waits_longer_than_the_lease_lasts() -> None:
    assert MARGIN_S > 0
    assert WAIT_S >= LEASE_S + MARGIN_S
    assert 2 * RENEW_S < LEASE_S  # one lost renewal stops nothing


def test_the_labels_are_read_back() -> None:
    lease = Lease("p", "h", "k", "1.2:3:4", "8:1", "c/1/f", "7")
    assert lease_of(labels_of(lease)) == lease
    assert lease_of({"other": "label"}) == Lease(term="")


@pytest.mark.parametrize(("term", "after"), [("0", "1"), ("9", "10"), ("", "1"), ("x", "1")])
def test_terms_count_the_takes(term: str, after: str) -> None:
    assert Lease(term=term).next_term == after


def test_a_lock_proves_only_in_the_same_kernel() -> None:
    own = Lease(kernel="k", lock="8:1")
    assert shares_lock(own, Lease(kernel="k", lock="8:1"))
    assert not shares_lock(own, Lease(kernel="other", lock="8:1"))
    assert not shares_lock(own, Lease(kernel="k", lock="8:2"))
    assert not shares_lock(Lease(kernel="k"), Lease(kernel="k"))
    assert not shares_lock(Lease(lock="8:1"), Lease(lock="8:1"))
