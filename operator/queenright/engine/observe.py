"""Read the world: one concurrent, bounded read of the swarm and of every member.

Invariant: a source that fails is Unknown with its reason; no failure of one source hides another.

"""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup

from queenright.core.kinds.kind import Desired, Surroundings
from queenright.core.kinds.members import with_members
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster
from queenright.core.kinds.registry import key_of, kind_of
from queenright.core.manifest.document import Document
from queenright.core.observed import (
    Attempt,
    ImageFound,
    ImageMissing,
    Known,
    Observed,
    SwarmState,
    Unknown,
)
from queenright.core.planning.faults import DocumentKey
from queenright.core.planning.images import images_needed
from queenright.core.planning.preflight import engine_hold
from queenright.engine.execute import is_stale
from queenright.engine.faults import Faults
from queenright.engine.give_way import between_documents, give_way
from queenright.engine.observe_cluster import (
    Readings,
    observe_cluster,
)
from queenright.engine.observe_job_output import OutputReading, ended_jobs, observe_output
from queenright.engine.observe_readiness import ReadinessReading, observe_replicas
from queenright.engine.password_checks import Judging
from queenright.engine.remembered import Inputs, Remembered
from queenright.ports import Ports
from queenright.ports.swarm import SwarmError

REPLICAS_S = 3.0
"""The time limit for the replicas' answers in a second observation."""

ImageReading = Known[ImageFound | ImageMissing] | Unknown


@dataclass(frozen=True, slots=True)
class Look:
    """The observation, and the documents' desired state in the observed swarm; a document whose
    desired state can't be computed is not in ``desired``."""

    observed: Observed
    desired: Mapping[DocumentKey, Desired] = field(default_factory=dict)
    began_s: float = 0.0
    """When swarm and members began to be asked, by a clock that never jumps."""


async def observe_fresh(
    ports: Ports,
    documents: Sequence[Document],
    attempts: Mapping[str, Attempt],
    faults: Faults,
    remembered: Remembered | None = None,
) -> Look:
    """Everything that the rules may rest on. Where it took so long that nothing may rest on it any
    more, what changes quickly is observed again."""
    faults.begin()
    began_s = anyio.current_time()
    look = await observe(ports, documents, attempts, faults=faults, remembered=remembered)
    if is_stale(began_s):
        began_s = anyio.current_time()
        look = await observe_anew(ports, documents, look.observed, faults, remembered)
    return dataclasses.replace(look, began_s=began_s)


async def observe(
    ports: Ports,
    documents: Sequence[Document],
    attempts: Mapping[str, Attempt],
    *,
    with_catalogs: bool = True,
    faults: Faults | None = None,
    remembered: Remembered | None = None,
    part: Sequence[Document] | None = None,
) -> Look:
    """Everything that the rules may rest on, as of now. Without ``with_catalogs`` no database is
    asked for its roles, databases and archiving, which can take seconds. A fault in one document
    goes to ``faults``. With ``part``, only these documents are expanded and asked."""
    faults = Faults() if faults is None else faults
    memory = Remembered() if remembered is None else remembered
    owners = None if part is None else frozenset(document.name for document in part)
    try:
        swarm = memory.in_order(await ports.swarm.observe(owners))
    except SwarmError as error:
        return Look(Observed(Unknown(str(error)), attempts=attempts))
    if engine_hold(swarm.engine):
        return Look(Observed(Known(swarm), attempts=attempts))
    await give_way()
    for _ in swarm.index.making():
        await give_way()
    desired = await expand_all(documents, swarm, faults, memory, part)
    judging = Judging(ports.secrets) if with_catalogs else None
    images: dict[str, ImageReading] = {}
    readiness: dict[str, ReadinessReading] = {}
    outputs: dict[str, OutputReading] = {}
    into = Readings(silent_s=memory.silent_s, is_silent=memory.is_silent)

    async def ask_cluster(cluster: DesiredCluster) -> None:
        await observe_cluster(ports, cluster, swarm, into, judging)

    async with anyio.create_task_group() as group:
        await observe_clusters(group, desired, faults, ask_cluster)
        for reference in references_needed(desired, swarm, faults):
            group.start_soon(observe_image, ports, reference, images)
        for service_id in ended_jobs(swarm):
            group.start_soon(observe_output, ports, service_id, outputs)
        await observe_replicas(
            ports,
            desired,
            swarm,
            readiness,
            faults,
            keeps=part is None,
            is_silent=memory.is_silent,
        )
    observed = Observed(
        Known(swarm),
        into.members,
        images,
        into.settings,
        attempts,
        raft=into.raft,
        catalogs=into.catalogs,
        archiving=into.archiving,
        readiness=readiness,
        outputs=outputs,
        history=into.history,
        leader_locations=into.leader_locations,
        holders=into.holders,
    )
    return Look(observed, desired)


async def observe_anew(
    ports: Ports,
    documents: Sequence[Document],
    seen: Observed,
    faults: Faults,
    remembered: Remembered | None = None,
) -> Look:
    """Return the observation with those parts read again that change at any moment: the swarm, the
    members, their Raft nodes, and replicas that answer soon. The rest stays."""
    memory = Remembered() if remembered is None else remembered
    try:
        swarm = memory.in_order(await ports.swarm.observe())
    except SwarmError as error:
        return Look(dataclasses.replace(seen, swarm=Unknown(str(error))))
    if engine_hold(swarm.engine):
        return Look(dataclasses.replace(seen, swarm=Known(swarm)))
    readiness: dict[str, ReadinessReading] = {}
    into = Readings(silent_s=memory.silent_s, is_silent=memory.is_silent)
    await give_way()
    for _ in swarm.index.making():
        await give_way()
    desired = await expand_all(documents, swarm, faults, memory)

    async def ask_cluster(cluster: DesiredCluster) -> None:
        await observe_cluster(ports, cluster, swarm, into, judging=None)

    async with anyio.create_task_group() as group:
        await observe_clusters(group, desired, faults, ask_cluster)
        with anyio.move_on_after(REPLICAS_S):
            await observe_replicas(ports, desired, swarm, readiness, faults)
    observed = dataclasses.replace(
        seen,
        swarm=Known(swarm),
        members=into.members,
        settings=into.settings,
        raft=into.raft,
        readiness=readiness,
        history=into.history,
        leader_locations=into.leader_locations,
        holders=into.holders,
    )
    return Look(observed, desired)


async def expand_all(
    documents: Sequence[Document],
    swarm: SwarmState,
    faults: Faults,
    memory: Remembered,
    part: Sequence[Document] | None = None,
) -> dict[DocumentKey, Desired]:
    """Return the desired state of each document, or of each in ``part``, that this pass tries: of
    one of which nothing has changed, as it is remembered. Between two of them the event loop runs
    whatever else is due."""
    _, claims = memory.claims_among(documents)
    inputs = Inputs(Observed(Known(swarm)), documents, claims=claims)
    found = {}
    for document in faults.asked(documents if part is None else part, swarm):
        await between_documents()
        key, kind = key_of(document), kind_of(document)

        def expand(given: Inputs, document: Document = document) -> Desired | None:
            around = Surroundings(given.swarm, given.documents, given.claims)
            return kind_of(document).expand(document, around)

        with faults.kept_from_others(key, "expanding"):
            desired = memory.answer((key, "expansion"), (document, kind), inputs, expand)
            if desired is not None:
                found[key] = desired
    return found


async def observe_clusters(
    group: TaskGroup,
    desired: Mapping[DocumentKey, Desired],
    faults: Faults,
    ask_one: Callable[[DesiredCluster], Awaitable[None]],
) -> None:
    """Begin to ask all clusters, in ``group``; a fault in one goes to ``faults``, and stops no
    other. Between two of them the event loop runs whatever else is due."""

    async def ask(key: DocumentKey, cluster: DesiredCluster) -> None:
        with faults.kept_from_others(key, "observing"):
            await ask_one(cluster)

    for key, cluster in with_members(desired).items():
        group.start_soon(ask, key, cluster)
        await between_documents()


def references_needed(
    desired: Mapping[DocumentKey, Desired], swarm: SwarmState, faults: Faults
) -> set[str]:
    """Image references that need to be looked up."""
    found: set[str] = set()
    for key, one in desired.items():
        with faults.kept_from_others(key, "observing"):
            found |= images_needed(one.services, swarm)
    return found


async def observe_image(ports: Ports, reference: str, found: dict[str, ImageReading]) -> None:
    try:
        found[reference] = Known(await ports.swarm.resolve_image(reference))
    except SwarmError as error:
        found[reference] = Unknown(str(error))
