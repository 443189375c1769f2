"""One field edited on a converged cluster, waited for, and taken back.

The contract with the file's owner: an edit is carried out, or a hold says why not in words that
name the field; meanwhile clients keep a leader; and the former text converges again.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import anyio

from queenright.core.kinds.ruleset import RULESET
from queenright.core.planning.plan import Hold
from queenright.core.swarm.objects import Secret
from queenright.engine.planning import observe_and_plan
from tests.fakes.loading import judged
from tests.fakes.replicas import Replicas
from tests.fakes.stage import StandingStill
from tests.fakes.world import World
from tests.sim.broken_passes import broken_passes
from tests.sim.documents import IMAGES, UNSTARTABLE_IMAGE
from tests.sim.history import LEISURELY
from tests.sim.invariants import Invariants
from tests.sim.operator_processes import Operators
from tests.sim.remembered_judge import found_so_far
from tests.sim.schema_edits import ITEMS, POOL, Edit, SchemaField, draw_edit
from tests.support.app_builders import APP_DIGESTS, APP_FILE, EDGE_DIGEST, EDGE_IMAGE, app_manifest
from tests.support.builders import BACKUP, BACKUP_ON_VOLUME, FILE, VIP, manifest

PLAIN = manifest()
RICH = manifest(
    vip=VIP,
    roles="[{name: report, login: false}, {name: app, passwordSecret: app_pw}]",
    databases="[{name: app, owner: app, extensions: [vector]}]",
    maintenance="{nodes: []}",
    primary="member-1",
)
UNTIL = "2026-01-01T00:02Z"
APP_PLAIN = app_manifest()
APP_RICH = app_manifest(
    edge=f"{{image: {EDGE_IMAGE}, nodes: [node1, node2], tls: internal}}",
    placement="{nodes: [node2, node3], label: web}",
    upgrade="{dump: {mode: required, timeout: 60s}}",
)
EDGE = f"image: {EDGE_IMAGE}, nodes: [node1, node2]"
CERTIFICATE = "{mode: certificate, certificate: tls_certificate, key: tls_key}"
ACME = "{mode: acme, email: ops@example.org, directory: https://acme.example.org/d}"
BEHIND_PROXY = app_manifest(
    behindProxy="true", addressHeader="X-Forwarded-For", protocolHeader="X-Forwarded-Proto"
)
PARENT = "{from: {backup: {repository: {bucket: backups, credentials: main_backup}, cluster: old}}}"
OIDC = "{issuer: https://sso.example.org, clientId: notes, clientSecret: oidc_secret}"
DRILLED = BACKUP[:-1] + ", schedule: '*/5 * * * *', drill: {node: node4, schedule: '*/7 * * * *'}}"
TEXTS = {"PostgresCluster": (FILE, PLAIN, RICH), "NotesApp": (APP_FILE, APP_PLAIN, APP_RICH)}
"""The file of each kind, and two texts to begin with."""
APP_IMAGES = {**APP_DIGESTS, EDGE_IMAGE: EDGE_DIGEST}
BESIDE: Mapping[tuple[str, str], str] = {
    ("PostgresCluster", "vip"): RICH,
    ("PostgresCluster", "backup"): manifest(backup=BACKUP),
    ("PostgresCluster", "volume"): manifest(backup=BACKUP_ON_VOLUME),
    ("PostgresCluster", "bootstrap"): manifest(bootstrap=PARENT),
    ("PostgresCluster", "from"): manifest(backup=BACKUP[:-1] + ", schedule: '*/5 * * * *'}"),
    ("PostgresCluster", "schedule"): manifest(backup=DRILLED),
    ("PostgresCluster", "memory"): manifest(backup=DRILLED),
    ("PostgresCluster", "count"): manifest(
        backup=BACKUP[:-1] + ", schedule: '*/5 * * * *', retention: {days: 7}}"
    ),
    ("PostgresCluster", "days"): manifest(
        backup=BACKUP[:-1] + ", schedule: '*/5 * * * *', retention: {count: 7}}"
    ),
    ("PostgresCluster", "roles"): RICH,
    ("PostgresCluster", "databases"): RICH,
    ("PostgresCluster", "acceptLoss"): manifest(acceptLoss="{leader: member-1, timeline: 1}"),
    ("PostgresCluster", "replaceAfter"): manifest(replaceAfter="30m", spareNodes="[node5]"),
    ("PostgresCluster", "spareNodes"): manifest(replaceAfter="30m", spareNodes="[node5]"),
    ("PostgresCluster", "until"): manifest(
        maintenance=f"{{nodes: [node3], until: {UNTIL}}}",
        reconcile=f"{{state: paused, until: {UNTIL}}}",
        promotion=f"{{state: paused, until: {UNTIL}}}",
    ),
    ("PostgresCluster", "encoding"): RICH.replace(
        "owner: app,", "owner: app, template: template0,"
    ),
    ("PostgresCluster", "locale"): RICH.replace("owner: app,", "owner: app, template: template0,"),
    ("NotesApp", "until"): app_manifest(reconcile=f"{{state: paused, until: {UNTIL}}}"),
    ("NotesApp", "edge"): APP_RICH,
    ("NotesApp", "placement"): APP_RICH,
    ("NotesApp", "oidc"): app_manifest(oidc=OIDC),
    ("NotesApp", "adminGroup"): app_manifest(oidc=OIDC.replace("}", ", groupsClaim: groups}")),
    ("NotesApp", "urlSecret"): app_manifest(upgrade="{dump: none}").replace(
        "{cluster: main}", "{urlSecret: notes_url}"
    ),
    ("NotesApp", "protocolHeader"): BEHIND_PROXY,
    ("NotesApp", "hostHeader"): BEHIND_PROXY,
    ("NotesApp", "addressHeader"): BEHIND_PROXY,
    ("NotesApp", "xffDepth"): BEHIND_PROXY,
    ("NotesApp", "certificate"): app_manifest(edge=f"{{{EDGE}, tls: {CERTIFICATE}}}"),
    ("NotesApp", "key"): app_manifest(edge=f"{{{EDGE}, tls: {CERTIFICATE}}}"),
    ("NotesApp", "email"): app_manifest(edge=f"{{{EDGE}, tls: {ACME}}}"),
    ("NotesApp", "directory"): app_manifest(edge=f"{{{EDGE}, tls: {ACME}}}"),
    ("NotesApp", "directoryRoot"): app_manifest(edge=f"{{{EDGE}, tls: {ACME}}}"),
}
"""Texts in which a field has what it needs beside it, by the last or the first part of its path."""
GIVEN = ("clientSecret", "certificate", "key", "urlSecret", "credentials", "ca")
OWNERS_SECRETS = tuple(name for key in GIVEN for name in POOL[key])
"""Secrets that an owner has made."""
LOSES_DATA = "remove the member volumes"
"""Words that no hold may have as an answer to an edit."""
PATIENCE_S = 500.0
NAME = ("metadata", "name")
CARRIED_OUT = "carried out"
LEADERLESS_S = 60.0
"""Longer than the lock's life and a restart: nobody's plan may cost clients more."""
TRIES = 60


@dataclass
class Outcome:
    """``violations`` is empty when all went well."""

    edit: str
    end: str = ""
    violations: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n".join([self.edit, f"ended {self.end}", *self.violations])


def draw_valid(kind: str, one: SchemaField, rng: random.Random) -> tuple[str, Edit] | None:
    """A text and a valid edit of it; None if ``TRIES`` draws give none."""
    file, *texts = TEXTS[kind]
    for _ in range(TRIES):
        named = (*(["volume"] if "volume" in one.path else []), one.path[-1], one.path[1])
        beside = next((BESIDE[kind, name] for name in named if (kind, name) in BESIDE), None)
        text = beside or rng.choice(texts)
        edit = draw_edit(file, text, one, rng)
        if not edit.problems:
            return text, edit
    return None


@dataclass
class Scene:
    """A cluster, and for an application's file this too, that is as the text says."""

    world: World
    text: str
    invariants: Invariants
    operators: Operators
    violations: list[str] = field(default_factory=list)


@cache
def converged(file: str, text: str, seed: int, *, moves: bool) -> StandingStill[Scene]:
    """Return the scene from which all edits of this text go on, each by itself.

    ``moves`` is True for edits that may have members removed.
    """
    with broken_passes() as broken:
        scene = StandingStill(lambda: _converge(file, text, seed, moves=moves))
    assert not broken, broken[0]
    return scene


async def _converge(file: str, text: str, seed: int, *, moves: bool) -> Scene:
    world = World(seed)
    world.startable = frozenset(IMAGES) - {UNSTARTABLE_IMAGE}
    world.swarm.images |= IMAGES
    world.manifests.files[file] = text
    if file == APP_FILE:
        world.startable |= APP_IMAGES.keys()
        world.swarm.images |= APP_IMAGES
        Replicas(world, random.Random(seed))
    for name in OWNERS_SECRETS:
        world.store.create_secret(Secret(name))
    invariants = Invariants(world, removal_is_wanted=moves)
    scene = Scene(world, text, invariants, Operators(world, RULESET, LEISURELY))
    scene.operators.start()
    await world.until_whole()
    began = await _wait(world, None, scene.violations)
    if began != CARRIED_OUT:
        scene.violations.append(f"the first text is not carried out: {began}")
    return scene


def live_through(text: str, edit: Edit, seed: int) -> Outcome:
    """Edit the field on the converged cluster, and take it back if it is not carried out."""
    # A line of `members` that changes has its member removed and added (``topology_judge``).
    moves = edit.field.path[:2] == ("spec", "members")
    return converged(edit.file, text, seed, moves=moves).go_on(lambda scene: _edit(scene, edit))


async def _edit(scene: Scene, edit: Edit) -> Outcome:
    world, outcome = scene.world, Outcome(str(edit), violations=[*scene.violations])
    with broken_passes() as broken:
        world.manifests.write(edit.file, edit.text)
        outcome.end = await _wait(world, edit, outcome.violations)
        if outcome.end != CARRIED_OUT:
            world.manifests.write(edit.file, scene.text)
            back = await _wait(world, edit, outcome.violations, may_hold=False)
            if back != CARRIED_OUT:
                outcome.violations.append(f"the former text is not converged again: {back}")
        await scene.operators.kill()
    outcome.violations += [*scene.invariants.violations, *found_so_far()]
    outcome.violations += [f"a pass broke: {line}" for line in broken[:3]]
    return outcome


async def _wait(
    world: World, edit: Edit | None, violations: list[str], *, may_hold: bool = True
) -> str:
    """Wait until the text is carried out or, if an edit ``may_hold``, only a hold is left that
    names its field; return the result."""
    may_hold = may_hold and edit is not None
    began_s, led_s, end = world.now_s, world.now_s, ""
    while world.now_s < began_s + PATIENCE_S:
        writes = world.changes
        for _ in range(20):
            await anyio.sleep(1)
            if world.has_leader():
                led_s = world.now_s
            elif world.now_s - led_s > LEADERLESS_S:
                violations.append(f"no leader since {led_s:.0f} s ({edit or 'first text'})")
                return "without a leader"
        holds, acts = await holds_now(world)
        standing = [hold for hold in holds if not stays(hold, edit)]
        violations += [
            f"advice that loses data: {hold.reason}"
            for hold in standing
            if LOSES_DATA in hold.reason
        ]
        if world.changes != writes or acts:
            end = f"at work: {acts}"
            continue
        end = "; ".join(f"{hold.key}: {hold.reason}" for hold in standing)
        if not standing:
            return CARRIED_OUT
        if may_hold and edit is not None and any(names(hold, edit) for hold in standing):
            return f"held: {end}"
    if may_hold:
        violations.append(f"neither carried out nor held with the field's name: {end}")
    return end


def stays(hold: Hold, edit: Edit | None) -> bool:
    """True for news, and for what is kept of an object that the file called otherwise for once."""
    renames = edit is not None and edit.field.path == NAME
    return hold.is_informational or (renames and hold.key.startswith("retire/"))


def names(hold: Hold, edit: Edit) -> bool:
    """True if a hold names the field, its new value, or is the field's own."""
    parts = [part for part in edit.field.path[1:] if part != ITEMS]
    words = {".".join(parts), parts[-1], str(edit.value)}
    return any(word in hold.reason for word in words) or hold.key.startswith(f"{parts[0]}/")


async def holds_now(world: World) -> tuple[list[Hold], list[str]]:
    """Return the holds and actions of an operator without memory, made now."""
    found = await observe_and_plan(world.ports, judged(world.manifests.files).documents)
    holds = [hold for view in found.views for hold in view.plan.holds]
    return holds, [action.key for view in found.views for action in view.plan.actions]
