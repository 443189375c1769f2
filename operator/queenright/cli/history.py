"""``queenright history``: the changes of leader, each with its cause."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from queenright.cli import trail
from queenright.cli.environment import settings_from_environment
from queenright.cli.exits import FAILURE, OK, CommandError
from queenright.cli.live import Live, View, on_cluster
from queenright.cli.options import cluster_argument, json_option, manifests_option
from queenright.cli.output import Output, print_json
from queenright.core.audit_chain import stamp
from queenright.core.causes import Cause, causes
from queenright.core.observed import Known, LeaderChange, Unknown

COLUMNS = ("TL", "LSN", "Reason", "Timestamp", "New Leader", "Write gap", "Cause")

EPILOG = """\b
A line for each timeline that ended, as Patroni notes it. The cause is from the
audit trail, where it is at hand (QUEENRIGHT_STATE_DIR); the write gap is the
canary's, where it is on (`canary: {enabled: true}`).

\b
Exit codes: 0 shown, 1 no member tells its history, 64 no such cluster,
            65 files not valid, 69 swarm not reachable

\b
Examples:
  queenright history
  queenright history main --json | jq '.changes[-1]'
"""


@click.command(epilog=EPILOG)
@cluster_argument
@json_option
@manifests_option
def history(cluster: str | None, manifests: Path | None, *, as_json: bool) -> int:
    """Show who led when, and why it changed."""

    async def act(live: Live) -> int:
        view = await live.look()
        changes = await history_of(live, view)
        records = list(trail.known_records(settings_from_environment().state_dir))
        found = causes(changes, records, live.document.name) if records else no_causes(changes)
        if as_json:
            rows = [change_json(*row) for row in zip(changes, found, strict=True)]
            print_json({"cluster": live.document.name, "changes": rows})
            return OK
        show(Output(), changes, found, has_trail=bool(records))
        return OK

    return on_cluster(manifests, cluster, "history", act, writes=False)


def no_causes(changes: Sequence[LeaderChange]) -> Sequence[Cause]:
    """Without a trail nothing can be said, not even that nobody asked."""
    return [Cause("") for _ in changes]


async def history_of(live: Live, view: View) -> Sequence[LeaderChange]:
    """As the leader remembers it, else as any member that answers does."""
    situation = view.situation
    leader = situation.leader
    others = [member for member in situation.desired.members if member is not leader]
    why = "there is no member"
    for member in ([leader] if leader else []) + others:
        match await live.ports.patroni.history(member.address, situation.desired.rest_api_port):
            case Known(changes):
                return changes
            case Unknown(reason):
                why = reason
    raise CommandError(f"no member tells its history: {why}", FAILURE)


def show(
    out: Output, changes: Sequence[LeaderChange], found: Sequence[Cause], *, has_trail: bool
) -> None:
    if not changes:
        out.line("The leader has not changed since the cluster was made.")
    else:
        out.table(COLUMNS, [cells(*row) for row in zip(changes, found, strict=True)])
    if changes and not has_trail:
        out.line("There is no audit trail here: no cause is known.")
    out.flush()


def cells(change: LeaderChange, cause: Cause) -> tuple[str, ...]:
    return (
        str(change.timeline),
        lsn(change.location),
        change.reason,
        stamp(change.at) if change.at else "",
        change.leader,
        gap_text(cause),
        cause.text,
    )


def gap_text(cause: Cause) -> str:
    if cause.write_gap_ms is None:
        return ""
    lost = f", {cause.lost_rows} rows lost" if cause.lost_rows else ""
    return f"{cause.write_gap_ms} ms{lost}"


def lsn(location: int) -> str:
    """As PostgreSQL writes it: 0/3000148."""
    return f"{location >> 32:X}/{location & 0xFFFFFFFF:X}"


def change_json(change: LeaderChange, cause: Cause) -> dict[str, object]:
    return {
        "tl": change.timeline,
        "lsn": lsn(change.location),
        "reason": change.reason,
        "timestamp": stamp(change.at) if change.at else None,
        "new_leader": change.leader or None,
        "cause": cause.text or None,
        "write_gap_ms": cause.write_gap_ms,
        "lost_rows": cause.lost_rows,
    }
