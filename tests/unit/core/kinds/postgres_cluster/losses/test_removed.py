"""The note of commits that a failover lost: its words, and how long it is shown."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest

from queenright.core.kinds.postgres_cluster.annotations import LastLeader
from queenright.core.kinds.postgres_cluster.losses.removed import LASTS
from queenright.core.observed import Observed, RemovedWal, Unknown
from queenright.core.planning.plan import Hold
from tests.golden.messages import assert_words
from tests.support.builders import MANIFEST, NOW, manifest, plan_for, status, three_nodes
from tests.support.changed import with_member, with_notes

REWOUND = RemovedWal(3, 0x3000000, 0x3002060, 4, NOW - timedelta(minutes=5))


def rewound(*removed: RemovedWal, leader: str = "member-1", timeline: int = 4) -> Observed:
    """A replica that led until a failover, and streams again."""
    found = dataclasses.replace(status("member-2", "member-1"), removed=removed)
    observed = with_member(three_nodes(), "member-2", found)
    return with_notes(observed, leader=LastLeader(leader, timeline, NOW))


def held(observed: Observed, text: str = MANIFEST) -> list[Hold]:
    plan = plan_for(observed, text)
    return [hold for hold in plan.recorded if hold.key.startswith("removed/")]


def test_a_note_has_the_commits_that_the_next_leader_never_had() -> None:
    (hold,) = held(rewound(REWOUND))
    assert hold.key == "removed/main_member-2/3"
    assert hold.is_informational
    assert hold.is_recorded
    assert not hold.wants_attention
    assert "8288 bytes of WAL with 4 commits that member-1 never had" in hold.reason
    assert_words(hold)


def test_what_was_not_counted_is_called_unknown() -> None:
    (hold,) = held(rewound(dataclasses.replace(REWOUND, end=None, commits=None)))
    assert "is not known" in hold.reason
    assert_words(hold)


def test_the_leader_of_a_later_timeline_is_not_named() -> None:
    (hold,) = held(rewound(REWOUND, leader="member-3", timeline=5))
    assert "1 commit that" not in hold.reason
    assert "that the next leader never had" in hold.reason


@pytest.mark.parametrize(
    ("replication", "words"),
    [
        ("{mode: quorum}", "replication: {strict: true}"),
        ("{mode: quorum, strict: true}", "nothing to do"),
    ],
    ids=["not strict", "strict"],
)
def test_where_commits_wait_they_were_not_acknowledged(replication: str, words: str) -> None:
    (hold,) = held(rewound(REWOUND), manifest(replication=replication))
    assert "were not acknowledged" in hold.reason
    assert words in hold.reason
    assert_words(hold)


@pytest.mark.parametrize(
    ("age", "is_shown"),
    [
        (timedelta(), True),
        (LASTS - timedelta(seconds=1), True),
        (LASTS, False),
        (-timedelta(hours=1), True),
        (-LASTS - timedelta(seconds=1), False),
    ],
    ids=["now", "a week", "after it", "by a clock ahead", "by a wrong clock"],
)
def test_a_note_is_shown_for_a_week(age: timedelta, *, is_shown: bool) -> None:
    assert bool(held(rewound(dataclasses.replace(REWOUND, at=NOW - age)))) is is_shown


def test_each_timeline_has_one_note_and_a_silent_member_none() -> None:
    later = dataclasses.replace(REWOUND, timeline=5, commits=1)
    notes = held(rewound(REWOUND, dataclasses.replace(REWOUND, commits=9), later))
    assert [hold.key[-1] for hold in notes] == ["3", "5"]
    assert "9 commits" in notes[0].reason
    assert "with 1 commit that" in notes[1].reason
    assert held(with_member(rewound(REWOUND), "member-2", Unknown("no answer"))) == []


def test_nothing_waits_for_the_note() -> None:
    plain, noted = plan_for(rewound()), plan_for(rewound(REWOUND))
    assert noted.actions == plain.actions
    assert noted.held == plain.held
