"""The data for decisions about one service, whether a cluster's or an application's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from queenright.core.observed import (
    ImageFound,
    ImageMissing,
    Known,
    LiveService,
    SwarmState,
    Unknown,
)

SETTLES = timedelta(seconds=5)
"""The time after a change of a service in which the state of its tasks is not yet final."""
UPDATE_LIMIT = timedelta(minutes=10)
"""An update of one task that is "updating" for longer than this is stuck, and may be replaced."""


Answers = dict[tuple[object, ...], tuple[object, Any]]
"""Answers by function and the identities of its arguments, which are kept beside the answer so that
no other object gets their identities."""


class Remembering(Protocol):
    """A value that never changes, and keeps what was derived from it."""

    @property
    def answers(self) -> Answers: ...


S = TypeVar("S", bound=Remembering)
P = ParamSpec("P")
T = TypeVar("T")


def answered_once(
    decide: Callable[Concatenate[S, P], T],
) -> Callable[Concatenate[S, P], T]:
    """``decide``, called once for one state and the same further arguments: several rules of a
    pass ask the same question. The arguments are values that never change."""

    def answer(state: S, /, *about: P.args, **named: P.kwargs) -> T:
        key: tuple[object, ...] = (decide, *map(id, about))
        if named:
            key = (*key, *((name, id(value)) for name, value in named.items()))
        kept = state.answers.get(key)
        if kept is None:
            kept = state.answers[key] = ((about, named), decide(state, *about, **named))
        found: T = kept[1]
        return found

    return answer


def is_under_way(live: LiveService) -> bool:
    return live.update_state in {"updating", "rollback_started"}


class ServiceContext(Protocol):
    """The swarm, the images that were looked up, and the pass's one moment."""

    @property
    def answers(self) -> Answers: ...

    @property
    def swarm(self) -> SwarmState: ...

    @property
    def images(self) -> Mapping[str, Known[ImageFound | ImageMissing] | Unknown]: ...

    @property
    def now(self) -> datetime: ...

    @property
    def seen_s_ago(self) -> Mapping[str, float]: ...
