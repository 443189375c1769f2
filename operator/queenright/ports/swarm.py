"""The port for the swarm: one bounded read, writes with a version index, wake-ups.

Every write raises ``ConflictError`` if another writer was first (or the name is taken),
``RejectedError`` for a permanent refusal by the swarm, and ``UnavailableError`` if there is no
answer or the refusal is temporary.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from collections.abc import Set as AbstractSet
from typing import Protocol

from queenright.core.actions import LabelNode
from queenright.core.observed import ImageFound, ImageMissing, SwarmState
from queenright.core.swarm.objects import Config, Network, Secret, Service
from queenright.ports.errors import ConflictError, PortError, RejectedError, UnavailableError
from queenright.ports.secrets import Password

__all__ = ["ConflictError", "RejectedError", "Swarm", "SwarmError", "UnavailableError"]

SwarmError = PortError


class Swarm(Protocol):
    """A swarm's manager."""

    @property
    def api_calls(self) -> int:
        """The number of API calls so far."""
        ...

    async def observe(self, owners: AbstractSet[str] | None = None) -> SwarmState:
        """Return the whole swarm, in a number of calls that does not depend on its size. With
        ``owners``, names of documents, only what belongs to them is read again, and the lists that
        an event names; the rest is as in the last reading."""
        ...

    async def resolve_image(self, reference: str) -> ImageFound | ImageMissing:
        """Return the registry's answer for an image reference like ``host:5000/name:tag``.

        ImageMissing only if the registry itself says that it has no such image; a registry that
        can't be reached, or refuses access, is an UnavailableError with its message.
        """
        ...

    def events(self) -> AsyncGenerator[str, None]:
        """Yield one short text per change in the swarm. The stream may end or fall silent at any
        time: events only start a pass, they carry no information."""
        ...

    async def label_node(self, action: LabelNode) -> None:
        """Set the action's labels on the node, whatever else has changed there. ConflictError: one
        of them has not its observed value any more."""
        ...

    async def create_network(self, network: Network) -> None: ...

    async def remove_network(self, network_id: str) -> None: ...

    async def create_secret(self, secret: Secret, value: Password | None = None) -> None:
        """Create it with ``value``; without one, from 32 random bytes, base64, no newline (spec:
        database-cluster §2.3)."""
        ...

    async def create_config(self, config: Config) -> None: ...

    async def label_config(self, config_id: str, version: int, config: Config) -> None: ...

    async def remove_config(self, config_id: str) -> None: ...

    async def create_service(self, service: Service) -> None: ...

    async def update_service(
        self, service_id: str, version: int, service: Service, force_update: int
    ) -> None: ...

    async def adjust_service(self, service_id: str, version: int, service: Service) -> None:
        """Write only the service's labels, replica count, update and rollback policies; the task
        template and the endpoint keep every byte, so that swarm restarts no task.

        Uses the result of the last ``observe``: ConflictError if that was another version.
        """
        ...

    async def remove_service(self, service_id: str) -> None: ...

    async def service_output(self, service_id: str, lines: int, *, timed: bool = False) -> str:
        """Return the last lines that a service's tasks wrote, standard error among them; where they
        are ``timed``, each behind its moment (RFC 3339, UTC) and a blank.

        UnavailableError where lines may be missing: a task's node is away, or the swarm can't get
        its lines since an outage.
        """
        ...

    async def aclose(self) -> None: ...
