"""The replicas to which the edge sends requests, whatever DNS and they answer."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from images.edge.queenright_edge.ready import (
    SILENT_MOST,
    Answer,
    Replica,
    State,
    judged,
    listed_now,
    serving,
)

A, B, C = "10.0.1.2", "10.0.1.3", "10.0.1.4"
READY, UNREADY, REFUSED, SILENT = (
    Answer.READY,
    Answer.NOT_READY,
    Answer.REFUSED,
    Answer.SILENT,
)


def after(*rounds: Mapping[str, Answer]) -> tuple[str, ...]:
    """Return the serving replicas after these rounds; each lists the replicas asked."""
    known: dict[str, Replica] = {}
    for answers in rounds:
        known = judged(known, listed_now(known, frozenset(answers)), answers)
    return serving(known)


@pytest.mark.parametrize(
    ("rounds", "served"),
    [
        ([{A: READY, B: READY}], (A, B)),
        ([{A: READY, B: UNREADY}], (A,)),
        ([{A: READY, B: READY}, {A: READY, B: UNREADY}], (A,)),
        ([{A: READY, B: READY}, {A: READY, B: REFUSED}], (A,)),
        # Silence once is no news; twice it is.
        ([{A: READY, B: READY}, {A: READY, B: SILENT}], (A, B)),
        ([{A: READY, B: READY}, {A: READY, B: SILENT}, {A: READY, B: SILENT}], (A,)),
        ([{A: READY, B: READY}, {B: SILENT, A: READY}, {B: READY, A: READY}], (A, B)),
        # Nobody is ready: they can say themselves what is wrong.
        ([{A: READY, B: READY}, {A: UNREADY, B: UNREADY}], (A, B)),
        ([{A: UNREADY, B: REFUSED}], (A,)),
        # Nobody is there: one door to wait at.
        ([{A: READY, B: READY}, {A: REFUSED, B: REFUSED}], (A,)),
        # A newcomer that has not answered gets nothing, not even when it is all there is.
        ([{A: READY}, {A: READY, B: SILENT}], (A,)),
        ([{B: SILENT}], ()),
        # Who has left DNS is dropped, ready or not.
        ([{A: READY, B: READY}, {B: READY}], (B,)),
        ([{A: READY, B: READY}, {C: READY}], (C,)),
    ],
)
def test_who_serves(rounds: list[Mapping[str, Answer]], served: tuple[str, ...]) -> None:
    assert after(*rounds) == served


@pytest.mark.parametrize("nothing", [None, frozenset[str]()])
def test_a_name_that_dns_has_lost_is_no_news(nothing: frozenset[str] | None) -> None:
    known = {A: Replica(State.READY), B: Replica(State.DOWN)}
    assert listed_now(known, nothing) == {A, B}
    assert serving(judged(known, listed_now(known, nothing), {A: READY, B: REFUSED})) == (A,)


answers = st.dictionaries(st.sampled_from([A, B, C]), st.sampled_from(Answer))


@settings(deadline=None)
@given(st.lists(answers, min_size=1, max_size=12))
def test_whoever_serves_was_listed_and_has_answered(history: list[dict[str, Answer]]) -> None:
    known: dict[str, Replica] = {}
    heard: set[str] = set()
    for found in history:
        known = judged(known, listed_now(known, frozenset(found)), found)
        heard |= {
            address
            for address, answer in found.items()
            if answer is not SILENT or known[address].silent >= SILENT_MOST
        }
        served = serving(known)
        assert {*served} <= {*known}
        assert {*served} <= heard
        if ready := {a for a, replica in known.items() if replica.state is State.READY}:
            assert {*served} == ready


@settings(deadline=None)
@given(answers, answers)
def test_the_last_word_counts(first: dict[str, Answer], last: dict[str, Answer]) -> None:
    """Ready and not ready take effect at once, whatever was before."""
    known = judged(judged({}, first, first), last, last)
    for address, answer in last.items():
        if answer is READY:
            assert known[address].state is State.READY
        elif answer in {UNREADY, REFUSED}:
            assert known[address].state is not State.READY
