"""The end of each member's data, by its own answer or by a job beside its volume."""

from __future__ import annotations

import anyio

from queenright.cli.cluster_session import ClusterAtHand, Session
from queenright.cli.exit_codes import CommandError
from queenright.cli.one_time_job import Question, answered_by
from queenright.core.kinds.postgres_cluster.desired.data_end import PROGRAM, data_end_job
from queenright.core.kinds.postgres_cluster.losses.data_ends import (
    MemberEnd,
    known_ends,
    read_end,
)
from queenright.core.swarm.objects import Service

WHAT = "the end was not read"
DATA_END = Question(
    what=WHAT,
    reason="the end of a member's data is read",
    read=read_end,
    prefix="not known: ",
    lasts_s=60.0,
    silence="the job still reads",
    lacking=f"its image has no {PROGRAM}; see Trouble in docs/guide.md for images before 0.2.0",
)


async def data_ends(live: Session, view: ClusterAtHand) -> list[MemberEnd]:
    """Return the end of each member that counts, in the order of the file. The jobs run side by
    side: each is on its own member's node."""
    found = [*known_ends(view.state)]
    ends: dict[str, MemberEnd] = {}

    async def ask(one: MemberEnd, service: Service) -> None:
        ends[one.member.name] = await asked_end(live, view, one, service)

    async with anyio.create_task_group() as group:
        for one in found:
            if isinstance(one, MemberEnd):
                ends[one.member.name] = one
            else:
                member, service, node_id = one
                job = data_end_job(view.state.desired.name, member.name, service, node_id)
                group.start_soon(ask, MemberEnd(member, None), job)
    return [ends[member.name] for member in view.state.desired.members if member.name in ends]


async def asked_end(live: Session, view: ClusterAtHand, one: MemberEnd, job: Service) -> MemberEnd:
    """Return the end that a job reads in the member's volume, or why it is not known."""
    try:
        end = await answered_by(live, view, job, DATA_END)
    except CommandError as error:
        return MemberEnd(one.member, None, why=error.message.removeprefix(f"{WHAT}: "))
    return MemberEnd(one.member, end, "volume")
