"""Rule for passwords: created when missing, never shown, replaced or removed.

Invariant: a secret is created only while no member can have been started with another value, since
a new password does not open old data. That of the REST API opens no data, and is created anew. A
password that the database knows is never replaced by another name in the file.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import AnyAction, CreateSecret
from queenright.core.kinds.postgres_cluster.deployed_secrets import FIELDS
from queenright.core.kinds.postgres_cluster.desired.cluster import RenamedSecret
from queenright.core.kinds.postgres_cluster.desired.services import POSTGRES_ID
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.planning.plan import Hold
from queenright.core.swarm.objects import CLUSTER_LABEL

ROLES = {"superuser": "postgres", "replication": "replicator"}
"""The roles whose passwords these are (spec: database-cluster §2.4)."""
OWNED = f"uid={POSTGRES_ID},gid={POSTGRES_ID},mode=0400"
"""Owner and mode of the file in a member, as ``docker service update`` takes them."""


def plan_secrets(state: ClusterState) -> Iterator[AnyAction | Hold]:
    for renamed in state.desired.renamed_secrets:
        yield renamed_hold(state, renamed)
    for secret in state.desired.secrets:
        if state.swarm.secret(secret.name):
            continue
        if state.has_started and secret.name in state.desired.data_secrets:
            yield Hold(
                f"create-secret/{secret.name}",
                f"secret {secret.name}: is not in the swarm, and the cluster's data may have been "
                "made with it (a new password would not open that data); "
                + what_to_do(state, secret.name),
                wants_attention=True,
            )
        else:
            yield CreateSecret(secret, reason=f"secret {secret.name} is not in the swarm")
    for name in state.missing_given_secrets:
        restores = name in state.desired.restore.secrets
        field = "spec.bootstrap.from.backup" if restores else "spec.backup"
        yield Hold(
            f"secret/{name}",
            f"secret {name}: is not in the swarm, and {field}.repository names it, so no "
            "member is changed meanwhile; create it (docker secret create "
            f"{name} FILE), or correct the name",
            wants_attention=True,
        )


def what_to_do(state: ClusterState, name: str) -> str:
    """Advice on how to restore a missing password; it never advises to remove anything."""
    labelled = sorted(
        live.value.name
        for live in state.swarm.index.secrets_labelled(CLUSTER_LABEL, state.desired.name)
        if live.value.name not in {secret.name for secret in state.desired.secrets}
    )
    known = f" (the swarm has {', '.join(labelled)} of this cluster)" if labelled else ""
    return (
        f"where spec.secrets named another secret before, write that name again{known}; else make "
        f"{name} again with its old value (docker secret create); keep the volumes, they hold the "
        "data"
    )


def renamed_hold(state: ClusterState, renamed: RenamedSecret) -> Hold:
    """Hold for another secret in the file of a running cluster, with the steps to take instead."""
    scope, field, name = state.desired.name, renamed.field, renamed.desired
    deployed = sorted({secret for _, secret in renamed.members})
    services = ", ".join(service for service, _ in renamed.members)
    role, target = ROLES[field], FIELDS[field]
    swap = f"--secret-rm {deployed[0]} --secret-add source={name},target={target},{OWNED}"
    return Hold(
        f"rename-secret/{scope}/{field}",
        f"spec.secrets.{field}: {name} takes no effect, and {services} keep "
        f"{' and '.join(deployed)} (the database knows the old password, and a member that starts "
        f"with another can not log in); write {field}: {deployed[0]} again. To change the "
        "password: (1) add reconcile: paused to spec and leave this name; (2) make the secret "
        f"{name}, one line with the new password; (3) in psql on the leader run \\password {role} "
        "and enter that; (4) for one replica after the other, each when the one before streams "
        f"again: docker service update {swap} SERVICE; (5) run patronictl "
        "switchover; (6) do (4) for the former leader at once; (7) take reconcile: paused away. "
        "The secret with the old password stays",
        wants_attention=True,
    )
