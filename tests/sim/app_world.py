"""An application in a simulated history: its file, and what must never happen to it.

The history's own faults and people are at work on the swarm and the cluster's file; the
application's file is edited now and then besides.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from queenright.core.resources import Secret, Service
from tests.app_builders import APP_DIGESTS, APP_FILE, APP_IMAGE, KEY, NEXT_IMAGE, WEB, app_manifest
from tests.fakes.swarm_store import template_of
from tests.fakes.world import World
from tests.sim.invariants import SLACK_S

TEXTS = (
    app_manifest(upgrade="{dump: none}"),
    app_manifest(upgrade="{dump: none}", replicas=3),
    app_manifest(upgrade="{dump: none}", maxAttachment="512M"),
    app_manifest(upgrade="{dump: none}", publish="host"),
    app_manifest(upgrade="{dump: none}", encryptionKey="{backedUp: true}"),
    app_manifest(upgrade="{dump: none}").replace(APP_IMAGE, NEXT_IMAGE),
)
EDITED_EVERY_S = (20.0, 120.0)
EDITS = 6


@dataclass
class AppWorld:
    """Attached to a world before its operators start; ``violations`` says what went wrong."""

    world: World
    violations: list[str] = field(default_factory=list)

    def check(self, kind: str, what: object) -> Callable[[], None] | None:
        """Judges a write on the application by the world that its pass looked at."""
        found = ""
        match kind, what:
            case "create-service", Service(name=name) if name == WEB:
                found = self._why_unprepared()
            case "update-service", (str(), Service(name=name) as service, int()) if name == WEB:
                found = self._why_no_update(service)
            case "remove-service", str(service_id):
                live = self.world.store.services.get(service_id)
                found = "the replicas go" if live is not None and live.value.name == WEB else ""
            case "create-secret", Secret(name=name) if name == KEY:
                found = "the key is made again" if self.world.swarm.created[f"secret/{KEY}"] else ""
            case _:
                pass
        at = f"at {self.world.now_s:.1f} s: {found}"
        return (lambda: self.violations.append(at)) if found else None

    def _why_unprepared(self) -> str:
        there = "notes" in self.world.servers.of("main").databases
        return "" if there else "replicas are made before their database"

    def _why_no_update(self, service: Service) -> str:
        live = self.world.store.service_named(WEB)
        if live is None or template_of(live.value) == template_of(service):
            return ""
        runs = any(task.has_container for task in self.world.orchestrator.tasks_of(live))
        led_s = self.world.patroni_model.last_led_s.get("main", -1.0)
        if runs and led_s < self.world.swarm.observed_at_s - SLACK_S:
            return f"replicas are replaced, and nobody has led since {led_s:.1f} s"
        return "" if service.replicas else "no replica is wanted"

    async def edit(self, rng: random.Random) -> None:
        """The application's owner at work."""
        for _ in range(EDITS):
            await asyncio.sleep(rng.uniform(*EDITED_EVERY_S))
            self.world.manifests.files[APP_FILE] = rng.choice(TEXTS)
            self.world.manifests.edits += 1

    def judge_end(self) -> None:
        """What is true of a world that is as desired."""
        live = self.world.store.service_named(WEB)
        if live is None:
            self.violations.append("at the end there are no replicas")
            return
        tasks = self.world.orchestrator.tasks_of(live)
        running = sum(task.has_container for task in tasks)
        if running != live.value.replicas:
            self.violations.append(f"at the end {running} of {live.value.replicas} replicas run")
        if self.world.swarm.created[f"secret/{KEY}"] != 1:
            self.violations.append("the key was not made once")


def with_app(seed: int, worlds: list[AppWorld]) -> Callable[[World], None]:
    """Puts the application into a history's world."""

    def tamper(world: World) -> None:
        app = AppWorld(world)
        world.manifests.files[APP_FILE] = TEXTS[0]
        world.startable |= APP_DIGESTS.keys()
        world.swarm.images |= APP_DIGESTS
        world.swarm.before_write.append(app.check)
        edits = app.edit(random.Random(f"app {seed}"))
        world.owners.append(asyncio.get_running_loop().create_task(edits))
        worlds.append(app)

    return tamper
