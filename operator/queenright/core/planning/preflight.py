"""Holds that keep a document of any kind from being deployed: the engine, the nodes, the images.

Decides from the observation. Invariant: while one of these holds stands, nothing at all is created
for what is not deployed yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from queenright.core.manifest.problems import Problem
from queenright.core.observed import (
    Engine,
    ImageFound,
    ImageMissing,
    Known,
    Node,
    Observed,
    SwarmState,
    Unknown,
)
from queenright.core.planning.plan import Hold


def engine_hold(engine: Engine) -> Hold | None:
    """Return a hold if the engine is unusable: not in a swarm, locked, or not a manager."""
    match engine.swarm_state:
        case "active" if engine.is_manager:
            return None
        case "active":
            why = (
                "swarm: this node is a worker; run the operator on a manager (docker node promote)"
            )
        case "locked":
            why = "swarm: is locked; unlock it (docker swarm unlock)"
        case "inactive":
            why = (
                "swarm: this engine is part of none; create or join one (docker swarm init, "
                "docker swarm join)"
            )
        case "pending":
            why = "swarm: this engine is still joining"
        case "error":
            why = f"swarm: this engine is in error ({engine.error})"
    return Hold("preflight/swarm", why, wants_attention=True)


def swarm_or_hold(observed: Observed) -> SwarmState | Hold:
    match observed.swarm:
        case Unknown(why):
            return Hold("preflight/swarm", f"swarm: was not read ({why})")
        case Known(swarm):
            return engine_hold(swarm.engine) or swarm.in_order()


def foreign_service(service: str, what: str) -> Hold:
    """The hold for a service of our name that somebody else has deployed, a stack of the same name,
    say: it is not taken over. ``what`` is the word for what the document describes."""
    return Hold(
        f"preflight/service/{service}",
        f"service {service}: is there already, and this operator did not deploy it; remove it, or "
        f"give the {what} another metadata.name",
        wants_attention=True,
    )


LABEL_FIELDS = "spec.nodeLabels"


def placement_holds(problems: Iterable[Problem], *, is_deployed: bool) -> Iterator[Hold]:
    """Yield a hold for each error of placement, with file and line. Once the cluster is deployed, a
    label on a wrong node is drift, which a rule repairs."""
    for problem in problems:
        drift = is_deployed and problem.field.startswith(LABEL_FIELDS)
        if problem.severity == "error" and not drift:
            yield Hold(f"preflight/{problem.field}", str(problem), wants_attention=True)


def describe_node(node: Node) -> str:
    return node.state if node.state != "ready" else f"set to {node.availability}"


def image_hold(
    reference: str, images: Mapping[str, Known[ImageFound | ImageMissing] | Unknown]
) -> Hold | None:
    key = f"preflight/image/{reference}"
    match images.get(reference):
        case Known(ImageMissing(why)):
            return Hold(
                key,
                f"image {reference}: is not in its registry ({why}); push it, or correct the file",
                wants_attention=True,
            )
        case Unknown(why):
            return Hold(key, f"image {reference}: {why}", wants_attention=True)
        case _:
            return None
