"""``queenright restore``: a cluster begins anew from its own backup; its present data stay."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio
import click

from queenright.cli.backup_requests import LOOK_AGAIN_S, ROUNDS, is_written
from queenright.cli.cluster_session import ClusterAtHand, Session, on_cluster
from queenright.cli.exit_codes import OK, USAGE, CommandError
from queenright.cli.one_time_job import Question
from queenright.cli.options import cluster_argument, force_option, manifests_option
from queenright.cli.prompts import confirm_by_name
from queenright.cli.repository_job import SILENCE, answer_of, lacking
from queenright.core.kinds.postgres_cluster.desired.base_backup import CHECK_PROGRAM
from queenright.core.kinds.postgres_cluster.in_place.asking import (
    Coverage,
    checking_service,
    course_of,
    read_coverage,
    read_target,
    request_step,
    volumes_kept,
    why_not_asked,
    with_present_timeline,
)
from queenright.core.kinds.postgres_cluster.in_place.note import FORMER, WantedRestore, is_target

CHECK = Question(
    what="the cluster can't be restored",
    reason="a restore is checked",
    read=read_coverage,
    prefix="restore-check: ",
    lasts_s=300.0,
    silence=SILENCE,
    lacking=lacking(CHECK_PROGRAM),
)

EPILOG = """\b
All members are stopped, and begin anew from a base backup and the archived WAL
in the cluster's own repository. Before anything is stopped, a job checks that
the repository covers the target, and has the leader archive what it has. What
was committed after the target is not in the cluster afterwards; the present
data stay in their volumes, and --former goes back to them.

\b
Exit codes: 0 restored (with --no-wait: requested), 1 not covered, refused, or
            the restore came to nothing, 64 no such cluster, or no terminal to
            ask at, 65 files not valid, 69 swarm not reachable

\b
Examples:
  queenright restore main --to-time 2026-01-31T11:59:59Z
  queenright restore main --to-end
  queenright restore main --former
"""


@click.command(epilog=EPILOG)
@cluster_argument
@click.option("--to-time", metavar="MOMENT", help="The last moment whose commits are restored.")
@click.option("--to-lsn", metavar="LSN", help="The last place in the WAL that is replayed.")
@click.option("--to-name", metavar="NAME", help="A restore point.")
@click.option("--to-end", is_flag=True, help="All that is archived.")
@click.option("--former", is_flag=True, help="Go back to the data before the last restore.")
@click.option("--base", metavar="BACKUP", help="The base backup; default: the newest that fits.")
@click.option(
    "--timeline",
    type=click.IntRange(1, 999_999_999),
    help="The timeline to replay; default: the leader's.",
)
@click.option("--unchecked", is_flag=True, help="Ask no job beside a member first: none runs.")
@click.option("--no-wait", is_flag=True, help="Only ask for it; do not wait until it has ended.")
@force_option
@manifests_option
def restore(  # noqa: PLR0917  # options
    cluster: str | None,
    to_time: str | None,
    to_lsn: str | None,
    to_name: str | None,
    base: str | None,
    timeline: int | None,
    manifests: Path | None,
    *,
    to_end: bool,
    former: bool,
    unchecked: bool,
    no_wait: bool,
    force: bool,
) -> int:
    """Restore a cluster in place, from its own backup."""
    target = the_target(to_time, to_lsn, to_name, to_end=to_end, former=former)

    async def act(live: Session) -> int:
        at = live.ports.clock.now().replace(microsecond=0)
        wanted = WantedRestore(at, target, base or "", timeline=timeline or 0)
        return await restore_in_place(
            live, wanted, is_checked=not (unchecked or former), waits=not no_wait, force=force
        )

    return on_cluster(manifests, cluster, f"restore {target or 'to the end'}", act)


def the_target(
    time: str | None, lsn: str | None, name: str | None, *, to_end: bool, former: bool
) -> str:
    """Return the one target that was given, as a request has it."""
    given = [
        *(["--to-time"] if time else []),
        *(["--to-lsn"] if lsn else []),
        *(["--to-name"] if name else []),
        *(["--to-end"] if to_end else []),
        *(["--former"] if former else []),
    ]
    if len(given) != 1:
        found = " and ".join(given) or "none"
        raise CommandError(
            f"the target is missing, or there are several ({found}); give one of --to-time, "
            "--to-lsn, --to-name, --to-end and --former",
            USAGE,
        )
    try:
        target = read_target(time) if time else FORMER if former else ""
    except ValueError as error:
        raise CommandError(f"--to-time: {time} {error}", USAGE) from None
    target = f"lsn {lsn}" if lsn else f"name {name}" if name else target
    if not is_target(target):
        raise CommandError(
            f"{given[0]}: {lsn or name} is no "
            + ("place in the WAL such as 0/3000060" if lsn else "name of a restore point"),
            USAGE,
        )
    return target


async def restore_in_place(
    live: Session, wanted: WantedRestore, *, is_checked: bool, waits: bool, force: bool
) -> int:
    view = await live.look()
    refuse(view, wanted)
    wanted = with_present_timeline(view.state, wanted)
    covered = None
    if is_checked:
        job = partial(checking_service, view.state, wanted)
        covered = await answer_of(live, view, job, CHECK)
        wanted = replace(
            wanted, base=covered.base, system=covered.system, timeline=covered.timeline
        )
    for line in warnings(view, wanted, covered):
        click.echo(line, err=True)
    name = live.document.name
    confirm_by_name(f"Stop {name} and restore it now?", name, force=force)
    wanted = replace(wanted, at=live.ports.clock.now().replace(microsecond=0))
    await request(live, wanted)
    click.echo(f"The restore is requested at {wanted.at:%Y-%m-%dT%H:%M:%SZ}.")
    return await until_restored(live, wanted) if waits else OK


def refuse(view: ClusterAtHand, wanted: WantedRestore) -> None:
    """Raise CommandError for a request that would come to nothing."""
    if why := why_not_asked(view.state, wanted):
        raise CommandError(why)


def warnings(view: ClusterAtHand, wanted: WantedRestore, covered: Coverage | None) -> list[str]:
    """Return what the person should know before anything is stopped."""
    name = view.state.desired.name
    kept = f"The present data stay: {', '.join(volumes_kept(view.state)) or 'no member is there'}."
    if wanted.is_back:
        return [f"{name} goes back to the data before the last restore.", kept]
    end = f"to {wanted.target}" if wanted.target else "to the end of the archived WAL"
    along = f", along timeline {wanted.timeline}" if wanted.timeline else ""
    begin = "a base backup that the restore chooses"
    if covered is not None:
        begin = f"base backup {covered.base}, which ended at {covered.ended}"
    lines = [f"{name} begins anew with {begin}, and replays the archived WAL {end}{along}."]
    if covered is None:
        lines.append("Nobody has checked that the repository covers this.")
    lines.append("What was committed after that is not in it afterwards.")
    return [*lines, kept, f"`queenright restore {name} --former` goes back to them."]


async def request(live: Session, wanted: WantedRestore) -> None:
    """Write the request."""
    for _ in range(ROUNDS):
        view = await live.look()
        refuse(view, wanted)
        if await is_written(live, view, request_step(view.state, wanted, live.command)):
            return
        await anyio.sleep(LOOK_AGAIN_S)
    raise CommandError(
        f"config {live.document.name}_cluster: no restore was requested (another writer keeps "
        "changing it); try again"
    )


async def until_restored(live: Session, wanted: WantedRestore) -> int:
    """Watch until all members are well again. CommandError where a try came to nothing."""
    told, has_begun, name = "", False, live.document.name
    while True:
        state = (await live.look()).state
        asked = state.restore_request
        has_begun |= asked is not None and asked.wanted.at == wanted.at and asked.has_begun
        course = course_of(state, wanted, has_begun=has_begun)
        if course.is_done:
            click.echo(f"{name} is restored: {len(state.desired.members)} members are well.")
            return OK
        if course.failed:
            raise CommandError(
                f"{name} is stopped and not restored ({course.failed}); correct that, restore to "
                f"another target, or go back: queenright restore {name} --former"
            )
        if course.is_gone:
            raise CommandError(
                "the request is gone, and nothing was stopped (somebody removed it, or it was not "
                "begun within a quarter of an hour); ask again"
            )
        if course.line and course.line != told:
            click.echo(course.line)
            told = course.line
        await anyio.sleep(LOOK_AGAIN_S)
