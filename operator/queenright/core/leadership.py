"""Who should lead, and the next safe step towards it.

Decides from the owner's wishes, the nodes in maintenance, the members that wait for a restart, the
notes in the anchor and what every member says. A planned move goes through three passes: the
proxies are told to look often, the move is noted in the anchor and asked for in one plan, and what
came of it is observed. Invariant: while a move that was asked for may still happen, nothing more is
asked for; a change of leader that nobody planned is never undone, unless the owner wants failback.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from queenright.core.actions import Action, PatchSettings, SwitchOver
from queenright.core.backoff import hold_back
from queenright.core.candidates import best_candidate, why_not_lead
from queenright.core.desired import DesiredMember
from queenright.core.notes import LeaderNote, MoveKind, MoveNote, Notes, ReturnNote
from queenright.core.plan import Hold
from queenright.core.published import FOLLOW_S, ROUTE_KEY, Route, read_route
from queenright.core.restarts import restart_need
from queenright.core.situation import Situation

PROXIES_READ = timedelta(seconds=1.5)
"""How long the proxies need to read a hint: they look once a second."""
HINT_LIFE = timedelta(seconds=FOLLOW_S / 2)
"""How old a hint may be for a move to rest on it."""

CLOCKS_DIFFER = timedelta(seconds=10)
"""A note from further in the future was written by another clock."""


@dataclass(frozen=True, slots=True)
class Move:
    """A wanted change of leader. ``why`` is for people."""

    to: DesiredMember
    kind: MoveKind
    why: str


@dataclass(frozen=True, slots=True)
class Lead:
    """The decision: the notes as they should be from now on, and the steps."""

    notes: Notes
    steps: tuple[Action | Hold, ...] = ()


def settle_time(situation: Situation) -> timedelta:
    """How long a switchover whose answer was lost may still happen: Patroni takes the request up in
    a round of its loop, and a leader that can't step down is followed by another within ttl."""
    settings = situation.desired.settings
    return timedelta(seconds=settings["ttl"] + settings["loop_wait"])


def lead(situation: Situation) -> Lead:
    """What is to be noted and done about the leader now."""
    notes, leader = situation.notes, situation.leader
    timeline = situation.timeline
    if leader is None or timeline is None:
        return Lead(notes, tuple(waiting(situation, notes)))
    seen = with_leader(situation, notes, leader, timeline)
    if seen.move is not None:
        return settle(situation, seen, leader, timeline)
    kept = with_wishes(situation, seen, leader, timeline)
    if not situation.is_bootstrapped:
        return Lead(kept)
    wanted = wanted_move(situation, kept, leader)
    if isinstance(wanted, Move):
        return step_towards(situation, kept, leader, timeline, wanted)
    held = (wanted,) if wanted is not None else ()
    return Lead(kept, (*held, *disarm(situation)))


def waiting(situation: Situation, notes: Notes) -> Iterator[Hold]:
    if notes.move is not None:
        yield Hold(
            f"switchover/{situation.desired.name}",
            f"a move from {notes.move.leader} to {notes.move.candidate} was asked for; no member "
            "leads at this moment",
        )


def with_leader(situation: Situation, notes: Notes, leader: DesiredMember, timeline: int) -> Notes:
    """The notes with who leads; since when is kept while that stays."""
    noted = notes.leader
    if noted is not None and (noted.member, noted.timeline) == (leader.name, timeline):
        return notes
    return replace(notes, leader=LeaderNote(leader.name, timeline, situation.now))


def settle(situation: Situation, notes: Notes, leader: DesiredMember, timeline: int) -> Lead:
    """What became of the move that was asked for; nothing new in the same pass."""
    move = notes.move
    if move is None:
        return Lead(notes)
    done = replace(notes, move=None)
    if leader.name == move.leader:
        until = move.at + settle_time(situation)
        if situation.now < until:
            reason = (
                f"{move.leader} was asked to give the lead to {move.candidate}, and leads still: "
                "it may yet happen, and is not asked for again before then"
            )
            ahead = move.at > situation.now + CLOCKS_DIFFER
            if ahead:
                reason += f". It was asked for at {move.at:%H:%M:%S}: this node's clock is behind"
            key = f"switchover/{situation.desired.name}"
            return Lead(notes, (Hold(key, reason, until, wants_attention=ahead),))
        return Lead(done)
    if leader.name != move.candidate:
        return Lead(done)
    wished = situation.desired.policy.primary
    match move.kind:
        case "primary":
            done = replace(done, primary=move.candidate)
        case "rollout" | "maintenance" if wished == move.leader == notes.primary:
            done = replace(done, return_to=ReturnNote(move.leader, timeline))
        case "return" | "failback":
            done = replace(done, return_to=None)
        case _:
            pass
    return Lead(done)


def with_wishes(situation: Situation, notes: Notes, leader: DesiredMember, timeline: int) -> Notes:
    """The notes without what is fulfilled, withdrawn, or overtaken by a failover."""
    wished = situation.desired.policy.primary
    if wished == leader.name or not wished:
        notes = replace(notes, primary=wished)
    back = notes.return_to
    if back is not None and (
        back.member in {"", leader.name} or back.member != wished or back.timeline != timeline
    ):
        notes = replace(notes, return_to=None)
    return notes


def wanted_move(situation: Situation, notes: Notes, leader: DesiredMember) -> Move | Hold | None:
    """The move that is wanted most, or why one is not to be had."""
    policy, members = situation.desired.policy, situation.desired.members
    if leader.node in situation.maintained:
        return to_the_best(situation, leader, "maintenance", f"{leader.node} is in maintenance")
    needs = {member.name: restart_need(situation, member) for member in members}
    wished = situation.member(policy.primary)
    waits: Hold | None = None
    if wished is not None and wished is not leader and notes.primary != wished.name:
        if wished.node in situation.maintained:
            reason = f"{wished.name} is on {wished.node}, which is in maintenance"
            return Hold(f"primary/{situation.desired.name}", reason)
        if not needs[wished.name]:
            return Move(wished, "primary", f"the file names {wished.name} as primary")
        reason = f"{wished.name} has to restart first itself: {needs[wished.name]}"
        waits = Hold(f"primary/{situation.desired.name}", reason)
    if needs[leader.name] and len(members) > 1:
        if any(need for name, need in needs.items() if name != leader.name):
            return waits  # they go first
        why = f"{leader.name} has to restart: {needs[leader.name]}"
        return to_the_best(situation, leader, "rollout", why)
    if waits is not None or wished is None or wished is leader:
        return waits
    if notes.return_to is not None and wished.node not in situation.maintained:
        if any(needs.values()):
            return None
        return Move(wished, "return", f"{wished.name} led before, as the file wants it")
    return failed_over(situation, notes, leader, wished)


def to_the_best(
    situation: Situation, leader: DesiredMember, kind: MoveKind, why: str
) -> Move | Hold:
    """A move to the freshest member that can lead, or why there is none."""
    best = best_candidate(situation)
    if isinstance(best, DesiredMember):
        return Move(best, kind, why)
    return Hold(
        f"switchover/{situation.desired.name}",
        f"{why}, and nobody can take over from {leader.name}: {best}",
        wants_attention=True,
    )


def failed_over(
    situation: Situation, notes: Notes, leader: DesiredMember, wished: DesiredMember
) -> Move | Hold:
    """The lead is elsewhere though the wish was honoured: a failover, which is not fought (spec:
    §1.8), or is, after a stable time, where the owner wants it."""
    failback = situation.desired.policy.failback
    key = f"primary/{situation.desired.name}"
    text = f"leader is {leader.name}, wished {wished.name}, failback {failback.mode}"
    if failback.mode == "manual" or wished.node in situation.maintained:
        return Hold(key, text, is_news=True)
    due = well_since(situation, notes) + timedelta(seconds=failback.after_s)
    if situation.now < due:
        return Hold(key, f"{text}, at {due:%Y-%m-%dT%H:%M:%SZ} if all stays well", due)
    why = f"{leader.name} took over by failover, and all has been well for {failback.after_s} s"
    return Move(wished, "failback", why)


def well_since(situation: Situation, notes: Notes) -> datetime:
    """Since when the leader leads and every member's task runs: one that came back a moment ago may
    not stay."""
    found = [notes.leader.since if notes.leader else situation.now]
    for member in situation.desired.members:
        if (live := situation.swarm.service(member.service.name)) is not None:
            found += [task.at for task in situation.swarm.running_tasks(live.id)]
    return max(found)


def step_towards(
    situation: Situation, notes: Notes, leader: DesiredMember, timeline: int, move: Move
) -> Lead:
    """The next step of a wanted move from the leader on this timeline: why not now, the proxies'
    hint, or the move itself. While patience holds the move back, nothing is told of it."""
    key = f"switchover/{situation.desired.name}"
    if obstacle := why_not_lead(situation, move.to):
        reason = f"{move.why}; the lead does not move to {move.to.name} now: {obstacle}"
        return Lead(notes, (Hold(key, reason, wants_attention=True),))
    if notes != situation.notes:
        return Lead(notes)
    noted = MoveNote(leader.name, move.to.name, timeline, situation.now, move.kind)
    step = SwitchOver(
        **situation.desired.asked(leader),
        leader=leader.name,
        candidate=move.to.name,
        timeline=timeline,
        reason=f"the lead moves from {leader.name} to {move.to.name}: {move.why}",
        disturbs=leader.service.name,
    )
    waits = isinstance(hold_back(step, situation.attempts, situation.now), Hold)
    told = None if waits else tell_proxies(situation, leader, move)
    if told is not None:
        return Lead(notes, (told,))
    return Lead(replace(notes, move=noted), (step,))


def tell_proxies(
    situation: Situation, leader: DesiredMember, move: Move
) -> PatchSettings | Hold | None:
    """The hint by which the proxies follow a planned move at once; None when they have it, or are
    not to have it."""
    if not situation.desired.policy.fast_switchover:
        return None
    settings = situation.known_settings
    route = read_route(settings)
    fresh = (
        route is not None
        and (route.kind, route.member) == ("follow", move.to.name)
        and timedelta(0) <= situation.now - route.at < HINT_LIFE
    )
    if route is not None and fresh:
        ready_at = route.at + PROXIES_READ
        if situation.now >= ready_at:
            return None
        return Hold(f"switchover/{situation.desired.name}", "the proxies are being told", ready_at)
    hint = Route("follow", move.to.name, situation.now)
    return publish(
        situation,
        leader,
        str(hint),
        f"the lead will move to {move.to.name}: the proxies look often",
    )


def disarm(situation: Situation) -> Iterator[Action]:
    """Takes a hint back that no move needs any more: its member leads, or it is too old to move by.
    A younger one may be that of a command, whose move is not noted yet."""
    leader, route = situation.leader, read_route(situation.known_settings)
    if leader is None or route is None or route.kind != "follow":
        return
    if situation.why_no_quorum() is not None:
        return  # a hint ends by itself
    if leader.name == route.member:
        yield publish(situation, leader, None, "the lead has moved: the proxies look as usual")
    elif abs(situation.now - route.at) >= HINT_LIFE:
        why = f"the lead did not move to {route.member}: the proxies look as usual"
        yield publish(situation, leader, None, why)


def publish(
    situation: Situation, leader: DesiredMember, hint: str | None, reason: str
) -> PatchSettings:
    present = situation.known_settings.get(ROUTE_KEY)
    return PatchSettings(
        **situation.desired.asked(leader),
        aspect="route",
        patch={ROUTE_KEY: hint},
        expected={ROUTE_KEY: present},
        reason=reason,
    )
