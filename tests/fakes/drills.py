"""The jobs that restore a base backup to prove it: a repository and a server without either.

A job is as strict as the real one: it needs the program, the repository's variables and secrets,
room of its own for the data, and nothing of a member's. It ends badly while the repository is away,
where a backup as new as the noted one is not there, and where an object of the repository is gone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from queenright.core.swarm.objects import Service
from tests.fakes.base_backups import BaseBackups
from tests.fakes.fake_archiving import moment
from tests.fakes.tasks import FakeTask

NEEDED = {"BACKUP_URL", "BACKUP_SYSTEM", "DRILL_DUE", "DRILL_AT"}
TAKES_S = 30.0
PROVEN_TO = timedelta(seconds=3)


def is_drill(service: Service) -> bool:
    return service.command == ("backup-drill",)


@dataclass
class Drills:
    """``missing`` names an object that is gone from the repository; ``beside`` counts drills that
    ran while a base backup or another drill did."""

    backups: BaseBackups
    missing: str = ""
    takes_s: float = TAKES_S
    proved: int = 0
    failed: int = 0
    beside: int = 0
    touched: list[str] = field(default_factory=list)
    """Reasons for which a job could have reached a member."""
    running: set[str] = field(default_factory=set)

    def why_not_start(self, service: Service) -> str:
        targets = {file.target for file in service.secrets}
        if NEEDED - service.environment.keys() or "backup_credentials" not in targets:
            return "backup-drill: failed: a variable or secret is missing"
        if service.read_only:
            return "backup-drill: failed: [Errno 30] Read-only file system"
        if service.health_check is None or service.health_check.test != ("NONE",):
            return "unhealthy container"
        return ""

    def works_s(self, task: FakeTask) -> float:
        """The job begins; returns for how long it works."""
        store = self.backups.model.orchestrator.store
        working = {*self.running, *self.backups.works}
        others = [
            t for t in store.tasks.values() if t.has_container and t.id in working and t is not task
        ]
        if not is_drill(task.template):
            found = self.backups.works_s(task)
            if task.id in self.backups.works:
                self.beside += any(other.id in self.running for other in others)
            return found
        self.running.add(task.id)
        self.beside += bool(others)
        job = task.template
        if any(mount.kind != "tmpfs" for mount in job.mounts) or job.networks or job.ports:
            self.touched.append(job.name)
        if {file.target for file in job.secrets} - {"backup_credentials", "backup_ca"}:
            self.touched.append(f"{job.name} has passwords")
        return self.takes_s * self.backups.rng.uniform(0.5, 2.0)

    def exit_code(self, task: FakeTask) -> int:
        """The job's end, by how the repository is then."""
        if not is_drill(task.template):
            return self.backups.exit_code(task)
        environment, said = task.template.environment, ""
        made = [f"{at:%Y%m%dT%H%M%S}" for at in self.backups.made]
        noted = environment.get("DRILL_BACKUP", "")
        if self.backups.fails or self.backups.archives.is_away(environment):
            said = "https://s3.example does not answer; see that it runs"
        elif not made or made[-1] < noted:
            said = f"base backup {noted} was made, and the repository has it no more"
        elif self.missing:
            said = f"base backup {made[-1]} is not restored: Missing file {self.missing}"
        if said:
            self.failed += 1
            self.backups.said[task.service_id] = f"backup-drill: failed: {said}"
            return 1
        self.proved += 1
        began = moment(task.up_since_s)
        reached = f"{began - PROVEN_TO:%Y-%m-%dT%H:%M:%S.%fZ}"
        self.backups.said[task.service_id] = (
            f"proved backup={made[-1]} seconds=360 bytes=15032385536 databases=2 "
            f"reached={reached} canary=None"
        )
        return 0
