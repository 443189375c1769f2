"""The simulated world's Raft keeps the same lists of voters as the faithful model of its nodes.

Both live through the same starts, ends, removals and power cuts, one after the other, as long as a
majority is alive; each running node then lists the same voters in both.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from tests.fakes.raft_lists import Files, RaftNode
from tests.fakes.raft_model import RaftModel
from tests.fakes.raft_nodes import RaftNodes
from tests.fakes.reachability import Reachability

ADDRESSES = tuple(f"10.0.0.{n}:5010" for n in range(1, 6))
SYNC_TICKS = 20
SETTLE_TICKS = 100
STEPS = 8


@dataclass
class Both:
    """The two models, with one life."""

    seed: int
    nodes: RaftNodes = field(init=False)
    model: RaftModel = field(default_factory=RaftModel)
    reach: Reachability = field(default_factory=Reachability)
    running: dict[str, RaftNode] = field(default_factory=dict)
    disks: dict[str, Files] = field(default_factory=dict)
    now_s: float = 0.0

    def __post_init__(self) -> None:
        self.nodes = RaftNodes(self.seed, sync_ticks=SYNC_TICKS)

    def wait(self) -> None:
        self.nodes.tick(SETTLE_TICKS)
        for _ in range(SETTLE_TICKS // 10):
            self.now_s += 1.0
            self.model.look(list(self.running.values()), self.reach, self.now_s)

    def start(self, own: str, partners: tuple[str, ...]) -> None:
        self.nodes.start(own, partners)
        files = self.disks.setdefault(own, Files())
        self.running[own] = RaftNode(own, own, own, frozenset({*partners} - {own}), files)

    def end(self, own: str, *, with_power: bool) -> None:
        if with_power:
            self.nodes.cut_power(own)
            self.disks[own].lose_unsynced()
        else:
            self.nodes.kill(own)
        del self.running[own]

    def remove(self, voter: str) -> bool:
        """Ask the leader of each model: they need not have the same one. A voter that leads either
        stays."""
        leader = self.nodes.leader(*self.nodes.running)
        if voter in {leader, self.model.leader}:
            return False
        self.nodes.running[leader].asked_to_remove(voter)
        return self.model.request(self.model.leader, "rem", voter) is not False

    def lists(self) -> dict[str, tuple[set[str], set[str]]]:
        return {
            own: (set(self.nodes.running[own].voters), self.running[own].listed)
            for own in sorted(self.running)
        }


def live(seed: int) -> list[str]:
    rng, both = random.Random(seed), Both(seed)
    first = ADDRESSES[:3]
    for own in first:
        both.start(own, first)
    both.wait()
    story = []
    for _ in range(STEPS):
        listed = max((node.listed for node in both.running.values()), key=len)
        away = [own for own in ADDRESSES if own not in both.running]
        spare = len(listed & both.running.keys()) - 1 > len(listed) / 2
        event = rng.choice(["start", "start", "end", "power", "remove"])
        if event == "start" and away:
            own = rng.choice(away)
            both.start(own, tuple(sorted({*listed, own})))
            story.append(f"start {own}")
        elif event in {"end", "power"} and spare:
            own = rng.choice(sorted(both.running))
            both.end(own, with_power=event == "power")
            story.append(f"{event} {own}")
        elif event == "remove" and len(listed) > 2 and (spare or away):
            own = rng.choice(sorted(listed))
            if both.remove(own):
                both.wait()
                if own in both.running:
                    both.end(own, with_power=False)
            story.append(f"remove {own}")
        both.wait()
        differing = {own: two for own, two in both.lists().items() if two[0] != two[1]}
        assert not differing, f"seed {seed}: after {story}: {differing}"
    return story


@pytest.mark.parametrize("seed", range(6))
def test_both_models_keep_the_same_lists(seed: int) -> None:
    assert len(live(seed)) > 2
