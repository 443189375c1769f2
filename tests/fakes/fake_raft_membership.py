"""``RaftMembership`` on the model: a request takes the ticks that its answer needs."""

from __future__ import annotations

from queenright.core.observed import Known, Unknown
from queenright.ports.errors import ConflictError, UnavailableError
from tests.fakes.raft_messages import Request
from tests.fakes.raft_nodes import RaftNodes


class FakeRaftMembership:
    """The nodes' membership. ``patience`` is the number of ticks that a request waits for an
    answer; nodes in ``with_password`` answer nobody."""

    def __init__(self, nodes: RaftNodes, patience: int = 20) -> None:
        self.nodes = nodes
        self.patience = patience
        self.with_password: set[str] = set()

    def answers(self, node: str) -> bool:
        return node in self.nodes.running and node not in self.with_password

    async def voters(self, address: str, port: int) -> Known[frozenset[str]] | Unknown:
        node = f"{address}:{port}"
        if not self.answers(node):
            return Unknown(f"raft at {node}: nobody answers")
        return Known(self.nodes.running[node].voters)

    async def remove(self, address: str, port: int, voter: str) -> None:
        node = f"{address}:{port}"
        if not self.answers(node):
            raise UnavailableError(f"remove {voter} at raft {node}: nobody answers")
        asked = self.nodes.running[node].asked_to_remove(voter)
        if not self.answer(asked):
            raise UnavailableError(f"remove {voter} at raft {node} failed, or is not answered")

    async def transfer(self, address: str, port: int, voter: str) -> None:
        node = f"{address}:{port}"
        if not self.answers(node):
            raise UnavailableError(f"transfer to {voter} at raft {node}: nobody answers")
        if not self.answer(self.nodes.running[node].asked_to_transfer(voter)):
            raise ConflictError(f"transfer to {voter} at raft {node} was refused")

    def answer(self, asked: Request) -> bool:
        for _ in range(self.patience):
            if asked.succeeded is not None:
                break
            self.nodes.tick()
        return bool(asked.succeeded)
