"""One pass over clusters and applications: what rests on a cluster waits while it is disturbed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from queenright.core.actions import CreateNetwork
from queenright.core.app.situation import AppSituation
from queenright.core.audit import Trigger
from queenright.core.doctrine import Doctrine
from queenright.core.resources import Network
from queenright.core.situation import Situation
from queenright.engine.reconcile import Memory, reconcile
from tests.app_builders import documents
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World


def of_the_cluster(disturbs: str) -> Doctrine:
    """The cluster's plan and the application's have one action each."""

    def rule(_: Situation) -> Iterator[CreateNetwork]:
        yield CreateNetwork(Network("cluster"), reason="a test", disturbs=disturbs)

    def app_rule(_: AppSituation) -> Iterator[CreateNetwork]:
        yield CreateNetwork(Network("app"), reason="a test")

    return Doctrine((rule,), (), (app_rule,))


@pytest.mark.parametrize(
    ("disturbs", "done"), [("", ["cluster", "app"]), ("main_member-1", ["cluster"])]
)
def test_an_application_waits_for_the_pass_after_its_cluster_was_disturbed(
    disturbs: str, done: list[str]
) -> None:
    async def main() -> None:
        world = World()
        result = await reconcile(
            world.ports,
            documents(),
            Trigger("timer"),
            Memory(),
            lambda: False,
            doctrine=of_the_cluster(disturbs),
        )
        assert [live.value.name for live in world.store.networks.values()] == done
        assert result.has_acted

    run_virtual(main)
