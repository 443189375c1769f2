"""Contract of ``Patroni`` on a whole cluster: the fake and the real one."""

from __future__ import annotations

import pytest

from queenright.core.observed import Known, RaftStatus, Unknown
from queenright.ports.errors import ConflictError, RejectedError, UnavailableError
from queenright.ports.secrets import Password
from tests.contract.deployed import RAFT_PORT, REST_PORT, Deployed, Stage, eventually

NEEDS_RESTART = "max_worker_processes"
KEY = "queenright_contract"
WRONG = Password("not-the-password")


def raft_address(deployed: Deployed, member: str) -> str:
    return f"{deployed.addresses[member]}:{RAFT_PORT}"


def test_each_member_tells_its_part(stage: Stage) -> None:
    async def context(deployed: Deployed) -> None:
        found = await deployed.statuses()
        leader = await deployed.leader()
        assert len(found) == 3
        for name, status in found.items():
            assert status.state in {"running", "streaming"}
            assert status.timeline == found[leader].timeline
            assert status.location
            assert status.name == name
            assert status.server_version // 10_000 == 16
            assert status.version.startswith("4.")
            assert (status.role, status.holds_lock) == (
                ("primary", True) if name == leader else ("replica", False)
            )
            assert not status.paused
            assert not status.pending_restart
            assert not status.pending_changes
            assert not status.cluster_unlocked

    stage(context)


def test_of_all_members_the_leader_leads(stage: Stage) -> None:
    async def context(deployed: Deployed) -> None:
        leader = deployed.addresses[await deployed.leader()]
        every = [*deployed.addresses.values(), deployed.nobody]
        found = await deployed.patroni.leading([(address, REST_PORT) for address in every])
        assert found == {(leader, REST_PORT)}
        assert not await deployed.patroni.leading([(leader, REST_PORT + 10_000)])

    stage(context)


def test_nobody_answers_on_another_port(stage: Stage) -> None:
    """Unlike a model that would answer wherever it is asked."""

    async def context(deployed: Deployed) -> None:
        for address in deployed.addresses.values():
            assert isinstance(await deployed.patroni.status(address, REST_PORT + 10_000), Unknown)
            assert isinstance(await deployed.patroni.settings(address, RAFT_PORT), Unknown)
            assert isinstance(await deployed.patroni.raft(address, REST_PORT), Unknown)

    stage(context)


def test_the_settings_are_the_manifests(stage: Stage) -> None:
    async def context(deployed: Deployed) -> None:
        for member in deployed.addresses:
            found = await deployed.settings(member)
            assert (found["ttl"], found["loop_wait"], found["retry_timeout"]) == (30, 10, 10)
            assert found["postgresql"]["parameters"]["max_connections"] == 200

    stage(context)


def test_each_raft_node_tells_of_the_quorum_and_its_partners(stage: Stage) -> None:
    async def context(deployed: Deployed) -> None:
        every = {raft_address(deployed, name) for name in deployed.addresses}
        leaders, terms = set(), set()
        for name, address in deployed.addresses.items():
            found = await deployed.patroni.raft(address, RAFT_PORT)
            assert isinstance(found, Known)
            assert isinstance(found.value, RaftStatus)
            assert found.value.has_quorum
            assert found.value.reachable == every - {raft_address(deployed, name)}
            assert not found.value.unreachable
            leaders.add(found.value.leader)
            terms.add(found.value.term)
        assert len(leaders) == len(terms) == 1
        assert leaders < every
        assert min(terms) > 0

    stage(context)


def test_who_is_not_there_is_unknown_and_no_verb_reaches_it(stage: Stage) -> None:
    async def context(deployed: Deployed) -> None:
        patroni, password = deployed.patroni, await deployed.password()
        nobody = deployed.nobody
        assert isinstance(await patroni.status(nobody, REST_PORT), Unknown)
        assert isinstance(await patroni.settings(nobody, REST_PORT), Unknown)
        assert isinstance(await patroni.raft(nobody, RAFT_PORT), Unknown)
        for verb in (
            patroni.patch_settings(nobody, REST_PORT, {KEY: "1"}, {KEY: None}, password),
            patroni.switch_over(nobody, REST_PORT, "member-1", "member-2", password),
            patroni.restart(nobody, REST_PORT, password),
            patroni.reinitialize(nobody, REST_PORT, password),
        ):
            with pytest.raises(UnavailableError):
                await verb

    stage(context)


def test_a_patch_is_merged_seen_by_all_and_undone(stage: Stage) -> None:
    async def context(deployed: Deployed) -> None:
        async def all_have(value: object) -> bool:
            found = [await deployed.settings(name) for name in deployed.addresses]
            return all(
                settings.get(KEY) == value
                and settings["postgresql"]["parameters"]["work_mem"] == ("5MB" if value else "4MB")
                for settings in found
            )

        before = await deployed.settings(await deployed.leader())
        await deployed.patch(
            {KEY: "yes", "postgresql": {"parameters": {"work_mem": "5MB"}}},
            {KEY: None, "postgresql": {"parameters": {"work_mem": "4MB"}}},
        )
        await eventually(lambda: all_have("yes"), "every member to know the patch")
        await deployed.patch(
            {KEY: None, "postgresql": {"parameters": {"work_mem": "4MB"}}},
            {KEY: "yes", "postgresql": {"parameters": {"work_mem": "5MB"}}},
        )
        await eventually(lambda: all_have(None), "every member to have forgotten it")
        assert await deployed.settings(await deployed.leader()) == before

    stage(context)


@pytest.mark.parametrize(
    "expected",
    [
        {KEY: "something"},
        {"ttl": 20},
        {"ttl": None},
        {"ttl": 30, "postgresql": {"parameters": {"work_mem": "5MB"}}},
        {"postgresql": {"parameters": None}},
    ],
)
def test_settings_that_are_not_as_expected_are_left_alone(
    stage: Stage, expected: dict[str, object]
) -> None:
    async def context(deployed: Deployed) -> None:
        before = await deployed.settings(await deployed.leader())
        with pytest.raises(ConflictError):
            await deployed.patch({KEY: "x"}, expected)
        assert await deployed.settings(await deployed.leader()) == before

    stage(context)


def test_a_pause_is_seen_on_every_member_and_lifted_again(stage: Stage) -> None:
    async def context(deployed: Deployed) -> None:
        async def all_are(paused: bool) -> bool:
            found = await deployed.statuses()
            return len(found) == 3 and all(s.paused is paused for s in found.values())

        await deployed.patch({"pause": True}, {"pause": None})
        await eventually(lambda: all_are(True), "every member to be paused")
        await deployed.patch({"pause": None}, {"pause": True})
        await eventually(lambda: all_are(False), "every member to go on")
        await deployed.until_whole()

    stage(context)


def test_a_switchover_makes_the_candidate_the_leader(stage: Stage) -> None:
    async def context(deployed: Deployed) -> None:
        former = await deployed.leader()
        candidate = (await deployed.replicas())[0]
        timeline = (await deployed.status(former)).timeline
        assert timeline
        await deployed.patroni.switch_over(
            deployed.addresses[former], REST_PORT, former, candidate, await deployed.password()
        )
        await deployed.until_whole()
        assert await deployed.leader() == candidate

        async def all_follow() -> bool:
            found = (await deployed.statuses()).values()
            return {status.timeline for status in found} == {timeline + 1}

        await eventually(all_follow, "every member to be on the next timeline")

    stage(context)


def test_a_switchover_that_cannot_be_is_rejected_and_changes_nothing(stage: Stage) -> None:
    async def context(deployed: Deployed) -> None:
        leader, password = await deployed.leader(), await deployed.password()
        other, third = await deployed.replicas()
        address = deployed.addresses[leader]
        for named, candidate in (
            (leader, "member-9"),
            (leader, leader),
            (other, third),
            ("member-9", other),
        ):
            with pytest.raises(RejectedError):
                await deployed.patroni.switch_over(address, REST_PORT, named, candidate, password)
        with pytest.raises(RejectedError):
            await deployed.patroni.fail_over(address, REST_PORT, "member-9", password)
        assert await deployed.leader() == leader

    stage(context)


def test_a_restart_is_done_where_one_is_pending_and_nowhere_else(stage: Stage) -> None:
    async def context(deployed: Deployed) -> None:
        replica = (await deployed.replicas())[0]
        address, password = deployed.addresses[replica], await deployed.password()
        with pytest.raises(ConflictError):
            await deployed.patroni.restart(address, REST_PORT, password)

        async def waits() -> bool:
            return (await deployed.status(replica)).pending_restart

        async def nobody_waits() -> bool:
            return not any(s.pending_restart for s in (await deployed.statuses()).values())

        def parameters(value: int | None) -> dict[str, object]:
            return {"postgresql": {"parameters": {NEEDS_RESTART: value}}}

        await deployed.patch(parameters(9), parameters(None))
        await eventually(waits, "a restart to be pending")
        changes = (await deployed.status(replica)).pending_changes
        assert changes == {NEEDS_RESTART: ("8", "9")}
        await deployed.patroni.restart(address, REST_PORT, password)
        after = await deployed.status(replica)
        assert (after.state, after.pending_restart, after.pending_changes) == ("running", False, {})

        await deployed.patch(parameters(None), parameters(9))
        await eventually(waits, "the restart back to be pending")
        await deployed.patroni.restart(address, REST_PORT, password)
        await eventually(nobody_waits, "no restart to be pending")
        await deployed.until_whole()

    stage(context)


def test_a_replica_begins_its_copy_anew_and_a_leader_does_not(stage: Stage) -> None:
    async def context(deployed: Deployed) -> None:
        leader, password = await deployed.leader(), await deployed.password()
        with pytest.raises(ConflictError):
            await deployed.patroni.reinitialize(deployed.addresses[leader], REST_PORT, password)
        replica = (await deployed.replicas())[0]
        await deployed.patroni.reinitialize(deployed.addresses[replica], REST_PORT, password)

        async def copies() -> bool:
            return (await deployed.status(replica)).state != "running"

        await eventually(copies, "the copy to begin")
        await deployed.until_whole()
        assert await deployed.leader() == leader

    stage(context)


@pytest.mark.parametrize("right", [False, None], ids=["wrong", "none"])
def test_without_the_right_password_every_verb_is_rejected(
    stage: Stage, right: bool | None
) -> None:
    async def context(deployed: Deployed) -> None:
        leader = await deployed.leader()
        candidate, patroni = (await deployed.replicas())[0], deployed.patroni
        address, password = deployed.addresses[leader], WRONG if right is False else None
        for verb in (
            patroni.patch_settings(address, REST_PORT, {KEY: "1"}, {KEY: None}, password),
            patroni.switch_over(address, REST_PORT, leader, candidate, password),
            patroni.fail_over(address, REST_PORT, candidate, password),
            patroni.restart(address, REST_PORT, password),
            patroni.reinitialize(address, REST_PORT, password),
        ):
            with pytest.raises(RejectedError) as refused:
                await verb
            assert WRONG.value not in str(refused.value)
        assert await deployed.leader() == leader
        assert KEY not in await deployed.settings(leader)

    stage(context)
