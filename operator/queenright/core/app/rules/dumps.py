"""The dump before an upgrade: its job is made, waited for, and removed when it has served.

Invariant: no dump is ever removed by hand of the operator; the job itself keeps the newest ones.
There is one job at a time: each begins by clearing away what another left unfinished.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import Action, CreateService, RemoveService
from queenright.core.app.dump_job import place_of
from queenright.core.app.situation import AppSituation
from queenright.core.app.upgrades import (
    ATTEMPT_AGAIN,
    DumpRun,
    Upgrade,
    dump_jobs,
    upgrade_of,
    version_of,
    wanted_run,
)
from queenright.core.plan import Hold


def plan_dumps(situation: AppSituation) -> Iterator[Action | Hold]:
    run, upgrade = wanted_run(situation), upgrade_of(situation)
    former = [live for live in dump_jobs(situation) if not run or live.value.name != run.job.name]
    for live in former:
        runs = any(task.is_alive for task in situation.swarm.tasks_of(live.id))
        if runs and run is None:
            continue  # it may be asked for again, once an image is known, say
        ended = "is no longer asked for" if runs else "has ended"
        reason = f"{live.value.name} {ended}; the dumps in {place_of(live.value)} stay"
        yield RemoveService(live.id, live.value.name, reason=reason)
    if former or run is None or upgrade is None or situation.missing:
        return
    if situation.why_no_database() or situation.why_not_in_catalog():
        return
    yield from next_step(situation, run, upgrade)


def next_step(situation: AppSituation, run: DumpRun, upgrade: Upgrade) -> Iterator[Action | Hold]:
    name, key = situation.desired.name, f"dump/{situation.desired.name}"
    change = f"{version_of(upgrade.before)} to {version_of(upgrade.after)}"
    match run.state:
        case "to do":
            yield CreateService(
                run.job,
                reason=f"{name} goes from {change}: first its database is dumped to "
                f"{place_of(run.job)}",
            )
        case "running":
            yield Hold(key, f"{name} is being dumped before it goes from {change}{run.why}")
        case "failed" if run.live is not None and run.failed_at is not None:
            again = run.failed_at + ATTEMPT_AGAIN
            reason = f"the dump of {name} before it goes from {change} failed: {run.why}"
            if situation.now >= again:
                yield RemoveService(
                    run.live.id, run.job.name, reason=f"{reason}; it is attempted again"
                )
            elif situation.desired.upgrade.dump.mode == "attempted":
                yield Hold(key, f"{reason}; the file says to go on without", is_news=True)
            else:
                yield Hold(key, reason, again, wants_attention=True)
