"""Parameters that wait for a restart of PostgreSQL on a member."""

from __future__ import annotations

from dataclasses import dataclass

from queenright.core.desired import DesiredMember
from queenright.core.situation import Situation


@dataclass(frozen=True, slots=True)
class PendingRestart:
    """``owned`` are the file's, ``foreign`` are not; ``primary_first`` are those of ``owned`` that
    a replica can only take once its primary has."""

    owned: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    primary_first: tuple[str, ...] = ()


def pending_restart(situation: Situation, member: DesiredMember) -> PendingRestart | None:
    """What waits on a member; None where nothing does."""
    status = situation.status(member)
    if status is None or not status.pending_restart:
        return None
    written = situation.desired.settings["postgresql"]["parameters"]
    names = sorted(status.pending_changes)
    return PendingRestart(
        owned=tuple(name for name in names if name in written),
        foreign=tuple(name for name in names if name not in written),
    )
