"""The observation after an action on the members, and documents with more or fewer of them.

``after`` answers what the swarm, Patroni and Raft show once an action has taken effect, and nothing
else has happened: the next plan is that of an operator which was killed right after the action.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from queenright.core.actions import (
    AnyAction,
    CreateConfig,
    CreateService,
    LabelConfig,
    LabelNode,
    NoteMembers,
    RaftRemove,
    RaftTransfer,
    Reinitialize,
    RemoveConfig,
    RemoveService,
    RestartService,
    UpdateService,
)
from queenright.core.kinds.ruleset import RULESET
from queenright.core.observed import (
    Known,
    Live,
    LiveService,
    MemberStatus,
    Observed,
    RaftStatus,
    Unknown,
    hung_key,
    voters_key,
)
from queenright.core.planning.guards import refusal_by
from queenright.core.planning.plan import Plan, Refusal
from tests.support.builders import (
    LONG_AGO,
    MANIFEST,
    found_images,
    plan_for,
    status,
    swarm_of,
    task,
    three_nodes,
)
from tests.support.changed import with_member, with_swarm

LAST_LINE = "    - {name: member-3, node: node4}\n"
NAMES = {number: f"member-{number}" for number in range(1, 7)}


def text_of(*numbers: int, spec: str = "") -> str:
    """The manifest with these members: ``member-N`` is on the node N + 1."""
    lines = "".join(f"    - {{name: member-{n}, node: node{n + 1}}}\n" for n in numbers)
    start = MANIFEST.index("    - {name: member-1")
    end = MANIFEST.index(LAST_LINE) + len(LAST_LINE)
    return MANIFEST[:start] + lines + MANIFEST[end:] + spec


def voter(number: int) -> str:
    """The Raft address of ``member-N``."""
    return f"10.77.0.{11 + number}:5010"


def raft_nodes(
    listed: Iterable[int | str],
    leader: int = 1,
    down: Iterable[int | str] = (),
    orphans: Iterable[int] = (),
) -> dict[str, Known[RaftStatus] | Unknown]:
    """The Raft nodes of these voters; a text is the address of one without a member."""
    addresses = {voter(n) if isinstance(n, int) else n for n in listed}
    dead = {voter(n) if isinstance(n, int) else n for n in down}
    found: dict[str, Known[RaftStatus] | Unknown] = {}
    for number, name in NAMES.items():
        own = voter(number)
        if own not in addresses and number not in orphans:
            continue
        seen = (addresses | {own}) - {own}
        is_orphan = own not in addresses
        leads = number == leader
        found[f"main_{name}"] = (
            Unknown("timed out")
            if own in dead
            else Known(
                RaftStatus(
                    has_quorum=not is_orphan,
                    leader="" if is_orphan else voter(leader),
                    term=1,
                    reachable=frozenset() if is_orphan else frozenset(seen - dead),
                    unreachable=frozenset(seen) if is_orphan else frozenset(seen & dead),
                    address=own,
                    state="leader" if leads else "follower",
                    commit_index=40,
                    last_applied=40,
                    log_length=40,
                    uptime_s=3600,
                    match_index=dict.fromkeys(seen - dead, 40) if leads else {},
                )
            )
        )
    return found


def with_raft_nodes(
    observed: Observed, found: dict[str, Known[RaftStatus] | Unknown], seen_s: float = 100.0
) -> Observed:
    """The Raft nodes, whose lists have been seen for so long."""
    seen = {voters_key(name): seen_s for name in found}
    return dataclasses.replace(observed, raft=found, seen_s_ago={**observed.seen_s_ago, **seen})


def deployed(*numbers: int, leader: int = 1, raft_leader: int = 1) -> Observed:
    """A converged cluster of these members, beside free nodes up to node7."""
    observed = with_nodes(three_nodes(f"member-{leader}"))
    for number in range(1, 4):
        if number not in numbers:
            raise AssertionError("a deployed cluster of the tests has the first three members")
    for number in range(4, max(numbers) + 1):
        text = text_of(*range(1, number + 1), spec="  acknowledge: [evenMembers]\n")
        observed = settled(observed, range(1, number))
        for _ in range(30):
            plan = plan_for(observed, text)
            if not plan.actions:
                break
            observed = whole(after(observed, plan.actions[0]), leader)
    return settled(observed, numbers, raft_leader)


def settled(observed: Observed, numbers: Iterable[int], raft_leader: int = 1) -> Observed:
    return with_raft_nodes(observed, raft_nodes([*numbers], raft_leader))


def with_nodes(observed: Observed) -> Observed:
    """Further nodes, node5 to node7, without labels."""
    observed = dataclasses.replace(observed, images=found_images())
    plain = dataclasses.replace(swarm_of(observed).nodes[-1], labels={})
    more = tuple(
        dataclasses.replace(plain, id=f"id-node{k}", name=f"node{k}", address=f"10.77.0.{10 + k}")
        for k in range(5, 8)
    )
    return with_swarm(observed, nodes=(*swarm_of(observed).nodes, *more))


def whole(observed: Observed, leader: int = 1) -> Observed:
    """Every member's service runs, streams or leads, and is a voter."""
    names = [
        found.value.name.removeprefix("main_")
        for found in swarm_of(observed).services
        if "member" in found.value.name
    ]
    numbers = [int(name[-1]) for name in names]
    members: dict[str, Known[MemberStatus] | Unknown] = {
        f"main_{name}": Known(status(name, f"member-{leader}")) for name in names
    }
    return dataclasses.replace(settled(observed, numbers), members=members)


def after(observed: Observed, action: AnyAction) -> Observed:
    """The observation after one action."""
    swarm = swarm_of(observed)
    match action:
        case CreateConfig(config=config):
            made = Live(f"id-{config.name}", 60, config)
            return with_swarm(observed, configs=(*swarm.configs, made))
        case RemoveConfig(name=name):
            kept = tuple(c for c in swarm.configs if c.value.name != name)
            return with_swarm(observed, configs=kept)
        case LabelConfig(config=config) | NoteMembers(config=config):
            changed = tuple(
                dataclasses.replace(c, value=config) if c.value.name == config.name else c
                for c in swarm.configs
            )
            return with_swarm(observed, configs=changed)
        case LabelNode(node=name, labels=labels):
            return with_swarm(
                observed,
                nodes=tuple(
                    dataclasses.replace(
                        n, labels={k: v for k, v in {**n.labels, **labels}.items() if v is not None}
                    )
                    if n.name == name
                    else n
                    for n in swarm.nodes
                ),
            )
        case CreateService(service=service):
            born = LiveService(f"id-{service.name}", 200, service, LONG_AGO, LONG_AGO)
            node = f"node{int(service.name[-1]) + 1}"
            grown = with_swarm(
                observed,
                services=(*swarm.services, born),
                tasks=(*swarm.tasks, task(service.name, node, slot=1)),
            )
            silent = {service.name: Unknown("connection refused")}
            return dataclasses.replace(grown, members={**grown.members, **silent})
        case UpdateService(service=service) | RestartService(service=service):
            services = tuple(
                dataclasses.replace(s, value=service) if s.value.name == service.name else s
                for s in swarm.services
            )
            return with_swarm(observed, services=services)
        case RemoveService(id=service_id, name=name):
            left = with_swarm(
                observed,
                services=tuple(s for s in swarm.services if s.id != service_id),
                tasks=tuple(t for t in swarm.tasks if t.service_id != service_id),
            )
            gone = {name: Unknown("its service is not in the swarm")}
            raft = {n: found for n, found in left.raft.items() if n != name}
            return dataclasses.replace(left, members={**left.members, **gone}, raft=raft)
        case RaftRemove(voter=removed):
            return dataclasses.replace(observed, raft=dict(without_vote(observed, removed)))
        case RaftTransfer() | Reinitialize():
            return observed
        case _:
            raise AssertionError(action.key)


def without_vote(
    observed: Observed, removed: str
) -> Iterable[tuple[str, Known[RaftStatus] | Unknown]]:
    """Each Raft node's answer after a vote was removed: the removed node goes on by itself."""
    for name, reading in observed.raft.items():
        if isinstance(reading, Unknown):
            yield name, reading
        elif reading.value.address == removed:
            orphan = dataclasses.replace(reading.value, has_quorum=False, leader="")
            yield name, Known(orphan)
        else:
            kept = dataclasses.replace(
                reading.value,
                reachable=reading.value.reachable - {removed},
                unreachable=reading.value.unreachable - {removed},
            )
            yield name, Known(kept)


def refusal(plan: Plan, observed: Observed) -> Refusal | None:
    """The guards' answer to a plan."""
    return refusal_by(RULESET.guards, plan, observed)


FIVE = text_of(1, 2, 3, 4, 5)


def until(observed: Observed, text: str, key: str) -> tuple[Observed, Plan]:
    """The observation before an action of this key, each earlier one done and then killed."""
    for _ in range(40):
        plan = plan_for(observed, text)
        assert plan.actions, f"{key} never comes: {plan.holds}"
        assert refusal(plan, observed) is None
        if key in [action.key for action in plan.actions]:
            return observed, plan
        observed = after(observed, plan.actions[0])
    raise AssertionError(f"{key} never comes")


def joined(state: MemberStatus, hung_s: float = 0.0) -> Observed:
    """Member 4 is a voter, and in this state."""
    observed, plan = until(deployed(1, 2, 3), FIVE, "create-service/main_member-4")
    made = next(a for a in plan.actions if isinstance(a, CreateService))
    observed = with_member(whole(after(observed, made)), "member-4", state)
    seen = {**observed.seen_s_ago, hung_key("main_member-4"): hung_s}
    return dataclasses.replace(observed, seen_s_ago=seen)
