"""``RaftMembership`` on the modelled members: what their own Raft nodes answer.

A request takes effect in the model even if its caller is killed before the answer.
"""

from __future__ import annotations

from dataclasses import dataclass

from queenright.core.observed import Known, Unknown
from queenright.ports.errors import ConflictError, UnavailableError
from tests.fakes.fake_patroni import FakePatroni
from tests.fakes.instances import Instance
from tests.fakes.verbs import Verb


@dataclass
class FakeVotes:
    """Typed by ``ports.raft_membership.RaftMembership``."""

    patroni: FakePatroni

    async def voters(self, address: str, port: int) -> Known[frozenset[str]] | Unknown:
        found = await self.patroni.raft(address, port)
        return found if isinstance(found, Unknown) else Known(found.value.voters)

    async def remove(self, address: str, port: int, voter: str) -> None:
        what = f"remove {voter} at raft {address}:{port}"
        asked = await self._reach(what, address, port)
        self.patroni.judge(Verb("raft-remove", asked, voter=voter))
        raft = self.patroni.model.consensus(asked.cluster).raft
        if not raft.request(asked.name, "rem", voter):
            raise UnavailableError(f"{what} failed, or is not answered")
        await self.patroni.end(what)

    async def transfer(self, address: str, port: int, voter: str) -> None:
        what = f"transfer to {voter} at raft {address}:{port}"
        asked = await self._reach(what, address, port)
        self.patroni.judge(Verb("raft-transfer", asked, voter=voter))
        if not self.patroni.model.consensus(asked.cluster).raft.transfer(asked.name, voter):
            raise ConflictError(f"{what} was refused")
        await self.patroni.end(what)

    async def _reach(self, what: str, address: str, port: int) -> Instance:
        await self.patroni.boundary(what)
        found = await self.patroni.ask(address, port, of_raft=True)
        if isinstance(found, Unknown):
            raise UnavailableError(f"{what}: {found.why}")
        return found
