"""The files with what was recorded: one a release and scene, as JSON.

Invariant: a file holds what Docker and the members answered, in their own words, and not what our
code made of it: so it stays what it is when the code changes.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

Json = dict[str, Any]

RECORDED = Path(__file__).parent / "recorded"
ROOT = Path(__file__).resolve().parents[2]
COMMAND = ".venv/bin/python -m tests.releases.record"
"""Records the present release anew, in every scene."""
MOST_BYTES = 300_000
FILE = "cluster.yaml"


@dataclass(frozen=True)
class Recording:
    """``docker`` has the answer of each list by its name, and ``distribution`` by image;
    ``members`` has by address each REST answer as ``[status, body]`` by request, and the body of
    the Raft node's status in base64."""

    release: str
    scene: str
    recorded_at: str
    manifests: dict[str, str]
    docker: Json
    members: dict[str, Json]

    @property
    def moment(self) -> datetime:
        return datetime.fromisoformat(self.recorded_at)

    @property
    def path(self) -> Path:
        return path_of(self.release, self.scene)

    def text(self) -> str:
        return json.dumps(asdict(self), indent=1, sort_keys=True) + "\n"


def path_of(release: str, scene: str) -> Path:
    return RECORDED / release / f"{scene}.json"


def read_recording(path: Path) -> Recording:
    return Recording(**json.loads(path.read_text()))


def recordings() -> list[Path]:
    """Every file, oldest release first."""
    return sorted(RECORDED.glob("*/*.json"), key=lambda path: (order(path.parent.name), path.stem))


def order(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("."))


def version_of(tree: Path) -> str:
    """The release that a source tree is."""
    found: str = tomllib.loads((tree / "pyproject.toml").read_text())["project"]["version"]
    return found
