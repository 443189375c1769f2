"""What no plan may do to an application, whatever a rule says: worked out from what was observed.

A plan's own word counts for nothing here (as in ``core.guards``, of which this is a part).
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import CreateSecret, CreateUrlSecret, RemoveService
from queenright.core.app.dump_job import DUMP_ROLE
from queenright.core.app.edge import EDGE_ROLE
from queenright.core.consequences import is_member, stops, swarm_of
from queenright.core.observed import Known, LiveService, Observed
from queenright.core.plan import Plan, Refusal
from queenright.core.resources import APP_LABEL, DATABASE_LABEL, ROLE_LABEL


def replicas_have_a_database(plan: Plan, observed: Observed) -> Refusal | None:
    """No running replica is replaced while no member of its cluster is known to hold the leader
    lock: the new one could not become ready."""
    for live in disturbed_replicas(plan, observed):
        cluster = live.value.labels.get(DATABASE_LABEL, "")
        if cluster and not is_led(cluster, observed):
            return Refusal(
                "replicas-have-a-database",
                f"no member of {cluster} is known to hold the leader lock, and {live.value.name} "
                "needs it",
            )
    return None


def secrets_are_never_replaced(plan: Plan, observed: Observed) -> Refusal | None:
    """A secret that is there is never made again: its value is what others know."""
    swarm = swarm_of(observed)
    for action in plan.actions:
        if isinstance(action, CreateSecret | CreateUrlSecret) and (
            swarm is None or swarm.secret(action.secret.name) is not None
        ):
            return Refusal("secrets-are-never-replaced", f"{action.secret.name} is there already")
    return None


def disturbed_replicas(plan: Plan, observed: Observed) -> Iterator[LiveService]:
    swarm = swarm_of(observed)
    for live in swarm.services if swarm else ():
        labels = live.value.labels
        ours = labels.get(APP_LABEL) == plan.cluster and labels.get(ROLE_LABEL) == "web"
        if ours and any(stops(action, live, observed) for action in plan.actions):
            yield live


def is_led(cluster: str, observed: Observed) -> bool:
    swarm = swarm_of(observed)
    for live in swarm.services if swarm else ():
        if is_member(live, cluster, observed):
            match observed.members.get(live.value.name):
                case Known(status) if status.holds_lock:
                    return True
                case _:
                    pass
    return False


def is_dump(action: RemoveService, observed: Observed) -> bool:
    """Whether the service is a dump's job, ended or not: what it has written is on a volume or in a
    directory, and a dump that is not finished does not have its final name."""
    swarm = swarm_of(observed)
    found = [live.value for live in swarm.services if live.id == action.id] if swarm else []
    return bool(found) and all(
        APP_LABEL in service.labels
        and service.labels.get(ROLE_LABEL) == DUMP_ROLE
        and service.mode == "replicated-job"
        for service in found
    )


def is_spare_edge(action: RemoveService, observed: Observed) -> bool:
    """Whether the service is an edge, and its application's replicas are published without it."""
    swarm = swarm_of(observed)
    services = [live.value for live in swarm.services] if swarm else []
    found = [live.value for live in swarm.services if live.id == action.id] if swarm else []
    return bool(found) and all(
        service.labels.get(ROLE_LABEL) == EDGE_ROLE
        and any(
            other.labels.get(ROLE_LABEL) == "web"
            and other.labels.get(APP_LABEL) == service.labels.get(APP_LABEL)
            and other.ports
            for other in services
        )
        for service in found
    )
