"""Judged by ProseMirror: what a step makes of a document, its inverse, its map of positions."""

import json
import os
import random
import subprocess
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from notes.doc.attributes import Json
from notes.doc.schema import normalise
from notes.steps.model import StepError
from notes.steps.reading import document
from notes.steps.step_json import step_from
from tests.judges.programs import HERE
from tests.prosemirror_schema import schema
from tests.random_steps import Chance

pytestmark = pytest.mark.judge
MORE = int(os.environ.get("NOTES_STEP_CASES", "2000"))
"""The random steps of the slow test, which are others each time."""


def _lean(given: Any) -> Any:
    """JSON without nulls in attributes, which the application does not write."""
    if isinstance(given, list):
        return [_lean(one) for one in given]
    if not isinstance(given, dict):
        return given
    made = {name: _lean(value) for name, value in given.items() if value is not None}
    return {name: value for name, value in made.items() if name != "attrs" or value}


def _ours(case: Json) -> Json:
    doc = document(case["doc"])
    try:
        step = step_from(case["step"], "step")
        made = step.apply(doc)
    except StepError as error:
        return {"failed": str(error)}
    inverse = step.invert(doc)
    maps = [step.step_map]
    found = [(step.step_map.map(at, side)) for at, side in case["positions"]]
    rebased = step_from(case["other"], "other").map(maps)
    return {
        "doc": made.json,
        "inverse": inverse.json,
        "undone": inverse.apply(made).json,
        "mapped": [[one.position, one.deleted_after, one.deleted_across] for one in found],
        "back": [step.step_map.invert().map(at, side).position for at, side in case["positions"]],
        "rebased": rebased.json if rebased else None,
    }


def _cases(count: int, seed: int) -> Iterator[Json]:
    for number in range(count):
        chance = Chance(seed * 1_000_000 + number)
        given = chance.doc()
        doc = document(given)
        size = doc.content_size
        positions = [
            [at, side] for at in range(0, size + 1, max(1, size // 12)) for side in (-1, 1)
        ]
        yield {"doc": given, "step": chance.step(doc), "other": chance.step(doc),
               "positions": positions}  # fmt: skip


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("count", "seed"),
    [
        pytest.param(2_000, 2_000, id="the same"),
        pytest.param(MORE, None, id="others", marks=pytest.mark.slow),
    ],
)
def test_every_step_does_what_it_does_in_an_editor(count: int, seed: int | None) -> None:
    outcomes = Counter[str]()
    seed = random.randrange(10**6) if seed is None else seed
    print("seed", seed)
    for begin in range(0, count, 2_000):
        cases = list(_cases(2_000, seed + begin))
        lines = "\n".join(json.dumps(one) for one in [{"schema": schema()}, *cases])
        judged = subprocess.run(
            ["node", str(HERE / "prosemirror.mjs")], input=lines, capture_output=True,
            text=True, timeout=240, check=True, cwd=HERE,
        ).stdout.splitlines()  # fmt: skip
        assert len(judged) == len(cases)
        for case, line in zip(cases, judged, strict=True):
            theirs, ours = json.loads(line), _ours(case)
            applies = "failed" not in theirs
            outcomes[f"{case['step']['stepType']} {'applies' if applies else 'fails'}"] += 1
            if applies != ("failed" not in ours):
                pytest.fail(_shown(case, theirs, ours))
            if applies:
                if case["step"]["stepType"] == "markSet":
                    # ProseMirror nests the sets, and cannot read that JSON itself.
                    del theirs["inverse"], ours["inverse"]
                if _lean(theirs) != _lean(ours):  # plain: pytest's own comparison takes minutes
                    pytest.fail(_shown(case, theirs, ours))
                _is_kept(ours["doc"])
    print(dict(sorted(outcomes.items())))
    for kind in ("replace", "replaceAround", "addMark", "removeMark", "markSet", "attr"):
        assert outcomes[f"{kind} applies"] >= count // 500, outcomes
    for kind in ("addNodeMark", "replace", "replaceAround"):
        assert outcomes[f"{kind} fails"] >= count // 500, outcomes


def _shown(case: Json, theirs: Json, ours: Json) -> str:
    made = [json.dumps(case["doc"]), json.dumps(case["step"])]
    for name in {**theirs, **ours}:
        if _lean(theirs.get(name)) != _lean(ours.get(name)):
            made += [f"theirs {name}: {theirs.get(name)}", f"ours {name}: {ours.get(name)}"]
    return "\n".join(made)


def _is_kept(doc: Json) -> None:
    """Checks that an accepted document can be saved, and its normal form be edited again."""
    document(doc)
    document(normalise(doc))
