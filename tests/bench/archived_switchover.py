"""The write gap of a planned move with and without `backup`, on one cluster.

With it, the leader archives its last WAL files while it ends, and a replica waits for the archive
(`archive_mode: always`). The repository is a real S3 server that answers. ``BENCH_MOVES`` moves are
made with each of both files, in two turns (one below four moves), so that the machine's other work
falls on both.
"""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

from tests.bench.figures import spread
from tests.bench.running import converged
from tests.bench.switchover import by_patronictl, measure
from tests.e2e.swarm_facts import manifest
from tests.lab.lab import Lab
from tests.support.member_programs import MemberPrograms
from tests.support.object_store import ACCESS_KEY, SECRET_KEY, ObjectStore

MOVES = int(os.environ.get("BENCH_MOVES", "10"))
TURNS = 2 if MOVES >= 4 else 1
CHANGES_S = 400
FIELDS = """  backup:
    repository: {{bucket: backups, credentials: backup_credentials, endpoint: "{endpoint}"}}
"""


def bench_archived_switchover(lab: Lab, directory: Path) -> None:
    lab.reset()
    store = ObjectStore(directory / "swift", host=lab.settings.gateway)
    try:
        store.start()
        variables = {"BACKUP_URL": "s3://backups/main", "BACKUP_ENDPOINT": store.endpoint}
        home = directory / "programs"
        home.mkdir()
        programs = MemberPrograms(home, variables).lay_out()
        programs.write_credentials(ACCESS_KEY, SECRET_KEY)
        programs.make_bucket("backups")
        credentials = (programs.secrets / "backup_credentials").read_text()
        lab.manager.docker("secret", "create", "backup_credentials", "-", text=credentials)
        compare(lab, directory, FIELDS.format(endpoint=store.endpoint))
    finally:
        store.stop()


def compare(lab: Lab, directory: Path, fields: str) -> None:
    operator = converged(lab, directory)
    random_delay = random.Random(0)  # moves fall anywhere between two checks
    gaps: dict[str, list[float]] = {"without backup": [], "with backup": []}
    floors: dict[str, list[float]] = {name: [] for name in gaps}
    try:
        for _ in range(TURNS):
            for name, extra in (("without backup", ""), ("with backup", fields)):
                operator.carry_out(manifest(lab, extra), CHANGES_S)
                for _move in range(MOVES // TURNS):
                    time.sleep(random_delay.uniform(0, 3))
                    gap, floor = measure(lab, by_patronictl)
                    gaps[name].append(gap)
                    floors[name].append(floor)
                    print(f"   {name}: {gap:.2f} s (members {floor:.2f} s)", flush=True)
    finally:
        operator.stop()
    for name, found in gaps.items():
        print(f"{name:16} {spread(found, 's', 2)}; at the members {spread(floors[name], 's', 2)}")
