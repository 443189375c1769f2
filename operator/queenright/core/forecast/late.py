"""Answers of members that come a little after what they are about.

Pure. Invariant: a member that has started in between has found what was written at its start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from queenright.core.forecast.effects import running
from queenright.core.forecast.leading import is_standby_bound
from queenright.core.observed import Known, MemberStatus, Observed, SwarmState

HEARD = timedelta(seconds=1)
"""The time after which members report what a write of Patroni's settings means for them."""


@dataclass(frozen=True)
class Late:
    """Answers of members that come ``due`` after a write of Patroni's settings: ``before`` and
    ``after`` it by service, and the tasks that ran then. One that has started since has found the
    settings at its start."""

    due: datetime
    before: Mapping[str, MemberStatus]
    after: Mapping[str, MemberStatus]
    tasks: Mapping[str, frozenset[str]]

    def applied(self, observed: Observed, swarm: SwarmState) -> Observed:
        """Return the observation with the answers."""
        found = dict(observed.members)
        for service, later in self.after.items():
            reading = found.get(service)
            if not isinstance(reading, Known):
                continue
            status, former = reading.value, self.before[service]
            waiting = {**status.pending_changes, **self._new(service)}
            is_same = running(swarm, service) == self.tasks[service]
            if not is_same or (former.is_leader and not status.is_leader):
                waiting = {
                    name: two for name, two in waiting.items() if is_standby_bound(name, two)
                }
            found[service] = Known(
                replace(
                    status,
                    paused=later.paused,
                    synchronous="" if status.is_leader else later.synchronous,
                    pending_restart=bool(waiting),
                    pending_changes=waiting,
                )
            )
        return replace(observed, members=found)

    def _new(self, service: str) -> dict[str, tuple[str, str]]:
        """Return the parameters that wait since the write."""
        former = self.before[service].pending_changes
        later = self.after[service].pending_changes
        return {name: two for name, two in later.items() if former.get(name) != two}
