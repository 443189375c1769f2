"""The repository's list of base backups, by a command."""

from __future__ import annotations

from functools import partial

from queenright.cli.cluster_session import Session
from queenright.cli.exit_codes import CommandError
from queenright.cli.one_time_job import Question
from queenright.cli.repository_job import SILENCE, answer_of, lacking
from queenright.core.kinds.postgres_cluster.backup.listing import StoredBackup, read_list
from queenright.core.kinds.postgres_cluster.desired.base_backup import LIST_PROGRAM, list_job

LIST = Question(
    what="the repository's list was not read",
    reason="the base backups are listed",
    read=read_list,
    prefix="backup-list: got no answer: ",
    lasts_s=120.0,
    silence=SILENCE,
    lacking=lacking(LIST_PROGRAM),
)


async def stored_backups(live: Session) -> tuple[StoredBackup, ...]:
    """Return what the repository has, newest first. CommandError with the cause where it is not
    known."""
    view = await live.look()
    plan = view.state.desired.base_backups
    if plan is None:
        raise CommandError(f"{LIST.what}: the file has no `backup`")
    return await answer_of(live, view, partial(list_job, plan, view.state.desired.name), LIST)
