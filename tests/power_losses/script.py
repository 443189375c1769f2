"""The rounds of a run: how the members lose power, and how they come back. A seed decides all.

Pure. A round names members by their role (``leader``, ``first``, ``second``: the two replicas),
since nobody knows before the round who leads.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

ROLES = ("leader", "first", "second")


@dataclass(frozen=True, slots=True)
class Variant:
    """A kind of power loss.

    ``during`` is what goes on at the cut; ``damage`` what is done to Raft's files while the power
    is off (``cut`` in half, ``empty``, ``gone``), on ``damaged`` members; ``away`` the role that
    does not come back with the others, and ``emptied`` whether it comes back without its data.
    ``first`` is the role that starts first, long before the others, and ``last`` the one that
    starts half a minute after them. ``waits`` says that nobody may lead without its owner's word,
    and ``may_lose`` that rows may be lost, since those who have them come back too late, or were
    acknowledged behind a partition.
    """

    name: str
    title: str
    during: str = ""
    damage: str = ""
    damaged: int = 0
    away: str = ""
    emptied: bool = False
    first: str = ""
    last: str = ""
    waits: bool = False
    may_lose: bool = False


VARIANTS = (
    Variant("plain", "as they were"),
    Variant("burst", "in a burst of writes", during="burst"),
    Variant("cut-1", "one Raft journal cut in half", damage="cut", damaged=1),
    Variant("gone-3", "all Raft directories gone", damage="gone", damaged=3),
    Variant("replica-late", "a replica comes minutes later", away="first"),
    Variant("stale-first", "a replica that was off starts first", during="stale", first="first"),
    Variant(
        "newest-gone",
        "the newest data missing",
        during="alone",
        away="leader",
        waits=True,
        may_lose=True,
    ),
    Variant("switchover", "in a switchover", during="switchover"),
    Variant("empty-1", "one Raft journal empty", damage="empty", damaged=1),
    Variant("leader-late", "the leader comes minutes later", away="leader", may_lose=True),
    Variant("copy", "while a replica is copied", during="copy"),
    Variant("gone-2", "two Raft directories gone", damage="gone", damaged=2),
    Variant("cut-3", "all Raft journals cut in half", damage="cut", damaged=3),
    Variant("replica-lost", "a replica's data gone", away="first", emptied=True),
    Variant("gone-1", "one Raft directory gone", damage="gone", damaged=1),
    Variant("cut-2", "two Raft journals cut in half", damage="cut", damaged=2),
    Variant("leader-lost", "the leader's data gone", away="leader", emptied=True, may_lose=True),
    Variant("empty-3", "all Raft journals empty", damage="empty", damaged=3),
    Variant("cut-off", "after the leader was cut off", during="partition", may_lose=True),
    Variant(
        "stale-gone",
        "a replica that was off starts first, all Raft directories gone",
        during="stale",
        damage="gone",
        damaged=3,
        first="first",
    ),
    Variant("leader-soon", "the leader comes half a minute later", last="leader"),
)
"""In the order in which a run takes them; then the plain one once more, and all again."""


@dataclass(frozen=True, slots=True)
class Round:
    """One power loss. Times are seconds: ``cut_after`` from the first cut, ``off_s`` from the last
    cut to the first start, ``start_after`` from there; ``calm_s`` is how long the clients write
    before it. ``damaged`` are the roles whose Raft files are damaged."""

    number: int
    variant: Variant
    calm_s: float
    cut_after: tuple[tuple[str, float], ...]
    off_s: float
    start_after: tuple[tuple[str, float], ...]
    damaged: tuple[str, ...]
    with_manager: bool

    @property
    def returning(self) -> tuple[tuple[str, float], ...]:
        """Roles that start by themselves, in their order."""
        return tuple((role, at) for role, at in self.start_after if role != self.variant.away)


FIRST_BY_S = 12.0
"""The head start of the member that starts first, where the variant says so."""
LAST_BY_S = 25.0
"""The time by which the member is behind that starts last, where the variant says so: the others
are a quorum meanwhile."""


def rounds(seed: int, count: int, names: Sequence[str] = (), first: int = 0) -> list[Round]:
    """Return the rounds from the ``first`` on: all variants in turn, or only those named.

    The nodes of about half of the rounds lose power at once, the others within a second. ValueError
    for an unknown variant.
    """
    if unknown := {*names} - {variant.name for variant in VARIANTS}:
        raise ValueError(f"no such variant: {', '.join(sorted(unknown))}")
    chosen = [variant for variant in VARIANTS if not names or variant.name in names]
    return [
        _round(number, chosen[number % len(chosen)], random.Random(f"{seed} {number}"))
        for number in range(first, count)
    ]


def _round(number: int, variant: Variant, rng: random.Random) -> Round:
    order = rng.sample(ROLES, len(ROLES))
    spread = 0.0 if rng.random() < 0.5 else 1.0
    cuts = sorted((rng.uniform(0, spread), role) for role in order)
    starts = {role: rng.uniform(0, 6) for role in ROLES}
    if variant.last:
        starts[variant.last] += LAST_BY_S
    if variant.first:
        starts = {role: at + FIRST_BY_S for role, at in starts.items()} | {variant.first: 0.0}
    return Round(
        number,
        variant,
        rng.uniform(2, 6),
        tuple((role, at - cuts[0][0]) for at, role in cuts),
        rng.uniform(8, 16),
        tuple(sorted(starts.items(), key=lambda item: item[1])),
        tuple(rng.sample(ROLES, variant.damaged)),
        rng.random() < 0.25,
    )
