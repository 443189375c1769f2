"""Rule for the dump before an upgrade: create its job, wait for it, then remove the job.

Invariant: the operator never removes a dump; the job itself keeps the newest ones. There is one job
at a time: each begins by clearing away what another left unfinished.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import AnyAction, CreateService, RemoveService
from queenright.core.kinds.notes_app.desired.dump_job import place_of
from queenright.core.kinds.notes_app.state import AppState
from queenright.core.kinds.notes_app.upgrade.dump import (
    ATTEMPT_AGAIN,
    DumpRun,
    Upgrade,
    dump_jobs,
    upgrade_of,
    version_of,
    wanted_run,
)
from queenright.core.planning.plan import Hold


def plan_dumps(state: AppState) -> Iterator[AnyAction | Hold]:
    run, upgrade = wanted_run(state), upgrade_of(state)
    former = [live for live in dump_jobs(state) if not run or live.value.name != run.job.name]
    for live in former:
        tasks = state.swarm.tasks_of(live.id)
        runs = any(task.is_alive or state.swarm.may_run(task) for task in tasks)
        if runs and run is None:
            # The dump may be needed again, for example once the image is known.
            yield Hold(
                f"dump/{state.desired.name}",
                f"{live.value.name}: still runs (no upgrade needs it now); the operator removes "
                "it when it has ended",
            )
            continue
        ended = "is no longer needed" if runs else "has ended"
        reason = f"{live.value.name} {ended}; the dumps in {place_of(live.value)} stay"
        yield RemoveService(live.id, live.value.name, reason=reason)
    if former or run is None or upgrade is None or state.missing:
        return
    if state.why_no_database() or state.why_not_in_catalog():
        return
    yield from next_step(state, run, upgrade)


def next_step(state: AppState, run: DumpRun, upgrade: Upgrade) -> Iterator[AnyAction | Hold]:
    name, key = state.desired.name, f"dump/{state.desired.name}"
    change = f"{version_of(upgrade.before)} to {version_of(upgrade.after)}"
    match run.state:
        case "to do":
            yield CreateService(
                run.job,
                reason=f"upgrade of {name} from {change}: dump its database to "
                f"{place_of(run.job)} first",
            )
        case "running":
            yield Hold(
                key,
                f"upgrade of {name} from {change}: the dump of its database runs first{run.why}",
            )
        case "failed" if run.live is not None and run.failed_at is not None:
            again = run.failed_at + ATTEMPT_AGAIN
            reason = f"upgrade of {name} from {change}: the dump of its database failed ({run.why})"
            if state.now >= again:
                yield RemoveService(
                    run.live.id, run.job.name, reason=f"{reason}; it is attempted again"
                )
            elif state.desired.upgrade.dump.mode == "attempted":
                yield Hold(
                    key,
                    f"{reason}; the upgrade goes on without it (upgrade.dump is attempted)",
                    is_informational=True,
                )
            else:
                yield Hold(key, reason, again, wants_attention=True)
