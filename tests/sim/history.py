"""Run one random history from its script to its end, and check that end."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import anyio

from queenright.core.kinds.postgres_cluster.patroni.config_keys import ROUTE_KEY
from queenright.core.kinds.ruleset import RULESET, Ruleset
from queenright.core.observed import Engine
from queenright.core.planning.plan import Plan
from queenright.engine.planning import observe_and_plan
from queenright.ports.errors import PortError
from queenright.settings import PollIntervals
from tests.fakes.fake_swarm import Faults
from tests.fakes.files import Ended, Refused
from tests.fakes.loading import judged
from tests.fakes.task_lives import PREPARING_S
from tests.fakes.verbs import VerbFaults
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.broken_passes import Heard, broken_passes
from tests.sim.documents import IMAGES, LASTING_TEXTS, UNSTARTABLE_IMAGE
from tests.sim.faults import MEMBERS, heal, power_on
from tests.sim.forecast_judge import judged_edit
from tests.sim.invariants import DATA_SECRETS, Invariants
from tests.sim.operator_processes import Operators
from tests.sim.raft_faults import has_damaged_raft
from tests.sim.script import EVENTS, Script, Step, make_script
from tests.sim.seeds import ends_with_a_forecast
from tests.sim.user_actions import activate, switch_over
from tests.support.builders import FILE, desired

SETTLES_S = 1500.0
"""Longer than the longest backoff, a node's return and a rolling change together."""
LEISURELY = PollIntervals(resync_s=20.0, file_poll_s=3.0, member_poll_s=5.0)
"""Polls seldom: a history is long, and latency is not what it asks about."""
PATIENCE_S = 500.0
"""The time for the operator before a person does what a hold asks for."""
LABEL_ADVICE = re.compile(r"docker node update --label-(add|rm) pg-node(?:=(\d))? (\w+)")
STRAYED = frozenset(f"update-service/{name}" for name in MEMBERS)
NOT_FOUGHT = "failback.mode is manual"
"""Words of the one hold that may stand in a world that is as desired."""


@dataclass
class Outcome:
    """``violations`` is empty when all went well; ``story`` is for the one who reads a failure."""

    script: Script
    violations: list[str]
    story: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        kept = [f"{step.number}:{step.event}" for step in self.script.steps]
        head = f"seed {self.script.seed}, steps {' '.join(kept)}"
        return "\n".join([head, *self.violations, "", *self.story])


def heard_by(judges: list[Invariants]) -> Heard:
    """Return a listener that tells the holds of each pass to the judges that there are by then."""

    def heard(holds: Mapping[str, str]) -> None:
        for judge in judges:
            judge.heard(holds)

    return heard


def run(
    script: Script, ruleset: Ruleset = RULESET, tamper: Callable[[World], None] | None = None
) -> Outcome:
    """A history on a virtual clock of its own; ``tamper`` may put other ports in its world."""
    holds: list[Invariants] = []
    with broken_passes(heard_by(holds)) as broken:
        outcome = run_virtual(lambda: live_through(script, ruleset, holds, tamper))
    outcome.violations += [f"a pass broke: {line}" for line in broken[:3]]
    return outcome


async def live_through(
    script: Script,
    ruleset: Ruleset = RULESET,
    listeners: list[Invariants] | None = None,
    tamper: Callable[[World], None] | None = None,
) -> Outcome:
    """A history: trouble, then calm; then the cluster is whole as the file says, or a hold says
    why not and what to do about it, and once that is done it is whole."""
    world = prepared_world(script.seed)
    if tamper is not None:
        tamper(world)
    invariants, log = Invariants(world), list[str]()
    if listeners is not None:
        listeners.append(invariants)
    operators = Operators(world, ruleset, LEISURELY)
    operators.start()
    if script.waits:  # not for a neighbour, whose own troubles have begun already
        await world.until_whole(is_whole=world.is_main_whole)
        await anyio.sleep(3)
    for step in script.steps:
        await anyio.sleep(step.delay_s)
        log.append(
            f"{world.now_s:7.1f} {step.number}: {await take(step, script, world, operators)}"
        )
    await operators.calm()
    calm(script, world)
    await settle(world, log, invariants, ruleset)
    is_usual = ruleset is RULESET and tamper is None and not invariants.violations
    # A node that the managers did not hear goes on with files that it can't read at its next start.
    if is_usual and not has_damaged_raft(world) and ends_with_a_forecast(script.seed):
        await one_more_edit(script, world, log, invariants)
    await operators.kill()
    finish(world, invariants)
    return Outcome(script, invariants.violations, tell(log, world))


def prepared_world(seed: int) -> World:
    world = World(seed)
    world.startable = frozenset(IMAGES) - {UNSTARTABLE_IMAGE}
    world.swarm.images |= IMAGES
    return world


async def take(step: Step, script: Script, world: World, operators: Operators) -> str:
    rng = script.rng(step)
    if step.event not in EVENTS:
        return await operators.end(step.event, rng)
    try:
        return EVENTS[step.event](world, rng)
    except (PortError, AssertionError) as refused:
        return f"{step.event} was refused: {refused}"


def calm(script: Script, world: World) -> None:
    """Every fault ends, and a person repairs what is theirs; what was done by hand to the swarm
    stays done; the file is one that may stay."""
    rng = script.rng(Step(-1, 0.0, "calm"))
    agreed = world.patroni_model.consensus("main")
    for owner in world.owners:
        owner.cancel()
    world.swarm.faults, world.patroni.faults = Faults(), VerbFaults()
    world.patroni.deaf, world.patroni_model.other_wins = 0.0, 0.0
    world.patroni_model.slow.clear()
    world.patroni_model.writes_bytes = 100
    world.secrets.is_unavailable = False
    world.clock.skew_s = 0.0
    world.store.engine = Engine(world.store.engine.node_id)
    world.swarm.images |= IMAGES
    world.orchestrator.doomed.clear()
    world.orchestrator.preparing_s = PREPARING_S
    world.manifests.broken = False
    world.manifests.write(FILE, rng.choice(LASTING_TEXTS))
    for event in (heal, power_on, activate):
        event(world, rng)
    world.empty_data()
    world.reach.unlogged.clear()
    if agreed.foreign_pause:
        agreed.paused = False
    for last_word in world.when_calm:
        last_word()


async def one_more_edit(
    script: Script, world: World, log: list[str], invariants: Invariants
) -> None:
    """An edit once all is calm: what the operator then does is what was forecast."""
    text = script.rng(Step(-2, 0.0, "forecast")).choice(LASTING_TEXTS)
    log.append(f"{world.now_s:7.1f} one more edit, which is forecast")
    for wrong in await judged_edit(world, text, with_restarts=False):
        invariants.violated(f"the forecast of the last edit: {wrong}")


async def plan_now(world: World, ruleset: Ruleset) -> Plan:
    """Return the plan of an operator without memory, made now."""
    described = judged(world.manifests.files).documents
    found = await observe_and_plan(world.ports, described, ruleset=ruleset)
    plans = [view.plan for view in found.views]
    return replace(
        plans[0],
        actions=tuple(action for plan in plans for action in plan.actions),
        holds=tuple(hold for plan in plans for hold in plan.holds if not hold.is_informational),
    )


def is_as_desired(plan: Plan, standing: tuple[str, ...] = ()) -> bool:
    return not plan.actions and all(
        any(words in hold.reason for words in (NOT_FOUGHT, *standing)) for hold in plan.holds
    )


def hints(world: World) -> bool:
    """Return True if there is still a hint to the proxies, which the operator removes in time."""
    return bool(world.patroni_model.consensus("main").settings.get(ROUTE_KEY))


async def settle(world: World, log: list[str], invariants: Invariants, ruleset: Ruleset) -> None:
    """Wait for the end; where a hold asks a person for something, do it."""
    helped, began_s = 0, world.now_s
    while world.now_s < began_s + SETTLES_S:
        writes = world.changes
        await anyio.sleep(20)
        waits = world.now_s < began_s + PATIENCE_S
        if waits and (not world.is_whole() or world.changes != writes):
            continue
        plan = await plan_now(world, ruleset)
        if is_as_desired(plan, world.standing) and world.is_whole() and not hints(world):
            break
        if not waits and not plan.actions and helped < 4:
            helped += follow_advice(world, log, plan)
    else:
        plan = await plan_now(world, ruleset)
        invariants.violated(
            f"not settled: actions {[a.key for a in plan.actions]}, "
            f"holds {[(hold.key, hold.reason) for hold in plan.holds]}, whole {world.is_whole()}"
        )
        return
    writes = world.changes
    await anyio.sleep(40)
    if world.changes != writes:
        invariants.violated(f"not quiet: {world.swarm.writes[-3:]} {world.patroni.verbs[-3:]}")
    invariants.at_rest()
    for judge in world.when_at_rest:
        judge()


def follow_advice(world: World, log: list[str], plan: Plan) -> bool:
    """Do what an unresolved hold asks a person to do; False if none does."""
    if event := world.accept_loss():
        log.append(f"{world.now_s:7.1f} {event}")
        return True
    for hold in plan.holds:
        leader = world.leader()
        if event := next(filter(None, (owner(hold) for owner in world.advised)), ""):
            log.append(f"{world.now_s:7.1f} {event}")
            return True
        if hold.key.startswith("leader-restart/main") and leader is not None and world.is_whole():
            world.patroni_model.restart(leader, 1.5)
            log.append(f"{world.now_s:7.1f} as the hold asks: patronictl restart of {leader.name}")
            return True
        if hold.key in STRAYED and "constraints" in hold.reason:
            name = hold.key.removeprefix("update-service/")
            member = next(m for m in desired().members if m.service.name == name)
            world.change_service(name, constraints=member.service.constraints)
            log.append(f"{world.now_s:7.1f} {name} is put back in its place by hand")
            return True
        if advice := LABEL_ADVICE.search(hold.reason):
            _, value, node = advice.groups()
            world.label(node, pg_node=value)
            log.append(f"{world.now_s:7.1f} as the hold asks: pg-node={value} on {node}")
            return True
        if "docker service rm" in hold.reason:
            continue
        if "patronictl switchover" in hold.reason and world.is_whole():
            script = make_script(0, 0)
            log.append(
                f"{world.now_s:7.1f} as the hold asks: "
                f"{switch_over(world, script.rng(Step(len(log), 0.0, 'help')))}"
            )
            return True
    return False


def finish(world: World, invariants: Invariants) -> None:
    if world.patroni_model.wrong_password:
        invariants.violated(f"wrong passwords: {world.patroni_model.wrong_password}")
    for name in DATA_SECRETS:
        if world.swarm.created[f"secret/{name}"] != 1:
            invariants.violated(f"{name} was made {world.swarm.created[f'secret/{name}']} times")
    for text in world.patroni_model.lost:
        invariants.violated(text)
    for record in world.audit.records:
        if isinstance(record, Refused):
            invariants.violated(f"a guard had to refuse a rule's plan: {record.refusal}")


def tell(log: list[str], world: World) -> list[str]:
    actions_only = [
        f"{write.at_s:7.1f}     operator: {write.kind}/{write.name}" for write in world.swarm.writes
    ]
    actions_only += [f"{at_s:7.1f}     operator: {what}" for at_s, what in world.patroni.verbs]
    actions_only += [f"{at_s:7.1f}   {what}" for at_s, what in world.patroni_model.story]
    failed = [
        f"          {record.action.key}: {record.outcome}"
        for record in world.audit.records
        if isinstance(record, Ended) and type(record.outcome).__name__ != "Done"
    ]
    return sorted([*log, *actions_only], key=lambda line: float(line.split()[0])) + failed[-15:]
