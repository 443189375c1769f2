"""Members of many clusters on loopback addresses, in a process of their own.

``python -m tests.polling.stub_members CLUSTERS``: prints the ports of the REST API and of Raft, and
answers until its standard input ends. Each cluster has three members, on 127.77.<cluster>.<member>;
every tenth has one in trouble: silent, slow, resetting, or sending byte after byte without an end.
"""

from __future__ import annotations

import asyncio
import json
import pickle
import socket
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

MEMBERS = 3
SLOW_S = 1.0
"""Half of what a member is given for its answer."""
TROUBLES = ("silent", "slow", "resetting", "endless")
IN_TROUBLE = 10
"""The number of clusters of which one has a member in trouble."""


@dataclass(frozen=True)
class StubMember:
    """One member's address and its fault ("" for none)."""

    address: str
    cluster: int
    trouble: str

    @property
    def answers(self) -> bool:
        return self.trouble in ("", "slow")

    @property
    def leads(self) -> bool:
        return self.address.endswith(".1")


def stub_members(clusters: int) -> list[StubMember]:
    """The members of so many clusters; a leader is never in trouble."""
    return [
        StubMember(f"127.77.{cluster}.{number}", cluster, trouble_of(cluster, number))
        for cluster in range(clusters)
        for number in range(1, MEMBERS + 1)
    ]


def trouble_of(cluster: int, number: int) -> str:
    turn, left = divmod(cluster, IN_TROUBLE)
    return TROUBLES[turn % len(TROUBLES)] if number == MEMBERS and left == IN_TROUBLE - 1 else ""


@dataclass
class Stub(asyncio.Protocol):
    """One connection to one member: answers a request on the REST API or on Raft's port."""

    rest_port: int
    received: bytes = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        address, self.port = transport.get_extra_info("sockname")[:2]
        *_, cluster, number = (int(part) for part in address.split("."))
        self.leads, self.trouble = number == 1, trouble_of(cluster, number)

    def data_received(self, data: bytes) -> None:
        self.received += data
        is_rest = self.port == self.rest_port
        if is_rest and b"\r\n\r\n" not in self.received:
            return
        body = self.rest_answer() if is_rest else raft_answer()
        match self.trouble:
            case "silent":
                pass
            case "resetting":
                reset = struct.pack("ii", 1, 0)
                raw: socket.socket = self.transport.get_extra_info("socket")
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
                self.transport.abort()
            case "slow":
                asyncio.get_running_loop().call_later(SLOW_S, self.answer, body)
            case "endless":
                self.trickle(body)
            case _:
                self.answer(body)

    def rest_answer(self) -> bytes:
        method, path, *_ = self.received.split(b" ", 2)
        if method == b"OPTIONS":
            status, found = (200 if self.leads else 503), b""
        elif path == b"/config":
            status, found = 200, json.dumps({"ttl": 30}).encode()
        else:
            role = "primary" if self.leads else "replica"
            told = {"state": "running", "role": role, "timeline": 3}
            status, found = 200, json.dumps(told).encode()
        head = f"HTTP/1.0 {status} told\r\nContent-Length: {len(found)}\r\n\r\n"
        return head.encode() + found

    def answer(self, body: bytes) -> None:
        self.transport.write(body)
        self.transport.close()

    def trickle(self, body: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(body[:1])
            asyncio.get_running_loop().call_later(0.2, self.trickle, body[1:] or b" ")


def raft_answer() -> bytes:
    plain = {"has_quorum": True, "raft_term": 3, "leader": None, "self": None, "state": 0}
    plain |= {"commit_idx": 9, "last_applied": 9, "log_len": 9, "uptime": 60}
    body = zlib.compress(pickle.dumps(plain, protocol=2))
    return struct.pack("<i", len(body)) + body


async def serve(clusters: int) -> None:
    loop = asyncio.get_running_loop()
    hosts = [member.address for member in stub_members(clusters)]
    rest_port, raft_port = free_port(), free_port()
    for port in (rest_port, raft_port):
        await loop.create_server(lambda: Stub(rest_port), hosts, port, backlog=256)
    print(rest_port, raft_port, flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.77.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass(frozen=True)
class Served:
    """Members that are served, and their ports."""

    members: list[StubMember]
    rest_port: int
    raft_port: int


@contextmanager
def served(clusters: int) -> Iterator[Served]:
    """The members of so many clusters, until the block ends."""
    command = [sys.executable, "-m", "tests.polling.stub_members", str(clusters)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout is not None
        try:
            rest_port, raft_port = map(int, program.stdout.readline().split())
            yield Served(stub_members(clusters), rest_port, raft_port)
        finally:
            program.kill()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
