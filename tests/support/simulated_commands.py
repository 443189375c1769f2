"""A command on a simulated cluster, with an operator running beside it or none."""

from __future__ import annotations

import contextlib
import io
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cache
from typing import TypeVar

import anyio
import structlog

from queenright.cli.cluster_session import Session
from queenright.cli.exit_codes import CommandError
from queenright.core.kinds.postgres_cluster.annotations import Annotations, read_annotations
from queenright.core.kinds.postgres_cluster.patroni.config_keys import read_route
from queenright.core.postgres.catalog import NO_CATALOG, DesiredCatalog
from tests.fakes.running_operator import Operator
from tests.fakes.stage import StandingStill
from tests.fakes.world import World
from tests.support.builders import FILE, MANIFEST, document

T = TypeVar("T")

Act = Callable[[Session], Awaitable[int]]


@dataclass
class Stage:
    """A deployed cluster that has come to rest."""

    world: World
    text: str
    operator: Operator | None = None
    claims: DesiredCatalog = NO_CATALOG
    said: io.StringIO = field(default_factory=io.StringIO)
    complained: io.StringIO = field(default_factory=io.StringIO)

    async def command(self, act: Act, what: str = "a test") -> int:
        """The command's exit code; what it says is kept."""
        cluster, who = document(self.text), f"{what}, by somebody"
        live = Session(self.world.ports, cluster, who, claims=self.claims)
        with contextlib.redirect_stdout(self.said), contextlib.redirect_stderr(self.complained):
            try:
                return await act(live)
            except CommandError as error:
                error.show()
                return error.code

    @property
    def out(self) -> str:
        return self.said.getvalue()

    @property
    def err(self) -> str:
        return self.complained.getvalue()

    @property
    def leader(self) -> str:
        found = self.world.leader()
        return found.name if found else ""

    @property
    def annotations(self) -> Annotations:
        return read_annotations(self.world.store.configs["main_cluster"].value.labels)

    @property
    def settings(self) -> dict[str, object]:
        return self.world.patroni_model.consensus("main").settings

    @property
    def has_hint(self) -> bool:
        return read_route(self.settings) is not None

    def count(self, verb: str) -> int:
        """Return the number of requests of a kind that have reached Patroni."""
        return sum(1 for _, kind in self.world.patroni.verbs if kind == verb)

    def tried(self, trigger: str = "command") -> list[str]:
        """The keys of what was recorded before it was tried."""
        return [
            record.action.key
            for record in self.world.audit.intents
            if record.trigger.kind == trigger
        ]


def nothing(_: World) -> None:
    """Prepare nothing."""


@cache
def at_rest(text: str, prepare: Callable[[World], None]) -> StandingStill[tuple[World, Operator]]:
    """Return a cluster that was deployed and left alone for a while, with its operator."""

    async def begin() -> tuple[World, Operator]:
        world = World()
        prepare(world)
        world.manifests.write(FILE, text)
        operator = world.start_operator()
        await world.until_whole()
        await anyio.sleep(30)
        return world, operator

    return StandingStill(begin)


def on_stage(
    play: Callable[[Stage], Awaitable[T]],
    text: str = MANIFEST,
    *,
    with_operator: bool = True,
    prepare: Callable[[World], None] = nothing,
) -> T:
    """Return what the play returns, on a cluster that has come to rest.

    Each play is in a fork of its own: what it changes outside of the stage is lost.
    """

    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))

    async def act(scene: tuple[World, Operator]) -> T:
        world, operator = scene
        if not with_operator:
            await operator.stop()
        stage = Stage(world, text, operator if with_operator else None)
        world.patroni.verbs.clear()
        found = await play(stage)
        if stage.operator is not None:
            await stage.operator.stop()
        return found

    return at_rest(text, prepare).go_on(act)
