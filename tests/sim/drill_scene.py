"""A cluster with drills by a schedule or a request, for the tests of what becomes of them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from datetime import UTC, datetime

import anyio

from queenright.core.kinds.postgres_cluster.backup.request import with_backup_request
from queenright.core.kinds.postgres_cluster.drill.note import (
    REQUEST_LABEL,
    DrillNote,
    read_drill_note,
)
from queenright.core.kinds.ruleset import RULESET, Ruleset
from tests.fakes.world import World
from tests.sim.test_base_backups import REPOSITORY, Scene
from tests.support.builders import manifest

DRILL = "main_backup_drill"
SPARE = "node5"


def drilled(schedule: str = "*/7 * * * *", base: str = "*/5 * * * *", **more: str) -> str:
    drill = f"drill: {{node: {SPARE}, schedule: '{schedule}'}}"
    return manifest(backup=f"{{{REPOSITORY}, schedule: '{base}', {drill}}}", **more)


RARE = drilled("0 0 1 1 *", "0 0 1 1 *")


@dataclass
class DrillScene(Scene):
    """A whole cluster with drills on a node of their own."""

    world: World = field(default_factory=lambda: World(nodes=5))

    async def start(self, text: str, ruleset: Ruleset = RULESET) -> DrillScene:
        await self.begin(text, ruleset)
        return self

    @property
    def note(self) -> DrillNote:
        labels = self.world.store.configs["main_cluster"].value.labels
        return read_drill_note(labels, datetime(2030, 1, 1, tzinfo=UTC))

    def ask(self) -> datetime:
        """Write the label as the command does; return its moment."""
        store = self.world.store
        live, at = store.configs["main_cluster"], self.world.clock.now().replace(microsecond=0)
        labels = with_backup_request(live.value.labels, at, REQUEST_LABEL)
        store.label_config(live.id, live.version, dataclasses.replace(live.value, labels=labels))
        return at

    async def until(self, count: int, limit_s: float = 1200) -> None:
        """Wait until so many drills have ended, in either way, and a minute longer."""
        drills = self.world.drills
        with anyio.fail_after(limit_s):
            while drills.proved + drills.failed < count:  # noqa: ASYNC110  # virtual time
                await anyio.sleep(1)
        await anyio.sleep(60)

    async def drilling(self) -> None:
        with anyio.fail_after(1500):
            while not self.world.containers(DRILL):  # noqa: ASYNC110  # virtual time
                await anyio.sleep(0.5)

    def is_gone(self) -> bool:
        return self.world.store.service_named(DRILL) is None

    def judge(self) -> None:
        drills = self.world.drills
        assert self.invariants.violations == []
        assert (drills.beside, drills.touched) == (0, [])
        assert self.world.base_backups.at_once <= 1
