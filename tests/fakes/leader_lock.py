"""The leader lock: who holds it, keeps it, hands it over, and who takes it when it is free."""

from __future__ import annotations

from typing import Any

from tests.fakes import synchronous
from tests.fakes.consensus import Consensus, MoveRequest, merged
from tests.fakes.first_race import waits_for_others
from tests.fakes.instances import RUNNING, Instance
from tests.fakes.listening import settings_in
from tests.fakes.members import Members

BOOTSTRAP_S = 4.0
RESTORE_FAILS_S = 22.0
"""The time until a restore that can't be made has ended its container."""
ADOPT_S = 15.0
RECORDED_S = 10.0
"""The time after a promotion at which the leader writes its timeline into Patroni's history, at the
latest: its next round."""


def elect(model: Members, agreed: Consensus, able: list[Instance]) -> None:
    if not able:
        return
    for patch in agreed.late_patches:
        agreed.change(patch, by_operator=True)
    agreed.late_patches = []
    if not agreed.initialized_by:
        initialize(model, agreed, able)
    elif agreed.timeline == 0:
        bootstrap(model, agreed, able)
    else:
        holder = next((i for i in able if i.name == agreed.leader), None)
        is_kept = agreed.lock_until_s > 0 and not agreed.raft.expires
        if model.now_s < agreed.lock_until_s or is_kept:
            if holder is not None:
                lead(model, agreed, holder, able)
        elif holder is not None and holder.is_primary:
            renew(model, agreed, holder)
        else:
            race(model, agreed, able)


def initialize(model: Members, agreed: Consensus, able: list[Instance]) -> None:
    """Nothing is known of the cluster. A member without data whose template has a bootstrap section
    begins at once; one with data is adopted only when its PostgreSQL runs, and somewhat later."""
    empty = [
        i for i in able if i.volume.is_empty and may_bootstrap(model, i) and not i.volume.is_fenced
    ]
    with_data = [
        i for i in able if i.state == RUNNING and not i.volume.is_empty and not i.volume.is_fenced
    ]
    if empty:
        first = max(empty, key=lambda i: i.priority)
        agreed.initialized_by, agreed.initialized_at_s = first.name, model.now_s
    elif with_data:
        agreed.adopting_since_s = agreed.adopting_since_s or model.now_s
        if model.now_s - agreed.adopting_since_s >= ADOPT_S:
            best = max(with_data, key=lambda i: (i.volume.location, i.priority, i.name))
            agreed.adopting_since_s, agreed.initialized_by = 0.0, best.name
            agreed.system, agreed.timeline = best.volume.system, best.volume.timeline
            agreed.settings = best.volume.settings


def renew(model: Members, agreed: Consensus, holder: Instance) -> None:
    if model.now_s - agreed.changed_at_s >= RECORDED_S:
        agreed.recorded_timeline = agreed.timeline
    agreed.lock_until_s = model.now_s + agreed.setting("ttl")
    agreed.last_location = holder.volume.location
    agreed.race_at_s = 0.0


def lead(model: Members, agreed: Consensus, holder: Instance, able: list[Instance]) -> None:
    """The round of the one who holds the lock."""
    if holder.is_primary:
        renew(model, agreed, holder)
        synchronous.keep_in_sync(model, agreed, holder, able)
        request = agreed.request
        if request is not None and model.now_s >= request.due_s:
            agreed.request = None
            hand_over(model, agreed, holder, able, request)
    elif holder.is_hopeless:
        model.release(agreed)
    elif holder.state == RUNNING:
        promote(model, agreed, holder)


def hand_over(
    model: Members,
    agreed: Consensus,
    holder: Instance,
    able: list[Instance],
    request: MoveRequest,
) -> None:
    """A graceful switchover: the leader stops, and whoever follows has all of its WAL."""
    ready = [i for i in able if i is not holder and i.is_streaming]
    if synchronous.is_active(agreed):
        ready = [i for i in ready if i.name in agreed.sync.members]
    chosen = next((i for i in ready if i.name == request.candidate), None)
    lag = holder.volume.location - chosen.volume.location if chosen else 0
    if (
        chosen is None
        or request.is_vain
        or request.leader not in {"", holder.name}
        or lag > agreed.setting("maximum_lag_on_failover")
    ):
        return
    others = [i for i in ready if i is not chosen]
    if others and model.rng.random() < model.other_wins:
        chosen = others[0]
    change_over(model, agreed, holder, chosen)
    agreed.planned_by_operator = request.by_operator


def change_over(
    model: Members, agreed: Consensus, former: Instance | None, chosen: Instance
) -> None:
    if former is not None:
        chosen.volume.location = former.volume.location
        former.start("replica", model.now_s + 2.0)
    promote(model, agreed, chosen)


def race(model: Members, agreed: Consensus, able: list[Instance]) -> None:
    """The lock is free."""
    if not agreed.race_at_s:
        agreed.race_at_s = model.now_s + model.rng.uniform(0.0, 3.0)
    if model.now_s < agreed.race_at_s:
        return
    if agreed.paused:
        request = agreed.request
        chosen = next((i for i in able if request and i.name == request.candidate), None)
        if chosen is not None and chosen.state == RUNNING:
            agreed.request = None
            promote(model, agreed, chosen)
        return
    up = [i for i in able if may_race(i, agreed)]
    request = agreed.request
    if request is not None and not request.leader and model.now_s >= request.due_s:
        agreed.request = None
        chosen = next((i for i in up if i.name == request.candidate), None)
        if chosen is not None and not request.is_vain:
            promote(model, agreed, chosen)
            return
    is_synchronous = synchronous.is_active(agreed)
    winner = synchronous.winner(model, agreed, up) if is_synchronous else winner_of(up, agreed)
    if winner is not None and (is_synchronous or not waits_for_others(model, winner)):
        promote(model, agreed, winner)


def may_race(member: Instance, agreed: Consensus) -> bool:
    volume = member.volume
    is_whole = not volume.is_broken and volume.rewound_from is None
    is_able = is_whole and not volume.is_fenced and volume.damage != "no-room"
    return member.state == RUNNING and is_able and volume.system == agreed.system


def winner_of(up: list[Instance], agreed: Consensus) -> Instance | None:
    """As Patroni has it (4.1, ``_is_healthiest_node``): positions in the WAL are compared, then
    priorities, whatever the timelines are. With ``check_timeline`` a member behind the history's
    timeline may not win, but still keeps those from winning that have less WAL than it."""
    best = max(up, key=lambda i: (i.volume.location, i.priority, i.name), default=None)
    if best is None:
        return None
    least = agreed.last_location - agreed.setting("maximum_lag_on_failover")
    is_behind = best.volume.timeline < agreed.recorded_timeline
    if best.volume.location < least or (is_behind and agreed.settings.get("check_timeline")):
        return None
    return best


def bootstrap(model: Members, agreed: Consensus, able: list[Instance]) -> None:
    first = next((i for i in able if i.name == agreed.initialized_by), None)
    if first is None:
        agreed.initialized_by = ""
    elif first.task.template.environment.get("RESTORE_TARGET", "") in model.uncovered:
        if model.now_s - agreed.initialized_at_s >= RESTORE_FAILS_S:
            first.volume.restore_failed = "the target is not covered; take an earlier one"
            agreed.initialized_by = ""
            model.orchestrator.fail(first.task, 1)
    elif model.now_s - agreed.initialized_at_s >= BOOTSTRAP_S:
        first.volume.restore_failed = ""
        model.initialised(agreed, first)
        first.volume.secrets, first.volume.location = model.secrets_of(first), 1000
        agreed.settings = merged(written_settings(model, first), agreed.settings)
        first.settings = agreed.settings
        promote(model, agreed, first)


def may_bootstrap(model: Members, instance: Instance) -> bool:
    return bool(written_settings(model, instance))


def written_settings(model: Members, instance: Instance) -> dict[str, Any]:
    """The template's section that is read once in a cluster's life."""
    for reference in instance.task.template.configs:
        config = model.orchestrator.store.configs.get(reference.name)
        written = settings_in(config.value.data) if config else {}
        if "bootstrap" in written:
            found: dict[str, Any] = written["bootstrap"]["dcs"]
            return found
    return {}


def promote(model: Members, agreed: Consensus, chosen: Instance) -> None:
    model.promoted(agreed, chosen)
    agreed.was_forgotten = False
    synchronous.before_promotion(model, agreed, chosen)
    agreed.leader = chosen.name
    agreed.timeline = chosen.volume.timeline + 1
    agreed.recorded_timeline = min(agreed.recorded_timeline, agreed.timeline)
    model.story.append((model.now_s, f"{chosen.name} leads on timeline {agreed.timeline}"))
    agreed.changed_at_s = model.now_s
    agreed.planned_by_operator = False
    agreed.timelines.begin(agreed.timeline, chosen.volume.location)
    chosen.volume.timeline = agreed.timeline
    chosen.took_over()
    renew(model, agreed, chosen)
