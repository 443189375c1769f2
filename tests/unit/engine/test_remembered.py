"""An answer is given again while its inputs are equal, and made anew otherwise."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import timedelta

import pytest

from queenright.core.kinds.registry import key_of
from queenright.core.observed import Attempt, Engine, Known, MemberStatus, Observed, SwarmState
from queenright.core.planning.plan import Plan
from queenright.engine.remembered import Inputs, Remembered
from tests.fakes.loading import judged
from tests.support.builders import NOW
from tests.support.many_clusters import texts_of

DOCUMENTS = judged(texts_of(1)).documents
KEY = key_of(DOCUMENTS[0])
STATUS = MemberStatus("running", "primary", 1)
SEEN = Observed(Known(SwarmState(Engine(""))), members={"one": Known(STATUS)})
INPUTS = Inputs(SEEN, DOCUMENTS, NOW)


class Made:
    """Counts how often an answer is made."""

    def __init__(self, make: Callable[[Inputs], object]) -> None:
        self.count = 0
        self._make = make

    def __call__(self, given: Inputs) -> object:
        self.count += 1
        return self._make(given)


def role(given: Inputs) -> object:
    found = given.observed.members["one"]
    return found.value.role if isinstance(found, Known) else None


def test_an_answer_is_given_again_while_what_it_read_is_equal() -> None:
    memory, made = Remembered(), Made(role)
    moved = dataclasses.replace(STATUS, location=9)
    later = Inputs(dataclasses.replace(SEEN, members={"one": Known(moved)}), (), NOW)
    for inputs in (INPUTS, INPUTS, later):
        assert memory.answer((KEY, "plan"), ("rules",), inputs, made) == "primary"
    assert made.count == 1


@pytest.mark.parametrize(
    ("given", "inputs"),
    [
        (("other rules",), INPUTS),
        (("rules", "more"), INPUTS),
        (("rules",), Inputs(dataclasses.replace(SEEN, members={}), DOCUMENTS, NOW)),
    ],
)
def test_another_input_makes_another_answer(given: tuple[object, ...], inputs: Inputs) -> None:
    def found(view: Inputs) -> object:
        return len(view.observed.members)

    memory, made = Remembered(), Made(found)
    memory.answer((KEY, "plan"), ("rules",), INPUTS, made)
    assert memory.answer((KEY, "plan"), given, inputs, made) == len(inputs.observed.members)
    assert made.count == 2


def test_each_document_and_each_kind_of_answer_has_its_own() -> None:
    memory, made = Remembered(), Made(role)
    other = key_of(DOCUMENTS[1])
    memory.answer((KEY, "plan"), (), INPUTS, made)
    memory.answer((KEY, "refusal"), (), INPUTS, made)
    memory.answer((other, "plan"), (), INPUTS, made)
    assert made.count == 3
    memory.forget_others({other})
    memory.answer((other, "plan"), (), INPUTS, made)
    assert made.count == 3
    memory.answer((KEY, "plan"), (), INPUTS, made)
    assert made.count == 4


@pytest.mark.parametrize(
    "reads_time",
    [
        lambda given: given.now.isoformat(),
        lambda given: given.observed.attempts["one"].count,
        lambda given: given.observed.touched_s_ago["one"],
    ],
)
def test_what_has_the_time_in_it_is_made_in_each_pass(
    reads_time: Callable[[Inputs], object],
) -> None:
    memory, made = Remembered(), Made(reads_time)
    seen = dataclasses.replace(SEEN, attempts={"one": Attempt(1, 2.0)}, touched_s_ago={"one": 3.0})
    for _ in range(2):
        memory.answer((KEY, "plan"), (), Inputs(seen, (), NOW), made)
    assert made.count == 2
    assert not memory.kept


def test_an_answer_that_may_not_last_is_made_in_each_pass() -> None:
    memory, made = Remembered(), Made(role)
    for _ in range(2):
        memory.answer((KEY, "plan"), (), INPUTS, made, may_last=lambda _: False)
    assert made.count == 2


def test_after_an_answer_that_could_not_be_kept_the_next_one_is_made_without_a_record() -> None:
    memory, lasts = Remembered(), [False, False, True, True]
    seen: list[bool] = []

    def found(given: Inputs) -> object:
        seen.append(given is INPUTS)
        return role(given)

    def may_last(_: object) -> bool:
        return lasts[len(seen) - 1]

    for _ in range(5):
        memory.answer((KEY, "plan"), (), INPUTS, found, may_last=may_last)
    assert seen == [False, True, True, False], "recorded again once an answer may last, then kept"


def test_a_document_that_is_gone_leaves_nothing_behind() -> None:
    memory = Remembered()
    memory.answer((KEY, "plan"), (), INPUTS, role, may_last=lambda _: False)
    memory.forget_others(())
    assert not memory.passing


def test_only_the_very_answer_that_is_kept_counts_as_kept() -> None:
    memory = Remembered()
    kept, passing = Plan("main", ""), Plan("main", "")
    assert not memory.keeps((KEY, "plan"), kept)
    memory.answer((KEY, "plan"), (), INPUTS, lambda _: kept)
    assert memory.keeps((KEY, "plan"), kept)
    assert not memory.keeps((KEY, "plan"), passing)


def test_a_comparison_of_the_time_lasts_until_its_answer_changes() -> None:
    memory = Remembered()
    made = Made(lambda given: given.now < NOW + timedelta(hours=1))
    for minutes, is_early in ((0, True), (59, True), (60, False), (61, False)):
        inputs = Inputs(SEEN, (), NOW + timedelta(minutes=minutes))
        assert memory.answer((KEY, "plan"), (), inputs, made) is is_early
    # at the very hour it is not known on which side a clock will be
    assert made.count == 3


def test_what_fails_on_a_view_is_made_from_the_inputs() -> None:
    def picky(given: Inputs) -> object:
        if type(given.observed.members) is not dict:
            raise TypeError("not a dict")
        return "made"

    memory = Remembered()
    assert memory.answer((KEY, "plan"), (), INPUTS, picky) == "made"
    assert not memory.kept


def test_what_fails_on_the_inputs_too_fails() -> None:
    def broken(_: Inputs) -> Plan:
        raise ValueError("a fault")

    with pytest.raises(ValueError, match="a fault"):
        Remembered().answer((KEY, "plan"), (), INPUTS, broken)


def test_the_claims_of_documents_are_read_label_by_label() -> None:
    memory = Remembered()
    label = next(iter({("c0000-node1", "c0000-member")}))
    made = Made(lambda given: label in given.claimed(key_of(DOCUMENTS[-1])))

    def answer() -> object:
        others, claims = memory.claims_among(documents)
        inputs = Inputs(SEEN, documents, NOW, {}, claims, others)
        return memory.answer((KEY, "plan"), (), inputs, made)

    documents = tuple(DOCUMENTS)
    before = answer()
    documents = tuple(DOCUMENTS)
    assert answer() == before
    assert made.count == 1


def test_claims_stay_until_an_edit_changes_one() -> None:
    texts = texts_of(11)
    path = "/etc/queenright/a0010.yaml"
    memory, before = Remembered(), judged(texts).documents
    _, claims = memory.claims_among(before)
    assert len(claims) == 2
    replicas = texts[path] + "  replicas: 1\n"
    for text, stays in (
        (replicas, True),
        (replicas.replace("cluster: c0010", "cluster: c0009"), False),
        (texts[path], False),
    ):
        after = judged({**texts, path: text}).documents
        _, found = memory.claims_among(after)
        assert found == Remembered().claims_among(after)[1]
        assert (found is claims) == stays
        claims = found
    _, found = memory.claims_among(after[1:])
    assert found == Remembered().claims_among(after[1:])[1]


def test_an_unchanged_swarm_is_one_object() -> None:
    memory, first = Remembered(), SwarmState(Engine("a"), unreadable=())
    found = memory.in_order(first)
    assert memory.in_order(SwarmState(Engine("a"))) is found
    assert memory.in_order(SwarmState(Engine("b"))) is not found
