"""The operator's processes in a simulated history: killed anywhere, stopped, and started again."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field

import anyio

from queenright.core.kinds.ruleset import Ruleset
from queenright.settings import PollIntervals
from tests.fakes.running_operator import Operator
from tests.fakes.world import World


@dataclass
class Operators:
    """The operator's processes: one after the other, never two."""

    world: World
    ruleset: Ruleset
    tempo: PollIntervals
    present: Operator | None = None
    calls_left: int = 0
    """The number of boundaries of its calls at which the operator is still killed; 0: none."""
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.world.swarm.boundary = self.world.patroni.boundary = self.pass_boundary

    async def pass_boundary(self, _: str) -> None:
        if self.calls_left:
            self.calls_left -= 1
            if not self.calls_left:
                self.reached.set()
                await anyio.sleep_forever()

    def start(self) -> None:
        self.present = self.world.start_operator(self.ruleset, self.tempo)

    async def kill(self) -> None:
        if self.present is not None:
            await self.present.kill()
            self.present = None

    async def end(self, how: str, rng: random.Random) -> str:
        """End the operator and start the next one after a while."""
        if self.present is None:
            self.start()
            return "an operator starts"
        if how == "kill at a call":
            self.calls_left, self.reached = rng.randint(1, 40), asyncio.Event()
            at = self.calls_left
            with anyio.move_on_after(8):
                await self.reached.wait()
            self.calls_left = 0
            how = f"kill at call {at}"
        if how == "stop":
            await self.present.stop()
        else:
            await self.present.kill()
        away_s = rng.choice((0.0, 0.0, 3.0, 12.0))
        await anyio.sleep(away_s)
        self.start()
        return f"operator: {how}, another after {away_s} s"

    async def calm(self) -> None:
        self.calls_left = 0
        if self.present is None:
            self.start()
