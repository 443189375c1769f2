"""A whole small swarm for tests: managers, nodes, members, files, and their faults."""

from __future__ import annotations

import asyncio
import dataclasses
import random
from collections.abc import Callable
from dataclasses import dataclass, field

import anyio

from queenright.core.kinds.ruleset import RULESET, Ruleset
from queenright.core.observed import LiveService
from queenright.core.planning.plan import Hold
from queenright.core.swarm.objects import APP_LABEL, HOST_NETWORK, Service
from queenright.engine.document_store import DocumentStore
from queenright.engine.lease import LeaseKeeper
from queenright.engine.loop import Loop
from queenright.ports import Ports
from queenright.settings import PollIntervals
from tests.fakes.base_backups import BaseBackups, is_backup_list, is_base_backup
from tests.fakes.copy_lines import copy_lines
from tests.fakes.data_damage import DataDamage
from tests.fakes.data_ends import DataEndJobs, is_data_end
from tests.fakes.drills import Drills, is_drill
from tests.fakes.fake_archiving import FakeArchiving, ModelledArchives
from tests.fakes.fake_catalogs import FakeCatalogs, ModelledServers
from tests.fakes.fake_database import NoDatabase
from tests.fakes.fake_patroni import FakePatroni
from tests.fakes.fake_readiness import FakeReadiness
from tests.fakes.fake_secrets import FakeSecrets
from tests.fakes.fake_swarm import FakeSwarm
from tests.fakes.fake_votes import FakeVotes
from tests.fakes.files import FakeAudit, FakeClock, FakeLastGood, FakeManifests
from tests.fakes.instances import Instance
from tests.fakes.leader_lock import may_race
from tests.fakes.listening import why_unreadable
from tests.fakes.loading import JudgedFiles
from tests.fakes.orchestrator import Orchestrator
from tests.fakes.patroni_model import PatroniModel
from tests.fakes.repositories import Repositories, is_repository, why_no_server
from tests.fakes.running_operator import Operator
from tests.fakes.swarm_store import Role, SwarmStore
from tests.fakes.virtual_loop import in_place
from tests.support.app_builders import EDGE_IMAGE
from tests.support.builders import DIGESTS, FILE, MANIFEST, PROXY_IMAGE, VIP_IMAGE

MEMBER_VARIABLES = frozenset({"NODE_NAME", "RAFT_SELF", "RAFT_PARTNERS", "FAILOVER_PRIORITY"})
TEMPO = PollIntervals(resync_s=15.0, file_poll_s=1.0, member_poll_s=2.0)


def name_of(reference: str) -> str:
    """Return an image's name and tag, without its registry."""
    return reference.rpartition("/")[2]


@dataclass
class World(DataDamage):
    """node1 is the manager, the others are workers. Made inside a running loop."""

    seed: int = 0
    nodes: int = 4
    size: int = 3
    """The number of members that a whole cluster has."""
    lan: str = "10.77.0"
    """The first parts of the nodes' addresses."""
    first_text: str = MANIFEST
    """The file as it was when the world began."""
    store: SwarmStore = field(init=False)
    orchestrator: Orchestrator = field(init=False)
    patroni_model: PatroniModel = field(init=False)
    swarm: FakeSwarm = field(init=False)
    patroni: FakePatroni = field(init=False)
    votes: FakeVotes = field(init=False)
    secrets: FakeSecrets = field(init=False)
    servers: ModelledServers = field(init=False)
    catalogs: FakeCatalogs = field(init=False)
    archives: ModelledArchives = field(init=False)
    base_backups: BaseBackups = field(init=False)
    drills: Drills = field(init=False)
    data_ends: DataEndJobs = field(init=False)
    archiving: FakeArchiving = field(init=False)
    readiness: FakeReadiness = field(init=False)
    manifests: FakeManifests = field(init=False)
    last_good: FakeLastGood = field(init=False)
    audit: FakeAudit = field(init=False)
    clock: FakeClock = field(default_factory=FakeClock)
    """The operator's own."""
    startable: frozenset[str] = frozenset(DIGESTS)
    """References of images that every node can pull."""
    owners: list[asyncio.Task[None]] = field(default_factory=list)
    """People who are at work until the world is calm."""
    when_calm: list[Callable[[], None]] = field(default_factory=list)
    """Called when the world is calm: the owners' last changes."""
    when_at_rest: list[Callable[[], None]] = field(default_factory=list)
    """Called when all is as the files say."""
    also_whole: list[Callable[[], bool]] = field(default_factory=list)
    """Further conditions for a whole world."""
    advised: list[Callable[[Hold], str]] = field(default_factory=list)
    """People's reaction to a hold that asks for something: "" for nothing."""
    standing: tuple[str, ...] = ()
    """Words of holds that they let stand."""
    rng: random.Random = field(init=False)
    log_rng: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.log_rng = random.Random(f"logs {self.seed}")
        self.store = SwarmStore(now=FakeClock().now)
        for number in range(1, self.nodes + 1):
            role: Role = "manager" if number == 1 else "worker"
            self.store.add_node(f"node{number}", f"{self.lan}.{10 + number}", role)
        self.orchestrator = Orchestrator(self.store, self.rng)
        self.orchestrator.why_not_start = self.why_not_start
        self.patroni_model = PatroniModel(self.orchestrator, random.Random(f"members {self.seed}"))
        self.patroni_model.start()
        self.swarm = FakeSwarm(self.store, self.rng, images=dict(DIGESTS))
        self.patroni = FakePatroni(self.patroni_model, self.rng)
        self.votes = FakeVotes(self.patroni)
        self.secrets = FakeSecrets(self.store)
        self.servers = ModelledServers(self.patroni_model)
        self.catalogs = FakeCatalogs(self.servers.find)
        repositories = Repositories(self.store)
        self.archives = ModelledArchives(self.servers, lambda: self.now_s, repositories)
        self.base_backups = BaseBackups(
            self.patroni_model,
            self.archives,
            lambda: self.now_s,
            random.Random(f"base backups {self.seed}"),
        )
        self.drills = Drills(self.base_backups)
        self.data_ends = DataEndJobs(self.drills)
        self.orchestrator.works_s = self.data_ends.works_s
        self.orchestrator.exit_code = self.data_ends.exit_code
        self.swarm.job_output = self.said_by
        self.swarm.gives_logs = self.reach.gives_logs
        self.archiving = FakeArchiving(self.archives.find, lambda: self.now_s)
        self.readiness = FakeReadiness(self.store, self.has_leader)
        self.manifests = FakeManifests({FILE: self.first_text})
        self.last_good = FakeLastGood()
        self.audit = FakeAudit()

    def said_by(self, live: LiveService) -> str:
        """Return the last lines of a job, or of a member that copies another's data."""
        for member in self.patroni_model.instances.values():
            if member.task.service_id == live.id:
                return copy_lines(member, self.patroni_model.clone_s, self.now_s)
        return self.base_backups.output(live)

    @property
    def ports(self) -> Ports:
        return Ports(
            swarm=self.swarm,
            patroni=self.patroni,
            patroni_watch=self.patroni,
            raft=self.votes,
            secrets=self.secrets,
            database=NoDatabase(),
            catalogs=self.catalogs,
            archiving=self.archiving,
            readiness=self.readiness,
            manifests=self.manifests,
            last_good=self.last_good,
            audit=self.audit,
            clock=self.clock,
        )

    def why_not_start(self, service: Service) -> str:
        """Return the refusal of the images' entry points (spec: database-cluster §7), or of a
        missing image."""
        reference = service.image.partition("@")[0]
        if reference not in self.startable:
            return f"No such image: {service.image}"
        if reference == EDGE_IMAGE:
            return "" if service.configs else "FATAL: no Caddyfile"
        if APP_LABEL in service.container_labels:
            is_job = service.mode.endswith("-job")
            needed = 1 if is_job else 2
            if is_job and (service.health_check is None or service.health_check.test != ("NONE",)):
                return "unhealthy container: the member image's own check asks for Patroni"
            return "" if len(service.secrets) >= needed else "a secret is missing"
        if is_drill(service):
            return self.drills.why_not_start(service)
        if is_data_end(service):
            return self.data_ends.why_not_start(service)
        if is_base_backup(service) or is_backup_list(service):
            return self.base_backups.why_not_start(service)
        return self._why_not_serve(service, reference)

    def _why_not_serve(self, service: Service, reference: str) -> str:
        """Return the refusal of the images of the cluster's own services."""
        if is_repository(service):
            return why_no_server(service)
        if not service.configs:
            return "no configuration file"
        if name_of(reference) == name_of(PROXY_IMAGE):
            return ""
        if reference == VIP_IMAGE:
            networks = [item.network for item in service.networks]
            ready = networks == [HOST_NETWORK] and "NODE_NAME" in service.environment
            ready &= bool(service.secrets) or not self._has_password(service)
            return "" if ready else "FATAL: node or secret is missing"
        missing = MEMBER_VARIABLES - {*service.environment}
        if missing or not service.secrets:
            return f"FATAL: {sorted(missing)} or a secret is missing"
        if unreadable := why_unreadable(self.store, service):
            return unreadable
        return "" if any("pgdata" in mount.target for mount in service.mounts) else "no data"

    def _has_password(self, service: Service) -> bool:
        """True if keepalived's configuration asks for VRRP's password (images/vip)."""
        names = {item.name for item in service.configs}
        texts = [c.value.data for c in self.store.configs.values() if c.value.name in names]
        return any(b"auth_type PASS" in text for text in texts)

    def has_leader(self) -> bool:
        """Return True if a client finds a writable database."""
        return any(instance.is_primary for instance in self.patroni_model.instances.values())

    @property
    def last_good_text(self) -> str:
        """The text in force, as the operator keeps it."""
        kept = self.last_good.saved
        return kept.get(FILE, next(iter(kept.values()), self.first_text))

    @property
    def changes(self) -> int:
        """Return the number of operators' writes and requests that have reached the world."""
        return len(self.swarm.writes) + len(self.patroni.verbs)

    @property
    def now_s(self) -> float:
        return asyncio.get_running_loop().time()

    # The operator

    def start_operator(
        self,
        ruleset: Ruleset = RULESET,
        tempo: PollIntervals = TEMPO,
        *,
        ports: Ports | None = None,
        lease: LeaseKeeper | None = None,
        settled: Callable[[], None] = lambda: None,
    ) -> Operator:
        ports = ports or self.ports
        desired = DocumentStore(ports, in_place, JudgedFiles().load)
        loop = Loop(ports, desired, tempo, ruleset, lease=lease, settled=settled)
        return Operator(loop, asyncio.get_running_loop().create_task(loop.run()))

    # A person's hand

    def accept_loss(self) -> str:
        """A person lets the best of the members lead where one is missing, and the others may not
        be promoted: what the former leader had beyond it is lost."""
        model = self.patroni_model
        agreed = model.consensus("main")
        members = list(model.of_cluster("main"))
        able = [i for i in members if i.name in agreed.raft.able and may_race(i, agreed)]
        if not able or agreed.paused or self.leader() is not None:
            return ""
        best = max(able, key=lambda i: (i.volume.timeline, i.volume.location))
        newest_is_lost = best.volume.timeline < agreed.recorded_timeline
        if len(able) == len(members) and not newest_is_lost:
            return ""  # the operator compares them itself
        model.switch_over("main", best.name)
        return f"patronictl failover to {best.name}, which loses rows"

    def service(self, name: str) -> LiveService:
        live = self.store.service_named(name)
        assert live is not None, f"there is no service {name}"
        return live

    def change_service(self, name: str, **fields: object) -> Service:
        """Change a service as ``docker service update`` does."""
        live = self.service(name)
        changed = dataclasses.replace(live.value, **fields)  # type: ignore[arg-type]
        self.store.update_service(live.id, live.version, changed, live.force_update)
        return changed

    def label(self, node: str, **labels: str | None) -> None:
        live = self.store.node_named(node)
        named = {key.replace("_", "-"): value for key, value in labels.items()}
        self.store.label_node(live.id, live.version, named)

    # What is true

    def leader(self) -> Instance | None:
        return self.patroni_model.leader("main")

    def is_main_whole(self) -> bool:
        """Return True for one leader, all other members of the file streaming, and a proxy on each
        of their nodes."""
        members = list(self.patroni_model.of_cluster("main"))
        well = [member for member in members if self.patroni_model.is_well(member)]
        proxies = self.containers("main_proxy")
        return self.leader() is not None and len(well) == len(proxies) == self.size

    def is_whole(self) -> bool:
        """The cluster, and what else is asked for: an application, a neighbour."""
        return self.is_main_whole() and all(also() for also in self.also_whole)

    async def until_whole(
        self, limit_s: float = 300.0, is_whole: Callable[[], bool] | None = None
    ) -> float:
        """Seconds until all is whole, or what is given; TimeoutError after the limit."""
        began, is_whole = self.now_s, is_whole or self.is_whole
        for _ in range(round(limit_s * 2)):
            if is_whole():
                return self.now_s - began
            await anyio.sleep(0.5)
        raise TimeoutError(f"not whole after {limit_s} s")
