"""Rules that could wait for each other: each scene ends whole by itself, or says who has to act.

A person did nothing wrong in any of them. Where a node is dead for good, `replaceAfter` has to
bring the redundancy back.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import anyio
import pytest

from tests.fakes.fake_swarm import Faults
from tests.fakes.running_operator import Operator
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.broken_passes import broken_passes
from tests.sim.topology_judge import TopologyJudge
from tests.sim.topology_world import (
    ASKED,
    Deployed,
    address_of,
    noted_places,
    notes_of,
    places_of,
    text_of,
    topology_world,
    write_members,
)

M = tuple(f"member-{number}" for number in range(1, 6))
QUORUM = "  replication: {mode: quorum}\n"
RESTARTS = "  stopGracePeriod: 90s\n"
WHOLE_S = 1200.0
Act = Callable[[World], Awaitable[None]]


async def until(world: World, is_so: Callable[[], object], limit_s: float = 1500.0) -> None:
    await world.until_whole(limit_s, lambda: bool(is_so()))


def rotten_disk(world: World, service: str) -> None:
    """A service's container does not start any more; its node is well."""
    usual = world.orchestrator.why_not_start
    world.orchestrator.why_not_start = lambda found: (
        "FATAL: disk" if found.name == service else usual(found)
    )
    world.kill_container(service)


def when_removed(world: World, service: str, act: Callable[[], object]) -> None:
    """Act at the moment at which a service is removed."""

    def hook(kind: str, what: object) -> Callable[[], None]:
        live = world.store.services.get(str(what)) if kind == "remove-service" else None
        if live is not None and live.value.name == service:
            act()
        return lambda: None

    world.swarm.before_write.append(hook)


def when_voted_out(world: World, act: Callable[[], None]) -> None:
    """Act at the moment at which a vote is removed."""

    def hook(verb: object) -> None:
        if getattr(verb, "kind", "") == "raft-remove":
            world.orchestrator.after(0.001, act)

    world.patroni.before_verb.append(hook)


async def a_vote_is_gone(world: World) -> None:
    """member-5 leaves; when its vote is gone, another node dies."""
    when_voted_out(world, lambda: world.power_cut("node3"))
    write_members(world, text_of(*M[:4], more=ASKED))


async def a_service_is_gone(world: World) -> None:
    when_removed(
        world, "main_member-5", lambda: world.orchestrator.after(0.001, world.power_cut, "node3")
    )
    write_members(world, text_of(*M[:4], more=ASKED))


async def a_leaver_is_damaged(world: World) -> None:
    world.break_data("main_member-5")
    world.kill_container("main_member-5")
    await anyio.sleep(60)
    world.power_cut("node3")
    await anyio.sleep(20)
    write_members(world, text_of(*M[:4], more=ASKED))


async def a_leaver_does_not_start(world: World) -> None:
    rotten_disk(world, "main_member-5")
    await anyio.sleep(30)
    world.power_cut("node3")
    await anyio.sleep(20)
    write_members(world, text_of(*M[:4], more=ASKED))


async def a_newcomer_is_noted(world: World) -> None:
    write_members(world, text_of(*M, more=ASKED))
    await until(world, lambda: "member-5" in noted_places(world))
    world.power_cut("node3")


async def a_first_copy_was_killed(world: World) -> None:
    world.patroni_model.clone_s = 40.0
    write_members(world, text_of(*M[:4], more=ASKED))
    await until(world, lambda: world.containers("main_member-4"))
    await anyio.sleep(15)
    world.kill_container("main_member-4")
    world.power_cut("node3")


async def a_ghost_votes(world: World) -> None:
    raft = world.patroni_model.consensus("main").raft
    assert raft.request(raft.leader, "add", f"{address_of('node8')}:5010")
    await anyio.sleep(5)
    world.power_cut("node3")


async def a_second_node_dies(world: World) -> None:
    world.power_cut("node3")
    await until(world, lambda: notes_of(world))
    world.power_cut("node5")


async def the_spares_die(world: World) -> None:
    """The member was replaced, and both spares die; its line's own node is back."""
    world.power_cut("node4")
    await until(world, lambda: {p.name: p.node for p in places_of(world)}.get(M[2]) == "node7")
    world.power_cut("node7")
    world.power_cut("node8")
    await anyio.sleep(100)
    world.power_on("node4")


async def commits_need_a_third(world: World) -> None:
    """Of two members none may restart before the third is there; no fault at all."""
    write_members(world, text_of(*M[:3], more=QUORUM + RESTARTS))


async def a_full_disk_is_replaced(world: World) -> None:
    """With the same edit all members have to restart."""
    assert world.damage("main_member-3", "no-room")
    await anyio.sleep(60)
    write_members(world, text_of(M[0], M[1], M[3], more=RESTARTS))


async def a_full_disk_moves(world: World) -> None:
    assert world.damage("main_member-3", "no-room")
    await anyio.sleep(60)
    write_members(world, text_of(*M[:3], at={M[2]: "node6"}, more=RESTARTS))


async def a_new_vote_is_forgotten(world: World) -> None:
    """All lose power when a stand-in votes, whose vote is on its own disk alone: those of the
    others were not synced, as with images from before decision 35. The member that moves is dead
    from then on, and its stand-in starts before the others."""
    write_members(world, text_of(*M[:3], at={M[2]: "node5"}))
    model = world.patroni_model
    await until(world, lambda: model.was_well_since("main_member-3-moved", world.now_s))
    for member in model.of_cluster("main"):
        files = member.volume.votes[member.raft_address]
        files.synced = [] if member.name in M else list(files.log)
    for number in range(2, 6):
        world.power_cut(f"node{number}")
    world.power_on("node5")
    for number in (2, 3):
        world.power_on(f"node{number}", 10.0)


async def power_is_lost(world: World, operator: Operator) -> None:
    """The operator died between a vote and its service; a former leader has more on an older
    timeline. The member without a vote answers, and no Raft node lists it."""
    former = world.leader()
    assert former is not None
    when_voted_out(world, lambda: setattr(world.swarm, "faults", Faults(unavailable=1.0)))
    write_members(world, text_of(*M[:3]))
    await until(world, lambda: world.swarm.faults.unavailable)
    await anyio.sleep(1)
    await operator.kill()
    world.swarm.faults = Faults()
    world.partition("node2")
    former.volume.location += 1_000_000
    await anyio.sleep(90)
    for number in range(2, 6):
        world.power_cut(f"node{number}")
    world.heal("node2")
    await anyio.sleep(60)
    for number in range(2, 6):
        world.power_on(f"node{number}", 1.3)
    await anyio.sleep(5)
    world.start_operator()


SCENES: dict[str, tuple[str, Act]] = {
    "a vote is gone": (text_of(*M, more=ASKED), a_vote_is_gone),
    "a service is gone": (text_of(*M, more=ASKED), a_service_is_gone),
    "a leaver is damaged": (text_of(*M, more=ASKED), a_leaver_is_damaged),
    "a leaver does not start": (text_of(*M, more=ASKED), a_leaver_does_not_start),
    "a newcomer is noted": (text_of(*M[:3], more=ASKED), a_newcomer_is_noted),
    "a first copy was killed": (text_of(*M[:3], more=ASKED), a_first_copy_was_killed),
    "a ghost votes": (text_of(*M, more=ASKED), a_ghost_votes),
    "a second node dies": (text_of(*M, more=ASKED), a_second_node_dies),
    "the spares die": (text_of(*M[:3], more=ASKED), the_spares_die),
    "commits need a third": (text_of(*M[:2], more=QUORUM), commits_need_a_third),
    "a full disk is replaced": (text_of(*M[:3]), a_full_disk_is_replaced),
    "a full disk moves": (text_of(*M[:3]), a_full_disk_moves),
    "a new vote is forgotten": (text_of(*M[:3]), a_new_vote_is_forgotten),
}
FEW = {"commits need a third", "a service is gone"}


@pytest.mark.parametrize(
    "scene",
    [pytest.param(s, marks=[] if s in FEW else [pytest.mark.slow]) for s in SCENES],
)
def test_it_ends_whole(scene: str) -> None:
    text, act = SCENES[scene]

    async def main() -> None:
        world, judge, _ = await whole(text)
        await act(world)
        await world.until_whole(WHOLE_S)
        assert judge.violations == []

    run_virtual(main)


def test_a_member_that_nobody_lists_does_not_keep_all_from_leading() -> None:
    async def main() -> None:
        world, judge, operator = await whole(text_of(*M[:4]))
        await power_is_lost(world, operator)
        await world.until_whole(WHOLE_S)
        assert judge.violations == []

    run_virtual(main)


async def whole(text: str) -> tuple[World, TopologyJudge, Operator]:
    world = topology_world(1, text)
    judge = TopologyJudge(world)
    operator = world.start_operator()
    await world.until_whole()
    await anyio.sleep(130)
    return world, judge, operator


def last_holds(
    text: str, act: Act, lasts_s: float, then: Callable[[World], None] = lambda _: None
) -> dict[str, str]:
    """The holds of the operator's last pass, so long after an act; ``then`` looks at the world."""
    told: dict[str, str] = {}

    def heard(holds: Mapping[str, str]) -> None:
        told.clear()
        told.update(holds)

    async def main() -> None:
        world, judge, _ = await whole(text)
        await act(world)
        await anyio.sleep(lasts_s)
        assert judge.violations == []
        then(world)

    with broken_passes(heard) as broken:
        run_virtual(main)
    assert broken == []
    return told


@pytest.mark.slow
def test_a_dead_stand_in_is_told() -> None:
    async def act(world: World) -> None:
        write_members(world, text_of(*M[:3], at={M[1]: "node6"}, more=ASKED))
        await until(world, lambda: "member-2-moved" in Deployed(world))
        await anyio.sleep(20)
        world.power_cut("node6")

    told = last_holds(text_of(*M[:3], more=ASKED), act, 300)
    assert "write another node in the line of member-2" in told["replace/main_member-2-moved"]


@pytest.mark.slow
def test_a_dead_member_that_gets_another_name_is_told() -> None:
    async def act(world: World) -> None:
        world.power_cut("node4")
        renamed = text_of(*M[:3], more=ASKED).replace("name: member-3,", "name: db-3,")
        write_members(world, renamed)

    told = last_holds(text_of(*M[:3], more=ASKED), act, 300)
    assert "write another node in the line of db-3" in told["replace/main_member-3"]


@pytest.mark.slow
def test_of_three_the_only_replica_that_streams_is_not_renamed() -> None:
    """Both replicas get other names; the vote of one is gone when the other stops streaming."""

    async def act(world: World) -> None:
        text = text_of(*M[:3])
        for number in (2, 3):
            text = text.replace(f"name: member-{number},", f"name: db-{number},")
        when_voted_out(world, lambda: setattr(world.swarm, "faults", Faults(unavailable=1.0)))
        write_members(world, text)
        await until(world, lambda: world.swarm.faults.unavailable)
        left = {"member-2", "member-3"} - voteless_in(world)
        world.damage(f"main_{left.pop()}", "no-room")
        await anyio.sleep(8)
        world.swarm.faults = Faults()

    def then(world: World) -> None:
        assert {*Deployed(world)} == {*M[:3]}

    last_holds(text_of(*M[:3]), act, 120, then)


def voteless_in(world: World) -> set[str]:
    """The members that no Raft node lists."""
    nodes = world.patroni_model.consensus("main").raft.running.values()
    listed = {address for node in nodes for address in node.listed - {node.address}}
    return {node.name for node in nodes if node.address not in listed}


@pytest.mark.slow
def test_a_vote_that_came_back_gives_the_others_their_quorum() -> None:
    """The member that went voted once more in the moment in which its service was removed, then
    another node dies: two of four voters are left."""

    async def act(world: World) -> None:
        raft = world.patroni_model.consensus("main").raft
        back: list[object] = []

        def voted() -> None:
            if not back:
                back.append(raft.request(raft.leader, "add", f"{address_of('node5')}:5010"))

        when_removed(world, "main_member-4", voted)
        write_members(world, text_of(*M[:3]))
        await until(world, lambda: back)
        await anyio.sleep(20)
        world.power_cut("node3")

    def then(world: World) -> None:
        assert world.leader() is not None
        assert "member-4" in Deployed(world)

    last_holds(text_of(*M[:4]), act, 300, then)
