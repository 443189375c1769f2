"""An application in a simulated history: its owner, its containers and its judge.

The history's own faults and people are at work on the swarm and the cluster's file; the
application's file is edited besides, to other versions, broken ones, another password and back.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from queenright.core.planning.plan import Hold
from tests.fakes.replicas import Replicas
from tests.fakes.world import World
from tests.sim.app_documents import (
    BAD,
    BAD_IMAGES,
    CRASHING_IMAGE,
    DEAF_IMAGE,
    IMAGES,
    LASTING,
    Wish,
    wish,
)
from tests.sim.app_invariants import AppInvariants
from tests.sim.script import Script, make_script
from tests.support.app_builders import APP_FILE, WEB

EDITED_EVERY_S = (5.0, 70.0)
EDITS = 12
TAKEN_BACK = "it is not tried again until the file changes"
STANDING = (TAKEN_BACK, f"{WEB} does not use the new one yet")
"""Said by the holds that may stand where a version that does not run is asked for."""


@dataclass
class AppWorld:
    """Attached to a world before its operators start; ``violations`` says what went wrong."""

    world: World
    rng: random.Random
    replicas: Replicas = field(init=False)
    judge: AppInvariants = field(init=False)

    def __post_init__(self) -> None:
        world = self.world
        world.manifests.files[APP_FILE] = LASTING[0].text
        world.startable |= IMAGES.keys()
        world.swarm.images |= IMAGES
        self.replicas = Replicas(
            world,
            random.Random(self.rng.random()),
            broken=frozenset({DEAF_IMAGE}),
            crashing=frozenset({CRASHING_IMAGE}),
        )
        self.judge = AppInvariants(world, self.replicas)
        world.swarm.before_write.append(self.check)
        world.when_calm.append(self.last_word)
        world.advised.append(self.follow_advice)

    @property
    def violations(self) -> list[str]:
        return self.judge.violations

    @property
    def asked(self) -> Wish:
        return wish(self.world.manifests.files[APP_FILE])

    def check(self, kind: str, what: object) -> Callable[[], None] | None:
        """Judges a write on the application by the world that its pass looked at."""
        found = list(self.judge.judge(kind, what))

        def count() -> None:
            for text in found:
                self.judge.violated(text)

        return count if found else None

    def write(self, asked: Wish) -> None:
        self.world.manifests.files[APP_FILE] = asked.text
        self.world.manifests.edits += 1
        self.judge.writes += 1

    async def edit(self) -> None:
        """The application's owner at work."""
        for _ in range(EDITS):
            await asyncio.sleep(self.rng.uniform(*EDITED_EVERY_S))
            self.write(self.rng.choice(BAD if self.rng.random() < 0.25 else LASTING))

    def last_word(self) -> None:
        """The owner's last edit; a version that does not run only where one is deployed that does,
        since there is nothing to go back to otherwise."""
        self.replicas.jobs_fail = False
        live = self.world.store.service_named(WEB)
        runs = live is not None and live.value.image.partition("@")[0] not in BAD_IMAGES
        if self.asked.is_bad and not runs:
            self.write(self.rng.choice(LASTING))
        elif runs and self.rng.random() < 0.1:
            self.write(self.rng.choice(BAD))
        if self.asked.is_bad:
            self.world.standing = STANDING

    def follow_advice(self, hold: Hold) -> str:
        """Handle an upgrade that was rolled back after a fault: the owner tries another text, or,
        if swarm stopped during its rollback, lets it go on."""
        live = self.world.store.service_named(WEB)
        if live is not None and hold.key == f"rollout/{WEB}" and hold.wants_attention:
            force = live.force_update + 1
            self.world.store.update_service(live.id, live.version, live.value, force)
            return f"as the hold asks: docker service update --force {WEB}"
        if TAKEN_BACK not in hold.reason or self.asked.is_bad:
            return ""
        self.write(next(one for one in LASTING if template_differs(one, self.asked)))
        return "as the hold asks: the application's file changes"

    def judge_end(self) -> None:
        self.judge.judge_end(self.asked)


def template_differs(one: Wish, other: Wish) -> bool:
    """Return True if the two need different replicas."""
    return one.image != other.image or one.login != other.login


SLOWLY = 3.0
"""The greater distance of an application's troubles: a dump and a rollout take their time."""


def app_script(seed: int, faults: int) -> Script:
    return make_script(seed, faults, raft=False).slowed(SLOWLY)


def with_app(seed: int, worlds: list[AppWorld]) -> Callable[[World], None]:
    """Puts the application into a history's world."""

    def tamper(world: World) -> None:
        app = AppWorld(world, random.Random(f"app {seed}"))
        world.owners.append(asyncio.get_running_loop().create_task(app.edit()))
        worlds.append(app)

    return tamper
