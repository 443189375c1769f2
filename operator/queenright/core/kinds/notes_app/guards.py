"""Guards of applications: derived from what was observed.

They do not rely on a plan's own fields (as in ``postgres_cluster.guards``).
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import RemoveService
from queenright.core.kinds.notes_app.desired.dump_job import DUMP_ROLE
from queenright.core.kinds.notes_app.desired.edge import EDGE_ROLE
from queenright.core.observed import Known, LiveService, Observed
from queenright.core.planning.disruption import is_member, removes_only, stops, swarm_of
from queenright.core.planning.plan import Guard, Plan, Refusal
from queenright.core.swarm.objects import APP_LABEL, CLUSTER_LABEL, DATABASE_LABEL, ROLE_LABEL


def replicas_have_a_database(plan: Plan, observed: Observed) -> Refusal | None:
    """Refuse to replace a running replica while its cluster has no known leader.

    The new replica could not become ready.
    """
    for live in disrupted_replicas(plan, observed):
        cluster = live.value.labels.get(DATABASE_LABEL, "")
        if cluster and not is_led(cluster, observed):
            return Refusal(
                "replicas-have-a-database",
                f"no member of {cluster} is known to hold the leader lock, and {live.value.name} "
                "needs a leader",
            )
    return None


def disrupted_replicas(plan: Plan, observed: Observed) -> Iterator[LiveService]:
    swarm = swarm_of(observed)
    for live in swarm.index.services_labelled(APP_LABEL, plan.cluster) if swarm else ():
        is_web = live.value.labels.get(ROLE_LABEL) == "web"
        if is_web and any(stops(action, live, observed) for action in plan.actions):
            yield live


def is_led(cluster: str, observed: Observed) -> bool:
    swarm = swarm_of(observed)
    for live in swarm.index.services_of(CLUSTER_LABEL, cluster) if swarm else ():
        if is_member(live, cluster, observed):
            match observed.members.get(live.value.name):
                case Known(status) if status.holds_lock:
                    return True
                case _:
                    pass
    return False


def is_dump(action: RemoveService, observed: Observed) -> bool:
    """True if the service is a dump's job, ended or not.

    What it has written is on a volume or in a directory, and a dump that is not finished does not
    have its final name.
    """
    return removes_only(
        action,
        observed,
        lambda service: (
            APP_LABEL in service.labels
            and service.labels.get(ROLE_LABEL) == DUMP_ROLE
            and service.mode == "replicated-job"
        ),
    )


def is_spare_edge(action: RemoveService, observed: Observed) -> bool:
    """True if the service is an edge, and its application's replicas are published without it."""
    swarm = swarm_of(observed)
    services = [live.value for live in swarm.services] if swarm else []
    found = [live.value for live in swarm.index.services_with_id(action.id)] if swarm else []
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


APP_GUARDS: tuple[Guard, ...] = (replicas_have_a_database,)
