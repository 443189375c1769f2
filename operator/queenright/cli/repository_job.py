"""A job beside a member that asks the repository, by a command.

Only the members have the repository's credentials.
"""

from __future__ import annotations

from collections.abc import Callable

from queenright.cli.cluster_session import ClusterAtHand, Session
from queenright.cli.exit_codes import CommandError
from queenright.cli.one_time_job import Answer, Question, UnheardError, answered_by
from queenright.core.kinds.postgres_cluster.backup.listing import member_to_ask
from queenright.core.swarm.objects import Service

SILENCE = "the repository does not answer"


def lacking(program: str) -> str:
    return f"the member image has no {program}; update the image"


async def answer_of(
    live: Session,
    view: ClusterAtHand,
    job: Callable[[Service], Service],
    question: Question[Answer],
) -> Answer:
    """Return the answer of a job beside a member; where its lines can't be had, of one beside the
    next. ``job`` makes it from the member's service. CommandError with the cause where there is no
    answer."""
    unheard: dict[str, str] = {}
    while True:
        beside = member_to_ask(view.state, unheard)
        if isinstance(beside, str):
            raise CommandError(f"{question.what}: {beside}")
        try:
            return await answered_by(live, view, job(beside), question)
        except UnheardError as error:
            unheard[beside.name] = str(error)
