"""Random faults by seed, with replication by quorum and then as by default, side by side.

``python -m tests.soak [--seed N] [--faults N] [--modes quorum,asynchronous] [--minutes N]``. Exits
1 if with quorum an acknowledged row was lost, two members acknowledged rows at once, or the cluster
did not become whole again. By default rows may be lost: they are counted.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.figures import spread
from tests.lab.lab import Lab
from tests.lab.product_images import publish
from tests.lab.settings import LabError, LabSettings
from tests.soak.run import Outcome, soak
from tests.soak.script import script

MODES = ("asynchronous", "synchronous", "quorum")


def main(argv: list[str]) -> int:
    asked = read(argv)
    steps = script(asked.seed, asked.faults)
    try:
        lab = Lab(LabSettings.from_environment())
        lab.up()
        publish(lab.registry, ["member", "proxy"], lab.settings)
        outcomes = []
        for mode in asked.modes.split(","):
            print(f"\n== {mode}: {len(steps)} faults of the seed {asked.seed}", flush=True)
            until = time.monotonic() + 60 * asked.minutes
            with tempfile.TemporaryDirectory() as directory:
                outcomes.append(soak(lab, Path(directory), mode, steps, until))
    except LabError as error:
        print(f"soak: {error}", file=sys.stderr)
        return 1
    print(f"\nseed {asked.seed}")
    for outcome in outcomes:
        print(summary(outcome))
    return 0 if all(one.keeps_promise for one in outcomes if one.mode != "asynchronous") else 1


def read(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", type=int, default=40)
    parser.add_argument("--modes", default="quorum,asynchronous", help=", ".join(MODES))
    parser.add_argument("--minutes", type=float, default=600, help="for each mode, at most")
    asked = parser.parse_args(argv)
    if unknown := set(asked.modes.split(",")) - {*MODES}:
        parser.error(f"no such mode: {', '.join(sorted(unknown))}; there are {', '.join(MODES)}")
    return asked


def summary(outcome: Outcome) -> str:
    text = (
        f"{outcome.mode:12}  {outcome.faults} faults, {outcome.told} rows acknowledged; "
        f"lost: {len(outcome.through_proxy)} through port 5000, {len(outcome.at_members)} at a "
        f"member; {len(outcome.beside)} by two members at once; pauses "
        f"{spread(outcome.pauses_s or [0.0], 's')}"
    )
    if outcome.not_whole:
        text += f"; not whole in time after {', '.join(map(str, outcome.not_whole))}"
    return text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
