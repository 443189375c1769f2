"""Two and three operators on one swarm: never two act, and one acts again within the bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from queenright.core.planning import lease as rules
from queenright.core.planning.lease import LEASE_S, RENEW_S, Lease, StoredLease
from queenright.engine.tenure import LeasePermission, Tenure
from tests.fakes.fake_lease import FakeLease
from tests.sim.standby import History, Operator

SEEDS = range(40)
TOGETHER = 5


@pytest.mark.parametrize(
    "first", [pytest.param(n, marks=pytest.mark.slow if n else []) for n in SEEDS[::TOGETHER]]
)
def test_never_two_act(first: int) -> None:
    acts = takes = 0
    for seed in range(first, first + TOGETHER):
        judge = History(seed).run()
        assert judge.faults == [], f"seed {seed}"
        acts, takes = acts + judge.acts, takes + judge.takes
    assert acts > 500  # they do act, and hand over
    assert takes > 15


# -- defects that the judge has to find ------------------------------------------------------


@pytest.mark.slow
def test_the_seeds_are_enough_to_find_each_defect(defect: Defect) -> None:
    found = (judge for seed in SEEDS if (judge := History(seed, defect.change).run()).faults)
    assert next(found, None), f"no history found: {defect.name}"


@dataclass(frozen=True)
class Defect:
    name: str
    bend: Callable[[pytest.MonkeyPatch], None] = lambda _: None
    change: Callable[[Operator], None] = lambda _: None


def count_from_the_answer(patch: pytest.MonkeyPatch) -> None:
    original = Tenure.renew

    def renew(self: Tenure, sent_s: float) -> None:
        original(self, self.now_s())

    patch.setattr(Tenure, "renew", renew)


def wait_without_margin(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rules, "WAIT_S", LEASE_S)


def wait_as_long_as_a_renewal(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rules, "WAIT_S", RENEW_S + 1)


def check_once_a_pass(patch: pytest.MonkeyPatch) -> None:
    def held_at_the_beginning(self: LeasePermission) -> bool:
        return self._number != 0

    async def confirmed(self: LeasePermission) -> bool:
        return self._number != 0

    patch.setattr(LeasePermission, "holds", held_at_the_beginning)
    patch.setattr(LeasePermission, "confirmed", confirmed)


class LastWriterWins(FakeLease):
    """Writes over whatever is there."""

    async def replace(self, stored: StoredLease, lease: Lease) -> None:
        await self._travel()
        live = self.store.configs[self.name]
        self.store.label_config(live.id, live.version, self._config(lease))
        await self._answer()


def write_over(one: Operator) -> None:
    one.keeper.store = LastWriterWins(one.lease.store, one.rng, boundary=one.gate, slowest_s=0.3)


def believe_a_frozen_process_gone(one: Operator) -> None:
    one.keeper.has_ended = lambda _: not one.runs.is_set() or one.rng.random() < 0.01


def go_on_after_it_gave_the_lease_away(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Tenure, "end", lambda _: None)


def take_at_the_own_request(patch: pytest.MonkeyPatch) -> None:
    original = rules.decide

    def decide(seen: StoredLease | None, own: Lease, *ages: Any, **known: Any) -> rules.Step:
        step = original(seen, own, *ages, **known)
        is_asking = seen is not None and seen.lease.wanted == own.process
        return rules.Step.TAKE if step is rules.Step.STAND_BY and is_asking else step

    patch.setattr("queenright.engine.lease.decide", decide)


def never_offer(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("queenright.engine.lease.offers", lambda *_: False)


DEFECTS = (
    Defect("the holder counts from the answer", count_from_the_answer),
    Defect("the taker waits without the margin", wait_without_margin),
    Defect("the taker waits less than the lease", wait_as_long_as_a_renewal),
    Defect("the check before each action is left out", check_once_a_pass),
    Defect("a write does not carry the version", change=write_over),
    Defect("a silent process counts as ended", change=believe_a_frozen_process_gone),
    Defect("one that gave the lease away goes on", go_on_after_it_gave_the_lease_away),
    Defect("the one that asks does not wait for the lease", take_at_the_own_request),
    Defect("nobody offers the lease", never_offer),
)


@pytest.fixture(params=DEFECTS, ids=lambda defect: defect.name)
def defect(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Defect:
    chosen: Defect = request.param
    chosen.bend(monkeypatch)
    return chosen
