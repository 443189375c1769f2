"""One random history from its seed to its end, and what is asked of that end."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

import anyio

from queenright.core.doctrine import DOCTRINE, Doctrine
from queenright.core.plan import Plan
from queenright.engine.survey import survey
from queenright.engine.world import Tempo
from tests.builders import FILE, desired, document
from tests.fakes.files import Ended, Refused
from tests.fakes.world import Operator, World
from tests.sim.chaos import Chaos
from tests.sim.invariants import Invariants

STEPS = 10
SETTLES_S = 1500.0
"""Longer than the longest backoff, a node's return and a rolling change together."""

LEISURELY = Tempo(resync_s=15.0, file_poll_s=3.0, member_poll_s=4.0)
"""Polls seldom: a history is long, and latency is not what it asks about."""
PATIENCE_S = 300.0
"""How long the operator is left alone before what a hold asks for is done."""
LABEL_ADVICE = re.compile(r"docker node update --label-(add|rm) pg-node(?:=(\d))? (\w+)")


@dataclass
class Outcome:
    """``violations`` is empty when all went well; ``story`` is for the one who reads a failure."""

    seed: int
    violations: list[str]
    story: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n".join([f"seed {self.seed}", *self.violations, "", *self.story])


async def live_through(seed: int, doctrine: Doctrine = DOCTRINE) -> Outcome:
    """A history: trouble, then calm; then the cluster is whole as the file says, or a hold says
    why not and what to do about it, and once that is done it is whole."""
    world, rng = World(seed), random.Random(f"history {seed}")
    invariants, chaos = Invariants(world), Chaos(world, rng)
    operator = world.start_operator(doctrine, LEISURELY)
    if rng.random() < 0.8:
        await world.until_whole()
    for _ in range(STEPS):
        await anyio.sleep(rng.choice((0.01, 0.3, 2.0, 7.0, 20.0)))
        if rng.random() < 0.15:
            operator = await restart(operator, world, doctrine, rng)
        chaos.step()
    chaos.calm()
    await settle(world, chaos, invariants, doctrine)
    await operator.kill()
    finish(world, invariants)
    return Outcome(seed, invariants.violations, tell(chaos, world))


async def restart(
    operator: Operator, world: World, doctrine: Doctrine, rng: random.Random
) -> Operator:
    await (operator.kill() if rng.random() < 0.7 else operator.stop())
    await anyio.sleep(rng.choice((0.0, 5.0)))
    return world.start_operator(doctrine, LEISURELY)


async def plan_now(world: World, doctrine: Doctrine) -> Plan:
    """What an operator without memory would do now."""
    found = await survey(world.ports, [document(world.manifests.files[FILE])], doctrine=doctrine)
    return found.clusters[0].plan


async def settle(world: World, chaos: Chaos, invariants: Invariants, doctrine: Doctrine) -> None:
    """Wait for the end; where the leader alone is held, move it, as the hold asks."""
    helped = 0
    until = world.now_s + SETTLES_S
    plan = await plan_now(world, doctrine)
    while world.now_s < until:
        await anyio.sleep(10)
        if not world.is_whole() and world.now_s < until - SETTLES_S + PATIENCE_S:
            continue
        plan = await plan_now(world, doctrine)
        if plan.is_converged and world.is_whole():
            break
        if not plan.actions and helped < 4 and world.now_s > until - SETTLES_S + PATIENCE_S:
            helped += follow_advice(world, chaos, plan)
    else:
        invariants.violated(
            f"not settled: actions {[a.key for a in plan.actions]}, "
            f"holds {[(hold.key, hold.reason) for hold in plan.holds]}, whole {world.is_whole()}"
        )
        return
    writes = len(world.swarm.writes)
    await anyio.sleep(40)
    if len(world.swarm.writes) != writes:
        invariants.violated(f"not quiet: {world.swarm.writes[writes:]}")


def follow_advice(world: World, chaos: Chaos, plan: Plan) -> bool:
    """Do what a hold that stands tells a person to do; False where none does."""
    for hold in plan.holds:
        if "move the leader to another member" in hold.reason and world.is_whole():
            chaos.log.append(f"{world.now_s:7.1f} as the hold asks: {chaos.switch_over()}")
            return True
        if hold.key == "settings/main":
            agreed = world.patroni_model.consensus("main")
            agreed.settings = dict(desired(world.manifests.files[FILE]).settings)
            chaos.log.append(f"{world.now_s:7.1f} as the hold asks: patronictl edit-config")
            return True
        if found := LABEL_ADVICE.search(hold.reason):
            world.label(found[3], pg_node=found[2])
            chaos.log.append(f"{world.now_s:7.1f} as the hold asks: {found[0]}")
            return True
    return False


def finish(world: World, invariants: Invariants) -> None:
    if world.patroni_model.wrong_password:
        invariants.violated(f"wrong passwords: {world.patroni_model.wrong_password}")
    for name in ("pg_replication_pw", "pg_superuser_pw", "pg_rest_pw"):
        if world.swarm.created[f"secret/{name}"] != 1:
            invariants.violated(f"{name} was made {world.swarm.created[f'secret/{name}']} times")
    for record in world.audit.records:
        if isinstance(record, Refused):
            invariants.violated(f"a guard had to refuse a rule's plan: {record.refusal}")


def tell(chaos: Chaos, world: World) -> list[str]:
    deeds = [
        f"  {write.at_s:7.1f} operator: {write.kind}/{write.name}" for write in world.swarm.writes
    ]
    failed = [
        f"          {record.action.key}: {record.outcome}"
        for record in world.audit.records
        if isinstance(record, Ended) and type(record.outcome).__name__ != "Done"
    ]
    return sorted([*chaos.log, *deeds], key=lambda line: float(line.split()[0])) + failed[-15:]
