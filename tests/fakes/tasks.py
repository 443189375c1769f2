"""A swarm task as the orchestrator moves it; the port shows a copy of what swarm knows of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from queenright.core.observed import Task
from queenright.core.swarm.objects import Service
from tests.fakes.files import EPOCH

ENDED = frozenset({"complete", "failed", "shutdown", "rejected", "orphaned", "remove"})


@dataclass
class FakeTask:
    """``has_container`` is the truth on the node; ``state`` is what the managers last heard."""

    id: str
    service_id: str
    template: Service
    force_update: int
    slot: int = 0
    node_id: str = ""
    state: str = "new"
    desired: str = "running"
    at_s: float = 0.0
    error: str = ""
    exit_code: int | None = None
    has_container: bool = False
    up_since_s: float = 0.0
    waits_for: str = ""
    """Id of the task that has to end before this one may start (a stop-first update)."""
    replaces: str = ""
    """Id of the task that is stopped once this one runs (a start-first update)."""
    update: object = None
    """The update that made it; None for a task that no update made."""
    healthy_s: float | None = None
    """Since when its health check has succeeded; swarm calls it "starting" until then."""
    shown: tuple[tuple[object, ...], Task] | None = field(
        default=None, init=False, repr=False, compare=False
    )
    """The last `Task` that lists showed of it, and the state from which it was made."""

    @property
    def is_job(self) -> bool:
        return self.template.mode.endswith("-job")

    @property
    def goal(self) -> str:
        """Return the state that swarm wants for it once it may start."""
        return "complete" if self.is_job else "running"

    @property
    def wants_to_run(self) -> bool:
        return self.desired in {"running", "ready", "complete"} and self.state not in ENDED

    @property
    def told_desired(self) -> str:
        """Swarm wants a task that has ended by itself to be shut down, whether or not it starts
        another (swarmkit: restart.Supervisor)."""
        has_ended = self.state in ENDED and self.desired == "running"
        return "shutdown" if has_ended else self.desired

    def snapshot(self) -> Task:
        told = (self.node_id, self.state, self.told_desired, self.at_s, self.error, self.exit_code)
        if self.shown is None or self.shown[0] != told:
            self.shown = (told, self._snapshot())
        return self.shown[1]

    def _snapshot(self) -> Task:
        return Task(
            id=self.id,
            service_id=self.service_id,
            node_id=self.node_id,
            state=self.state,
            desired_state=self.told_desired,
            at=EPOCH + timedelta(seconds=self.at_s),
            error=self.error,
            exit_code=self.exit_code,
            slot=self.slot,
            image=self.template.image,
            addresses={
                item.network: f"10.0.9.{1 + sum(self.id.encode()) % 250}"
                for item in self.template.networks
                if self.node_id
            },
        )
