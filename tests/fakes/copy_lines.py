"""The lines that a modelled member writes while it copies another's data.

pg_basebackup writes one a second, the engine puts the moment before it.
"""

from __future__ import annotations

from datetime import timedelta

from tests.fakes.files import EPOCH
from tests.fakes.instances import CREATING, Instance

WHOLE_KB = 4_000_000


def copy_lines(member: Instance, clone_s: float, now_s: float) -> str:
    """Return the lines up to now; nothing while the member copies nothing."""
    if member.state != CREATING or member.follows_s is None:
        return ""
    seconds = range(int(now_s - member.follows_s) + 1)
    return "\n".join(line(member.follows_s + n, min(1.0, n / clone_s)) for n in seconds)


def line(at_s: float, share: float) -> str:
    moment = (EPOCH + timedelta(seconds=at_s)).strftime("%Y-%m-%dT%H:%M:%S.%f")
    done = f"{round(WHOLE_KB * share):>{len(str(WHOLE_KB))}}"
    return f"{moment}000Z {done}/{WHOLE_KB} kB ({int(100 * share)}%), 0/1 tablespace"
