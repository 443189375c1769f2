"""Records a release: deploys its clusters on the lab with its own operator and images, waits until
nothing is left to do, and keeps the world as it is then.

    .venv/bin/python -m tests.releases.record [--tree DIRECTORY] [SCENE ...]

``--tree`` is another release's source tree. LAB_DIR and LAB_SUBNET choose the lab, as everywhere.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.e2e.running_operator import RunningOperator
from tests.e2e.swarm_facts import eventually, is_whole
from tests.lab.lab import Lab
from tests.lab.settings import LabSettings
from tests.lab.shell import say
from tests.releases.listening import docker_answers, member_answers, without_secrets
from tests.releases.recording import FILE, MOST_BYTES, ROOT, Recording, version_of
from tests.releases.scenes import SCENES, scenes_of

QUIET_S = 12
"""Longer than what the operator waits for after a step before it looks at it again."""
IMAGES = ("member", "proxy")


def main(argv: Sequence[str] | None = None) -> int:
    """Return 0 when all scenes are recorded; print every failure as it comes."""
    parser = argparse.ArgumentParser(prog="tests.releases.record", description=__doc__)
    parser.add_argument("--tree", type=Path, default=ROOT, help="default: this one")
    parser.add_argument("scenes", nargs="*", help=f"of {', '.join(SCENES)}; default: all it knows")
    given = parser.parse_args(argv)
    tree: Path = given.tree.resolve()
    settings = LabSettings.from_environment()
    settings.directory.mkdir(parents=True, exist_ok=True)
    with (settings.directory / "session.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lab = Lab(settings)
        lab.up()
        images = published(lab, tree)
        for scene in given.scenes or scenes_of(version_of(tree)):
            with tempfile.TemporaryDirectory() as scratch:
                made = record(lab, tree, scene, images, Path(scratch))
            say(f"recorded {made.relative_to(ROOT)}, {made.stat().st_size} bytes")
    return 0


def published(lab: Lab, tree: Path) -> list[str]:
    """The release's own images in the lab's registry."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.lab.product_images", "--registry", lab.registry, *IMAGES],
        cwd=tree,
        env={**os.environ, "LAB_DIR": str(lab.settings.directory)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout.split()


def record(lab: Lab, tree: Path, scene: str, images: Sequence[str], scratch: Path) -> Path:
    """Deploy one scene on a bare swarm, edit by edit, and write its file."""
    lab.reset()
    operator = RunningOperator(lab, scratch)
    operator.environment["PYTHONPATH"] = str(tree / "operator")
    texts = SCENES[scene].edits(lab)
    operator.write(texts[0])
    with operator:
        for number, text in enumerate(texts):
            if number:
                edit(operator, text)
            settle(lab, operator)
        operator.stop()
    return write(lab, version_of(tree), scene, images, texts[-1])


def edit(operator: RunningOperator, text: str) -> None:
    """Write the manifest, and wait until the operator has read it."""
    before = len(list(operator.passes()))
    operator.write(text)
    operator.wait_for(
        lambda: any(found["trigger"] == "file" for found in list(operator.passes())[before:]),
        "the edit to be read",
    )


def settle(lab: Lab, operator: RunningOperator) -> None:
    """Wait until the cluster is whole and passes have found nothing to do for a while."""

    def is_quiet() -> bool:
        passes, actions_only = list(operator.passes()), operator.audit("outcome")
        return (
            bool(passes and passes[-1]["converged"])
            and time.monotonic() - max(d["seen_at"] for d in actions_only) > QUIET_S
            and passes[-1]["seen_at"] > actions_only[-1]["seen_at"]
        )

    operator.wait_converged()
    eventually(lambda: is_whole(lab), "one leader and two streaming replicas with lag 0", 120)
    operator.wait_for(is_quiet, "nothing left to do", 300)


def write(lab: Lab, release: str, scene: str, images: Sequence[str], text: str) -> Path:
    moment = datetime.fromtimestamp(time.time_ns() / 1e9, UTC)
    recording = Recording(
        release=release,
        scene=scene,
        recorded_at=moment.isoformat(),
        manifests={FILE: text},
        docker=docker_answers(lab, images),
        members=member_answers(lab),
    )
    told = without_secrets(lab, recording.text(), recording.docker)
    assert len(told) <= MOST_BYTES, f"{len(told)} bytes: more than is kept"
    recording.path.parent.mkdir(parents=True, exist_ok=True)
    recording.path.write_text(told)
    return recording.path


if __name__ == "__main__":
    sys.exit(main())
