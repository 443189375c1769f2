"""The words of `queenright plan --forecast`, for a person to read: ``forecast.txt``."""

from __future__ import annotations

import dataclasses
import io
import json

from queenright.cli.console import Output
from queenright.cli.forecast import show_way, way_json
from queenright.core.audit.questions import LeaderChange
from queenright.core.audit.reading import Step, read_step
from queenright.core.forecast.figures import History
from queenright.core.forecast.way import Forecast, Way
from queenright.core.observed import ImageFound, Known, Observed
from tests.golden.compare import assert_golden
from tests.support.builders import (
    MANIFEST,
    MEMBER_IMAGE,
    NOW,
    bare_swarm,
    document,
    found_images,
    manifest,
    three_nodes,
)
from tests.support.topology_worlds import deployed, text_of

NEXT_IMAGE = f"{MEMBER_IMAGE}.1"
EDIT = {"document": "main", "file": "cluster.yaml", "line": 5, "path": "spec.image"}


def record(key: str, second: int, took_ms: int, outcome: str = "done") -> Step:
    return read_step(
        {
            "phase": "outcome",
            "cluster": "main",
            "at": f"2026-01-01T10:{second // 60:02d}:{second % 60:02d}.000Z",
            "action": {"kind": key.partition("/")[0], "key": key},
            "outcome": outcome,
            "duration_ms": took_ms,
            "trigger": {"kind": "file", "edits": [EDIT]},
        }
    )


def history() -> History:
    """Two updates, a failed one, and a switchover with its write gap."""
    steps = [
        record("switchover/main", 62, 4000),
        record("update-service/main_member-3", 30, 20),
        record("update-service/main_member-1", 25, 900, "failed"),
        record("update-service/main_member-2", 5, 10),
    ]
    measured = read_step({"phase": "measured", "cluster": "main", "write_gap_ms": 1502})
    change = LeaderChange("main", "", None, "member-1", "member-2", 2, steps[0], measured, steps[0])
    return History(steps, [change])


def forecast(observed: Observed, text: str) -> Way:
    images = {**found_images(), NEXT_IMAGE: Known(ImageFound(f"sha256:{'c' * 64}"))}
    seen = dataclasses.replace(observed, images=images)
    (way,) = Forecast([document(text)], seen, NOW).ways()
    return way


def situations() -> dict[str, Way]:
    newer = MANIFEST.replace(MEMBER_IMAGE, NEXT_IMAGE)
    five = text_of(1, 2, 3, 4, 5)
    return {
        "first deployment": forecast(bare_swarm(), MANIFEST),
        "another image": forecast(three_nodes(), newer),
        "three members become five": forecast(deployed(1, 2, 3), five),
        "another leader": forecast(three_nodes(), manifest(primary="member-2")),
        "nothing to do": forecast(three_nodes(), MANIFEST),
        "a member that does not answer": forecast(three_nodes(unknown=["member-3"]), newer),
        "a parameter that only a person applies": forecast(
            three_nodes(), manifest(postgresql="{parameters: {max_connections: 50}}")
        ),
    }


def test_the_words_of_forecasts() -> None:
    out = io.StringIO()
    shown = Output(out, is_terminal=False)
    for title, way in situations().items():
        shown.line(f"# {title}")
        show_way(shown, "cluster", way, history() if title == "another image" else History())
        shown.blank()
    assert_golden("forecast.txt", out.getvalue())


def test_the_json_of_a_forecast() -> None:
    way = situations()["another image"]
    assert_golden("forecast.json", json.dumps(way_json(way, history()), indent=2) + "\n")
