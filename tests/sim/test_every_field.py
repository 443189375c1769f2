"""Every field of every kind's schema, edited on a converged cluster and taken back.

The fields are read from the schema, so that a new one is tried by itself. A run tries one in
``ONE_IN``, other ones for every commit; `make sim` tries all.
"""

from __future__ import annotations

import random

import pytest

from queenright.core.kinds.registry import KINDS
from tests.sim.one_edit import draw_valid, live_through
from tests.sim.schema_edits import SchemaField, fields_of
from tests.sim.seeds import first_seed, turns

pytestmark = pytest.mark.slow

ONE_IN = 2
NOT_EDITED = {
    ("NotesApp", "spec.database.cluster"): "there is one cluster to name",
    ("NotesApp", "spec.database.urlSecret"): "its server is not of this swarm, so not modelled",
}
"""Fields with no second value in this world, each with why."""


def schema_fields() -> list[tuple[str, SchemaField]]:
    return [
        (kind, one)
        for kind in KINDS
        for one in fields_of(kind)
        if (kind, str(one)) not in NOT_EDITED
    ]


@pytest.mark.parametrize(("kind", "one"), turns(schema_fields(), ONE_IN, "fields"), ids=str)
def test_an_edit_is_carried_out_or_held_by_name_and_can_be_taken_back(
    kind: str, one: SchemaField
) -> None:
    seed = first_seed()
    drawn = draw_valid(kind, one, random.Random(f"{seed}/{kind}/{one}"))
    assert drawn is not None, f"no draw gives a valid text: tests/sim/schema_edits.py, {one}"
    outcome = live_through(*drawn, seed)
    assert not outcome.violations, f"QUEENRIGHT_SIM_SEED={seed}\n{outcome}"


def test_the_schema_has_as_many_fields_as_a_person_can_write() -> None:
    paths = [str(one) for _, one in schema_fields()]
    assert len(paths) > 150
    assert {"spec.ports.restApi", "spec.members.[].node", "spec.databases.[].owner"} <= {*paths}
