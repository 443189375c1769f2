"""The two worlds of Raft nodes that one contract is kept by: the model, and real processes.

The real nodes are Patroni's own (``KVStoreTTL`` on pysyncobj), each a process on the loopback with
a directory of its own; time is the machine's. On the model a second is ten ticks.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import sys
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from queenright.adapters.patroni.raft_membership import PysyncobjMembership
from queenright.adapters.patroni.raft_messages import framed
from queenright.adapters.patroni.raft_status import raft_status
from queenright.core.observed import Known, RaftStatus, Unknown
from queenright.ports.raft_membership import RaftMembership
from tests.fakes.fake_raft_membership import FakeRaftMembership
from tests.fakes.raft_nodes import RaftNodes

NODE = Path(__file__).with_name("raft_process.py")
ANSWER_S = 3.0
LIMIT_S = 45.0
START_S = 120.0
"""On a machine with much other work a process takes a minute until it runs."""
STEP_S = 0.2
PASSWORD = "the nodes', of this test alone"


class RaftWorld(Protocol):
    """Nodes by their addresses, which are in ascending order."""

    addresses: list[str]

    @property
    def membership(self) -> RaftMembership: ...

    async def start(self, own: str, partners: Collection[str], *, password: bool = False) -> None:
        """Start a node, and return when it listens."""
        ...

    async def kill(self, *nodes: str) -> None: ...

    async def save_disks(self) -> None: ...

    async def cut_power(self, *nodes: str) -> None:
        """End nodes, and put their disks back to what was saved last."""
        ...

    async def status(self, own: str) -> Known[RaftStatus] | Unknown: ...

    async def add(self, own: str, voter: str) -> None:
        """Ask a node to add a voter, as a node that starts does, and wait for no answer."""
        ...

    async def put(self, own: str, value: str) -> bool: ...

    async def dump(self, own: str) -> None: ...

    async def wait(self, seconds: float) -> None: ...


@dataclass
class ModelWorld:
    """The model's nodes."""

    nodes: RaftNodes = field(default_factory=RaftNodes)
    addresses: list[str] = field(default_factory=lambda: [f"10.0.0.{n}:5010" for n in range(1, 8)])

    def __post_init__(self) -> None:
        self.membership = FakeRaftMembership(self.nodes)

    async def start(self, own: str, partners: Collection[str], *, password: bool = False) -> None:
        self.nodes.start(own, partners)
        if password:
            self.membership.with_password.add(own)
        self.nodes.tick()

    async def kill(self, *nodes: str) -> None:
        self.nodes.kill(*nodes)

    async def save_disks(self) -> None:
        self.nodes.sync()

    async def cut_power(self, *nodes: str) -> None:
        self.nodes.cut_power(*nodes)

    async def status(self, own: str) -> Known[RaftStatus] | Unknown:
        if not self.membership.answers(own):
            return Unknown("nobody answers")
        return Known(self.nodes.status(own))

    async def add(self, own: str, voter: str) -> None:
        self.nodes.running[own].asked_to_add(voter)
        self.nodes.tick(2)

    async def put(self, own: str, value: str) -> bool:
        asked = self.nodes.running[own].asked_to_put(value)
        return self.membership.answer(asked)

    async def dump(self, own: str) -> None:
        self.nodes.running[own].compact()

    async def wait(self, seconds: float) -> None:
        self.nodes.tick(round(seconds * 10))


@dataclass
class RealWorld:
    """Processes whose files lie below ``root``."""

    root: Path
    addresses: list[str] = field(default_factory=lambda: free_addresses(7))
    membership: RaftMembership = field(default_factory=lambda: PysyncobjMembership(ANSWER_S))
    running: dict[str, asyncio.subprocess.Process] = field(default_factory=dict)

    def directory(self, own: str, top: str = "disks") -> Path:
        return self.root / top / str(self.addresses.index(own))

    async def start(self, own: str, partners: Collection[str], *, password: bool = False) -> None:
        self.directory(own).mkdir(parents=True, exist_ok=True)
        settings = {
            "self_addr": own,
            "bind_addr": own,
            "partner_addrs": sorted(partners),
            "data_dir": str(self.directory(own)),
            **({"password": PASSWORD} if password else {}),
        }
        with (self.root / f"{self.addresses.index(own)}.log").open("ab") as log:
            self.running[own] = await asyncio.create_subprocess_exec(
                sys.executable,
                str(NODE),
                json.dumps(settings),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
            )
        assert await self.answered(own) == "runs"

    async def answered(self, own: str) -> str:
        stdout = self.running[own].stdout
        assert stdout is not None
        return (await asyncio.wait_for(stdout.readline(), START_S)).decode().strip()

    async def request(self, own: str, line: str) -> None:
        stdin = self.running[own].stdin
        assert stdin is not None
        stdin.write(f"{line}\n".encode())
        await stdin.drain()

    async def kill(self, *nodes: str) -> None:
        ended = [self.running.pop(own) for own in nodes]
        for process in ended:
            process.kill()
        for process in ended:
            await process.wait()

    async def save_disks(self) -> None:
        shutil.rmtree(self.root / "saved", ignore_errors=True)
        shutil.copytree(self.root / "disks", self.root / "saved")

    async def cut_power(self, *nodes: str) -> None:
        await self.kill(*[own for own in nodes if own in self.running])
        for own in nodes:
            shutil.rmtree(self.directory(own))
            if self.directory(own, "saved").exists():
                shutil.copytree(self.directory(own, "saved"), self.directory(own))

    async def status(self, own: str) -> Known[RaftStatus] | Unknown:
        return await raft_status(*host_and_port(own), ANSWER_S)

    async def add(self, own: str, voter: str) -> None:
        _, writer = await asyncio.open_connection(*host_and_port(own))
        writer.write(framed(["add", voter]))
        await writer.drain()
        await self.wait(0.5)
        writer.close()

    async def put(self, own: str, value: str) -> bool:
        await self.request(own, f"put {value}")
        return await self.answered(own) == "True"

    async def dump(self, own: str) -> None:
        await self.request(own, "dump")
        dump = self.directory(own) / f"{own}.dump"
        await eventually(self, lambda: true_if(dump.exists()), f"a dump of {own}")
        await self.wait(1)  # the journal is cut after it

    async def wait(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


async def true_if(found: bool) -> bool:
    return found


async def eventually(world: RaftWorld, condition: Callable[[], Awaitable[bool]], what: str) -> None:
    waited_s = 0.0
    while not await condition():
        assert waited_s < LIMIT_S, f"waited {LIMIT_S} s for {what}"
        await world.wait(STEP_S)
        waited_s += STEP_S


def host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host, int(port)


def free_addresses(count: int) -> list[str]:
    """Return addresses of the loopback on which nothing listens, in ascending order."""
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    found = sorted(f"127.0.0.1:{probe.getsockname()[1]}" for probe in probes)
    for probe in probes:
        probe.close()
    return found
