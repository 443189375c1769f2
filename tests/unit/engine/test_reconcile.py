"""One pass over clusters and applications: applications wait while their cluster is disrupted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from queenright.core.actions import CreateNetwork
from queenright.core.audit.record import Trigger
from queenright.core.kinds.notes_app.state import AppState
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.ruleset import Ruleset
from queenright.core.swarm.objects import Network
from queenright.engine.reconcile import LoopState, reconcile
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.support.app_builders import documents


def of_the_cluster(disrupts: str) -> Ruleset:
    """The cluster's plan and the application's have one action each."""

    def rule(_: ClusterState) -> Iterator[CreateNetwork]:
        yield CreateNetwork(Network("cluster"), reason="a test", disrupts=disrupts)

    def app_rule(_: AppState) -> Iterator[CreateNetwork]:
        yield CreateNetwork(Network("app"), reason="a test")

    return Ruleset({"PostgresCluster": (rule,), "NotesApp": (app_rule,)}, ())


@pytest.mark.parametrize(
    ("disrupts", "done"), [("", ["cluster", "app"]), ("main_member-1", ["cluster"])]
)
def test_an_application_waits_for_the_pass_after_its_cluster_was_disrupted(
    disrupts: str, done: list[str]
) -> None:
    async def main() -> None:
        world = World()
        result = await reconcile(
            world.ports,
            documents(),
            Trigger("timer"),
            LoopState(),
            lambda: False,
            ruleset=of_the_cluster(disrupts),
        )
        assert [live.value.name for live in world.store.networks.values()] == done
        assert result.has_acted

    run_virtual(main)
