"""The jobs that make and list base backups, on the modelled members: a repository without Barman.

A job is as strict as the real one: it needs the program, the repository's variables and secrets,
the member's volume on its own node, and a server that answers at its address from the beginning to
the end. A replica that is promoted meanwhile, a restart and a repository that is away end it badly,
and so does a leader that archives nothing: the backup is there then, and the next job waits for it.
The image's health check, unless it is switched off, would end it too.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from queenright.core.observed import LiveService
from queenright.core.swarm.objects import Service
from tests.fakes.fake_archiving import SEGMENT_S, ModelledArchives, can_archive, moment, name
from tests.fakes.instances import RUNNING, Instance
from tests.fakes.patroni_model import PatroniModel
from tests.fakes.task_lives import JOB_S
from tests.fakes.tasks import FakeTask

NEEDED = {"BACKUP_URL", "BACKUP_HOST", "BACKUP_PORT"}
SECRETS = {"pg_superuser_pw", "backup_credentials"}
TAKES_S = 20.0
LIST_TAKES_S = 2.0


def is_base_backup(service: Service) -> bool:
    return service.command == ("base-backup",)


def is_backup_list(service: Service) -> bool:
    return service.command in {("backup-list",), ("restore-check",)}


@dataclass
class Work:
    """One job's work: the server that it began at, and how that was."""

    instance: Instance | None
    began_s: float
    was_primary: bool


@dataclass
class BaseBackups:
    """``made`` are the moments at which whole backups began; ``works`` the jobs' own beginnings."""

    model: PatroniModel
    archives: ModelledArchives
    now_s: Callable[[], float]
    rng: random.Random
    takes_s: float = TAKES_S
    fails: bool = False
    """True while the repository takes no backup, and takes WAL."""
    lacks_wal: bool = False
    """True while it takes backups, and no WAL."""
    made: list[datetime] = field(default_factory=list)
    works: dict[str, Work] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)
    at_once: int = 0
    """The most jobs that worked at the same time on nodes that run."""

    def why_not_start(self, service: Service) -> str:
        if is_backup_list(service):
            targets = {file.target for file in service.secrets}
            is_able = "BACKUP_URL" in service.environment and "backup_credentials" in targets
            return "" if is_able else "backup-list: got no answer: a variable or secret is missing"
        if NEEDED - service.environment.keys():
            return "base-backup: failed: a variable is missing"
        if SECRETS - {file.target for file in service.secrets}:
            return "base-backup: failed: a secret is missing"
        if service.health_check is None or service.health_check.test != ("NONE",):
            return "unhealthy container"
        return ""

    def works_s(self, task: FakeTask) -> float:
        """The job begins; returns for how long it works."""
        if is_backup_list(task.template):
            return LIST_TAKES_S
        if not is_base_backup(task.template):
            return JOB_S
        found = self.beside(task)
        self.works[task.id] = Work(found, self.now_s(), bool(found and found.is_primary))
        store = self.model.orchestrator.store
        running = [t for t in store.tasks.values() if t.has_container and t.id in self.works]
        self.at_once = max(self.at_once, len(running))
        return self.takes_s * self.rng.uniform(0.5, 2.0) if found is not None else 1.0

    def exit_code(self, task: FakeTask) -> int:
        """The job's end, by how the world is then."""
        if is_backup_list(task.template):
            return self.listed(task)
        if not is_base_backup(task.template):
            return self.model.orchestrator.job_exit_code
        work, said = self.works[task.id], ""
        one, due = work.instance, task.template.environment.get("BACKUP_DUE", "")
        if one is None or one is not self.beside(task):
            said = "base-backup: failed: PostgreSQL takes no connection; see that it runs"
        elif one.is_primary != work.was_primary:
            said = "base-backup: failed: the replica became the leader meanwhile; begin it again"
        elif self.fails or self.archives.is_away(task.template.environment):
            said = "base-backup: failed: https://s3.example does not answer; see that it runs"
        if said:
            self.said[task.service_id] = said
            return 1
        began = moment(work.began_s)
        since = datetime.fromisoformat(due) if due else None
        known = [at for at in self.made if since is not None and at >= since]
        if known:
            began = known[-1]
        else:
            self.made.append(began)
        if one is None or not self.is_archived(one):
            self.said[task.service_id] = (
                f"base-backup: failed: base backup {began:%Y%m%dT%H%M%S} can't be restored (WAL "
                "file 000000010000000000000004, which it needs, is not in bucket backups)"
            )
            return 1
        written = int(self.now_s() // SEGMENT_S) + 1
        end = (moment(self.now_s())).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.said[task.service_id] = (
            f"backed up id={began:%Y%m%dT%H%M%S} begin={began:%Y-%m-%dT%H:%M:%SZ} end={end} "
            f"begin_wal={name(1)} end_wal={name(written)} bytes=123456789"
        )
        return 0

    def is_archived(self, beside: Instance) -> bool:
        """Return True if the leader of a member's cluster archives, so that the repository has all
        WAL with which a backup ends."""
        ours = [one for one in self.model.instances.values() if one.cluster == beside.cluster]
        leaders = [one for one in ours if one.is_primary and one.task.has_container]
        return not self.lacks_wal and any(can_archive(one) for one in leaders)

    def checked(self, task: FakeTask) -> int:
        """The end of a job that checks a restore: from the newest backup, if there is one."""
        if not self.made:
            self.said[task.service_id] = (
                "restore-check: s3://backups/main has no whole base backup; nothing can be "
                "restored without one"
            )
            return 1
        found = {
            "system": "7000000000000000001",
            "base": f"{self.made[-1]:%Y%m%dT%H%M%S}",
            "ended": f"{self.made[-1] + timedelta(seconds=20):%Y-%m-%dT%H:%M:%SZ}",
            "timeline": int(task.template.environment.get("RESTORE_TIMELINE", "1")),
            "archived_to": "0/9000000",
            "archived_at": "2026-01-01T00:00:00Z",
        }
        self.said[task.service_id] = json.dumps(found)
        return 0

    def listed(self, task: FakeTask) -> int:
        """The end of a job that lists: all that was made, and their number; or that checks."""
        is_check = task.template.command == ("restore-check",)
        if self.archives.is_away(task.template.environment):
            begin = "restore-check: " if is_check else "backup-list: got no answer: "
            self.said[task.service_id] = (
                f"{begin}https://s3.example does not answer; see that it runs"
            )
            return 1
        if is_check:
            return self.checked(task)
        kept = task.template.environment.get("BACKUP_KEEP_COUNT", "")
        kept_from = len(self.made) - int(kept) if kept else 0
        lines = [
            json.dumps(
                {
                    "id": f"{began:%Y%m%dT%H%M%S}",
                    "status": "DONE",
                    "begin": f"{began:%Y-%m-%dT%H:%M:%SZ}",
                    "end": f"{began + timedelta(seconds=20):%Y-%m-%dT%H:%M:%SZ}",
                    "timeline": 1,
                    "begin_wal": "000000010000000000000003",
                    "end_wal": "000000010000000000000004",
                    "bytes": 123456789,
                    "error": None,
                    "obsolete": number < kept_from,
                }
            )
            for number, began in enumerate(self.made)
        ]
        self.said[task.service_id] = "\n".join([*lines, f"listed {len(lines)} base backups"])
        return 0

    def beside(self, task: FakeTask) -> Instance | None:
        """The running server of whose volume and address the job knows; None where there is none
        on its node."""
        environment = task.template.environment
        sources = {mount.source for mount in task.template.mounts if mount.kind == "volume"}
        for one in self.model.instances.values():
            own = {mount.source for mount in one.task.template.mounts}
            if (
                one.node_id == task.node_id
                and one.task.has_container
                and one.state == RUNNING
                and one.address == environment.get("BACKUP_HOST")
                and sources <= own
            ):
                return one
        return None

    def output(self, live: LiveService) -> str:
        return self.said.get(live.id, "")

    def newest_age(self) -> timedelta | None:
        return moment(self.now_s()) - max(self.made) if self.made else None
