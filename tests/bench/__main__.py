"""Speed and memory, measured on the lab (but ``polling``, ``scale`` and ``backup``).

Ratios come from runs in turn.
``python -m tests.bench [NAME …]``: all of them by default, or those of ``BENCHES``.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.bench.archived_switchover import bench_archived_switchover
from tests.bench.backup import bench_backup
from tests.bench.failover import bench_failover
from tests.bench.first_deployment import bench_first_deployment
from tests.bench.polling import bench_polling
from tests.bench.replication import bench_replication
from tests.bench.running import bench_memory, bench_pass, bench_reaction
from tests.bench.scale import bench_scale
from tests.bench.standby import bench_standby
from tests.bench.switchover import bench_switchover
from tests.bench.ten_clusters import bench_ten_clusters
from tests.bench.vip import bench_vip, bench_vip_fine
from tests.lab.lab import Lab
from tests.lab.product_images import publish
from tests.lab.settings import LabError, LabSettings

BENCHES: dict[str, Callable[[Lab, Path], None]] = {
    "first-deployment": bench_first_deployment,
    "pass": bench_pass,
    "reaction": bench_reaction,
    "memory": bench_memory,
    "switchover": bench_switchover,
    "archived-switchover": bench_archived_switchover,
    "failover": bench_failover,
    "replication": bench_replication,
    "standby": bench_standby,
    "ten-clusters": bench_ten_clusters,
    "vip": bench_vip,
    "vip-fine": bench_vip_fine,
}

WITHOUT_LAB: dict[str, Callable[[], None]] = {
    "polling": bench_polling,
    "scale": bench_scale,
    "backup": bench_backup,
}


def main(names: list[str]) -> int:
    if unknown := set(names) - set(BENCHES) - set(WITHOUT_LAB):
        known = ", ".join([*WITHOUT_LAB, *BENCHES])
        print(f"no such bench: {', '.join(unknown)}; there are {known}")
        return 64
    for name in [name for name in names or WITHOUT_LAB if name in WITHOUT_LAB]:
        print(f"\n== {name}", flush=True)
        WITHOUT_LAB[name]()
    names = [name for name in names or BENCHES if name in BENCHES]
    return bench_lab(names) if names else 0


def bench_lab(names: list[str]) -> int:
    try:
        lab = Lab(LabSettings.from_environment())
        lab.up()
        publish(lab.registry, ["member", "proxy"], lab.settings)
        for name in names:
            print(f"\n== {name}", flush=True)
            with tempfile.TemporaryDirectory() as directory:
                BENCHES[name](lab, Path(directory))
    except LabError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
