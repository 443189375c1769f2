"""A fault in one document does not reach others, is reported, and is retried less and less."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from structlog.testing import capture_logs

from queenright.core.actions import AnyAction, CreateNetwork
from queenright.core.kinds.kind import Rule
from queenright.core.kinds.postgres_cluster.kind import POSTGRES_CLUSTER
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.ruleset import RULESET, Ruleset
from queenright.core.observed import Observed, SwarmState, Unknown, Unreadable
from queenright.core.planning.faults import DocumentKey, fault_of
from queenright.core.planning.guards import refusal_by
from queenright.core.planning.plan import Hold, Plan, Refusal
from queenright.core.swarm.objects import CLUSTER_LABEL, Network
from queenright.engine.faults import LONGEST_S
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.support.builders import FILE, MANIFEST, NOW, manifest

OTHER_FILE = "other.yaml"
SECRET = "correct horse battery staple"
MAIN = DocumentKey("PostgresCluster", "main")


def with_rule(rule: Rule) -> Ruleset:
    """The operator's own, with one more rule for clusters."""
    return RULESET.with_rules(POSTGRES_CLUSTER.name, (rule, *POSTGRES_CLUSTER.rules))


def other_cluster() -> str:
    """A second cluster on the same nodes, with ports, labels and secrets of its own."""
    ports = "    ports: {primary: 5100, replicas: 5101, statistics: 7100}\n"
    fields = {
        "nodeLabels": "{member: other-node, proxy: other-proxy}",
        "ports": "{postgresql: 6432, restApi: 9008, raft: 6010}",
        "secrets": "{superuser: other_su, replication: other_re, restApi: other_rest}",
    }
    text = MANIFEST + ports + "".join(f"  {name}: {value}\n" for name, value in fields.items())
    return text.replace("name: main", "name: other")


@dataclass
class Fails:
    """A rule or guard of the operator's own that fails for cluster main, as long as it should. The
    rule reads the time, so that each pass asks it; ``asked_s`` has each pass once."""

    is_broken: bool = True
    asked_s: list[float] = field(default_factory=list)

    def rule(self, state: ClusterState) -> Iterator[AnyAction | Hold]:
        if state.desired.name == "main":
            if (at_s := anyio.current_time()) not in self.asked_s:
                self.asked_s.append(at_s)
            assert str(getattr(state, "now", NOW))
            if self.is_broken:
                raise ValueError(f"invalid literal for int(): {SECRET!r}")
        yield from ()

    def guard(self, plan: Plan, observed: Observed) -> Refusal | None:
        if plan.cluster == "main" and self.is_broken:
            raise KeyError(SECRET)
        return None


async def test_a_fault_says_type_and_place_and_never_the_message() -> None:
    state: Any = SimpleNamespace(desired=SimpleNamespace(name="main"))
    with pytest.raises(ValueError, match=SECRET) as raised:
        list(Fails().rule(state))
    found = fault_of(raised.value)
    assert found.error == "ValueError"
    assert "test_faults.py" in found.place
    assert SECRET not in repr(found)


def test_of_a_group_the_first_exception_counts() -> None:
    found = fault_of(ExceptionGroup("several", [ExceptionGroup("deep", [KeyError("x")])]))
    assert found.error == "KeyError"


def test_a_guard_that_cannot_judge_objects() -> None:
    plan = Plan("main", "x", (CreateNetwork(Network("main_patroni"), reason="it is gone"),))
    found = refusal_by((Fails().guard,), plan, Observed(Unknown("x")))
    assert found is not None
    assert found.guard == "guard"
    assert found.fault is not None
    assert "KeyError" in found.reason
    assert SECRET not in found.reason


@pytest.mark.parametrize("part", ["rule", "guard", "observe", "execute"])
def test_one_clusters_fault_stops_no_other(part: str) -> None:
    """The other is deployed whatever breaks, and the first one is once it is repaired."""

    async def main() -> None:
        world, fails = World(), Fails()
        world.manifests.write(OTHER_FILE, other_cluster())
        with capture_logs() as told:
            world.start_operator(broken(world, fails, part))
            await asyncio.sleep(90)
        names = [live.value.name for live in world.store.services.values()]
        assert sorted(name for name in names if name.startswith("other_")) == [
            "other_member-1",
            "other_member-2",
            "other_member-3",
            "other_proxy",
        ]
        if part != "observe":  # a member is asked only once it is deployed
            assert not [name for name in names if name.startswith("main_")]
        faults = [line for line in told if line["event"] == "fault"]
        assert faults
        assert {line.get("document", "PostgresCluster main") for line in faults} == {str(MAIN)}
        assert SECRET not in str(told)
        fails.is_broken = False
        with capture_logs():
            await world.until_whole()

    run_virtual(main)


def broken(world: World, fails: Fails, part: str) -> Ruleset:
    """A ruleset, and a world, in which one part fails for main."""
    match part:
        case "rule":
            return with_rule(fails.rule)
        case "guard":
            return replace(RULESET, guards=(*RULESET.guards, fails.guard))
        case "observe":
            raft = world.patroni.raft

            async def failing_raft(address: str, port: int) -> Any:
                if port == 5010 and fails.is_broken:
                    raise AttributeError(SECRET)
                return await raft(address, port)

            world.patroni.raft = failing_raft  # type: ignore[method-assign]
            return RULESET
        case _:
            create = world.swarm.create_network

            async def failing_create(network: Network) -> None:
                if network.name.startswith("main") and fails.is_broken:
                    raise ZeroDivisionError(SECRET)
                await create(network)

            world.swarm.create_network = failing_create  # type: ignore[method-assign]
            return RULESET


def test_a_document_that_goes_on_failing_is_asked_ever_less_often() -> None:
    async def main() -> None:
        world, fails = World(), Fails(is_broken=False)
        world.start_operator(with_rule(fails.rule))
        await world.until_whole()
        await asyncio.sleep(20)
        fails.is_broken = True
        fails.asked_s.clear()

        async def restless() -> None:
            while True:
                world.store.tell("service", "somebody-elses", "update")
                await asyncio.sleep(1)

        task = asyncio.get_running_loop().create_task(restless())
        with capture_logs():
            await asyncio.sleep(600)
        task.cancel()
        pauses = [b - a for a, b in zip(fails.asked_s, fails.asked_s[1:], strict=False)]
        assert len(fails.asked_s) < 20
        assert max(pauses) <= LONGEST_S + 20
        assert min(pauses[-3:]) >= LONGEST_S

    run_virtual(main)


@pytest.mark.parametrize("what", ["the file", "the swarm"])
def test_it_is_asked_at_once_when_something_is_changed(what: str) -> None:
    async def main() -> None:
        world, fails = World(), Fails(is_broken=False)
        world.start_operator(with_rule(fails.rule))
        await world.until_whole()
        await asyncio.sleep(20)
        fails.is_broken = True
        with capture_logs():
            await asyncio.sleep(400)
            fails.is_broken, known = False, len(fails.asked_s)
            if what == "the file":
                world.manifests.write(FILE, manifest(stopGracePeriod="90s"))
            else:
                world.label("node2", something="else")
            await asyncio.sleep(5)
        assert len(fails.asked_s) > known

    run_virtual(main)


def test_an_object_that_cannot_be_read_holds_its_owner_alone() -> None:
    async def main() -> None:
        world = World()
        world.manifests.write(OTHER_FILE, other_cluster())
        odd = Unreadable(CLUSTER_LABEL, "main", "config x can't be read: KeyError: 'Data'")
        state = world.store.state

        def with_odd() -> SwarmState:
            return replace(state(), unreadable=(odd,))

        world.store.state = with_odd  # type: ignore[method-assign]
        world.start_operator()
        await asyncio.sleep(60)
        names = [live.value.name for live in world.store.services.values()]
        assert len([name for name in names if name.startswith("other_")]) == 4
        assert not [name for name in names if name.startswith("main_")]

    run_virtual(main)
