"""Contract of ``Swarm``: a reading of some documents' objects, the fake's and the real one's."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from queenright.core.swarm.objects import Config, Secret, Service
from queenright.ports.swarm import Swarm

Labels = dict[str, str]


@asynccontextmanager
async def listening(swarm: Swarm) -> AsyncIterator[None]:
    """Events are heard meanwhile."""

    async def listen() -> None:
        async for _ in swarm.events():
            pass

    async with anyio.create_task_group() as group:
        group.start_soon(listen)
        await anyio.sleep(0.5)
        yield
        group.cancel_scope.cancel()


async def test_a_part_is_read_and_the_rest_stays(swarm: Swarm, name: str, labels: Labels) -> None:
    mine, other = f"{name}_web", f"{name}x_web"
    async with listening(swarm):
        await swarm.create_service(Service(name, "known:1", replicas=0))
        await swarm.create_config(Config(name, b"text\n"))
        await swarm.observe()
        for service in (mine, other):
            await swarm.create_config(Config(f"{service}-cfg", b"text\n", labels))
            await swarm.create_service(Service(service, "known:1", replicas=0, labels=labels))
        await swarm.create_secret(Secret(f"{name}x_sec", labels))
        part = await swarm.observe({name})
        assert part.service(mine)
        assert part.config(f"{mine}-cfg")
        assert part.service(other) is None, "it belongs to another document"
        assert part.config(f"{other}-cfg") is None
        assert part.secret(f"{name}x_sec"), "secrets may be called anything"
        assert part.service(name), "another owner's, called as the document: it stays"
        assert part.config(name)
        whole = await swarm.observe()
        assert whole.service(other)
        assert whole.service(mine) == part.service(mine)
        live = part.service(mine)
        assert live is not None
        await swarm.remove_service(live.id)
        part = await swarm.observe({name})
        assert part.service(mine) is None
        assert part.service(other)
