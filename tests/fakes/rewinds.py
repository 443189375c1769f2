"""Rewinds of former leaders: whole, or broken off, and what they leave then.

A rewind reads from the leader while it changes the files of the data directory. If it is broken off
(the member's container or node ends, or the leader goes away), the directory is a mix of two
timelines: it looks whole, and PostgreSQL may start on it or fail. `tests/contract/test_rewind.py`
shows both with real servers: PostgreSQL's own program, and the member image's around it.
"""

from __future__ import annotations

from tests.fakes.consensus import Consensus
from tests.fakes.instances import FAILED, RUNNING, STOPPED, Instance
from tests.fakes.members import Members

BEGINS_S, REWIND_S = 1.0, 3.0
"""The time until it changes the first file, and until it has ended."""
UNHEALTHY_S = 60.0
"""The time after which the health check ends a container whose PostgreSQL does not come back."""
STARTS_ON_A_MIX = 0.5
"""The chance that PostgreSQL starts on what its own program has left half done."""


def rewind(model: Members, agreed: Consensus, leader: Instance, member: Instance) -> None:
    """One tick of a former leader that has diverged. What it had beyond the leader's is lost when
    it has ended."""
    volume = member.volume
    source = (leader.task.id, agreed.timeline)
    if volume.rewound_from not in {None, source}:
        break_off(model, member)
        return
    if member.is_paused and volume.rewound_from is None:
        return
    since_s = model.now_s - (member.follows_s or 0.0)
    if since_s >= REWIND_S:
        left_at = agreed.timelines.left_at(volume, agreed.timeline)
        if left_at is not None:
            volume.location = min(volume.location, left_at)
        volume.rewound_from, member.follows_s = None, None
    elif since_s >= BEGINS_S:
        volume.rewound_from = source


def break_off(model: Members, member: Instance) -> None:
    """End a rewind that changes files; nothing where there is none."""
    volume = member.volume
    if volume.rewound_from is None:
        return
    volume.rewound_from, volume.is_torn = None, True
    model.story.append((model.now_s, f"the rewind of {member.name} is broken off"))
    member.stop()
    member.follows_s = None
    if model.image_of(member).notes_rewinds:
        volume.is_rewind_noted, volume.is_broken = True, True
        volume.damage, volume.torn_s = "damaged-control-file", model.now_s
    elif model.rng.random() >= STARTS_ON_A_MIX:
        volume.is_broken, volume.damage = True, "files"


def take_note(instance: Instance) -> None:
    """The entry point turns the note of a rewind into an interrupted copy."""
    volume = instance.volume
    if volume.is_rewind_noted:
        volume.is_rewind_noted, volume.is_broken = False, True
        volume.damage = "interrupted-copy"


def look_at_health(model: Members, members: list[Instance]) -> None:
    """Docker ends a container in which a rewind was broken off, after some failed checks."""
    for member in members:
        volume = member.volume
        if (
            volume.is_rewind_noted
            and member.state in {STOPPED, FAILED}
            and model.now_s - volume.torn_s >= UNHEALTHY_S
        ):
            model.orchestrator.fail(member.task, 137)


def judge(model: Members, members: list[Instance]) -> None:
    """Note each PostgreSQL that runs on what a rewind has left half done, once."""
    for member in members:
        if member.volume.is_torn and member.state == RUNNING:
            text = f"{member.name} runs on data that a rewind has left half done"
            if text not in model.lost:
                model.lost.append(text)
