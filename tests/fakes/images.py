"""The behaviour of a member image, as far as the models of the members have it.

The defaults are today's image. ``FIRST`` is the image that 0.1.0 and 0.2.0 were recorded with
(``tests/releases``): its entry point waits for its Raft partners at its first start, and does
nothing else of what is named here. Invariant: a trait is a fact of the image, not of a member.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.fakes.raft_lists import SYNC_S

WRITTEN_BACK_S = 35.0
"""The time after which the kernel has written what nobody syncs."""


@dataclass
class ImageTraits:
    """Today's image; a test may change it."""

    mends_raft: bool = True
    """True for images whose entry point sets damaged Raft files aside."""
    notes_rewinds: bool = True
    """True for images whose `pg_rewind` leaves no data that start where it is broken off."""
    waits_for_logs: bool = True
    """True for images whose entry point waits, and tells that, where no Raft log can be had."""
    fences_joiners: bool = True
    """True for images that keep a member from leading that has its log from those that began anew,
    and obey the request not to lead."""
    sets_former_logs_aside: bool = True
    """True for images whose entry point sets a log aside of before the member was removed."""
    hears_partners: bool = True
    """True for images whose Patroni hears its partners before it leads for the first time."""
    tells_findings: bool = True
    """True for images whose entry point has Patroni tell what keeps PostgreSQL from starting."""
    ends_with_raft: bool = True
    """True for images whose process ends where its Raft node does."""
    syncs_raft_s: float = SYNC_S
    """The time after which what Raft has written lasts for certain."""


FIRST = ImageTraits(
    mends_raft=False,
    notes_rewinds=False,
    waits_for_logs=False,
    fences_joiners=False,
    sets_former_logs_aside=False,
    hears_partners=False,
    tells_findings=False,
    ends_with_raft=False,
    syncs_raft_s=WRITTEN_BACK_S,
)
