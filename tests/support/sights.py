"""A sight of a few documents, as a pass leaves it, for the tests of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from queenright.core.kinds.registry import key_of
from queenright.core.observed import Observed
from queenright.core.planning.plan import Plan, Refusal
from queenright.engine.planning import PlannedObject, PlannedPass
from queenright.engine.sight import Sight
from tests.support.app_builders import (
    APP,
    app_plan,
    cluster_plan,
    desired_app,
    documents,
    known,
    served,
)
from tests.support.builders import MANIFEST, NOW, desired, document, plan_for, three_nodes

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&\u202e\x00"
"""A text that nobody may see as markup, nor turned around."""


@dataclass
class StillTime:
    """A clock that a test sets."""

    at_s: float = 0.0
    today: datetime = NOW

    def now(self) -> datetime:
        return self.today

    def monotonic_s(self) -> float:
        return self.at_s


def cluster_pass(
    seen: Observed | None = None, plan: Plan | None = None, text: str = MANIFEST
) -> PlannedPass:
    """A pass over the cluster ``main``."""
    seen = seen or three_nodes(text=text)
    wanted = desired(text, was_whole=True)
    view = PlannedObject(
        key_of(document(text)), document(text), wanted, plan or plan_for(seen, text)
    )
    return PlannedPass(seen, (view,))


def pass_with_app(seen: Observed | None = None, text: str = APP) -> PlannedPass:
    """A pass over the cluster and the application on it."""
    seen = seen or known(served(text))
    cluster, app = documents(text)
    views = (
        PlannedObject(key_of(cluster), cluster, desired(was_whole=True), cluster_plan(seen, text)),
        PlannedObject(key_of(app), app, desired_app(text), app_plan(seen, text)),
    )
    return PlannedPass(seen, views)


def sight_of(
    found: PlannedPass,
    refused: Mapping[str, Refusal] | None = None,
    problems: Sequence[object] = (),
    clock: StillTime | None = None,
) -> Sight:
    sight = Sight(clock or StillTime())
    sight.note(found, refused or {}, problems)
    return sight
