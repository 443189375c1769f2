"""Members that live elsewhere than the file says, because the operator replaced them by itself.

Decides from the document, the noted places, the swarm's nodes, and the note in the state config.
Invariant: a note counts only for the line for which it was written (an edited line is the file's
word), and a member whose node is back before its place is given away stays where it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Network, ip_address

from queenright.core.kinds.postgres_cluster.annotations import noted_labels
from queenright.core.kinds.postgres_cluster.places import (
    VOLUMES,
    DeployedMember,
    is_member,
)
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.manifest.remembered import MOST_TEXTS
from queenright.core.observed import SwarmState
from queenright.core.swarm.label_values import read_json, read_texts

REPLACED_LABEL = "queenright.replaced"
"""Label of the state config: the members that ``replaceAfter`` sends to other nodes."""
ANY_ADDRESS = "10.0.0.1"

Nodes = tuple[tuple[str, str], ...]
"""Members with the node of each."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """A member that is, or is to be, on ``node``, while its line in the file says ``written``.
    ``volumes`` names those that it has there, if not the usual ones: one without a place that is to
    return has ``written`` as its node, too, until it is there."""

    member: str
    written: str
    node: str
    volumes: str = ""


@dataclass(frozen=True, slots=True)
class Spare:
    """A node of ``spareNodes``; ``wrong`` is why the document alone rules it out."""

    node: str
    address: str
    wrong: str = ""


@dataclass(frozen=True, slots=True)
class Replacement:
    """All that the document and the notes say about replacing members on dead nodes.

    ``after_s`` is 0 where the file does not ask for it; ``lines`` are the file's own.
    """

    after_s: int = 0
    spares: tuple[Spare, ...] = ()
    lines: Nodes = ()
    noted: tuple[Replaced, ...] = ()

    def line_of(self, member: str) -> str:
        """Return the node in a member's line; empty where it has none."""
        return dict(self.lines).get(member, "")

    def note_of(self, member: str) -> Replaced | None:
        """Return the note of a member whose line is as it was then."""
        found = (note for note in self.noted if note.member == member)
        return next((note for note in found if note.written == self.line_of(member)), None)


NO_REPLACEMENT = Replacement()
"""Neither asked for, nor noted."""


def encode_replaced(notes: Sequence[Replaced]) -> str:
    """Return the text of the label; what is as usual is left out, as earlier releases wrote it."""
    found = ((note.member, note.written, note.node, note.volumes) for note in notes)
    return json.dumps([[*filter(None, texts)] for texts in found])


@lru_cache(maxsize=MOST_TEXTS)
def decode_replaced(text: str) -> tuple[Replaced, ...]:
    """Return the notes of a label; none where it can't be read, or names what can't exist."""
    items = read_json(text)
    if not isinstance(items, list):
        return ()
    found = [read_texts(item, 3) or read_texts(item, 4) for item in items]
    notes = tuple(Replaced(*texts) for texts in found if texts is not None and can_be(texts))
    is_whole = len(notes) == len(found) == len({note.member for note in notes})
    return notes if is_whole else ()


def can_be(texts: Sequence[str]) -> bool:
    """Return True if a document could have such a member on each of the two nodes."""
    name, written, node, *volumes = texts
    is_named = all(VOLUMES.fullmatch(one) for one in volumes)
    is_there = all(is_member(name, one, ANY_ADDRESS) for one in (written, node))
    return is_there and is_named and (written != node or bool(volumes))


def noted_replacements(scope: str, swarm: SwarmState) -> tuple[Replaced, ...]:
    """Return the notes in a cluster's state config."""
    return decode_replaced(noted_labels(scope, swarm).get(REPLACED_LABEL, ""))


def replacement_of(
    cluster: PostgresCluster, noted: tuple[Replaced, ...], nodes: Mapping[str, str]
) -> Replacement:
    """Return what a document asks for; ``nodes`` maps the swarm's node names to addresses."""
    spec = cluster.spec
    if spec.replace_after_s is None and not noted:
        return NO_REPLACEMENT
    return Replacement(
        after_s=spec.replace_after_s or 0,
        spares=tuple(spares_of(cluster, nodes)) if spec.replace_after_s is not None else (),
        lines=tuple((member.name, member.node) for member in spec.members),
        noted=noted,
    )


def spares_of(cluster: PostgresCluster, nodes: Mapping[str, str]) -> Iterator[Spare]:
    """Yield the spare nodes, in the file's order."""
    spec = cluster.spec
    seats = {member.node: member.name for member in spec.members}
    for node in dict.fromkeys(spec.spare_nodes):
        address, wrong = nodes.get(node, ""), ""
        if node in seats:
            wrong = f"the file has {seats[node]} there"
        elif not address:
            wrong = "it is not in the swarm"
        elif not is_within(address, spec.lan_subnet):
            wrong = f"its address {address} is outside lanSubnet {spec.lan_subnet}"
        yield Spare(node, address, wrong)


@lru_cache(maxsize=MOST_TEXTS)
def is_within(address: str, subnet: IPv4Network) -> bool:
    """Return True for an address of the cluster's network, from which alone members may connect."""
    try:
        return ip_address(address) in subnet
    except ValueError:
        return False


def homes_of(
    cluster: PostgresCluster,
    places: Sequence[DeployedMember],
    noted: Sequence[Replaced],
    swarm: SwarmState,
) -> Nodes:
    """Return the members that live elsewhere than their lines say, with their nodes."""
    lines = {member.name: member.node for member in cluster.spec.members}
    known = {place.name: place for place in places}
    if not places:
        return ()
    counting = [note for note in noted if lines.get(note.member) == note.written]
    homes = ((note.member, home_of(note, known.get(note.member), swarm)) for note in counting)
    return tuple((name, node) for name, node in homes if node != lines[name])


def home_of(note: Replaced, place: DeployedMember | None, swarm: SwarmState) -> str:
    """Return the node on which a noted member is to be: its new one as soon as its place is free,
    or while its former node is down or gone."""
    if place is None or place.node == note.node:
        return note.node
    former = swarm.node(place.node)
    return note.node if former is None or former.state == "down" else place.node


def with_homes(cluster: PostgresCluster, homes: Nodes) -> PostgresCluster:
    """Return the document with these members on these nodes, and at their swarm addresses. Proxies
    on just the file's member nodes follow."""
    if not homes:
        return cluster
    spec, found = cluster.spec, dict(homes)
    members = tuple(
        member.model_copy(update={"node": found[member.name], "address": None})
        if member.name in found
        else member
        for member in spec.members
    )
    proxies = spec.proxies
    if {*proxies.nodes} == {member.node for member in spec.members}:
        nodes = tuple(dict.fromkeys(member.node for member in members))
        proxies = proxies.model_copy(update={"nodes": nodes})
    spec = spec.model_copy(update={"members": members, "proxies": proxies})
    return cluster.model_copy(update={"spec": spec})
