"""Edits of the members on real Patroni and Raft, under writes, and what each costs.

``python -m tests.topology [--seed N] [--steps grow,shrink] [--hurried] [--cuts]``, on a lab of six
nodes (``LAB_NODES=6``); the step of two dead nodes needs a seventh. Exits 1 if an acknowledged row
was lost, two members acknowledged rows at once, an edit was not reached, or a write gap was above
its step's bound (not with ``--gaps-only-print``, for a machine that is slow or does other things).
With ``--cuts`` a random member's node loses power after each step: then the rows that the leader
had acknowledged and no other member had received may be lost, and a gap in which a node lost power
has no bound; both are printed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from tests.lab.lab import Lab
from tests.lab.product_images import publish
from tests.lab.settings import LabError, LabSettings
from tests.topology.judge import broken, table
from tests.topology.run import show
from tests.topology.script import STEPS, Step, chosen_steps, most_nodes


def main(argv: list[str]) -> int:
    asked = read(argv)
    steps: list[Step] = asked.steps
    try:
        lab = Lab(LabSettings.from_environment())
        require(lab.settings.nodes, most_nodes(steps))
        lab.up()
        publish(lab.registry, ["member", "proxy"], lab.settings)
        with tempfile.TemporaryDirectory() as directory:
            found = show(
                lab, Path(directory), steps, asked.seed, hurried=asked.hurried, cuts=asked.cuts
            )
    except LabError as error:
        print(f"topology: {error}", file=sys.stderr)
        return 1
    print(f"\nseed {asked.seed}, {lab.settings.nodes} nodes, {os.cpu_count()} processors\n")
    print(table(found))
    wrong = broken(found, steps, judges_gaps=not asked.gaps_only_print)
    for text in wrong:
        print(f"topology: {text}", file=sys.stderr)
    return 1 if wrong else 0


def require(present: int, needed: int) -> None:
    """Raise LabError where the lab has fewer nodes than the steps need."""
    if present < needed:
        told = f"LAB_NODES: these steps need {needed} nodes (the lab has {present})"
        raise LabError(f"{told}; set LAB_NODES={needed}, or choose other steps")


def read(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.topology", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", default="", help=", ".join(step.name for step in STEPS))
    parser.add_argument(
        "--hurried",
        action="store_true",
        help="10 s instead of a minute between two changes of the voters, and quick timings",
    )
    parser.add_argument(
        "--cuts", action="store_true", help="a node loses power after each step of the operator"
    )
    parser.add_argument(
        "--gaps-only-print", action="store_true", help="fail for no write gap above its bound"
    )
    asked = parser.parse_args(argv)
    try:
        asked.steps = chosen_steps([name for name in asked.steps.split(",") if name])
    except ValueError as error:
        parser.error(str(error))
    return asked


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
