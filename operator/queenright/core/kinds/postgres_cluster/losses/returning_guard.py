"""Guard of members that come back: none is restarted while it may be rewound."""

from __future__ import annotations

from queenright.core.kinds.postgres_cluster.in_place.guard import unasked_disruptions
from queenright.core.kinds.postgres_cluster.losses.returning import why_returning
from queenright.core.kinds.postgres_cluster.raft_guards import reset_of
from queenright.core.observed import Known, Observed, joining_key
from queenright.core.observed.ages import age_of
from queenright.core.planning.disruption import known_peers
from queenright.core.planning.plan import Plan, Refusal


def rewinds_are_not_broken_off(plan: Plan, observed: Observed) -> Refusal | None:
    """Refuse to disrupt a member that has not had the time to stream from the leader.

    One that is to set its Raft log aside can't be rewound. Without a leader nobody is rewound, and
    ``leader_is_safe`` judges.
    """
    if not any(status.holds_lock for status in known_peers(plan, observed)):
        return None
    for live in unasked_disruptions(plan, observed):
        if reset_of(plan, live) is not None:
            continue
        name = live.value.name
        match observed.members.get(name):
            case Known(status):
                seen = age_of(observed.seen_s_ago, joining_key(name))
                if (why := why_returning(name, status, seen)) is not None:
                    return Refusal("rewinds-are-not-broken-off", why)
            case _:
                pass
    return None
