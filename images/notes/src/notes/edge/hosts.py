"""Which site a host name stands for, from memory (spec: notes-app §2, §7).

Invariant: the map is only replaced as a whole, by one freshly read from the database.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from notes.config import Settings
from notes.edge.hostname import without_port
from notes.http.call import Site

MAIN = Site()


@dataclass(frozen=True, slots=True)
class SpaceHost:
    """A space's domain, and whether its site is enabled."""

    space_id: UUID
    enabled: bool


@dataclass(slots=True)
class HostMap:
    """Host to site, as this replica knows it."""

    settings: Settings
    spaces: Mapping[str, SpaceHost] = field(default_factory=dict)

    def site(self, host: str) -> Site | None:
        """The site of a normal host; None for a host that is served as nothing.

        A port is part of the main host only where `ORIGIN` names one.
        """
        main = self.settings.main_host
        named = {main, without_port(main)} | self.settings.extra_hosts if main else set()
        if host in named or without_port(host) in named:
            return MAIN  # whatever domain a space was given before the settings changed
        space = self.spaces.get(host) or self.spaces.get(without_port(host))
        if space is not None:
            return Site(space.space_id) if space.enabled else None
        return MAIN if main is None else None

    def may_have_certificate(self, host: str) -> bool:
        """Whether a proxy may ask for a certificate: main host and enabled spaces only."""
        main = self.settings.main_host
        if main is not None and host == without_port(main):
            return True
        space = self.spaces.get(host)
        return space is not None and space.enabled
