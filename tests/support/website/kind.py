"""The kind Website, which is only here to show what a new kind takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from queenright.core.actions import RemoveConfig, RemoveService
from queenright.core.kinds.kind import Context, Kind, Rule, Step, Surroundings
from queenright.core.manifest.document import Document
from queenright.core.manifest.problems import Finding
from queenright.core.observed import ImageFound, ImageMissing, Known, Observed, SwarmState, Unknown
from queenright.core.planning.assemble import arrange
from queenright.core.planning.configs import made_or_told
from queenright.core.planning.deletion import REMOVE, Absence, waiting_step
from queenright.core.planning.plan import Hold, Plan
from queenright.core.planning.service_context import Answers
from queenright.core.planning.service_rollout import plan_service
from queenright.core.planning.status import Line, Lines, PlainStatus, Status
from queenright.core.swarm.objects import DELETION_POLICY_LABEL
from tests.support.website.desired import SITE_LABEL, DesiredSite, expand, state_config
from tests.support.website.schema import Website


@dataclass(frozen=True, slots=True)
class SiteState:
    """The input of its rules."""

    desired: DesiredSite
    swarm: SwarmState
    images: Mapping[str, Known[ImageFound | ImageMissing] | Unknown]
    now: datetime
    seen_s_ago: Mapping[str, float]
    answers: Answers = field(default_factory=dict)


def plan_config(state: SiteState) -> Iterator[Step]:
    step = made_or_told(state.swarm, state.desired.state)
    if step is not None:
        yield step


def plan_site(state: SiteState) -> Iterator[Step]:
    if state.swarm.config(state.desired.state.name) is None:
        yield Hold(f"create-service/{state.desired.service.name}", "its config comes first")
    else:
        yield from plan_service(state, state.desired.service, None)


class WebsiteKind(Kind[Website, DesiredSite]):
    model = Website
    noun, plural, label = "website", "websites", SITE_LABEL
    rules: tuple[Rule, ...] = (plan_config, plan_site)

    def check(self, resource: Website) -> Iterable[Finding]:
        if ":" not in resource.spec.image:
            yield Finding(("spec", "image"), "has no tag")

    def state_config(self, name: str) -> str:
        return state_config(name)

    def expand(self, document: Document[Website], around: Surroundings) -> DesiredSite:
        return expand(document.resource)

    def plan(
        self,
        document: Document[Website],
        desired: DesiredSite | None,
        context: Context,
        rules: tuple[Rule, ...],
    ) -> Plan:
        assert desired is not None
        observed, now = context.observed, context.now
        state = SiteState(desired, context.swarm, observed.images, now, observed.seen_s_ago)
        steps = [step for rule in rules for step in rule(state)]
        return arrange(document.name, desired.digest, steps, observed, now)

    def plan_deletion(self, name: str, context: Context) -> Plan:
        steps = list(deletion_steps(name, context))
        return arrange(name, "", steps, context.observed, context.now)

    def status(
        self, name: str, desired: DesiredSite | None, plan: Plan, observed: Observed, now: datetime
    ) -> Status:
        if desired is None or not isinstance(observed.swarm, Known):
            return PlainStatus(name, plan)
        live = observed.swarm.value.service(desired.service.name)
        count = len(list(observed.swarm.value.running_tasks(live.id))) if live else 0
        line = Line("Runs", f"{count} of {desired.service.replicas}")
        return PlainStatus(name, plan, (Lines((line,)),))


def deletion_steps(name: str, context: Context) -> Iterator[Step]:
    swarm, config = context.swarm, context.swarm.config(state_config(name))
    if config is None or config.value.labels.get(DELETION_POLICY_LABEL) != REMOVE:
        yield Hold(f"retire/{name}", f"website {name} is kept", wants_attention=True)
        return
    absence = Absence(context.now, context.observed.absent_s.get(name))
    if waiting := waiting_step(name, config, absence, f"website {name}"):
        yield waiting
        return
    service = swarm.service(f"{name}_site")
    if service is not None:
        yield RemoveService(service.id, service.value.name, reason=f"website {name} is gone")
    else:
        yield RemoveConfig(config.id, config.value.name, reason=f"website {name} is gone")


WEBSITE = WebsiteKind()
