"""Calls every operation of the API as every user at every place, and checks the effects."""

import pytest

from notes.routes import OPERATIONS
from tests.replica import Replica
from tests.sweep.expected import RULES
from tests.sweep.sweeping import sweep
from tests.sweep.world import World


def test_every_operation_has_been_thought_of() -> None:
    assert {op.name for op in OPERATIONS} == set(RULES)
    assert len({op.name for op in OPERATIONS}) == len(OPERATIONS), "two operations of one name"


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_nobody_reaches_further_than_they_may(world: tuple[World, Replica]) -> None:
    sweep(*world, [op for op in OPERATIONS if op.path.startswith("/api/")], least=6000)
