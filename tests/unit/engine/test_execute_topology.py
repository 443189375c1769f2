"""Actions on the members' topology reach their ports, and each outcome is recorded."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from queenright.core.actions import NoteMembers, RaftRemove, RaftTransfer, Reinitialize
from queenright.core.audit.record import Conflict, Done, Failed, Outcome, Trigger
from queenright.core.observed import Known, Unknown
from queenright.core.planning.backoff import attempt_key
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import MEMBERS_LABEL, Config
from queenright.engine.execute import execute
from queenright.ports.errors import ConflictError, UnavailableError
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World

NODE, PORT, VOTER = "10.77.0.12", 5010, "10.77.0.14:5010"


@dataclass
class Asked:
    """A Raft port that notes what it is asked for, and answers with its error, if it has one."""

    error: Exception | None = None
    requests: list[tuple[str, str, int, str]] = field(default_factory=list)

    async def voters(self, address: str, port: int) -> Known[frozenset[str]] | Unknown:
        return Unknown("not asked")

    async def remove(self, address: str, port: int, voter: str) -> None:
        self.note("remove", address, port, voter)

    async def transfer(self, address: str, port: int, voter: str) -> None:
        self.note("transfer", address, port, voter)

    def note(self, verb: str, address: str, port: int, voter: str) -> None:
        self.requests.append((verb, address, port, voter))
        if self.error is not None:
            raise self.error


REMOVE = RaftRemove(reason="a test", cluster="main", address=NODE, port=PORT, voter=VOTER)
TRANSFER = RaftTransfer(reason="a test", cluster="main", address=NODE, port=PORT, voter=VOTER)


def test_requests_to_raft_are_sent_once_to_the_node_that_is_named() -> None:
    async def main() -> list[tuple[str, str, int, str]]:
        raft = Asked()
        world = World()
        plan = Plan("main", "d", (REMOVE, TRANSFER))
        ports = replace(world.ports, raft=raft)
        result = await execute(ports, plan, Trigger("timer"), lambda: False)
        assert [outcome for _, outcome in result.tried] == [Done(), Done()]
        return raft.requests

    asked = run_virtual(main)
    assert asked == [("remove", NODE, PORT, VOTER), ("transfer", NODE, PORT, VOTER)]


def test_a_request_to_raft_without_an_answer_is_a_failure_and_a_refusal_a_conflict() -> None:
    async def main() -> list[Outcome]:
        world, found = World(), []
        for error in (UnavailableError("no answer"), ConflictError("refused")):
            ports = replace(world.ports, raft=Asked(error))
            plan = Plan("main", "d", (TRANSFER, REMOVE))
            result = await execute(ports, plan, Trigger("timer"), lambda: False)
            found += [outcome for _, outcome in result.tried]
        return found

    assert run_virtual(main) == [Failed("no answer"), Conflict("refused")]


def test_places_are_noted_only_at_the_version_that_was_observed() -> None:
    async def main() -> list[Outcome]:
        world = World()
        world.start_operator()
        await world.until_whole()
        live = world.store.configs["main_cluster"]
        labels = {**live.value.labels, MEMBERS_LABEL: "[]"}
        noted = Config(live.value.name, live.value.data, labels)
        action = NoteMembers(live.id, live.version, noted, reason="a test")
        found = []
        for _ in range(2):
            plan = Plan("main", "d", (action,))
            result = await execute(world.ports, plan, Trigger("timer"), lambda: False)
            found += [outcome for _, outcome in result.tried]
        assert world.store.configs["main_cluster"].value.labels == labels
        return found

    first, second = run_virtual(main)
    assert first == Done()
    assert isinstance(second, Conflict)


def test_a_replica_copies_its_data_again_when_it_is_asked_to() -> None:
    async def main() -> None:
        world = World()
        operator = world.start_operator()
        await world.until_whole()
        await operator.kill()
        replica = next(i for i in world.patroni_model.of_cluster("main") if i.is_streaming)
        files = world.service(replica.service).value.secrets
        secret = next(file.name for file in files if "rest" in file.target)
        action = Reinitialize(
            reason="a test",
            cluster="main",
            address=replica.address,
            port=8008,
            secret=secret,
            member=replica.name,
        )
        result = await execute(
            world.ports, Plan("main", "d", (action,)), Trigger("timer"), lambda: False
        )
        assert [outcome for _, outcome in result.tried] == [Done()]
        assert replica.volume.is_empty
        await world.until_whole()

    run_virtual(main)


def test_each_action_is_named_by_its_object_and_attempts_at_places_by_the_places() -> None:
    one = NoteMembers("id", 1, Config("main_cluster", b"", {"a": "1"}), reason="a test")
    other = NoteMembers("id", 2, Config("main_cluster", b"", {"a": "2"}), reason="a test")
    assert one.key == other.key == "note-members/main_cluster"
    assert attempt_key(one) != attempt_key(other)
    assert REMOVE.key == f"raft-remove/main/{VOTER}"
    assert TRANSFER.key == "raft-transfer/main"
