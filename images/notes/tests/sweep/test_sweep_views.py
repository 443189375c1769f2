"""Calls every operation of the views as every user at every place, and checks the effects."""

import pytest

from notes.routes import OPERATIONS
from tests.replica import Replica
from tests.sweep.sweeping import sweep
from tests.sweep.world import World


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_nobody_reaches_further_than_they_may(world: tuple[World, Replica]) -> None:
    sweep(*world, [op for op in OPERATIONS if not op.path.startswith("/api/")], least=4000)
