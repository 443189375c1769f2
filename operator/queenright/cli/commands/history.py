"""``queenright history``: the changes of leader, each with its cause."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from queenright.cli import audit_trail
from queenright.cli.cluster_session import ClusterAtHand, Session, on_cluster
from queenright.cli.console import Output, print_json
from queenright.cli.environment import settings_from_environment
from queenright.cli.exit_codes import FAILURE, OK, CommandError
from queenright.cli.options import cluster_argument, json_option, manifests_option
from queenright.core.audit.chain import stamp
from queenright.core.kinds.postgres_cluster.status.leader_history import Cause, causes
from queenright.core.observed import Known, TimelineEnd, Unknown
from queenright.core.postgres.wal import written

COLUMNS = ("TL", "LSN", "Reason", "Timestamp", "New Leader", "Write gap", "Cause")

EPILOG = """\b
A line for each timeline that ended, from Patroni's history. The cause is from
the audit trail, if it is here (QUEENRIGHT_STATE_DIR); the write gap is the
canary's, if it is on (`canary: {enabled: true}`).

\b
Exit codes: 0 shown, 1 no member returns its history, 64 no such cluster,
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
    """Show the changes of leader, with time and cause."""

    async def act(live: Session) -> int:
        view = await live.look()
        changes = await history_of(live, view)
        records = list(audit_trail.known_records(settings_from_environment().state_dir))
        found = causes(changes, records, live.document.name) if records else no_causes(changes)
        if as_json:
            rows = [change_json(*row) for row in zip(changes, found, strict=True)]
            print_json({"cluster": live.document.name, "changes": rows})
            return OK
        show(Output(), changes, found, has_trail=bool(records))
        return OK

    return on_cluster(manifests, cluster, "history", act, writes=False)


def no_causes(changes: Sequence[TimelineEnd]) -> Sequence[Cause]:
    """Return empty causes: without a trail none is known, not even the absence of a request."""
    return [Cause("") for _ in changes]


async def history_of(live: Session, view: ClusterAtHand) -> Sequence[TimelineEnd]:
    """Return the leader's history, else that of any member that answers."""
    state = view.state
    leader = state.leader
    others = [member for member in state.desired.members if member is not leader]
    why = "there is no member"
    for member in ([leader] if leader else []) + others:
        access = state.access(member)
        match await live.ports.patroni.history(access.address, access.rest_api_port):
            case Known(changes):
                return changes
            case Unknown(reason):
                why = reason
    raise CommandError(f"no member returns its history: {why}", FAILURE)


def show(
    out: Output, changes: Sequence[TimelineEnd], found: Sequence[Cause], *, has_trail: bool
) -> None:
    if not changes:
        out.line("The leader has not changed since the cluster was created.")
    else:
        out.table(COLUMNS, [cells(*row) for row in zip(changes, found, strict=True)])
    if changes and not has_trail:
        out.line("No audit trail here: no cause is known.")
    out.flush()


def cells(change: TimelineEnd, cause: Cause) -> tuple[str, ...]:
    return (
        str(change.timeline),
        written(change.location),
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


def change_json(change: TimelineEnd, cause: Cause) -> dict[str, object]:
    return {
        "tl": change.timeline,
        "lsn": written(change.location),
        "reason": change.reason,
        "timestamp": stamp(change.at) if change.at else None,
        "new_leader": change.leader or None,
        "cause": cause.text or None,
        "write_gap_ms": cause.write_gap_ms,
        "lost_rows": cause.lost_rows,
    }
