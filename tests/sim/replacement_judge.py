"""Judges the replacements that the operator begins by itself, by the true state of the model.

Invariants: the file asks for them, the member's node has been down by swarm's word for all of the
time and no other member reaches it, nobody else is being replaced (but for one whose place is cut
already), all others are well, and nobody is on the spare node.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from queenright.core.kinds.postgres_cluster.topology.replaced import (
    REPLACED_LABEL,
    Replaced,
    decode_replaced,
)
from queenright.core.swarm.objects import Config
from tests.fakes.world import World
from tests.sim.invariants import SLACK_S
from tests.sim.topology_world import Deployed, lines_in, notes_of, places_of

LOOKS_EVERY_S = 1.0


@dataclass
class ReplacementJudge:
    """Attach to a world before the operator starts; ``violations`` says what went wrong."""

    world: World
    violations: list[str] = field(default_factory=list)
    down_since_s: dict[str, float] = field(default_factory=dict)
    down_before: dict[str, tuple[float, float]] = field(default_factory=dict)
    """From when until when a node was down that is not any more."""
    ready_s: dict[str, float] = field(default_factory=dict)
    able_since_s: dict[str, float] = field(default_factory=dict)
    """Since when each member's Raft node has been one of the quorum."""
    begun: list[Replaced] = field(default_factory=list)
    """All replacements that have begun."""

    def __post_init__(self) -> None:
        self.world.swarm.before_write.append(self.check)
        self._look_and_again()

    def _look_and_again(self) -> None:
        for node in self.world.store.nodes.values():
            if node.state == "down":
                self.down_since_s.setdefault(node.name, self.world.now_s)
            elif (since_s := self.down_since_s.pop(node.name, None)) is not None:
                self.down_before[node.name] = since_s, self.world.now_s
            if node.is_ready:
                self.ready_s[node.name] = self.world.now_s
        able = self.world.patroni_model.consensus("main").raft.able
        self.able_since_s = {n: self.able_since_s.get(n, self.world.now_s) for n in able}
        self.world.orchestrator.after(LOOKS_EVERY_S, self._look_and_again)

    def check(self, kind: str, what: object) -> Callable[[], None]:
        """Judges a write by the world before it; it counts only if swarm takes it."""
        is_note = (
            kind == "label-config" and isinstance(what, Config) and what.name == "main_cluster"
        )
        found = list(self.judge(what)) if is_note and isinstance(what, Config) else []
        fresh = [*self.fresh(what)] if is_note and isinstance(what, Config) else []

        def count() -> None:
            self.begun += fresh
            self.violations += [f"at {self.world.now_s:.1f} s: {text}" for text in found]

        return count

    def fresh(self, config: Config) -> Iterator[Replaced]:
        """Yield the notes that send a member to a node where it is not, and its line neither."""
        homes = {place.name: place.node for place in places_of(self.world)}
        known = notes_of(self.world)
        for note in decode_replaced(config.labels.get(REPLACED_LABEL, "")):
            if note not in known and note.node not in {homes.get(note.member), note.written}:
                yield note

    def judge(self, config: Config) -> Iterator[str]:
        text, homes = self.world.last_good_text, {p.name: p.node for p in places_of(self.world)}
        after = re.search(r"replaceAfter: (\d+)s", text)
        spares = re.search(r"spareNodes: \[([^]]*)\]", text)
        looked_at_s = self.world.swarm.observed_at_s - SLACK_S
        for note in self.fresh(config):
            name = note.member
            if after is None or spares is None or note.node not in spares[1].split(", "):
                yield f"{name} is sent to {note.node}, which the file does not ask for"
                continue
            # One whose place is cut waits for all others to be well, this one among them.
            others = (o for o in notes_of(self.world) if o.member != name and o.member in homes)
            if any(homes[o.member] != o.node for o in others):
                yield f"{name} is replaced while another one is"
            if self.ready_s.get(note.node, -1.0) < looked_at_s:
                yield f"{name} is sent to {note.node}, which is not ready"
            if note.node in {*homes.values(), *(node for node, _ in lines_in(text).values())}:
                yield f"{name} is sent to {note.node}, where another member is"
            if name in homes:
                yield from self.judge_death(name, homes[name], float(after[1]), looked_at_s)

    def judge_death(
        self, name: str, node: str, after_s: float, looked_at_s: float
    ) -> Iterator[str]:
        since_s = self.down_since_s.get(node, self.world.now_s)
        was_s, until_s = self.down_before.get(node, (0.0, 0.0))
        if until_s >= looked_at_s:  # a write that is slow rests on what was so when it began
            since_s = min(since_s, was_s)
        if self.world.now_s - since_s < after_s - LOOKS_EVERY_S:
            yield f"{name} is replaced, and {node} is not known to be down for {after_s:.0f} s"
        if self.able_since_s.get(name, self.world.now_s) < looked_at_s:
            yield f"{name} is replaced, and others reach its Raft node"
        for other in Deployed(self.world):
            service = f"main_{other}"
            if other != name and not self.world.patroni_model.was_well_since(service, looked_at_s):
                yield f"{name} is replaced while {other} is not well"
