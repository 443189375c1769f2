"""Total power losses of a cluster on the lab, under writes, and what each one costs.

``python -m tests.power_losses [--seed N] [--rounds N] [--variants plain,burst] [--minutes N]``, on
a lab of four nodes with disks of their own (``LAB_DISK_GIB=8``). Exits 1 if a round broke a
promise: a person was needed where nothing would be lost, acknowledged rows were lost though those
who had them came back, two members acknowledged rows at once, or replicas have other rows.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from tests.lab.lab import Lab
from tests.lab.product_images import publish
from tests.lab.settings import LabError, LabSettings
from tests.power_losses.judge import table
from tests.power_losses.run import show
from tests.power_losses.script import VARIANTS, rounds


def main(argv: list[str]) -> int:
    asked = read(argv)
    try:
        settings = LabSettings.from_environment()
        require_disks(settings)
        lab = Lab(settings)
        lab.up()
        publish(lab.registry, ["member", "proxy"], lab.settings)
        until = time.monotonic() + 60 * asked.minutes
        with tempfile.TemporaryDirectory() as directory:
            found = show(lab, Path(directory), asked.script, until)
    except LabError as error:
        print(f"power losses: {error}", file=sys.stderr)
        return 1
    print(f"\nseed {asked.seed}, {settings.nodes} nodes, {os.cpu_count()} processors\n")
    print(table(found))
    return 1 if any(one.faults for one in found) else 0


def require_disks(settings: LabSettings) -> None:
    """Raise LabError where a power cut would keep what is not synced, or nodes are too few."""
    if not settings.disk_gib:
        raise LabError("LAB_DISK_GIB: the nodes have no disks of their own; set LAB_DISK_GIB=8")
    if settings.nodes < 4:
        raise LabError(f"LAB_NODES={settings.nodes}: four nodes are needed; set LAB_NODES=4")


def read(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.power_losses", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument(
        "--first", type=int, default=0, help="the number of the round to begin with"
    )
    parser.add_argument("--variants", default="", help=", ".join(one.name for one in VARIANTS))
    parser.add_argument("--minutes", type=float, default=600, help="no round begins after this")
    asked = parser.parse_args(argv)
    try:
        names = [name for name in asked.variants.split(",") if name]
        asked.script = rounds(asked.seed, asked.rounds, names, asked.first)
    except ValueError as error:
        parser.error(str(error))
    return asked


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
