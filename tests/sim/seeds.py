"""The first seed of a run: another one for every commit, so that each change is tried on new
histories and a failure can be had again from the commit alone. What counts is the commit's
content: the same files have the same histories, whoever made a commit of them.

``QUEENRIGHT_SIM_SEED`` sets it by hand. ``QUEENRIGHT_SIM_HISTORIES`` and ``QUEENRIGHT_SIM_FAULTS``
say how many histories, and how many faults and edits each has. Each history ends with an edit that
is forecast; with ``QUEENRIGHT_SIM_FORECASTS=N`` one in N does, with 0 none.

A sweep over every case of something takes a part of them in a run, other ones for every commit. It
takes all where ``QUEENRIGHT_SIM_HISTORIES`` is 10,000 or more.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import zlib
from collections.abc import Sequence
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

SEED, HISTORIES, FAULTS, FORECASTS = (
    "QUEENRIGHT_SIM_SEED",
    "QUEENRIGHT_SIM_HISTORIES",
    "QUEENRIGHT_SIM_FAULTS",
    "QUEENRIGHT_SIM_FORECASTS",
)
FEW_HISTORIES = 150
"""In `make check` and `make test`; `make test-all` and `make sim` have more."""
ALL_FROM = 10_000
"""So many histories or more, as `make sim` has: no sweep leaves anything out."""
FEW_FAULTS = 12
SPREAD = 10**8


@cache
def first_seed() -> int:
    """Return the environment's seed, or the commit's; outside a checkout the day's."""
    given = os.environ.get(SEED)
    if given:
        return int(given)
    return int(hashlib.sha256(_origin().encode()).hexdigest(), 16) % SPREAD


def given_seed() -> int:
    """Return the environment's seed, or always the same: for what is judged on known cases."""
    return int(os.environ.get(SEED) or 0)


def ends_with_a_forecast(seed: int) -> bool:
    """Return True for a history whose last edit is forecast."""
    one_in = int(os.environ.get(FORECASTS) or 1)
    return one_in > 0 and seed % one_in == 0


def _origin() -> str:
    here = Path(__file__).parent
    found = subprocess.run(
        ["git", "rev-parse", "HEAD^{tree}"], cwd=here, capture_output=True, text=True, check=False
    )
    return found.stdout.strip() or today().isoformat()


def today() -> date:
    return datetime.fromtimestamp(Path(__file__).stat().st_mtime, UTC).date()


def histories() -> int:
    """Return the number of histories of a run."""
    return int(os.environ.get(HISTORIES, str(FEW_HISTORIES)))


def histories_of(few: int, one_in: int) -> int:
    """Return the number of histories of a special kind: a few, and one for so many usual ones where
    more of those are asked for than in `make check`."""
    return few if is_quick() else max(few, histories() // one_in)


def is_quick() -> bool:
    """Return True for a run with no more histories than `make check` has."""
    return histories() <= FEW_HISTORIES


def is_complete() -> bool:
    """Return True for a run whose sweeps leave nothing out."""
    return histories() >= ALL_FROM


def has_turn(name: str, one_in: int) -> bool:
    """Return True if this commit has the turn of the case of this name, which one in so many
    commits has; always in a complete run."""
    return is_complete() or (zlib.crc32(name.encode()) + first_seed()) % one_in == 0


def turns(cases: Sequence[T], one_in: int, name: str) -> list[T]:
    """Return each so-manieth case, from another first one for every commit and for every name; all
    cases in a complete run."""
    if is_complete():
        return [*cases]
    return [*cases[(zlib.crc32(name.encode()) + first_seed()) % one_in :: one_in]]


def faults() -> int:
    """Return the number of faults and edits of each history."""
    return int(os.environ.get(FAULTS, str(FEW_FAULTS)))
