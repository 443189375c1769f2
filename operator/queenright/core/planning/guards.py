"""Guards that hold for every kind: the last checks before anything is changed.

Guards repeat on purpose what rules ensure, from the observation alone: they compute themselves what
an action disrupts, and ignore its own statement. Removing a volume or a secret needs no guard:
there is no such action.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from queenright.core.actions import (
    CreateSecret,
    CreateUrlSecret,
    LabelNode,
    RemoveConfig,
    RemoveNetwork,
    RemoveService,
)
from queenright.core.observed import Observed
from queenright.core.planning.deletion import ABSENCE, REMOVE
from queenright.core.planning.disruption import disrupted_members, is_in_use, stops, swarm_of
from queenright.core.planning.faults import Fault, fault_of
from queenright.core.planning.plan import Guard, Plan, Refusal
from queenright.core.swarm.objects import DELETION_POLICY_LABEL

MayGo: TypeAlias = Callable[[RemoveService, Observed], bool]


def one_disruption(plan: Plan, observed: Observed) -> Refusal | None:
    """Never more than one service disrupted by one plan."""
    said = {action.disrupts for action in plan.actions if action.disrupts}
    disrupted = sorted(said | {live.value.name for live in disrupted_members(plan, observed)})
    if len(disrupted) > 1:
        return Refusal("one-disruption", f"the plan disrupts {', '.join(disrupted)} at once")
    return None


def removals_are_asked_for(removable: tuple[MayGo, ...]) -> Guard:
    """The guard of removals; ``removable`` are the kinds' answers to which services may go while
    their document is there."""

    def may_go(action: RemoveService, observed: Observed) -> bool:
        return any(may(action, observed) for may in removable)

    def removal_is_asked_for(plan: Plan, observed: Observed) -> Refusal | None:
        """Services and networks go only with what has no document, and configs only while no
        service refers to them."""
        for action in plan.actions:
            if isinstance(action, RemoveService) and may_go(action, observed):
                continue
            if isinstance(action, RemoveService | RemoveNetwork) and plan.desired_digest:
                return Refusal("removal-is-asked-for", f"{action.key}: its document exists")
            if isinstance(action, RemoveConfig) and is_in_use(action, observed):
                return Refusal("removal-is-asked-for", f"config {action.name} is in use")
        return None

    return removal_is_asked_for


def absences_are_certain(config_names: tuple[Callable[[str], str], ...]) -> Guard:
    """The guard of what no document describes; ``config_names`` give, by each kind, the name of the
    config whose labels say what is to become of it."""

    def absence_is_certain(plan: Plan, observed: Observed) -> Refusal | None:
        """Refuse removals without a document unless this process has looked for the document for a
        minute, whatever an annotation or a clock says, and its owner had asked for removal."""
        removals = (RemoveService, RemoveNetwork, RemoveConfig, LabelNode)
        action = next((item for item in plan.actions if isinstance(item, removals)), None)
        if plan.desired_digest or action is None:
            return None
        absent_s, swarm = observed.absent_s.get(plan.cluster, 0.0), swarm_of(observed)
        state_configs = (
            [swarm.config(name_of(plan.cluster)) for name_of in config_names] if swarm else []
        )
        policies = {live.value.labels.get(DELETION_POLICY_LABEL) for live in state_configs if live}
        if REMOVE not in policies:
            why = f"{action.key}: the last deletionPolicy of {plan.cluster} is not remove"
        elif absent_s < ABSENCE.total_seconds():
            why = f"{action.key}: the document is absent for {absent_s:.0f} s only"
        else:
            return None
        return Refusal("absence-is-certain", why)

    return absence_is_certain


def labels_place_owners(owner_labels: tuple[str, ...]) -> Guard:
    """The guard of node labels; ``owner_labels`` say, by each kind, whose a service is."""

    def labels_place_ones_own(plan: Plan, observed: Observed) -> Refusal | None:
        """No node label is changed by which a task of another document's may be running."""
        swarm = swarm_of(observed)
        for action in plan.actions:
            if swarm is None or not isinstance(action, LabelNode):
                continue
            for live in swarm.index.services_on(action.node_id):
                found = (live.value.labels.get(label) for label in owner_labels)
                owner = next(filter(None, found), plan.cluster)
                if owner != plan.cluster and stops(action, live, observed):
                    why = f"{action.key}: would stop {live.value.name} of {owner}"
                    return Refusal("labels-place-ones-own", why)
        return None

    return labels_place_ones_own


def secrets_are_never_replaced(plan: Plan, observed: Observed) -> Refusal | None:
    """A secret that is there is never made again: its value is what others know."""
    swarm = swarm_of(observed)
    for action in plan.actions:
        if isinstance(action, CreateSecret | CreateUrlSecret) and (
            swarm is None or swarm.secret(action.secret.name) is not None
        ):
            return Refusal(
                "secrets-are-never-replaced", f"secret {action.secret.name} exists already"
            )
    return None


def refusal_by(guards: Iterable[Guard], plan: Plan, observed: Observed) -> Refusal | None:
    """The first guard's refusal, or None when the plan may be carried out. A guard that can't judge
    objects: what it protects is not known to be safe."""
    for guard in guards:
        try:
            found = guard(plan, observed)
        except Exception as error:  # noqa: BLE001  # whatever it is, the plan is not carried out
            return guard_fault(guard, fault_of(error))
        if found:
            return found
    return None


def guard_fault(guard: Guard, fault: Fault) -> Refusal:
    name = guard_name(guard)
    return Refusal(
        name,
        f"guard {name}: can't check this plan (a fault in the operator: {fault}); nothing of it is "
        "done. Undo the last change made by hand, and report the log's line `fault`",
        fault,
    )


def guard_name(guard: Guard) -> str:
    return getattr(guard, "__name__", type(guard).__name__).replace("_", "-")
