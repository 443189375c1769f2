"""``queenright backup``: list the base backups, show one, ask for one, and ask for a drill."""

from __future__ import annotations

from pathlib import Path

import click

from queenright.cli import names
from queenright.cli.backup_list import stored_backups
from queenright.cli.backup_requests import BASE_BACKUP, DRILL, Asking, request, until_answered
from queenright.cli.cluster_session import Session, on_cluster
from queenright.cli.console import Output, print_json
from queenright.cli.exit_codes import OK, USAGE, CommandError
from queenright.cli.options import cluster_argument, json_option, manifests_option
from queenright.core.kinds.postgres_cluster.backup.listing import (
    StoredBackup,
    format_stamp,
    stored_json,
)
from queenright.core.manifest.quantities import format_size
from queenright.core.manifest.suggestions import did_you_mean

COLUMNS = ("Backup", "Status", "Begin", "End", "Size", "TL", "Begin WAL", "Retention")
LATEST = "latest"

LIST_EPILOG = """\b
A job beside a member asks the repository, because only members have its
credentials; it is removed at once. Size is that of the databases. Barman
removes what is due for removal after the next base backup.

\b
Exit codes: 0 shown, 1 the repository's list can't be read, 64 no such cluster,
            65 files not valid, 69 swarm not reachable

\b
Examples:
  queenright backup list
  queenright backup list main --json | jq '.backups[0].id'
"""
SHOW_EPILOG = """\b
BACKUP is an id that `queenright backup list` shows, or latest: the newest that
is whole.

\b
Exit codes: 0 shown, 1 the repository's list can't be read, 64 no such backup or
            cluster, 65 files not valid, 69 swarm not reachable

\b
Examples:
  queenright backup show latest
  queenright backup show 20260131T023000 --cluster main --json
"""
NOW_EPILOG = """\b
The operator makes it as it makes those of the schedule: one at a time, of a
replica if one is well, not while the leader moves or Patroni is paused. It is
made when the archive has all WAL that it needs to be restored. The request is
in the swarm and stays if this command or the operator ends; it is tried for a
day. A second request joins one that has not failed yet.

\b
Exit codes: 0 made (with --no-wait: requested), 1 failed, not begun after a
            minute, or there is no `backup`; 64 no such cluster,
            65 files not valid, 69 swarm not reachable

\b
Examples:
  queenright backup now
  queenright backup now main --no-wait
"""
VERIFY_EPILOG = """\b
The operator makes a drill, as it makes those of the schedule: it restores the
latest base backup and all archived WAL into a job on the node that
`backup.drill` names, checks the data, and removes them. It touches no member,
and none runs beside a base backup. The request is in the swarm and stays if
this command or the operator ends; it is tried for a day.

\b
Exit codes: 0 proven (with --no-wait: requested), 1 failed, not begun after a
            minute, or there is no `backup.drill`; 64 no such cluster,
            65 files not valid, 69 swarm not reachable

\b
Examples:
  queenright backup verify
  queenright backup verify main --no-wait
"""


@click.group()
def backup() -> None:
    """List the base backups, show one, ask for one, or have the latest restored."""


@backup.command("list", epilog=LIST_EPILOG)
@cluster_argument
@json_option
@manifests_option
def list_backups(cluster: str | None, manifests: Path | None, *, as_json: bool) -> int:
    """List the base backups in the repository, newest first."""

    async def act(live: Session) -> int:
        return await show_all(live, in_json=as_json)

    return on_cluster(manifests, cluster, "backup list", act)


@backup.command(epilog=SHOW_EPILOG)
@click.argument("wanted", metavar="BACKUP")
@click.option(
    "--cluster",
    help="The cluster, if the files describe several.",
    shell_complete=names.cluster_name,
)
@json_option
@manifests_option
def show(wanted: str, cluster: str | None, manifests: Path | None, *, as_json: bool) -> int:
    """Show one base backup: its times, WAL, size, and what becomes of it."""

    async def act(live: Session) -> int:
        return await show_one(live, wanted, in_json=as_json)

    return on_cluster(manifests, cluster, f"backup show {wanted}", act)


@backup.command(epilog=NOW_EPILOG)
@cluster_argument
@click.option("--no-wait", is_flag=True, help="Only ask for it; do not wait until it is made.")
@manifests_option
def now(cluster: str | None, manifests: Path | None, *, no_wait: bool) -> int:
    """Ask for a base backup at once, and wait until it is made."""

    async def act(live: Session) -> int:
        return await back_up_now(live, no_wait=no_wait)

    return on_cluster(manifests, cluster, "backup now", act)


@backup.command(epilog=VERIFY_EPILOG)
@cluster_argument
@click.option("--no-wait", is_flag=True, help="Only ask for it; do not wait until it is made.")
@manifests_option
def verify(cluster: str | None, manifests: Path | None, *, no_wait: bool) -> int:
    """Have the latest backup restored and checked, and wait."""

    async def act(live: Session) -> int:
        return await verify_now(live, no_wait=no_wait)

    return on_cluster(manifests, cluster, "backup verify", act)


async def show_all(live: Session, *, in_json: bool) -> int:
    found = await stored_backups(live)
    if in_json:
        rows = [stored_json(stored) for stored in found]
        print_json({"cluster": live.document.name, "backups": rows})
        return OK
    out = Output()
    if found:
        out.table(COLUMNS, [cells(stored) for stored in found])
    else:
        out.line("The repository has no base backup of this database system.")
    out.flush()
    return OK


async def show_one(live: Session, wanted: str, *, in_json: bool) -> int:
    stored = named(await stored_backups(live), wanted)
    if in_json:
        print_json({"cluster": live.document.name, "backup": stored_json(stored)})
        return OK
    out = Output()
    fields = [*zip(COLUMNS, cells(stored), strict=True)]
    fields.insert(-1, ("End WAL", stored.end_wal))
    if stored.error:
        fields.append(("Error", stored.error))
    for name, text in fields:
        out.line(f"{name:<11}{text}".rstrip())
    out.flush()
    return OK


async def back_up_now(live: Session, *, no_wait: bool) -> int:
    return await ask(live, BASE_BACKUP, no_wait=no_wait)


async def verify_now(live: Session, *, no_wait: bool) -> int:
    return await ask(live, DRILL, no_wait=no_wait)


async def ask(live: Session, asking: Asking, *, no_wait: bool) -> int:
    at = await request(live, asking)
    click.echo(f"A {asking.noun} is requested at {format_stamp(at)}.")
    return OK if no_wait else await until_answered(live, asking, at)


def named(found: tuple[StoredBackup, ...], wanted: str) -> StoredBackup:
    """Return the backup of that id. CommandError with the ids there are."""
    for stored in found:
        if stored.id == wanted or (wanted == LATEST and stored.status == "DONE"):
            return stored
    ids = [stored.id for stored in found]
    meant = did_you_mean(wanted, ids) or f"; there is {', '.join(ids) or 'none'}"
    raise CommandError(f"the repository has no base backup {wanted}{meant}", USAGE)


def cells(stored: StoredBackup) -> tuple[str, ...]:
    return (
        stored.id,
        stored.status,
        format_stamp(stored.begin) or "",
        format_stamp(stored.end) or "",
        format_size(stored.size) if stored.size else "",
        str(stored.timeline or ""),
        stored.begin_wal,
        stored.retention,
    )
