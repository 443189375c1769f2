"""The holder of the virtual address: the member that answers there, or nobody that is known."""

from __future__ import annotations

import dataclasses

import anyio
import pytest

from queenright.core.observed import Known, MemberStatus, Unknown
from queenright.engine.observe_holder import AGAIN_S, HolderReading, observe_holder
from tests.fakes.fake_patroni import VIP_ADDRESS
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.support.builders import VIP, desired, manifest, status, swarm_of, three_nodes
from tests.support.changed import without

TEXT = manifest(vip=VIP)
Found = dict[str, HolderReading]


class Answering:
    """A member that answers at every address, on one port."""

    def __init__(self, port: int, scope: str, name: str) -> None:
        answer = status("member-1", "member-1")
        self.said = dataclasses.replace(answer, scope=scope, name=name)
        self.port = port
        self.asked: list[tuple[str, int]] = []

    async def status(self, address: str, port: int) -> Known[MemberStatus] | Unknown:
        self.asked.append((address, port))
        return Known(self.said) if port == self.port else Unknown("nobody")


def holders(patroni: Answering, *gone: str, after_s: tuple[float, ...] = (0.0,)) -> list[Found]:
    """Return what is found in passes after these times, with one memory of silence."""
    cluster, seen = desired(TEXT), list[Found]()
    swarm = swarm_of(without(three_nodes(text=TEXT), *gone))

    async def main() -> None:
        ports = dataclasses.replace(World().ports, patroni=patroni)  # type: ignore[arg-type]
        silent_s: dict[str, float] = {}
        for wait_s in after_s:
            await anyio.sleep(wait_s)
            found: Found = {}
            await observe_holder(ports, cluster, swarm, found, silent_s)
            seen.append(found)

    run_virtual(main)
    return seen


def test_the_member_that_answers_at_the_address_is_known() -> None:
    patroni = Answering(8008, "main", "member-2")
    assert holders(patroni) == [{"main": Known("member-2")}]
    assert patroni.asked == [(VIP_ADDRESS, 8008)]


@pytest.mark.parametrize(("scope", "name"), [("other", "member-2"), ("main", "odd"), ("", "")])
def test_whoever_else_answers_is_not_taken_for_it(scope: str, name: str) -> None:
    (found,) = holders(Answering(8008, scope, name))
    assert isinstance(found["main"], Unknown)


def test_an_address_that_nobody_has_is_not_asked_in_each_pass() -> None:
    patroni = Answering(1, "main", "member-2")
    found = holders(patroni, after_s=(0.0, 1.0, AGAIN_S))
    assert [isinstance(one["main"], Unknown) for one in found] == [True, True, True]
    assert len(patroni.asked) == 2


def test_an_address_that_somebody_has_is_asked_in_each_pass() -> None:
    patroni = Answering(8008, "main", "member-2")
    holders(patroni, after_s=(0.0, 1.0, 1.0))
    assert len(patroni.asked) == 3


@pytest.mark.parametrize(
    "gone", [("main_vip",), ("main_member-1", "main_member-2", "main_member-3")]
)
def test_nobody_is_asked_before_keepalived_or_the_members_are_there(gone: tuple[str, ...]) -> None:
    patroni = Answering(8008, "main", "member-2")
    assert holders(patroni, *gone) == [{}]
    assert patroni.asked == []
