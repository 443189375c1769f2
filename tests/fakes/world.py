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
from queenright.engine.document_store import DesiredState
from queenright.engine.loop import Loop
from queenright.engine.world import Ports, Tempo
from tests.fakes.base_backups import BaseBackups, is_backup_list, is_base_backup
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
from tests.fakes.reachability import Reachability
from tests.fakes.swarm_store import Role, SwarmStore
from tests.fakes.tasks import FakeTask
from tests.fakes.virtual_loop import in_place
from tests.fakes.volumes import Damage, Volume
from tests.support.app_builders import EDGE_IMAGE
from tests.support.builders import DIGESTS, FILE, MANIFEST, PROXY_IMAGE, VIP_IMAGE

MEMBER_VARIABLES = frozenset({"NODE_NAME", "RAFT_SELF", "RAFT_PARTNERS", "FAILOVER_PRIORITY"})
DOWN_AFTER_S = 15.0
"""Three heartbeats of 5 s."""
BOOT_S = 1.3
DOCKERD_RESTART_S = 5.0
TEMPO = Tempo(resync_s=15.0, file_poll_s=1.0, member_poll_s=2.0)


@dataclass
class World:
    """node1 is the manager, the others are workers. Made inside a running loop."""

    seed: int = 0
    nodes: int = 4
    size: int = 3
    """The number of members that a whole cluster has."""
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

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.store = SwarmStore(now=FakeClock().now)
        for number in range(1, self.nodes + 1):
            role: Role = "manager" if number == 1 else "worker"
            self.store.add_node(f"node{number}", f"10.77.0.{10 + number}", role)
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
        self.archives = ModelledArchives(self.servers, lambda: self.now_s)
        self.base_backups = BaseBackups(
            self.patroni_model,
            self.archives,
            lambda: self.now_s,
            random.Random(f"base backups {self.seed}"),
        )
        self.orchestrator.works_s = self.base_backups.works_s
        self.orchestrator.exit_code = self.base_backups.exit_code
        self.swarm.job_output = self.base_backups.output
        self.archiving = FakeArchiving(self.archives.find, lambda: self.now_s)
        self.readiness = FakeReadiness(self.store, self.has_leader)
        self.manifests = FakeManifests({FILE: MANIFEST})
        self.last_good = FakeLastGood()
        self.audit = FakeAudit()

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
        if is_base_backup(service) or is_backup_list(service):
            return self.base_backups.why_not_start(service)
        if not service.configs:
            return "no configuration file"
        if reference == PROXY_IMAGE:
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
        return kept.get(FILE, next(iter(kept.values()), MANIFEST))

    @property
    def changes(self) -> int:
        """Return the number of operators' writes and requests that have reached the world."""
        return len(self.swarm.writes) + len(self.patroni.verbs)

    @property
    def now_s(self) -> float:
        return asyncio.get_running_loop().time()

    # The operator

    def start_operator(self, ruleset: Ruleset = RULESET, tempo: Tempo = TEMPO) -> Operator:
        ports = self.ports
        loop = Loop(ports, DesiredState(ports, in_place, JudgedFiles().load), tempo, ruleset)
        return Operator(loop, asyncio.get_running_loop().create_task(loop.run()))

    # Faults

    @property
    def reach(self) -> Reachability:
        return self.orchestrator.reach

    def power_cut(self, name: str) -> None:
        node = self.store.node_named(name)
        if node.id in self.reach.unpowered:
            return
        self.reach.unpowered.add(node.id)
        self.reach.frozen.discard(node.id)
        self.orchestrator.power_lost(node.id)
        for (node_id, _), volume in self.patroni_model.volumes.items():
            for files in volume.votes.values() if node_id == node.id else ():
                files.lose_unsynced()
        self._expect_down(node.id)

    def power_on(self, name: str, after_s: float = BOOT_S) -> None:
        node = self.store.node_named(name)
        if node.id in self.reach.unpowered:
            self.orchestrator.after(after_s, self._booted, node.id)

    def restart_dockerd(self, name: str) -> None:
        """Stop its containers, and the node for some seconds."""
        self.power_cut(name)
        self.power_on(name, DOCKERD_RESTART_S)

    def _booted(self, node_id: str) -> None:
        if node_id in self.reach.unpowered:
            self.reach.unpowered.discard(node_id)
            self._back(node_id)

    def partition(self, name: str) -> None:
        """The node hears nobody."""
        self._part(self.reach.unreachable, self.store.node_named(name).id)

    def freeze(self, name: str) -> None:
        """Stop everything on the node; nothing is lost."""
        node = self.store.node_named(name)
        if node.id not in self.reach.unpowered:
            self._part(self.reach.frozen, node.id)

    def _part(self, among: set[str], node_id: str) -> None:
        among.add(node_id)
        self._expect_down(node_id)

    def cut(self, one: str, other: str) -> None:
        """Two nodes don't hear each other, and everybody else hears both."""
        ids = [self.store.node_named(name).id for name in (one, other)]
        self.reach.cuts.add(frozenset(ids))
        for node_id in ids:
            self._expect_down(node_id)

    def heal(self, name: str) -> None:
        """Undo whatever parts the node from others."""
        node_id = self.store.node_named(name).id
        was_away = not self.reach.hears(node_id)
        self.reach.unreachable.discard(node_id)
        self.reach.frozen.discard(node_id)
        self.reach.cuts -= {cut for cut in self.reach.cuts if node_id in cut}
        if was_away:
            self._back(node_id)

    def _expect_down(self, node_id: str) -> None:
        self.orchestrator.after(DOWN_AFTER_S, self._missed_heartbeats, node_id)

    def _missed_heartbeats(self, node_id: str) -> None:
        if not self.orchestrator.hears(node_id) and self.store.nodes[node_id].state == "ready":
            self.store.set_node(node_id, state="down")

    def _back(self, node_id: str) -> None:
        if self.orchestrator.hears(node_id):
            if self.store.nodes[node_id].state != "ready":
                self.store.set_node(node_id, state="ready")
            self.orchestrator.came_back(node_id)

    def break_data(self, member: str) -> None:
        """The data directory of a member that does not lead is damaged."""
        leader = self.patroni_model.consensus("main").leader
        for instance in self.patroni_model.of_cluster("main"):
            if instance.service == member and not instance.volume.is_empty:
                instance.volume.is_broken = instance.name != leader

    def damage(self, member: str, kind: Damage) -> bool:
        """Damage the data of a member that does not lead, and kill its container; False where it
        leads or has none."""
        leader = self.patroni_model.consensus("main").leader
        for instance in list(self.patroni_model.of_cluster("main")):
            if instance.service == member and not instance.volume.is_empty:
                if instance.name == leader:
                    return False
                instance.volume.damage = kind
                instance.volume.is_broken = kind != "no-room"
                self.kill_container(member)
                return True
        return False

    def empty_data(self) -> None:
        """A person empties the damaged data directories, so that they are copied anew."""
        model = self.patroni_model
        for volume in model.volumes.values():
            if volume.damage == "no-room":
                volume.damage = ""  # a person makes room
        for key in [key for key, volume in model.volumes.items() if volume.is_broken]:
            broken, model.volumes[key] = model.volumes[key], Volume()
            for instance in model.instances.values():
                if instance.volume is broken:
                    instance.volume = model.volumes[key]
                    instance.stop()

    def lose_disk(self, member: str) -> None:
        """The volumes of a member that does not run are gone, as on a new disk."""
        volumes = self.patroni_model.volumes
        for key in [key for key in volumes if key[1].startswith(f"{member}-")]:
            del volumes[key]

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

    def kill_container(self, service: str, exit_code: int = 137) -> None:
        for task in self.containers(service):
            if self.orchestrator.hears(task.node_id):
                self.orchestrator.fail(task, exit_code)

    # A person's hand

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

    def containers(self, service: str) -> list[FakeTask]:
        live = self.store.service_named(service)
        return [
            task
            for task in self.store.tasks.values()
            if live and task.service_id == live.id and task.has_container
        ]

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


@dataclass
class Operator:
    """A running operator process."""

    loop: Loop
    task: asyncio.Task[None]

    async def kill(self) -> None:
        """SIGKILL: whatever it is at."""
        self.task.cancel()
        await asyncio.wait([self.task])

    async def stop(self) -> None:
        """SIGTERM: the step in hand is finished."""
        self.loop.stop()
        await asyncio.wait([self.task])
        self.task.result()
