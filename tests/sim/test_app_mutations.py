"""The application's histories bite: an operator worse at dumps, rollbacks or logins is caught.

Each mutation is caught by the history whose seed stands beside it in ``app_mutations``.
"""

from __future__ import annotations

import warnings

import pytest

from tests.sim.app_mutations import MUTATIONS, AppMutation, catches, seed_that_catches

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_an_operator_worse_at_applications_is_caught(mutation: AppMutation) -> None:
    """Its seed catches it, or another, which a warning then names (as in ``test_mutations``)."""
    if catches(mutation, mutation.seed):
        return
    seed = seed_that_catches(mutation)
    assert seed is not None, f"no history catches: {mutation.name}"
    warnings.warn(f"{mutation.name}: caught by seed {seed} now", stacklevel=1)
