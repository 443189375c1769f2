"""One running member container: its Patroni, and the PostgreSQL in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from tests.fakes import server_parameters
from tests.fakes.listening import Listening
from tests.fakes.raft_lists import RaftNode
from tests.fakes.sync_key import NO_KEY, NO_NAMES, Names, SyncKey
from tests.fakes.tasks import FakeTask
from tests.fakes.volumes import Volume

STARTS_S = 1.5
CRASHES_S = 2.0
RUNNING = "running"
STARTING = "starting"
STOPPED = "stopped"
FAILED = "start failed"
CREATING = "creating replica"
INITIALIZING = "initializing new cluster"


@dataclass
class Instance:
    """``is_primary`` is whether PostgreSQL takes writes, whoever holds the lock;
    ``answers_primary`` whether ``/primary`` says 200; ``settings`` is this member's own copy."""

    name: str
    service: str
    address: str
    task: FakeTask
    volume: Volume
    partners: int
    priority: int
    cluster: str
    listening: Listening
    """Its ports and passwords, as its container was started."""
    partner_addresses: frozenset[str] = frozenset()
    state: str = STOPPED
    is_primary: bool = False
    answers_primary: bool = False
    has_joined: bool = False
    """True once Raft has let it in: until then Patroni waits, and its REST API does not listen."""
    has_entered: bool = False
    """True once the entry point is done with Raft's files, and has become Patroni."""
    entered_s: float = 0.0
    waits: bool = False
    """True while the entry point answers in Patroni's place, because the Raft log is lost."""
    spared_s: float = 0.0
    """The last tick at which the other nodes could not spare the log of one that waits."""
    has_followed: bool = False
    """True once its Patroni has led, or streamed from a leader, since it started."""
    races_since_s: float = 0.0
    """The time at which its Patroni would have led for the first time; 0 before that."""
    finding: str = ""
    """The cause that the entry point has found, and that Patroni shows as a tag."""
    applied: int = 1
    """The last entry that its Raft node has applied."""
    follows_s: float | None = None
    is_streaming: bool = False
    ready_at_s: float = 0.0
    goal: Literal["primary", "replica"] = "replica"
    vote: RaftNode | None = None
    """Its Raft node, once it runs."""
    raft_has_ended: bool = False
    """True once the thread of its Raft node has ended beside a Patroni that goes on."""
    settings: dict[str, Any] = field(default_factory=dict)
    running: dict[str, str] = field(default_factory=dict)
    """The parameters with which PostgreSQL was started, of those that take a restart."""
    confirmed_by: Names = NO_NAMES
    """The replicas for which its commits wait while it is a primary."""
    sync: SyncKey = NO_KEY
    """Its own copy of the cluster's key."""
    lost_s: float | None = None
    """The time since which it has had no quorum."""
    patience_s: float = 0.0
    grace_s: float = 0.0
    is_slow: bool = False
    _compared: tuple[dict[str, str], dict[str, Any], dict[str, tuple[str, str]]] = field(
        default=({}, {}, {}), init=False, repr=False, compare=False
    )

    @property
    def node_id(self) -> str:
        return self.task.node_id

    @property
    def raft_address(self) -> str:
        """The address by which the other Raft nodes know it."""
        return f"{self.address}:{self.listening.raft}"

    @property
    def is_paused(self) -> bool:
        """True if this member knows that Patroni is paused."""
        return bool(self.settings.get("pause"))

    @property
    def is_hopeless(self) -> bool:
        """True if it would release the lock that it holds."""
        stays_down = self.state == STOPPED and self.is_paused
        return self.state == FAILED or stays_down or self.volume.is_empty

    @property
    def pending(self) -> dict[str, tuple[str, str]]:
        """The parameters that wait for a restart; computed again when other settings are taken
        over, which are never changed in place, or PostgreSQL is started."""
        if self._compared[0] is not self.running or self._compared[1] is not self.settings:
            found = server_parameters.pending(self.running, self.settings)
            self._compared = (self.running, self.settings, found)
        return self._compared[2]

    def start(self, goal: Literal["primary", "replica"], ready_at_s: float) -> None:
        """PostgreSQL starts, with the parameters as they are now."""
        self.state, self.goal, self.ready_at_s = STARTING, goal, ready_at_s
        self.is_primary = self.answers_primary = self.is_streaming = False
        self.follows_s = None

    def took_over(self) -> None:
        """PostgreSQL is promoted."""
        if self.state != RUNNING or not self.running:
            self.goal = "primary"
            self.started()
        self.goal, self.is_primary, self.is_streaming = "primary", True, False
        self.answers_primary = self.volume.was_primary = True
        self.volume.control = server_parameters.control_of(self.running)

    def started(self) -> None:
        """PostgreSQL is up."""
        self.state = RUNNING
        self.is_primary = self.volume.was_primary = self.goal == "primary"
        self.running = server_parameters.started_with(
            self.settings, self.volume.control, as_primary=self.is_primary
        )
        if self.is_primary:
            self.volume.control = server_parameters.control_of(self.running)

    def stop(self) -> None:
        self.state = STOPPED
        self.is_primary = self.answers_primary = self.is_streaming = False
        self.follows_s = None
