"""The timelines of an archive, and the base backups from which one of them is reached.

A base backup begins on one timeline, and a recovery reaches another only if that one, or one of
its former ones, left the backup's after its end. After a restore in place the archive has base
backups of a timeline that was left before they were made. Invariant: a base backup is left out only
where the archive's own history says that it can't be used.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from .archive import left_at, place_of, position_of, timelines_with_wal
from .barman import Barman, BarmanError
from .folders import listed

HISTORY = ".history"


def newest_timeline(barman: Barman) -> int:
    """Return the newest timeline of an archive, which a recovery to `latest` follows; 1 where the
    archive has none. BarmanError."""
    return max({1, *timelines_with_wal(barman), *with_history(barman)})


def with_history(barman: Barman) -> set[int]:
    """Return the timelines whose history file the archive has. BarmanError."""
    found = listed(barman.repository, [place_of(barman)], barman.programs).files
    return {int(name[:8], 16) for name in found if HISTORY in name}


def refuse_gaps(barman: Barman) -> None:
    """BarmanError where a timeline has WAL and no history file: PostgreSQL chooses the number of
    its next timeline by these files, and its WAL would replace that of the other one."""
    lacking = sorted(timelines_with_wal(barman) - with_history(barman) - {1})
    if lacking:
        raise BarmanError(
            f"{barman.repository.url} has WAL of timeline {lacking[0]} and no file of its history, "
            "so that a new timeline could get its number; restore into a cluster of another name"
        )


def reaching(
    barman: Barman, found: Sequence[Mapping[str, Any]], timeline: int
) -> list[Mapping[str, Any]]:
    """Return the base backups, in their order, from which a recovery reaches a timeline. All where
    the archive has no history of it. BarmanError."""
    left = left_at(barman, timeline) if timeline > 1 else {}
    if timeline > 1 and not left:
        return [*found]
    return [one for one in found if is_before(one, timeline, left)]


def is_before(backup: Mapping[str, Any], timeline: int, left: Mapping[int, int]) -> bool:
    """Return True for a base backup that ended on the timeline, or before one of the former ones
    was left. One of which the end is not known is the recovery's to judge."""
    end_wal, end_lsn = backup.get("end_wal"), backup.get("end_lsn")
    if not end_wal or not end_lsn:
        return True
    own = int(str(end_wal)[:8], 16)
    return own == timeline or position_of(str(end_lsn)) <= left.get(own, -1)
