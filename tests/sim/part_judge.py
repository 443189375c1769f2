"""Judges passes over some documents: each plan is that of the whole observation, and rests on
answers that were asked for it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio

from queenright.core.kinds.members import with_members
from queenright.core.manifest.document import Document
from queenright.core.observed import Known, Observed
from queenright.core.planning.plan import Plan
from queenright.engine import part
from queenright.engine.faults import Faults
from queenright.engine.observe import Look, observe
from queenright.engine.observe_cluster import accesses
from queenright.engine.planning import PlannedObject, Planning
from queenright.engine.remembered import Remembered
from tests.fakes.fake_patroni import FakePatroni
from tests.sim.remembered_judge import all_of

ANSWERS = ("members", "raft", "settings", "catalogs", "archiving", "history", "holders")
"""Fields of an observation whose keys begin with the cluster that was asked."""
VIEWS_OF = part.views_of
Observe = Callable[..., Any]


@dataclass
class PartJudge:
    """Observes the whole world beside each part, and plans its documents from that, with the part's
    own answers about these. ``observing`` is what the part asks by."""

    observing: Observe = observe
    wrong: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    planned: list[str] = field(default_factory=list)
    """The document of each plan."""
    acted_on: dict[str, int] = field(default_factory=dict)
    """The plans with actions of each document."""
    whole: Look = field(init=False)

    async def observe(
        self, ports: Any, documents: Sequence[Document], *rest: Any, **how: Any
    ) -> Look:
        began_s, calls = anyio.current_time(), ports.swarm.api_calls
        found: Look = await self.observing(ports, documents, *rest, **how)
        if ports.swarm.api_calls == calls:
            self.stale.append("the swarm was not read")
        self.date(ports.patroni, found, began_s)
        whole = await observe(ports, documents, *rest)
        self.whole = Look(overlaid(whole, found), {**whole.desired, **found.desired})
        return found

    def date(self, patroni: FakePatroni, found: Look, began_s: float) -> None:
        """Note each member whose answer was not asked for in this look."""
        assert isinstance(found.observed.swarm, Known)
        swarm = found.observed.swarm.value
        for cluster in with_members(found.desired).values():
            deployed = [m for m in cluster.members if swarm.service(m.service.name) is not None]
            for name, access in accesses(cluster, swarm, deployed):
                asked = (patroni.answered_s, patroni.silent_s)
                at_s = max(noted.get(access.address, -1.0) for noted in asked)
                if at_s < began_s:
                    self.stale.append(f"{name} was asked {began_s - at_s:.1f} s before")

    def views_of(self, made: Planning, of: Sequence[Document]) -> Iterator[PlannedObject[Any]]:
        remembers = ("seen_s_ago", "touched_s_ago", "absent_s")
        own = {name: getattr(made.look.observed, name) for name in remembers}
        look = dataclasses.replace(
            self.whole, observed=dataclasses.replace(self.whole.observed, **own)
        )
        anew = dataclasses.replace(made, look=look, faults=Faults(), remembered=Remembered())
        for view in VIEWS_OF(made, of):
            self.planned.append(view.name)
            if view.plan.actions:
                self.acted_on[view.name] = self.acted_on.get(view.name, 0) + 1
            assert view.document is not None
            plan: Plan = anew.described(view.document, anew.swarm).plan
            if all_of(plan) != all_of(view.plan):
                self.wrong.append(f"{view.key}: {view.plan} from a part, {plan} from all")
            yield view


def overlaid(whole: Look, found: Look) -> Observed:
    """Return the whole observation, with everything about the part's clusters as the part saw it:
    the world may have changed between the two looks."""
    clusters = {key.name for key in found.desired}
    fields: dict[str, Mapping[str, Any]] = {}
    for name in ANSWERS:
        ours, all_answers = getattr(found.observed, name), getattr(whole.observed, name)
        others = {k: v for k, v in all_answers.items() if k.partition("_")[0] not in clusters}
        fields[name] = {**others, **ours}
    fields["images"] = {**whole.observed.images, **found.observed.images}
    fields["readiness"] = {**whole.observed.readiness, **found.observed.readiness}
    changes: dict[str, Any] = {**fields, "outputs": found.observed.outputs}
    changes |= {"swarm": found.observed.swarm, "attempts": found.observed.attempts}
    return dataclasses.replace(whole.observed, **changes)
