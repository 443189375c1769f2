"""The desired service where one is deployed already: its image by digest, its configs.

Pure: from the service, the live one, and the registry's answer. Invariant: a difference without
effect on a running task is none, so that nothing is restarted for it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from functools import lru_cache

from queenright.core.manifest.identity import Identity
from queenright.core.manifest.remembered import MOST_DOCUMENTS
from queenright.core.observed import (
    ImageFound,
    ImageMissing,
    Known,
    LiveService,
    SwarmState,
    Unknown,
)
from queenright.core.planning.plan import Hold
from queenright.core.planning.service_context import ServiceContext, answered_once
from queenright.core.swarm.diff import FieldChange, diff, disrupts, keep_foreign_labels
from queenright.core.swarm.objects import (
    IMAGE_LABEL,
    LAZY_VARIABLES,
    LOCAL_DIGEST_LABEL,
    Service,
)


@answered_once
def wanted_service(state: ServiceContext, service: Service, live: LiveService) -> Service:
    """Return ``newest_service``, but with the live template if it has the same effect, and the live
    variables that can wait, as long as nothing else restarts the service's task."""
    newest = newest_service(state, service, live)
    kept = keep_lazy_variables(keep_equivalent_configs(state, newest, live), live)
    return newest if disrupts(diff(kept, live.value)) else kept


@answered_once
def newest_service(state: ServiceContext, service: Service, live: LiveService) -> Service:
    """Return the desired service where it is deployed already: its image by digest, or the deployed
    image while the registry has no answer, and the labels that others set."""
    pinned = pin_image(state, service, live)
    if isinstance(pinned, Hold):
        pinned = with_image(service, live.value.image, live.value.labels.get(IMAGE_LABEL, ""))
    return keep_foreign_labels(pinned, live.value)


@answered_once
def pin_image(state: ServiceContext, service: Service, live: LiveService | None) -> Service | Hold:
    """Return the service with its image by digest, so that every node runs the same."""
    reference = unresolved_image(service, live)
    if not reference:
        pinned = service.image
        if live is not None and "@" not in pinned:
            pinned = live.value.labels[IMAGE_LABEL]
    else:
        match state.images.get(reference):
            case Known(ImageFound(image_digest)):
                pinned = f"{reference}@{image_digest}"
            case Known(ImageMissing(why)):
                return Hold(
                    f"image/{service.name}",
                    f"image {reference}: is not in its registry ({why}); push it, or correct the "
                    "file",
                    wants_attention=True,
                )
            case Unknown(why):
                return Hold(f"image/{service.name}", f"image {reference}: {why}")
            case None:
                return Hold(f"image/{service.name}", f"image {reference}: is being looked up")
    return with_image(service, pinned, pinned)


def with_image(service: Service, image: str, deployed: str) -> Service:
    """Return the service with an image, and the label of the one that was deployed last."""
    return _with_image(Identity(service), image, deployed)


@lru_cache(maxsize=4 * MOST_DOCUMENTS)
def _with_image(same: Identity[Service], image: str, deployed: str) -> Service:
    """Remembered from pass to pass: an expansion is, and most services keep their image."""
    service = same.value
    labels = {**service.labels, IMAGE_LABEL: deployed} if deployed else service.labels
    return dataclasses.replace(service, image=image, labels=labels)


def unresolved_image(service: Service, live: LiveService | None) -> str:
    """Return the reference to look up, or "" if its digest is written or was deployed."""
    deployed = live.value.labels.get(IMAGE_LABEL, "") if live else ""
    known = "@" in service.image or deployed.startswith(f"{service.image}@")
    return "" if known else service.image


def keep_equivalent_configs(state: ServiceContext, wanted: Service, live: LiveService) -> Service:
    """Return the service with the live template if only its bootstrap section differs, which a
    running member never reads again."""
    if wanted.configs == live.value.configs:
        return wanted
    deployed = {reference.target: reference for reference in live.value.configs}

    def local(name: str) -> str:
        found = state.swarm.config(name)
        return found.value.labels.get(LOCAL_DIGEST_LABEL, "") if found else ""

    configs = tuple(
        dataclasses.replace(item, name=old.name)
        if (old := deployed.get(item.target))
        and local(item.name)
        and local(item.name) == local(old.name)
        else item
        for item in wanted.configs
    )
    return wanted if configs == wanted.configs else dataclasses.replace(wanted, configs=configs)


def keep_lazy_variables(wanted: Service, live: LiveService) -> Service:
    """Return the service with the live values of those variables that go along with a restart."""
    deployed = live.value.environment
    kept = {
        name: deployed[name]
        for name in LAZY_VARIABLES
        if name in deployed and wanted.environment.get(name, deployed[name]) != deployed[name]
    }
    if not kept:
        return wanted
    return dataclasses.replace(wanted, environment={**wanted.environment, **kept})


@answered_once
def service_changes(
    state: ServiceContext, service: Service, live: LiveService
) -> tuple[FieldChange, ...]:
    """Return the fields in which the live service differs from the desired one."""
    return diff(wanted_service(state, service, live), live.value)


def images_needed(services: Iterable[Service], swarm: SwarmState) -> frozenset[str]:
    """Image references that must be looked up before the services can be planned."""
    found = (unresolved_image(service, swarm.service(service.name)) for service in services)
    return frozenset(reference for reference in found if reference)
