"""Real Raft nodes on the loopback, each a process with a directory of its own."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from images.member.queenright_member.raft_files import RaftFiles
from images.member.queenright_member.raft_status import NodeStatus, asking
from tests.unit.images.member_case import ENVIRONMENT, lay_out

ROOT = Path(__file__).resolve().parents[2]
NODE = Path(__file__).with_name("raft_node.py")
LIMIT_S = 30.0


@dataclass
class RaftNodes:
    """Three nodes; ``password`` is Raft's, None for none."""

    root: Path
    password: str | None = None
    addresses: list[str] = field(default_factory=lambda: [free_address() for _ in range(3)])
    processes: dict[str, subprocess.Popen[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ask = asking(self.password)

    def directory(self, own: str) -> Path:
        return self.root / str(self.addresses.index(own)) / "home/postgres/raft"

    def files(self, own: str) -> RaftFiles:
        return RaftFiles.of(self.directory(own), own)

    def partners(self, own: str) -> list[str]:
        return [address for address in self.addresses if address != own]

    def command(self, own: str) -> list[str]:
        words = [sys.executable, str(NODE), own, ",".join(self.partners(own))]
        return [*words, str(self.directory(own)), *([self.password] if self.password else [])]

    def start(self, own: str) -> None:
        """Start a node as Patroni alone would: without the image's entry point."""
        self.directory(own).mkdir(parents=True, exist_ok=True)
        self.processes[own] = spawn(self.command(own), dict(os.environ))

    def enter(self, own: str, limit_s: float = 25.0, **environment: str) -> subprocess.Popen[str]:
        """Start a node through the image's entry point, with the node in Patroni's place."""
        root = self.directory(own).parents[2]
        if not (root / "etc").exists():
            template = lay_out(root).template
            if self.password:
                text = template.read_text()
                template.write_text(
                    text.replace("raft:\n", f"raft:\n  password: {self.password}\n")
                )
        program = (
            "import os, pathlib; from images.member.queenright_member import raft_repair, start; "
            f"paths = start.Paths.under(pathlib.Path({str(root)!r})); "
            f"raft_repair.SPARE_S = {limit_s}; "
            f"raft_repair.repair.__defaults__ = ({limit_s}, None); "
            "made = start.partial; "  # it exits where the image would wait
            "start.partial = lambda to, *more: made(to, *more) if to is not start.wait else None; "
            "os.geteuid = lambda: start.UID; "  # the image's user could not run this interpreter
            f"start.start(os.environ, paths, {self.command(own)!r})"
        )
        given = ENVIRONMENT | {"RAFT_SELF": own, "RAFT_PARTNERS": json.dumps(self.partners(own))}
        made = spawn([sys.executable, "-c", program], given | environment)
        self.processes[own] = made
        return made

    def kill(self, own: str) -> None:
        """End it as a power cut does, with what the kernel has written."""
        process = self.processes.pop(own)
        process.kill()
        process.communicate()

    def tell(self, own: str, line: str) -> None:
        """Send a line to a node's standard input, and wait until it is done."""
        process = self.processes[own]
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
        assert process.stdout.readline() == "done\n"

    def kept(self, own: str) -> dict[str, str]:
        """The keys and values that a node has applied."""
        path = self.root / "kept.json"
        self.tell(own, f"show {path}")
        return dict(json.loads(path.read_text()))

    def status(self, own: str) -> NodeStatus | None:
        return self.ask(own)

    def knows_all(self, own: str) -> bool:
        """True once a node has applied what the leader has committed."""
        found = {address: self.status(address) for address in self.processes}
        node = found[own]
        leaders = [s for s in found.values() if s is not None and s.is_leading]
        return (
            node is not None
            and bool(leaders)
            and node.leader == leaders[0].address
            and node.applied >= leaders[0].committed
        )

    def until(self, condition: Callable[[], bool], what: str, limit_s: float = LIMIT_S) -> None:
        deadline = time.monotonic() + limit_s
        while not condition():
            assert time.monotonic() < deadline, f"waited {limit_s} s for {what}"
            for own, process in self.processes.items():
                assert process.poll() is None, f"{own}: {process.communicate()[1]}"
            time.sleep(0.1)

    def until_all_know(self) -> None:
        for own in list(self.processes):
            self.until(lambda own=own: self.knows_all(own), f"{own} to know all")  # type: ignore[misc]


def spawn(command: list[str], environment: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command,
        env=environment,
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def free_address() -> str:
    """An address of the loopback on which nothing listens."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{found.getsockname()[1]}"


@contextmanager
def raft_nodes(password: str | None = None, entries: int = 40) -> Iterator[RaftNodes]:
    """Three running nodes that have committed some entries."""
    with tempfile.TemporaryDirectory() as root:
        yield from running(RaftNodes(Path(root), password), entries)


def running(nodes: RaftNodes, entries: int) -> Iterator[RaftNodes]:
    try:
        for own in nodes.addresses:
            nodes.start(own)
        nodes.until(lambda: any(nodes.knows_all(own) for own in nodes.addresses), "a leader")
        nodes.tell(nodes.addresses[0], f"put {entries}")
        nodes.until_all_know()
        yield nodes
    finally:
        for process in nodes.processes.values():
            process.kill()
            process.communicate()
