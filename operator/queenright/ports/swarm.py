"""The swarm, as the engine needs it: one bounded read, version-indexed writes, wake-ups.

Every write raises ``ConflictError`` when somebody else wrote first (or the name is taken),
``RejectedError`` when the swarm refuses it for good, and ``UnavailableError`` when nobody answers
or the swarm refuses it for now.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from queenright.core.actions import LabelNode
from queenright.core.observed import ImageFound, ImageMissing, SwarmState
from queenright.core.resources import Config, Network, Secret, Service
from queenright.ports.errors import ConflictError, PortError, RejectedError, UnavailableError
from queenright.ports.patroni import Password

__all__ = ["ConflictError", "RejectedError", "Swarm", "SwarmError", "UnavailableError"]

SwarmError = PortError


class Swarm(Protocol):
    """A swarm's manager."""

    @property
    def api_calls(self) -> int:
        """How many calls were made so far."""
        ...

    async def observe(self) -> SwarmState:
        """The whole swarm, in a number of calls that does not depend on its size."""
        ...

    async def resolve_image(self, reference: str) -> ImageFound | ImageMissing:
        """What the registry knows of an image reference like ``host:5000/name:tag``.

        Missing is only what the registry itself denies knowing; one that can't be asked, or does
        not let us in, is an UnavailableError in its own words.
        """
        ...

    def events(self) -> AsyncGenerator[str, None]:
        """One short text per change in the swarm. It may end or fall silent at any time: events
        only wake, they never inform."""
        ...

    async def label_node(self, action: LabelNode) -> None: ...

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
        template and the endpoint stay to the byte as they are, so that no task is restarted.

        Rests on what the last ``observe`` saw: ConflictError when that was another version.
        """
        ...

    async def remove_service(self, service_id: str) -> None: ...

    async def service_output(self, service_id: str, lines: int) -> str:
        """The last lines that a service's tasks wrote, standard error among them."""
        ...

    async def aclose(self) -> None: ...
