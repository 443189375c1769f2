"""The modelled swarm at one moment: its plans, and the next moment.

Pure. Invariant: a plan rests on the whole modelled observation, as a pass's on the real one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypeAlias

from queenright.core.actions import AnyAction, CreateService, PatchSettings, Reinitialize
from queenright.core.forecast.arrivals import arrived
from queenright.core.forecast.effects import running
from queenright.core.forecast.late import HEARD, Late
from queenright.core.forecast.members import Members
from queenright.core.forecast.tasks import Change
from queenright.core.kinds.claims import claimed_by_others, claimed_labels, claims_of
from queenright.core.kinds.kind import Context, Desired, Surroundings
from queenright.core.kinds.members import with_members
from queenright.core.kinds.postgres_cluster.rules.base_backups import plan_base_backups
from queenright.core.kinds.postgres_cluster.rules.drills import plan_drills
from queenright.core.kinds.registry import KINDS, key_of, kind_of, of_kind
from queenright.core.kinds.ruleset import RULESET, Ruleset
from queenright.core.manifest.document import Document
from queenright.core.observed import (
    ImageFound,
    Known,
    MemberStatus,
    Observed,
    SwarmState,
    parameters_key,
    seen_parameters,
    voters_key,
)
from queenright.core.planning.deletion import NO_LABELS
from queenright.core.planning.faults import DocumentKey
from queenright.core.planning.images import images_needed
from queenright.core.planning.plan import Hold, Plan
from queenright.core.planning.preflight import swarm_or_hold
from queenright.core.swarm.objects import IMAGE_LABEL

BESIDE = (plan_base_backups, plan_drills)
"""Rules that are no part of a forecast: they run by a schedule, beside everything else."""
LONG_AGO = timedelta(hours=1)
"""The age of what was observed at the beginning, of which the model knows no beginning."""
NOT_LOOKED_UP = f"sha256:{'0' * 64}"
"""Digest of an image that the first observation did not need."""
Effect: TypeAlias = Callable[[AnyAction, Observed, Mapping[DocumentKey, Desired], Change], Observed]


@dataclass(frozen=True)
class Planned:
    """One document (None where none describes what is deployed), and its plan on this
    observation."""

    key: DocumentKey
    document: Document | None
    plan: Plan
    observed: Observed


@dataclass(frozen=True)
class Model:
    """The modelled observation at a moment. ``since`` has since when each Raft node lists its
    voters, and each cluster has its parameters, by their keys in ``seen_s_ago``."""

    documents: Sequence[Document]
    observed: Observed
    began: datetime
    now: datetime
    ruleset: Ruleset = RULESET
    left_out: Collection[DocumentKey] = ()
    changes: int = 0
    since: Mapping[str, tuple[Hashable, datetime]] = field(default_factory=dict)
    late: tuple[Late, ...] = ()

    @staticmethod
    def begun(
        documents: Sequence[Document],
        observed: Observed,
        now: datetime,
        ruleset: Ruleset,
        left_out: Collection[DocumentKey],
    ) -> Model:
        """Return the model as it was observed; documents that are ``left_out`` are not planned."""
        rules = {
            name: tuple(rule for rule in found if rule not in BESIDE)
            for name, found in ruleset.rules.items()
        }
        kept = replace(ruleset, rules=rules)
        if isinstance(observed.swarm, Known):
            observed = replace(observed, swarm=Known(observed.swarm.value.in_order()))
        model = Model(documents, observed, now, now, kept, frozenset(left_out))
        return model.with_ages(now - LONG_AGO)

    def after(self, wait: timedelta) -> Model:
        """Return the model after a time in which nothing else happens."""
        now, observed = self.now + wait, self.observed
        for one in self.late:
            if one.due <= now and not isinstance(self.swarm, Hold):
                observed = one.applied(observed, self.swarm)
        late = tuple(one for one in self.late if one.due > now)
        return replace(self, now=now, observed=observed, late=late).with_ages(now)

    def with_effect(self, action: AnyAction, effect: Effect) -> Model:
        """Return the model after the full effect of an action."""
        change = Change(self.now, 1_000_000 + self.changes)
        observed = effect(action, self.observed, self.desired(), change)
        made = replace(self, observed=observed, changes=self.changes + 1)
        return made.until_heard(self.observed) if isinstance(action, PatchSettings) else made

    def arrived(self) -> Model | None:
        """Return the model once everything that is under way by itself has ended; None where
        nothing is."""
        change = Change(self.now, 1_000_000 + self.changes)
        clusters = with_members(self.desired()).values()
        observed = arrived(self.observed, clusters, change)
        if observed is None:
            return None
        return replace(self, observed=observed, changes=self.changes + 1)

    def until_heard(self, before: Observed) -> Model:
        """Return the model with the members' former answers, until they have heard of a write."""
        swarm = self.swarm
        if isinstance(swarm, Hold):
            return self
        old, new = (statuses(one) for one in (before, self.observed))
        tasks = {service: running(swarm, service) for service in new}
        late = Late(self.now + HEARD, old, new, tasks)
        observed = replace(self.observed, members=before.members)
        return replace(self, observed=observed, late=(*self.late, late))

    def with_ages(self, since: datetime) -> Model:
        """Return the model with the ages of voters and parameters; what differs from the former is
        there ``since``."""
        found: dict[str, tuple[Hashable, datetime]] = {}
        for key, value in aging(self.observed):
            former = self.since.get(key)
            found[key] = former if former and former[0] == value else (value, since)
        ages = {key: (self.now - at).total_seconds() for key, (_, at) in found.items()}
        gone = (self.now - self.began).total_seconds()
        described = {document.name for document in self.documents}
        absent = {name: gone for kind in KINDS.values() for name in self._owned(kind.name)}
        observed = replace(
            self.observed,
            seen_s_ago=ages,
            touched_s_ago={},
            attempts={},
            absent_s={name: age for name, age in absent.items() if name not in described},
        )
        return replace(self, observed=observed, since=found)

    # Plans

    @property
    def swarm(self) -> SwarmState | Hold:
        return swarm_or_hold(self.observed)

    def desired(self) -> dict[DocumentKey, Desired]:
        """Return what each document asks of the modelled swarm; one that can't be expanded is not
        there."""
        swarm = self.swarm
        if isinstance(swarm, Hold):
            return {}
        around = Surroundings(swarm, self.documents, claims_of(self.documents))
        found = (
            (key_of(one), kind_of(one).expand(one, around))
            for one in self.documents
            if key_of(one) not in self.left_out
        )
        return {key: one for key, one in found if one is not None}

    def planned(self, due: Collection[DocumentKey] | None = None) -> Iterator[Planned]:
        """Yield the plans of all documents, then of what is deployed without one, as a pass makes
        them; of documents only those that are ``due``, if it is given."""
        swarm = self.swarm
        if isinstance(swarm, Hold):
            for document in self.documents:
                if (key := key_of(document)) not in self.left_out:
                    plan = Plan(document.name, "", holds=(swarm,))
                    yield Planned(key, document, plan, self.observed)
            return
        desired = self.desired()
        observed = with_images(self.observed, swarm, desired)
        others, all_labels = claimed_by_others(self.documents), claimed_labels(self.documents)
        context = Context(swarm, observed, self.now, self.documents, desired)
        for kind in KINDS.values():
            for document in of_kind(kind, self.documents):
                key = key_of(document)
                if key in self.left_out or (due is not None and key not in due):
                    continue
                within = replace(context, claimed=others.get(key, NO_LABELS))
                rules = self.ruleset.rules[kind.name]
                plan = kind.plan(document, desired.get(key), within, rules)
                yield Planned(key, document, plan, observed)
            for name in self._orphans(kind.name):
                plan = kind.plan_deletion(name, replace(context, claimed=all_labels))
                yield Planned(DocumentKey(kind.name, name), None, plan, observed)

    def _orphans(self, kind: str) -> list[str]:
        """Return the names of what is deployed and no document describes; what can't be read stays
        as it is."""
        described = {document.name for document in of_kind(KINDS[kind], self.documents)}
        swarm = self.swarm
        odd = set() if isinstance(swarm, Hold) else {one.owner for one in swarm.unreadable}
        return sorted(self._owned(kind) - described - odd)

    def _owned(self, kind: str) -> frozenset[str]:
        swarm = self.swarm
        return frozenset() if isinstance(swarm, Hold) else KINDS[kind].owned(swarm)

    def source_of(self, action: AnyAction) -> str:
        """Return the member from which an action has data copied; empty where it has none."""
        for cluster in with_members(self.desired()).values():
            members = Members(cluster, self.observed)
            leader = next((m.name for m in cluster.members if m.service.name == members.leader), "")
            if isinstance(action, Reinitialize) and action.cluster == cluster.name:
                return leader
            if not isinstance(action, CreateService) or action.service.name not in members.services:
                continue
            voters = frozenset[str]().union(*(raft.voters for raft in members.rafts))
            is_new = action.service.environment.get("RAFT_SELF", "") not in voters
            return leader if is_new else ""
        return ""


def statuses(observed: Observed) -> dict[str, MemberStatus]:
    """Return the answers of the members that answer, by service."""
    found = observed.members.items()
    return {name: reading.value for name, reading in found if isinstance(reading, Known)}


def with_images(
    observed: Observed, swarm: SwarmState, desired: Mapping[DocumentKey, Desired]
) -> Observed:
    """Return the observation with the images that only later steps need: as they are deployed
    already, or as if the registry had them."""
    needed = frozenset[str]().union(
        *(images_needed(one.services, swarm) for one in desired.values())
    )
    missing = needed - observed.images.keys()
    if not missing:
        return observed
    deployed = (live.value.labels.get(IMAGE_LABEL, "") for live in swarm.services)
    digests = {name: digest for name, _, digest in (text.partition("@") for text in deployed)}
    found = {name: Known(ImageFound(digests.get(name) or NOT_LOOKED_UP)) for name in missing}
    return replace(observed, images={**observed.images, **found})


def aging(observed: Observed) -> Iterator[tuple[str, Hashable]]:
    """Yield what rules ask the age of, by its key in ``seen_s_ago``."""
    for service, raft in observed.raft.items():
        if isinstance(raft, Known):
            yield voters_key(service), raft.value.voters
    for cluster, settings in observed.settings.items():
        if isinstance(settings, Known):
            yield parameters_key(cluster), seen_parameters(settings.value)
