"""A website's document as Swarm objects."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from queenright.core.swarm.digest import digest
from queenright.core.swarm.objects import DELETION_POLICY_LABEL, Config, FileReference, Service
from tests.support.website.schema import Website

SITE_LABEL = "queenright.website"


@dataclass(frozen=True)
class DesiredSite:
    name: str
    service: Service
    state: Config
    """Its labels keep the deletion policy, and the replicas mount it."""

    @property
    def services(self) -> tuple[Service, ...]:
        return (self.service,)

    @cached_property
    def digest(self) -> str:
        return digest(self)


def state_config(name: str) -> str:
    return f"{name}_website"


def expand(site: Website) -> DesiredSite:
    name, spec = site.metadata.name, site.spec
    owned = {SITE_LABEL: name}
    labels = {**owned, DELETION_POLICY_LABEL: spec.deletion_policy}
    service = Service(
        name=f"{name}_site",
        image=spec.image,
        replicas=spec.replicas,
        labels=owned,
        configs=(FileReference(state_config(name), "/etc/site"),),
    )
    return DesiredSite(name, service, Config(state_config(name), b"a site\n", labels))
