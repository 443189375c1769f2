"""The records that a person's words are about, and the words that can be asked.

Pure: an exact name is found before a part of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from queenright.core.audit.reading import HeldStep, Step

LEADER_WORDS = ("leader", "leader-change")
ACTING = frozenset({"intent", "outcome"})


@dataclass(frozen=True, slots=True)
class LeaderChange:
    """Another leader, or the same on another timeline, as the trail has it. ``measured`` is the
    canary's record, ``cause`` the action that made it."""

    cluster: str
    at: str
    moment: datetime | None
    before: str
    leader: str
    timeline: int
    noted: Step
    measured: Step | None = None
    cause: Step | None = None

    @property
    def key(self) -> str:
        return f"leader/{self.timeline}"


@dataclass(frozen=True, slots=True)
class Held:
    """One hold of a record."""

    step: Step
    hold: HeldStep


Found: TypeAlias = Step | Held | LeaderChange
IsAbout: TypeAlias = Callable[[Iterable[str], str], bool]


def answers(what: str, steps: Sequence[Step], changes: Sequence[LeaderChange]) -> list[Found]:
    """Return what the words are about, newest first: a cluster's or an application's records, or
    else what has exactly that name, or else what has it as a part."""
    words = " ".join(what.split())
    if words in LEADER_WORDS:
        return [*changes]
    for is_about in (of_cluster, exactly, partly):
        found = [one for step in steps for one in of_step(step, words, is_about)]
        found += [change for change in changes if is_about((change.key,), words)]
        if found:
            return sorted(found, key=age_of)
    return []


def age_of(found: Found) -> tuple[bool, float]:
    """Return the key that sorts the newest first, and last what has no time."""
    moment = found.step.moment if isinstance(found, Held) else found.moment
    return (moment is None, -moment.timestamp() if moment else 0.0)


def exactly(names: Iterable[str], words: str) -> bool:
    return words in names


def partly(names: Iterable[str], words: str) -> bool:
    """Return True if the words are a whole part of a name: ``ttl`` of ``spec.patroni.ttl``."""
    return any(
        name.endswith((f"_{words}", f".{words}", f"/{words}", f"[{words}]"))
        or name.startswith((f"{words}/", f"{words}.", f"{words}["))
        for name in names
    )


def of_cluster(names: Iterable[str], words: str) -> bool:
    return f"cluster {words}" in names


def of_step(step: Step, words: str, is_about: IsAbout) -> Iterator[Found]:
    if step.phase == "held":
        yield from (Held(step, hold) for hold in step.holds if is_about((hold.key,), words))
        return
    is_explained = step.phase == "refused" or (step.phase in ACTING and bool(step.key))
    if is_explained and is_about((*names_of(step), f"cluster {step.cluster}"), words):
        yield step


def names_of(step: Step) -> tuple[str, ...]:
    """Return the words by which a record of an action or a refusal can be asked for."""
    paths = [change.path for change in (*step.changes, *step.edits)]
    numbers = (str(step.seq), f"#{step.seq}") if step.seq is not None else ()
    found = (step.key, step.target, step.disturbs, step.plan_id, step.guard, *step.not_done)
    return tuple(name for name in (*found, *numbers, *paths) if name)


MOST_OFFERED = 8


def offers(steps: Sequence[Step], changes: Sequence[LeaderChange]) -> dict[str, list[str]]:
    """Return what can be asked, the newest first: a few names of each sort."""
    acted = [step for step in steps if step.phase in ACTING and step.key]
    sorts: dict[str, list[str]] = {
        "actions": [step.key for step in acted],
        "services": [step.disturbs for step in acted if step.disturbs],
        "holds": [hold.key for step in steps if step.phase == "held" for hold in step.holds],
        "fields": [edit.path for step in acted for edit in step.edits]
        + [change.path for step in acted for change in step.changes],
        "guards": [step.guard for step in steps if step.guard],
        "changes of leader": ["leader"] * bool(changes) + [change.key for change in changes],
    }
    return {
        sort: [*dict.fromkeys(filter(None, names))][:MOST_OFFERED]
        for sort, names in sorts.items()
        if any(names)
    }
