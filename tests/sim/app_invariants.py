"""Invariants of an application, checked against the true state of the world alone.

An action is checked against the state at the start of its pass, as in ``invariants``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from queenright.core.kinds.notes_app.desired.dump_job import DUMP_ROLE
from queenright.core.kinds.postgres_cluster.databases.login_roles import is_login_of
from queenright.core.observed import LiveService
from queenright.core.swarm.objects import ROLE_LABEL, Service
from tests.fakes.replicas import Replicas
from tests.fakes.rollouts import UNDER_WAY, is_clean
from tests.fakes.service_templates import template_of
from tests.fakes.tasks import FakeTask
from tests.fakes.world import World
from tests.sim.app_documents import Wish, wish
from tests.sim.invariants import SLACK_S
from tests.sim.service_writes import seconds
from tests.support.app_builders import APP_FILE, KEY, WEB
from tests.support.builders import FILE

OWNER = "notes"
ANCHOR = "notes_application"
WAITED_S = 110.0
"""The least wait for a dump: its timeout and a minute, by clocks that may differ."""


@dataclass
class Dump:
    """A dump's job: what ran when it was made, what the file asked for, and how it ended."""

    before: str
    after: str
    made_s: float
    ended_s: float | None = None
    is_good: bool = False


@dataclass
class TakenBack:
    """An update that swarm took back: the template, the text in force then, and what people had
    written until then: an edit may be in force later, as while another file is not valid."""

    template: Service
    at_s: float
    asked: Wish
    writes: int
    texts: int


@dataclass
class AppInvariants:
    """Attached to a world before its operators start; ``violations`` says what went wrong."""

    world: World
    replicas: Replicas
    violations: list[str] = field(default_factory=list)
    dumps: dict[str, Dump] = field(default_factory=dict)
    """The dumps, by the job's id."""
    taken_back: list[TakenBack] = field(default_factory=list)
    images: list[tuple[float, str]] = field(default_factory=list)
    """The past specifications of the replicas' service, with their times."""
    present: Service | None = None
    writes: int = 0
    """The number of times that the application's owner has written its file."""
    seen: dict[str, int] = field(default_factory=dict)
    """The number of checked actions by kind, to prove that a run has checked some."""

    def __post_init__(self) -> None:
        self.world.store.listeners.append(self._note)
        self.world.orchestrator.ended_listeners.append(self._note_end)
        self.world.catalogs.before_alter.append(self.judge_role)

    def violated(self, text: str) -> None:
        self.violations.append(f"at {self.world.now_s:.1f} s: {text}")

    # What came to pass

    def _note(self, kind: str, name: str, what: str) -> None:
        live = self.world.store.service_named(name) if kind == "service" else None
        if kind == "secret" and what == "remove":
            self.violated(f"secret {name} is removed")
        if kind == "config" and name == ANCHOR and what == "remove":
            self.taken_back.clear()  # by hand: with it goes what the operator knew of them
        if live is None:
            return
        if live.value.labels.get(ROLE_LABEL) == DUMP_ROLE and what == "create":
            runs = self.world.store.service_named(WEB)
            before = runs.value.image if runs else ""
            self.dumps[live.id] = Dump(before, self.asked.image, self.world.now_s)
        if name != WEB:
            return
        if what == "rollback" and self.present is not None:
            template = template_of(self.present)
            texts = len(self.world.manifests.before)
            now_s = self.world.now_s
            self.taken_back.append(TakenBack(template, now_s, self.asked, self.writes, texts))
        if not self.images or self.images[-1][1] != live.value.image:
            self.images.append((self.world.now_s, live.value.image))
        self.present = live.value

    def _note_end(self, task: FakeTask, orderly: bool) -> None:
        if dump := self.dumps.get(task.service_id):
            dump.ended_s, dump.is_good = self.world.now_s, orderly

    @property
    def asked(self) -> Wish:
        """The text in force, as the operator keeps it."""
        return wish(
            self.world.last_good.saved.get(APP_FILE) or self.world.manifests.files[APP_FILE]
        )

    def is_asked_still(self, taken: TakenBack) -> bool:
        """Return True if the files have asked for the same replicas ever since: those of the
        cluster depend on the virtual address."""
        texts = [*self.world.manifests.before[taken.texts :], self.world.manifests.files.get(FILE)]
        ways_in = {"vip:" in (text or "") for text in texts}
        is_same_text = (taken.asked, taken.writes) == (self.asked, self.writes)
        return is_same_text and len(ways_in) == 1

    @property
    def looked_at_s(self) -> float:
        return self.world.swarm.observed_at_s - SLACK_S

    def count(self, what: str) -> None:
        self.seen[what] = self.seen.get(what, 0) + 1

    # Actions

    def judge(self, kind: str, what: object) -> Iterator[str]:
        """Judges a write by the world before it."""
        match kind, what:
            case "create-service", Service(name=name) if name == WEB:
                if OWNER not in self.world.servers.of("main").databases:
                    yield "replicas are made before their database"
            case "create-service", Service(labels=labels) if labels.get(ROLE_LABEL) == DUMP_ROLE:
                yield from self._second_dump()
            case "update-service", (str(), Service(name=name) as service, int()) if name == WEB:
                yield from self._update(service)
            case "adjust-service", (str(), Service(name=name)) if name == WEB:
                yield from self._interrupts("adjusted")
            case "remove-service", str(service_id):
                live = self.world.store.services.get(service_id)
                if live is not None and live.value.name == WEB:
                    yield "the replicas go"
            case _:
                pass

    def _second_dump(self) -> Iterator[str]:
        self.count("dump")
        for live in self.world.store.services.values():
            if live.value.labels.get(ROLE_LABEL) == DUMP_ROLE:
                yield f"a second dump is begun beside {live.value.name}"

    def _update(self, service: Service) -> Iterator[str]:
        live = self.world.store.service_named(WEB)
        if live is None or template_of(live.value) == template_of(service):
            return
        tasks = self.world.orchestrator.tasks_of(live)
        runs = any(task.has_container and task.healthy_s is not None for task in tasks)
        led_s = self.world.patroni_model.last_led_s.get("main", -1.0)
        if runs and led_s < self.looked_at_s:
            yield f"replicas are replaced, and nobody has led since {led_s:.1f} s"
        if not service.replicas:
            yield "no replica is wanted"
        if live.value.image != service.image:
            yield from self._undumped(live, service)
        if live.update_state == "updating":
            yield from self._interrupts("changed")
        for taken in self.taken_back:
            is_same = taken.template == template_of(service) and self.is_asked_still(taken)
            if is_same and taken.at_s < self.looked_at_s:
                yield f"what swarm took back at {taken.at_s:.1f} s is tried again"

    def _undumped(self, live: LiveService, service: Service) -> Iterator[str]:
        """A dump for this very step has to have ended well since the image was changed last; or at
        least to have ended, where that is all that the file asks for."""
        asked, since_s = self.asked, self.images[-1][0]
        after = service.image.partition("@")[0]
        if asked.image != after:
            if self.world.last_good.saved_at_s < self.world.swarm.observed_at_s:
                yield f"the image becomes {after}, and the file says {asked.image}"
            return
        self.count(f"image {asked.mode}")
        fitting = [
            dump
            for dump in self.dumps.values()
            if (dump.before, dump.after) == (live.value.image, after)
            and (dump.ended_s is None or dump.ended_s > since_s)
        ]
        if asked.mode == "required" and not any(dump.is_good for dump in fitting):
            yield f"the image becomes {after} without a dump"
        # One that never began, on a node that nobody reaches, say, was attempted all the same.
        over_s = self.looked_at_s - WAITED_S
        if asked.mode == "attempted" and not any(
            dump.ended_s is not None or dump.made_s <= over_s for dump in fitting
        ):
            yield f"the image becomes {after} before a dump was attempted"

    def _interrupts(self, how: str) -> Iterator[str]:
        """Swarm forgets what it would go back to when the service is written, and may end a replica
        whose successor is not healthy yet."""
        live = self.world.store.service_named(WEB)
        if live is None or live.update_state not in UNDER_WAY:
            return
        tasks = self.world.orchestrator.tasks_of(live)
        coming = [task for task in tasks if task.state == "starting" and is_clean(live, task)]
        if any(task.update and task.up_since_s < self.looked_at_s for task in coming):
            yield f"{WEB} is {how} while swarm updates it"

    def judge_role(self, name: str, fields: tuple[str, ...]) -> None:
        """Check that whoever uses a login has it until it is gone."""
        if not is_login_of(name, OWNER) or "no_password" not in fields:
            return
        self.count("retired")
        for task in self.replicas.using(name):
            if task.up_since_s < self.looked_at_s:
                self.violated(f"login {name} is retired, and replica {task.id} uses it")
        live = self.world.store.service_named(WEB)
        goes_back = live is not None and live.update_state == "updating"
        former = self.world.store.previous.get(live.id) if live is not None else None
        if live is None or seconds(live.updated_at) > self.looked_at_s:
            return
        if self.replicas.login_of(live.value)[0] == name:
            self.violated(f"login {name} is retired, and {WEB} uses it")
        if goes_back and former and self.replicas.login_of(former[0])[0] == name:
            self.violated(f"login {name} is retired, and swarm may go back to it")

    # The end

    def judge_end(self, asked: Wish) -> None:
        """Check the invariants of a world in its desired state."""
        live = self.world.store.service_named(WEB)
        if live is None:
            self.violations.append("at the end there are no replicas")
            return
        running = sum(
            task.has_container and task.state == "running" and is_clean(live, task)
            for task in self.world.orchestrator.tasks_of(live)
        )
        if running != live.value.replicas:
            self.violations.append(f"at the end {running} of {live.value.replicas} replicas run")
        if self.world.swarm.created[f"secret/{KEY}"] != 1:
            self.violations.append("the key was not made once")
        image = live.value.image.partition("@")[0]
        if image != asked.image and not asked.is_bad:
            self.violations.append(f"at the end {image} runs, and not {asked.image}")
        if asked.is_bad and (image == asked.image or not self.taken_back):
            self.violations.append(f"at the end {image} runs, which does not")
        login = self.replicas.login_of(live.value)[0]
        if login != asked.login and not asked.is_bad:
            self.violations.append(f"at the end {login} logs in, and not {asked.login}")
        if asked.is_bad:
            return  # what was taken back may have named another connection string
        roles = self.world.servers.of("main").roles.values()
        for role in roles:
            kept = {login, asked.login}
            if is_login_of(role.name, OWNER) and role.name not in kept and role.login:
                self.violations.append(f"at the end {role.name} may log in still")
