"""Effects of a write of a service, from its values alone."""

from __future__ import annotations

from datetime import datetime

from queenright.core.observed import LiveService
from queenright.core.swarm.objects import (
    RAFT_RESET_VARIABLE,
    Service,
)
from tests.fakes.files import EPOCH
from tests.fakes.service_templates import template_of
from tests.fakes.tasks import FakeTask


def asks_to_forget(live: Service, service: Service) -> bool:
    """Return True if a write asks a member to set its Raft log aside."""
    asked = service.environment.get(RAFT_RESET_VARIABLE)
    return bool(asked) and asked != live.environment.get(RAFT_RESET_VARIABLE)


def begins_log(live: Service, service: Service) -> bool:
    """Return True if a write asks a member to begin a Raft log anew."""
    return asks_to_forget(live, service) and ":" in service.environment[RAFT_RESET_VARIABLE]


def surplus(tasks: list[FakeTask], service: Service) -> list[FakeTask]:
    """The containers that fewer replicas end."""
    many = service.mode == "replicated"
    return [task for task in tasks if many and task.slot > service.replicas]


def seconds(moment: datetime) -> float:
    """The virtual clock's reading at that moment."""
    return (moment - EPOCH).total_seconds()


def restarts(live: LiveService, service: Service, force: int) -> bool:
    return template_of(live.value) != template_of(service) or live.force_update != force
