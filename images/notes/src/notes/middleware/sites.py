"""Maps host names to sites, in memory (spec: notes-app §2, §7).

Invariant: the map is only replaced as a whole, by one that was just read from the database.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from notes.config import Settings
from notes.http.look import Look
from notes.http.viewer import Site
from notes.middleware.hostname import without_port

MAIN = Site()


@dataclass(frozen=True, slots=True)
class SpaceHost:
    """The space of a domain and its look; `enabled` if its site is enabled."""

    space_id: UUID
    enabled: bool
    look: Look | None = None


@dataclass(slots=True)
class HostMap:
    """The hosts and their sites, as this replica knows them."""

    settings: Settings
    spaces: Mapping[str, SpaceHost] = field(default_factory=dict)

    def site(self, host: str) -> Site | None:
        """The site of a normal host; None for an unknown host.

        A port is part of the main host only if `ORIGIN` names one.
        """
        main = self.settings.main_host
        named = {main, without_port(main)} | self.settings.extra_hosts if main else set()
        if host in named or without_port(host) in named:
            return MAIN  # even if a space was given this domain before the settings changed
        space = self.spaces.get(host) or self.spaces.get(without_port(host))
        if space is not None:
            return Site(space.space_id, space.look) if space.enabled else None
        return MAIN if main is None else None

    def may_have_certificate(self, host: str) -> bool:
        """True for the main host and domains of enabled sites: they may get a certificate."""
        main = self.settings.main_host
        if main is not None and host == without_port(main):
            return True
        space = self.spaces.get(host)
        return space is not None and space.enabled
