"""The jobs that find where a member's data end, on the modelled members' volumes.

A job is as strict as the real one is meant to be: it reads one volume, read-only, as PostgreSQL's
user, and has nothing else. A volume that is not on its node is made, and has no data. It ends badly
where the data are damaged, and where the image is from before the program.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from queenright.core.swarm.objects import Service
from tests.fakes.drills import Drills
from tests.fakes.tasks import FakeTask
from tests.fakes.volumes import Volume

TAKES_S = 3.0
WITHOUT_PROGRAM = 127


def is_data_end(service: Service) -> bool:
    return service.command[:1] == ("data-end",)


@dataclass
class DataEndJobs:
    """``histories`` are the digests of history files by the volume; ``at_once`` is the most jobs
    that worked at the same time."""

    drills: Drills
    takes_s: float = TAKES_S
    is_older: bool = False
    """True for an image without the program."""
    says: str | None = None
    """A job's lines in place of the end."""
    histories: dict[str, str] = field(default_factory=dict)
    running: set[str] = field(default_factory=set)
    at_once: int = 0

    def why_not_start(self, service: Service) -> str:
        mounts = [mount for mount in service.mounts if mount.kind != "tmpfs"]
        if [(m.target, m.read_only) for m in mounts] != [("/home/postgres/pgdata", True)]:
            return "not known: the volume is not mounted read-only"
        if service.user != "999:999" or not service.read_only:
            return "not known: Permission denied"
        if service.secrets or service.networks or service.environment:
            return "not known: the job has more than the volume"
        if service.health_check is None or service.health_check.test != ("NONE",):
            return "unhealthy container"
        return ""

    def works_s(self, task: FakeTask) -> float:
        """The job begins; returns for how long it works."""
        if not is_data_end(task.template):
            return self.drills.works_s(task)
        store = self.drills.backups.model.orchestrator.store
        self.running.add(task.id)
        working = [t for t in store.tasks.values() if t.has_container and t.id in self.running]
        self.at_once = max(self.at_once, len(working))
        return 0.2 if self.is_older else self.takes_s

    def exit_code(self, task: FakeTask) -> int:
        """The job's end, by the volume on its node."""
        if not is_data_end(task.template):
            return self.drills.exit_code(task)
        backups = self.drills.backups
        if self.is_older:
            backups.said[task.service_id] = (
                "[FATAL tini (7)] exec data-end failed: No such file or directory"
            )
            return WITHOUT_PROGRAM
        source = next(m.source for m in task.template.mounts if m.kind != "tmpfs")
        volume = backups.model.volumes.get((task.node_id, source), Volume())
        if volume.is_broken:
            why = f"its data directory is damaged ({volume.damage})"
            backups.said[task.service_id] = f"not known: {why}"
            return 1
        found = {
            "system": str(volume.system or ""),
            "timeline": volume.timeline,
            "location": volume.location,
            "history": self.histories.get(source, ""),
        }
        backups.said[task.service_id] = json.dumps(found) if self.says is None else self.says
        return 0
