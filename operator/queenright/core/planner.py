"""One cluster's plan: the ordered rules, then patience, then at most one disturbance.

Pure: the same document, observation and moment give the same plan, whatever order things came in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TypeAlias

from queenright.core.actions import Action, LabelConfig, SwitchOver
from queenright.core.backoff import hold_back
from queenright.core.catalog import NO_CATALOG, DesiredCatalog
from queenright.core.claimed_labels import claimed_labels
from queenright.core.desired import DesiredCluster, expand
from queenright.core.membership import (
    Place,
    deployed_places,
    membership_holds,
    stray_holds,
    with_deployed_members,
)
from queenright.core.notes import MOVE_LABEL
from queenright.core.observed import Known, Observed, SwarmState, Unknown
from queenright.core.pinning import unresolved_image
from queenright.core.plan import Hold, Plan
from queenright.core.preflight import (
    deployment_holds,
    foreign_service_holds,
    placement_holds,
    swarm_or_hold,
)
from queenright.core.retirement import owns, plan_retirement
from queenright.core.rules.configs import plan_configs
from queenright.core.rules.databases import plan_databases
from queenright.core.rules.leadership import plan_leadership
from queenright.core.rules.members import plan_members
from queenright.core.rules.networks import plan_networks
from queenright.core.rules.nodes import plan_nodes
from queenright.core.rules.pauses import plan_pauses
from queenright.core.rules.proxies import plan_proxies
from queenright.core.rules.secrets import plan_secrets
from queenright.core.rules.settings import plan_settings
from queenright.core.rules.vip import plan_vip
from queenright.core.services import service_name
from queenright.core.situation import Situation
from queenright.core.spec.operations import Pausing
from queenright.core.spec.problems import Document

Rule: TypeAlias = Callable[[Situation], Iterable[Action | Hold]]

RULES: tuple[Rule, ...] = (
    plan_nodes,
    plan_networks,
    plan_secrets,
    plan_configs,
    plan_members,
    plan_proxies,
    plan_vip,
    plan_settings,
    plan_databases,
    plan_pauses,
    plan_leadership,
)
"""In the contract's deployment order: labels, network, secrets, configs, members, proxies;
then what only a running cluster has. The lead moves last: its note is written with the configs."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A plan, and the desired state that it serves (None where it could not be derived)."""

    plan: Plan
    desired: DesiredCluster | None = None


def make_plan(
    document: Document,
    observed: Observed,
    now: datetime,
    rules: tuple[Rule, ...] = RULES,
    wishes: DesiredCatalog = NO_CATALOG,
) -> Decision:
    """The next safe steps for one cluster; ``wishes`` are its applications' roles and databases."""
    name = document.name
    swarm = swarm_or_hold(observed)
    if isinstance(swarm, Hold):
        return Decision(Plan(name, "", holds=(swarm,)))
    deployed = is_deployed(document, swarm)
    places = deployed_places(document.cluster, swarm)
    addresses = {node.name: node.address for node in swarm.nodes}
    misplaced = (
        *foreign_service_holds(document, swarm),
        *placement_holds(document, swarm, is_deployed=deployed),
        *membership_holds(document.cluster, places, addresses),
        *stray_holds(name, places, swarm),
    )
    desired = expand_here(document, swarm, wishes)
    if desired is None or (misplaced and not deployed):
        return Decision(Plan(name, "", holds=misplaced), desired)
    situation = observed_situation(desired, swarm, observed, now)
    held = [] if deployed else list(deployment_holds(situation))
    steps: list[Action | Hold] = [*held] if held else [*misplaced, *apply_rules(rules, situation)]
    if desired.policy.reconcile.is_paused(now):
        spared = "; Patroni goes on protecting the database"
        steps = [*only_told(name, desired.policy.reconcile, steps, spared)]
    return Decision(arrange(name, desired.digest, steps, observed, now), desired)


def observed_situation(
    desired: DesiredCluster, swarm: SwarmState, observed: Observed, now: datetime
) -> Situation:
    name = desired.name
    return Situation(
        desired,
        swarm,
        observed.members,
        observed.images,
        observed.settings.get(name, Unknown("not asked yet")),
        now,
        observed.raft,
        observed.touched_s_ago,
        observed.attempts,
        observed.catalogs.get(name, Unknown("not asked yet")),
    )


def situation_of(
    document: Document,
    swarm: SwarmState,
    observed: Observed,
    now: datetime,
    wishes: DesiredCatalog = NO_CATALOG,
) -> Situation | None:
    """A deployed cluster as others see it that rest on it; None while it is not deployed."""
    desired = expand_here(document, swarm, wishes) if is_deployed(document, swarm) else None
    return observed_situation(desired, swarm, observed, now) if desired else None


def only_told(
    name: str, pause: Pausing, steps: Iterable[Action | Hold], spared: str = ""
) -> Iterator[Hold]:
    """The steps as what would be done: the owner has paused reconciliation, and nothing else, which
    ``spared`` tells."""
    until = pause.until
    end = f"until {until:%Y-%m-%dT%H:%M:%SZ}" if until else "until the file says otherwise"
    yield Hold(
        f"reconcile/{name}",
        f"reconciliation is paused {end}: nothing is changed here{spared}",
        until,
    )
    for step in steps:
        if isinstance(step, Hold):
            yield step
        else:
            yield Hold(step.key, f"not done while reconciliation is paused: {step.reason}")


def is_deployed(document: Document, swarm: SwarmState) -> bool:
    """Whether a member's service of ours is there: one of our name that is not ours is no sign,
    unless the anchor says that the cluster is, and somebody took the labels away."""
    anchored = swarm.config(f"{document.name}_cluster") is not None
    names = {service_name(document.name, m.name) for m in document.cluster.spec.members}
    return any(
        owns(document.name, live.value) or (anchored and live.value.name in names)
        for live in swarm.services
    )


def make_retirement_plan(
    cluster: str, observed: Observed, now: datetime, documents: Iterable[Document] = ()
) -> Decision:
    """The next safe steps for a cluster that none of the documents describes."""
    swarm = swarm_or_hold(observed)
    if isinstance(swarm, Hold):
        return Decision(Plan(cluster, "", holds=(swarm,)))
    steps = plan_retirement(cluster, swarm, now, claimed_labels(documents))
    return Decision(arrange(cluster, "", steps, observed, now))


def images_needed(desired: DesiredCluster, swarm: SwarmState) -> frozenset[str]:
    """Image references that must be looked up before the services can be planned."""
    found = (unresolved_image(s, swarm.service(s.name)) for s in desired.services)
    return frozenset(reference for reference in found if reference)


def expand_here(
    document: Document, swarm: SwarmState, wishes: DesiredCatalog = NO_CATALOG
) -> DesiredCluster | None:
    """The desired state: deployed members as they were deployed, others with their nodes' present
    addresses; and the roles and databases that applications wish for. None when a node was never
    there."""
    places = deployed_places(document.cluster, swarm)
    cluster = with_deployed_members(document.cluster, places)
    nodes = {node.name: node.address for node in swarm.nodes}
    if any(not m.address and not nodes.get(m.node) for m in cluster.spec.members):
        return None
    named = {m.node for m in cluster.spec.members}
    named |= {*cluster.spec.proxies.nodes} if cluster.spec.vip is not None else set()
    found = tuple((n, nodes[n]) for n in sorted(named & nodes.keys()))
    return expand_once(Same(document), found, places, wishes)


class Same:
    """A document as a key: equal to itself alone. Documents are replaced whole, never changed."""

    __slots__ = ("document",)

    def __init__(self, document: Document) -> None:
        self.document = document

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.document is self.document

    def __hash__(self) -> int:
        return id(self.document)


@lru_cache(maxsize=256)
def expand_once(
    same: Same,
    nodes: tuple[tuple[str, str], ...],
    places: tuple[Place, ...],
    wishes: DesiredCatalog = NO_CATALOG,
) -> DesiredCluster:
    """``expand``, remembered: it renders every configuration file, and each pass asks twice."""
    return expand(with_deployed_members(same.document.cluster, places), dict(nodes), wishes)


def apply_rules(rules: tuple[Rule, ...], situation: Situation) -> Iterator[Action | Hold]:
    for rule in rules:
        yield from rule(situation)


def arrange(
    name: str,
    desired_digest: str,
    steps: Iterable[Action | Hold],
    observed: Observed,
    now: datetime,
) -> Plan:
    """The plan out of the steps: repeated ones held back, and one disturbance at the most."""
    actions: list[Action] = []
    holds: list[Hold] = []
    disturbed = ""
    for step in steps:
        kept = step if isinstance(step, Hold) else hold_back(step, observed.attempts, now)
        if isinstance(kept, Hold):
            holds.append(kept)
        elif kept.disturbs and disturbed and kept.disturbs != disturbed:
            holds.append(Hold(kept.key, f"waits its turn: {disturbed} is disturbed first"))
        else:
            disturbed = kept.disturbs or disturbed
            actions.append(kept)
    noted = [*noted_moves(actions, holds, observed)]
    return Plan(
        name,
        desired_digest,
        tuple(noted),
        tuple(sorted(set(holds), key=lambda h: (h.key, h.reason))),
    )


def noted_moves(
    actions: Iterable[Action], holds: list[Hold], observed: Observed
) -> Iterator[Action]:
    """A move and its note are planned together or not at all: a note alone would tell of a request
    that was never made, and a move alone could be asked for twice."""
    planned = [*actions]
    notes = [action for action in planned if begins_move(action, observed)]
    for action in planned:
        if action in notes and not any(isinstance(step, SwitchOver) for step in planned):
            continue
        if isinstance(action, SwitchOver) and not notes:
            holds.append(Hold(action.key, f"waits until it can be noted first; {action.reason}"))
            continue
        yield action


def begins_move(action: Action, observed: Observed) -> bool:
    """Whether the action notes a move that is not noted yet."""
    if not isinstance(action, LabelConfig) or MOVE_LABEL not in action.config.labels:
        return False
    match observed.swarm:
        case Known(swarm):
            live = swarm.config(action.config.name)
            return live is not None and MOVE_LABEL not in live.value.labels
        case _:
            return False
