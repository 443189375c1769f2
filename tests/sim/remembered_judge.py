"""Judges what is remembered: in every simulated pass it has to be what would be made anew.

Each answer that is given again is judged, where the operator's own rules made it. One that was just
made on views of the inputs can only be wrong by a view that differs from its input: of these the
first and then each fourth is judged. One that was made of the inputs themselves can't be wrong.
Production never makes both. The judge also finds a view of
the inputs that lacks something which the real ones have: there what is made fails on the view, and
not on the inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from queenright.core.kinds.ruleset import RULESET
from queenright.core.planning.faults import DocumentKey
from queenright.core.planning.plan import Plan
from queenright.engine.remembered import Inputs, Remembered, What


@dataclass
class Judged:
    """``wrong`` tells each answer that is not what is made anew, ``given_again`` counts those that
    were remembered, ``made`` those that were made on views."""

    wrong: list[str] = field(default_factory=list)
    failed_on_view: list[str] = field(default_factory=list)
    """Each answer that could be made from the real inputs only, and so is never remembered."""
    given_again: int = 0
    made: int = 0


MADE_ONE_IN = 4
"""One in so many answers that were just made is made once more, from the inputs themselves."""
_JUDGES: list[Judged] = []


def found_so_far() -> list[str]:
    """Return what the judges at work have found, which a fork has to bring home."""
    return [text for found in _JUDGES for text in (*found.wrong, *found.failed_on_view)]


@contextmanager
def judged_memory() -> Iterator[Judged]:
    """Judge every answer of every memory until the end of the block."""
    found, answer = Judged(), Remembered.answer

    def judged(
        self: Remembered,
        about: tuple[DocumentKey, What],
        given: tuple[object, ...],
        inputs: Inputs,
        make: Callable[[Inputs], Any],
        *,
        may_last: Callable[[Any], bool] = lambda _: True,
    ) -> Any:
        began: list[bool] = []
        failed: list[Exception] = []

        def watched(view: Inputs) -> Any:
            began.append(view is not inputs)
            try:
                return make(view)
            except Exception as error:
                failed.append(error)
                raise

        told = answer(self, about, given, inputs, watched, may_last=may_last)
        if failed and is_real(about, given):
            found.failed_on_view.append(f"{about}: fails where it is recorded only: {failed[0]!r}")
        found.made += any(began)
        found.given_again += not began
        is_turn = not began or (any(began) and found.made % MADE_ONE_IN == 1)
        if not is_real(about, given) or not is_turn:
            return told
        fresh = make(inputs)
        if all_of(told) != all_of(fresh):
            found.wrong.append(f"{about}: {told} is told, {fresh} is made anew")
        return told

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Remembered, "answer", judged)
        _JUDGES.append(found)
        try:
            yield found
        finally:
            _JUDGES.remove(found)


def is_real(about: tuple[DocumentKey, What], given: tuple[object, ...]) -> bool:
    """Return True unless rules or guards of a test are asked: these may copy what they see."""
    key, what = about
    if what == "plan":
        return given[-1] == RULESET.rules[key.kind]
    return what != "refusal" or given[-1] == RULESET.guards


def all_of(answer: object) -> object:
    """Return the answer with what its own comparison leaves out."""
    return (answer, answer.rules) if isinstance(answer, Plan) else answer
