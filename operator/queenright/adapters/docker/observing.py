"""Readings of the swarm: all of it, or the last one with some documents' objects read again.

A reading of a part asks for their services, tasks and configs by Docker's filters, and again for
nodes, networks and secrets only where an event, or a write of this process, may have changed them.
Invariant: without a stream of events, or where anything of such a document can't be read, the whole
swarm is read.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any, Protocol, TypeVar

import anyio

from queenright.adapters.docker import decode
from queenright.adapters.docker.entries import NotSlicedError, entries_of, listed, parsed, part
from queenright.adapters.docker.lists import (
    Reader,
    always,
    is_labelled,
    is_swarm_overlay,
    is_task_of,
    targets_of,
)
from queenright.core.kinds.registry import owner_labels
from queenright.core.observed import Engine, Live, LiveService, SwarmState, Unreadable
from queenright.core.observed.node_names import by_name
from queenright.core.observed.part_reading import has_owner, with_part
from queenright.core.planning.lease import LEASE_CONFIG
from queenright.ports.swarm import ConflictError, RejectedError, SwarmError

T = TypeVar("T")
Filters = Mapping[str, Sequence[str]]
KEPT = ("nodes", "networks", "secrets")
"""Lists that a reading of a part takes from the last one, unless they may have changed."""
FROM_KEPT = (*KEPT, "former_nodes")
"""The fields that they fill."""


class Ask(Protocol):
    """Reads a path of the engine's API, with a query, in a thread: the body comes in pieces."""

    def __call__(
        self, path: str, read: Callable[[Iterator[bytes]], T], **query: str
    ) -> Awaitable[T]: ...


class Observing:
    """The last reading, and what has changed since."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._reader = Reader()
        self._names: dict[str, str] = {}
        self._predefined: dict[str, str] = {}
        self._whole: set[str] = set()
        self._last: SwarmState | None = None
        self._changed = {*KEPT}
        self._listeners = 0

    def heard(self, event: str) -> None:
        """Note an event, a text that begins with the object's type; an empty one is the beginning
        of a stream, before which anything may have changed."""
        kind = f"{event.partition(' ')[0]}s"
        self._changed |= {kind} & {*KEPT} if event else {*KEPT}

    def listens(self, number: int) -> None:
        """Note that a stream of events has begun (1) or ended (-1)."""
        self._listeners += number
        self.heard("")

    async def whole(self, engine: Engine) -> SwarmState:
        """Return everything, as of now."""
        self._changed, unread = set(), {*KEPT}
        odd: list[Unreadable] = []
        try:
            found = await self._kept({*KEPT}, odd)
            if self._last is not None and not odd:
                # An edit may end this reading: its own one need not list these again.
                self._last, unread = replace(self._last, **found), set()
            # Configs and services before tasks: a service that swarm has just rolled back is known
            # with the task that failed, which is the cause.
            configs = await self._configs(odd)
            services = await self._services(odd)
            tasks = await self._tasks(services)
        except BaseException:
            self._changed |= unread
            raise
        self._last = SwarmState(
            engine=engine,
            services=services,
            tasks=tasks,
            configs=configs,
            unreadable=tuple(odd),
            **found,
        )
        return self._last

    async def of(self, engine: Engine, owners: AbstractSet[str]) -> SwarmState:
        """Return the last reading with these documents' objects as of now."""
        last, odd = self._last, list[Unreadable]()
        if last is None or not self._listeners or any(u.owner in owners for u in last.unreadable):
            return await self.whole(engine)
        changed, self._changed = self._changed, set()
        kept = {name: getattr(last, name) for name in FROM_KEPT}
        names = {"name": [f"{owner}_" for owner in sorted(owners)]}
        try:
            kept |= await self._kept(changed, odd)
            configs = await self._configs(odd, names)
            services = await self._services(odd, names)
            is_owned = has_owner(owners)
            asked = [live.id for live in services if is_owned(live.value.name)]
            tasks = await self._tasks(services, {"service": asked}) if asked else ()
        except (ConflictError, RejectedError):  # a service has gone meanwhile
            return await self.whole(engine)
        except BaseException:
            self.heard("")
            raise
        if odd:
            return await self.whole(engine)
        fresh = SwarmState(engine=engine, services=services, tasks=tasks, configs=configs, **kept)
        self._last = with_part(last, fresh, owners)
        return self._last

    async def _kept(self, kinds: AbstractSet[str], odd: list[Unreadable]) -> dict[str, Any]:
        """Return these of the lists that seldom change, read beside each other."""
        found: dict[str, Any] = {}

        async def read(kind: str) -> None:
            match kind:
                case "nodes":
                    nodes = await self._list(kind, decode.decode_node, always, None)
                    found["nodes"], found["former_nodes"] = by_name(nodes)
                case "secrets":
                    found[kind] = await self._list(kind, decode.decode_secret, is_labelled, odd)
                case "networks":
                    found[kind] = await self._networks(odd)

        try:
            async with anyio.create_task_group() as group:
                for kind in sorted(kinds):
                    group.start_soon(read, kind)
        except* SwarmError as failures:
            raise failures.exceptions[0] from failures
        return found

    async def _networks(self, odd: list[Unreadable]) -> tuple[Live[Any], ...]:
        """Return the swarm's overlay networks; of the others the names are noted."""

        def read(pieces: Iterator[bytes]) -> tuple[Live[Any], ...]:
            raws = listed(b"".join(pieces))
            names = {
                key: str(raw.get("Name") or key)
                for raw in raws
                if isinstance(key := part(raw, "Id"), str)
            }
            self._note_names(names | self._predefined)
            overlays = parsed("network", filter(is_swarm_overlay, raws))
            return self._reader.read("network", overlays, decode.decode_network, is_labelled, odd)

        return await self._ask("/networks", read)

    def _note_names(self, names: dict[str, str]) -> None:
        """Keep the names of the networks by id: the same object as long as they are the same, as
        services are decoded again where another one is."""
        if names != self._names:
            self._names = names

    async def _configs(
        self, odd: list[Unreadable], filters: Filters | None = None
    ) -> tuple[Live[Any], ...]:
        found = await self._list("configs", decode.decode_config, is_labelled, odd, filters)
        return tuple(live for live in found if live.value.name != LEASE_CONFIG)

    async def _services(
        self, odd: list[Unreadable], filters: Filters | None = None
    ) -> tuple[LiveService, ...]:
        """Return the services. Swarm's predefined network ``host`` has an id of its own, which only
        an inspection shows: its name is asked for once."""
        found = await self._decoded_services(odd, filters)
        targets = {target for ours, _ in found for target in ours}
        if unlisted := sorted(targets - self._names.keys()):
            for target in unlisted:
                told = json.loads(await self._ask(f"/networks/{target}", b"".join))
                self._predefined[target] = str(told["Name"])
            self._note_names(self._names | self._predefined)
            odd.clear()
            found = await self._decoded_services(odd, filters)
        return tuple(service for _, service in found)

    async def _decoded_services(
        self, odd: list[Unreadable], filters: Filters | None
    ) -> tuple[tuple[tuple[str, ...], LiveService], ...]:
        names = self._names

        def decoded(raw: dict[str, Any]) -> tuple[tuple[str, ...], LiveService]:
            return targets_of(raw), decode.decode_service(raw, names)

        return await self._list("services", decoded, is_labelled, odd, filters, beside=names)

    async def _tasks(
        self, services: Sequence[LiveService], filters: Filters | None = None
    ) -> tuple[Any, ...]:
        ours = {live.id for live in services if live.value.labels.keys() & {*owner_labels()}}
        ours |= self._reader.unread.get("service", frozenset())
        return await self._list("tasks", decode.decode_task, is_task_of(ours), None, filters)

    async def _list(
        self,
        kind: str,
        decoded: Callable[[dict[str, Any]], T],
        is_ours: Callable[[Any], bool],
        odd: list[Unreadable] | None,
        filters: Filters | None = None,
        *,
        beside: object = None,
    ) -> tuple[T, ...]:
        """Return one list's objects: those that are as before, as they were decoded before."""
        asked = {"filters": json.dumps(filters)} if filters else {}
        one = kind.removesuffix("s")

        def read(pieces: Iterator[bytes]) -> tuple[tuple[T, ...], list[Unreadable]]:
            found = list[Unreadable]()
            entries = entries_of(one, pieces, whole=one in self._whole)
            told = None if odd is None else found
            keeps = bool(filters)
            return self._reader.read(
                one, entries, decoded, is_ours, told, beside=beside, keeps=keeps
            ), found

        try:
            readable, found = await self._ask(f"/{kind}", read, **asked)
        except NotSlicedError:
            self._whole.add(one)
            readable, found = await self._ask(f"/{kind}", read, **asked)
        if odd is not None:
            odd.extend(found)
        return readable
