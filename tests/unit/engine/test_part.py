"""Edited documents are planned before the full pass, as that would plan them, or left to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import anyio
import anyio.lowlevel
import pytest

from queenright.core.audit.record import Trigger
from queenright.core.kinds.load import load
from queenright.core.kinds.registry import key_of
from queenright.core.kinds.ruleset import RULESET, Ruleset
from queenright.core.manifest.document import Document
from queenright.core.observed import Known, Observed, SwarmState
from queenright.core.planning.plan import Guard, Plan, Refusal
from queenright.engine.file_memory import FileMemory
from queenright.engine.limited import Limited, NotAskedError
from queenright.engine.part import MOST_CHANGED, Changes, reconcile_part
from queenright.engine.reconcile import LoopState, PassResult, Terms, reconcile
from queenright.ports import Ports
from tests.bench.scale_world import StillClock, StillPatroni, fill, still_ports
from tests.fakes.files import FakeAudit
from tests.support.many_clusters import app_text, cluster_text, deployed, texts_of

CLUSTERS = 11
OF_ONE_CLUSTER = 7
"""Questions to three members: a status and a Raft node of each, and the leader's settings."""
EDITED = {"/etc/queenright/c0010.yaml": cluster_text(10, stopGracePeriod="90s")}
EDITED_APP = {"/etc/queenright/a0010.yaml": app_text(10) + "  replicas: 3\n"}
EDIT = Trigger("file", "an edit")


@dataclass
class Operator:
    """One of eleven converged clusters, with applications on the first and on the last, that has
    made a full pass a minute ago."""

    ports: Ports
    audit: FakeAudit
    files: FileMemory
    texts: dict[str, str]
    memory: LoopState
    documents: tuple[Document, ...]

    @property
    def asked(self) -> int:
        assert isinstance(self.ports.patroni, StillPatroni)
        return self.ports.patroni.asked

    def edit(self, texts: dict[str, str], *names: str) -> tuple[Document, ...]:
        """Change files, and return the part to plan: with ``names``, of changed objects, too."""
        changes = Changes()
        changes.take(self.documents)
        loaded = self.files.load({**self.texts, **texts})
        assert not loaded.problems
        self.documents = loaded.documents
        part = changes.take(self.documents, frozenset(names))
        assert part is not None
        return part

    async def full(self, guards: tuple[Guard, ...] = RULESET.guards) -> PassResult:
        ruleset = Ruleset(RULESET.rules, guards)
        return await reconcile(
            self.ports, self.documents, EDIT, self.memory, lambda: False, ruleset=ruleset
        )

    async def part(
        self, part: tuple[Document, ...], guards: tuple[Guard, ...] = RULESET.guards
    ) -> PassResult | None:
        terms = Terms(EDIT, lambda: False, Ruleset(RULESET.rules, guards))
        return await reconcile_part(self.ports, self.documents, part, self.memory, terms)


async def converged() -> Operator:
    audit, files, texts = FakeAudit(), FileMemory(), texts_of(CLUSTERS)
    documents = files.load(texts).documents
    ports = still_ports(texts, audit)
    fill(ports, deployed(documents))
    made = Operator(ports, audit, files, texts, LoopState(), documents)
    assert (await made.full()).is_converged
    assert isinstance(ports.clock, StillClock)
    ports.clock.at_s += 60.0
    return made


@pytest.mark.parametrize("texts", [EDITED, EDITED_APP, EDITED | EDITED_APP])
def test_the_part_does_what_a_full_pass_does(texts: dict[str, str]) -> None:
    async def main() -> None:
        one, other = await converged(), await converged()
        part = one.edit(texts)
        other.edit(texts)
        found = await one.part(part)
        await other.full()
        assert found is not None
        assert found.has_acted
        assert one.audit.intents == other.audit.intents
        assert {view.key for view in found.survey.views} == {key_of(one) for one in part}

    anyio.run(main)


def test_only_the_members_of_the_part_are_asked() -> None:
    async def main() -> None:
        operator = await converged()
        part, asked = operator.edit(EDITED), operator.asked
        await operator.part(part)
        assert operator.asked == asked + OF_ONE_CLUSTER

    anyio.run(main)


def test_a_plan_about_which_a_guard_asks_more_is_left_to_the_full_pass() -> None:
    def nosy(plan: Plan, observed: Observed) -> Refusal | None:
        found = observed.members.get("c0003_member-1")
        return None if isinstance(found, Known) else Refusal("nosy", "nobody is there")

    async def main() -> None:
        operator = await converged()
        found = await operator.part(operator.edit(EDITED), (nosy,))
        assert found is not None
        assert (found.has_acted, found.refusals, operator.audit.intents) == (False, [], [])
        assert not operator.memory.faults.now
        assert (await operator.full((nosy,))).has_acted

    anyio.run(main)


def test_what_was_not_asked_can_not_be_taken_for_absent() -> None:
    """If it could, the guard above would refuse on nothing; an `except Exception` hides it not."""
    asked: Limited[str, int] = Limited({"a": 1}, lambda key: key.startswith("a"))
    assert asked["a"] == 1
    assert asked.get("a2") is None
    questions: list[Callable[[], object]] = [
        lambda: asked["b"],
        lambda: asked.get("b"),
        lambda: "b" in asked,
        lambda: list(asked),
        lambda: len(asked),
    ]
    for question in questions:
        with pytest.raises(NotAskedError):
            question()
    assert not issubclass(NotAskedError, Exception)


def test_the_memory_of_other_clusters_stays() -> None:
    async def main() -> None:
        operator = await converged()
        sightings = operator.memory.sightings
        before = dict(sightings.found)
        await operator.part(operator.edit(EDITED))
        assert sightings.found.keys() == before.keys()
        others = [key for key in before if "c0003" in key]
        assert others
        assert all(sightings.found[key] == before[key] for key in others)

    anyio.run(main)


def test_a_swarm_that_can_not_be_read_leaves_all_to_the_full_pass() -> None:
    async def main() -> None:
        operator = await converged()

        async def observe(_: object = None) -> SwarmState:
            await anyio.lowlevel.checkpoint()
            return SwarmState(operator.ports.swarm.found.swarm.engine)  # type: ignore[attr-defined]

        operator.ports.swarm.observe = observe  # type: ignore[method-assign]  # a port made worse
        assert not (found := await operator.part(operator.edit(EDITED))) or not found.has_acted

    anyio.run(main)


def names_of(part: tuple[Document, ...] | None) -> list[str]:
    assert part is not None
    return [key_of(document).name for document in part]


def test_edits_are_told_from_the_last_pass() -> None:
    changes, files, texts = Changes(), FileMemory(), texts_of(CLUSTERS)
    first = files.load(texts).documents
    assert changes.take(first) is None, "a start is a matter for the full pass"
    assert changes.take(first) == ()
    second = files.load(texts | EDITED_APP).documents
    names = names_of(changes.take(second))
    assert names == ["c0010", "a0010"], "what it rests on is planned before it"
    assert changes.take(second) == ()
    assert changes.take(load(texts).documents) is None, f"more than {MOST_CHANGED}"


def test_an_objects_name_tells_its_document() -> None:
    changes, files, texts = Changes(), FileMemory(), texts_of(CLUSTERS)
    documents = files.load(texts).documents
    many = frozenset(f"c{number:04}_member-1" for number in range(MOST_CHANGED + 1))
    assert changes.take(documents, frozenset({"c0003_member-1"})) is None
    taken = changes.take(documents, frozenset({"c0003_member-1", "c0003_proxy", "other_member-1"}))
    assert names_of(taken) == ["c0003"]
    assert names_of(changes.take(documents, frozenset({"a0010_app"}))) == ["c0010", "a0010"]
    assert changes.take(documents, frozenset({"c00", "c0003-x_member", ""})) == ()
    assert changes.take(documents, many) is None
    edited = files.load(texts | EDITED).documents
    assert names_of(changes.take(edited, frozenset({"c0003_member-1"}))) == ["c0003", "c0010"]
