"""Places of a cluster's members, and how the state config notes them.

A place is a member's name, node, address and number. A member's data is in its node's volumes, its
number places it, and the others know it in Raft by its address. Invariant: a note that can't be
read, or that names a member that can't exist, gives no place at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from queenright.core.kinds.postgres_cluster.schema.members import Member
from queenright.core.manifest.remembered import MOST_TEXTS
from queenright.core.swarm.label_values import read_json, read_texts, read_whole


@dataclass(frozen=True, slots=True)
class DeployedMember:
    """A member with its node and address. ``number`` is 0 where its number is its position, from 1
    (spec: database-cluster §2.7): a member that goes leaves the others their numbers. ``volumes``
    is the service after which its volumes are named, where that is another one: it was renamed."""

    name: str
    node: str
    address: str
    number: int = 0
    volumes: str = ""


VOLUMES = re.compile(r"[a-z0-9][a-z0-9_-]{0,126}")
"""A service's name, after which volumes may be named."""
GENERATION = re.compile(r"-[0-9]{8}t[0-9]{6}$")
"""The end of the name of volumes that a restore in place gave: its moment."""
MOST_MEMBERS = 999
"""The highest number that an annotation may give a member."""


def numbers_of(places: Sequence[DeployedMember]) -> tuple[int, ...]:
    """Return the number of each place."""
    return tuple(place.number or position for position, place in enumerate(places, start=1))


def with_place(
    places: Sequence[DeployedMember],
    name: str,
    node: str,
    address: str,
    scope: str,
    *,
    former: str = "",
) -> tuple[DeployedMember, ...]:
    """Return the places with one more, which gets the lowest free number. Its volumes are the
    ``former`` ones that it had on this node, if these are not the usual ones. After a restore in
    place they are of the others' generation: those before may have the former data, and Raft's
    former log."""
    taken = {*numbers_of(places)}
    number = next(n for n in range(1, len(taken) + 2) if n not in taken)
    found = dict(zip(numbers_of(places), places, strict=True))
    stamp = next(filter(None, (generation_of(place.volumes) for place in places)), "")
    volumes = f"{scope}_{name}{stamp}" if stamp else ""
    if former and generation_of(former) == stamp:
        volumes = former
    return numbered({**found, number: DeployedMember(name, node, address, volumes=volumes)})


def generation_of(volumes: str) -> str:
    """Return the end of volumes' name that a restore in place gave; empty for the first ones."""
    found = GENERATION.search(volumes)
    return found[0] if found is not None else ""


def without_place(places: Sequence[DeployedMember], name: str) -> tuple[DeployedMember, ...]:
    """Return the places without one; the others keep their numbers."""
    found = zip(numbers_of(places), places, strict=True)
    return numbered({number: place for number, place in found if place.name != name})


def renamed_place(
    places: Sequence[DeployedMember], name: str, other: str, scope: str
) -> tuple[DeployedMember, ...]:
    """Return the places with one under another name, at its node, address and number, and with its
    volumes."""

    def renamed(place: DeployedMember) -> DeployedMember:
        volumes = place.volumes or f"{scope}_{name}"
        return replace(place, name=other, volumes="" if volumes == f"{scope}_{other}" else volumes)

    return tuple(renamed(place) if place.name == name else place for place in places)


def readdressed_place(
    places: Sequence[DeployedMember], name: str, address: str
) -> tuple[DeployedMember, ...]:
    """Return the places with one at another address, with its node, number and volumes."""
    return tuple(
        replace(place, address=address) if place.name == name else place for place in places
    )


def numbered(found: Mapping[int, DeployedMember]) -> tuple[DeployedMember, ...]:
    """Return places in the order of their numbers."""
    return tuple(
        replace(found[number], number=0 if number == position else number)
        for position, number in enumerate(sorted(found), start=1)
    )


def encode_places(places: Sequence[DeployedMember]) -> str:
    """Text of the annotation with the members."""
    return json.dumps([encode_place(place) for place in places])


def encode_place(place: DeployedMember) -> list[str]:
    """Return one place as texts; what is as usual is left out, as earlier releases wrote it."""
    number = [str(place.number)] if place.number or place.volumes else []
    return [place.name, place.node, place.address, *number, *filter(None, [place.volumes])]


@lru_cache(maxsize=MOST_TEXTS)
def decode_places(text: str) -> tuple[DeployedMember, ...]:
    """Members in an annotation; none where it can't be read, or names members that can't exist."""
    items = read_json(text)
    if not isinstance(items, list):
        return ()
    found = [read_place(item) for item in items]
    places = tuple(place for place in found if place is not None)
    numbers = numbers_of(places)
    is_whole = len(places) == len(found) and len({place.name for place in places}) == len(found)
    return places if is_whole and [*numbers] == sorted({*numbers}) else ()


def read_place(item: object) -> DeployedMember | None:
    """Return one member in an annotation; None for one that can't exist."""
    texts = read_texts(item, 3) or read_texts(item, 4) or read_texts(item, 5)
    if texts is None or not is_member(*texts[:3]):
        return None
    number = read_whole(texts[3]) if len(texts) > 3 else 0
    least = 1 if len(texts) == 4 else 0
    volumes = texts[4] if len(texts) == 5 else ""
    if number is None or (len(texts) > 3 and not least <= number <= MOST_MEMBERS):
        return None
    if len(texts) == 5 and not VOLUMES.fullmatch(volumes):
        return None
    name, node, address = texts[:3]
    return DeployedMember(name, node, address, number, volumes)


def encode_names(names: Iterable[str]) -> str:
    """Text of an annotation with names of members."""
    return json.dumps(sorted(names))


@lru_cache(maxsize=MOST_TEXTS)
def decode_names(text: str) -> frozenset[str]:
    """Names of members in an annotation; what is no name is left out."""
    items = read_json(text)
    found = items if isinstance(items, list) else []
    return frozenset(item for item in found if isinstance(item, str))


@lru_cache(maxsize=MOST_TEXTS)
def is_member(name: str, node: str, address: str) -> bool:
    """True if a document could have such a member: the annotation may have been changed by hand."""
    try:
        Member.model_validate({"name": name, "node": node, "address": address})
    except ValueError:
        return False
    return True
