"""A service as it should be where it is deployed already: its image by digest, its configs.

Decides from the service, what is live, and what the registry said. Invariant: what means the same
to a running task is no difference, so that nothing is restarted for it.
"""

from __future__ import annotations

import dataclasses

from queenright.core.diff import diff, disturbs, keep_foreign_labels
from queenright.core.observed import ImageFound, ImageMissing, Known, LiveService, Unknown
from queenright.core.plan import Hold
from queenright.core.resources import IMAGE_LABEL, LOCAL_DIGEST_LABEL, Service
from queenright.core.scene import Scene
from queenright.core.situation import Situation


def wanted_service(situation: Scene, service: Service, live: LiveService) -> Service:
    """The service as it should be where it is deployed already: with its image by digest, or the
    deployed one while the image is not to be had; with what others have labelled; with a template
    that means the same to it."""
    pinned = pin_image(situation, service, live)
    if isinstance(pinned, Hold):
        pinned = with_image(service, live.value.image, live.value.labels.get(IMAGE_LABEL, ""))
    return keep_equivalent_configs(situation, keep_foreign_labels(pinned, live.value), live)


def restarting_fields(situation: Situation, service: Service) -> tuple[str, ...]:
    """The fields whose change restarts the service's running task; nothing where none is wanted."""
    live = situation.swarm.service(service.name)
    if (
        not situation.is_prepared
        or live is None
        or not any(situation.swarm.possible_tasks(live.id))
    ):
        return ()
    wanted = wanted_service(situation, service, live)
    if wanted.mode != live.value.mode:
        return ()  # which no update can change
    changes = diff(wanted, live.value)
    fewer = 0 < wanted.replicas < live.value.replicas
    return tuple(
        change.path
        for change in changes
        if disturbs((change,)) or (fewer and change.path == "replicas")
    )


def pin_image(situation: Scene, service: Service, live: LiveService | None) -> Service | Hold:
    """The service with its image by digest, so that every node runs the same."""
    reference = unresolved_image(service, live)
    if not reference:
        pinned = service.image
        if live is not None and "@" not in pinned:
            pinned = live.value.labels[IMAGE_LABEL]
    else:
        match situation.images.get(reference):
            case Known(ImageFound(image_digest)):
                pinned = f"{reference}@{image_digest}"
            case Known(ImageMissing(why)):
                return Hold(
                    f"image/{service.name}",
                    f"image {reference} is not in its registry ({why}): push it, or correct the "
                    "file",
                    wants_attention=True,
                )
            case Unknown(why):
                return Hold(f"image/{service.name}", f"image {reference}: {why}")
            case None:
                return Hold(f"image/{service.name}", f"image {reference} is being looked up")
    return with_image(service, pinned, pinned)


def with_image(service: Service, image: str, deployed: str) -> Service:
    """The service with an image, and the note of the one that was deployed last."""
    labels = {**service.labels, IMAGE_LABEL: deployed} if deployed else service.labels
    return dataclasses.replace(service, image=image, labels=labels)


def unresolved_image(service: Service, live: LiveService | None) -> str:
    """The reference that must be looked up, or "" when its digest is written or was deployed."""
    deployed = live.value.labels.get(IMAGE_LABEL, "") if live else ""
    known = "@" in service.image or deployed.startswith(f"{service.image}@")
    return "" if known else service.image


def keep_equivalent_configs(situation: Scene, wanted: Service, live: LiveService) -> Service:
    """A template that differs in its bootstrap section alone is as good as the wanted one for a
    member that runs: it reads that section once in its life."""
    deployed = {reference.target: reference for reference in live.value.configs}

    def local(name: str) -> str:
        found = situation.swarm.config(name)
        return found.value.labels.get(LOCAL_DIGEST_LABEL, "") if found else ""

    configs = tuple(
        dataclasses.replace(item, name=old.name)
        if (old := deployed.get(item.target))
        and local(item.name)
        and local(item.name) == local(old.name)
        else item
        for item in wanted.configs
    )
    return dataclasses.replace(wanted, configs=configs)
