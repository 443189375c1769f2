"""Who has the virtual address: the member that answers there, or nobody that is known."""

from __future__ import annotations

import dataclasses

import anyio
import pytest

from queenright.core.observed import Known, MemberStatus, Unknown
from queenright.engine.observe_holder import ASK_S, HolderReading, observe_holder
from tests.fakes.fake_patroni import VIP_ADDRESS
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.support.builders import VIP, desired, manifest, status, swarm_of, three_nodes
from tests.support.changed import without

TEXT = manifest(vip=VIP)


class Answering:
    """What answers at an address, and on which port; everything else is silent for ever."""

    def __init__(self, port: int, scope: str, name: str) -> None:
        answer = status("member-1", "member-1")
        self.said = dataclasses.replace(answer, scope=scope, name=name)
        self.port = port
        self.asked: list[tuple[str, int]] = []

    async def status(self, address: str, port: int) -> Known[MemberStatus] | Unknown:
        self.asked.append((address, port))
        if port != self.port:
            await anyio.sleep_forever()
        return Known(self.said)


def holder(patroni: Answering, *gone: str) -> tuple[dict[str, HolderReading], float]:
    """Return what is found, and the time that it took."""
    cluster, found = desired(TEXT), dict[str, HolderReading]()
    swarm = swarm_of(without(three_nodes(text=TEXT), *gone))

    async def main() -> float:
        began_s = anyio.current_time()
        ports = dataclasses.replace(World().ports, patroni=patroni)  # type: ignore[arg-type]
        assert cluster.vip is not None
        await observe_holder(ports, cluster, cluster.vip, swarm, found)
        return anyio.current_time() - began_s

    return found, run_virtual(main)


def test_the_member_that_answers_at_the_address_is_known() -> None:
    patroni = Answering(8008, "main", "member-2")
    assert holder(patroni)[0] == {"main": Known("member-2")}
    assert patroni.asked == [(VIP_ADDRESS, 8008)]


@pytest.mark.parametrize(("scope", "name"), [("other", "member-2"), ("main", "odd"), ("", "")])
def test_whoever_else_answers_is_not_taken_for_it(scope: str, name: str) -> None:
    found, _ = holder(Answering(8008, scope, name))
    assert isinstance(found["main"], Unknown)


def test_an_address_that_nobody_has_delays_by_its_limit() -> None:
    found, took_s = holder(Answering(1, "main", "member-2"))
    assert isinstance(found["main"], Unknown)
    assert took_s == pytest.approx(ASK_S)


@pytest.mark.parametrize(
    "gone", [("main_vip",), ("main_member-1", "main_member-2", "main_member-3")]
)
def test_nobody_is_asked_before_keepalived_or_the_members_are_there(gone: tuple[str, ...]) -> None:
    patroni = Answering(8008, "main", "member-2")
    assert holder(patroni, *gone)[0] == {}
    assert patroni.asked == []
