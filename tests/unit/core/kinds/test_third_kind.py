"""A third kind is one folder and one line in the registry: it is validated, planned, executed on
the fakes, shown in ``status`` and removed, and the cluster beside it is not changed."""

from __future__ import annotations

import io

import pytest

from queenright.cli import formatting
from queenright.cli.commands.status import Seen, statuses
from queenright.cli.console import Output
from queenright.cli.read_only import Written
from queenright.core.actions import RemoveService
from queenright.core.kinds import registry
from queenright.core.kinds.load import load
from queenright.core.kinds.ruleset import ruleset_of
from queenright.core.planning.plan import Plan
from queenright.engine.planning import observe_and_plan
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.support.builders import PROXY_IMAGE, three_nodes
from tests.support.website.desired import SITE_LABEL
from tests.support.website.kind import WEBSITE

FILE = "site.yaml"
SITE = f"""\
apiVersion: queenright/v1alpha1
kind: Website
metadata:
  name: shop
spec:
  image: {PROXY_IMAGE}
  deletionPolicy: remove
"""


@pytest.fixture(autouse=True)
def one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._KINDS, WEBSITE.name, WEBSITE)


def test_it_is_validated() -> None:
    (document,) = load({FILE: SITE}).documents
    assert document.kind == "Website"
    wrong = load({FILE: SITE.replace(PROXY_IMAGE, "site") + "  replicas: 9\n"})
    assert wrong.documents == ()
    told = [str(problem).split(": ")[:2] for problem in wrong.problems]
    assert told == [["site.yaml:6", "spec.image"], ["site.yaml:8", "spec.replicas"]]


def test_its_services_are_guarded() -> None:
    observed = three_nodes()
    action = RemoveService("id-main_member-1", "main_member-1", reason="a test")
    found = ruleset_of(registry.KINDS)
    assert found.rules[WEBSITE.name] == WEBSITE.rules
    refusals = [guard(Plan("shop", "digest", (action,)), observed) for guard in found.guards]
    assert any(refusals)


def test_it_is_deployed_shown_and_removed_beside_a_cluster() -> None:
    async def main() -> None:
        world = World()
        world.manifests.write(FILE, SITE)
        operator = world.start_operator(ruleset_of(registry.KINDS))
        await world.until_whole()
        await world.until_whole(is_whole=lambda: replicas(world) == 2)
        members = {name for name in services(world) if name.startswith("main_")}
        assert "shop_site" in services(world)
        assert members

        documents = load(dict(world.manifests.files)).documents
        found = await observe_and_plan(world.ports, documents, ruleset=ruleset_of(registry.KINDS))
        assert [str(view.key) for view in found.views] == ["PostgresCluster main", "Website shop"]
        seen = statuses(found, world.clock.now())
        told = Seen(seen, Written(()), ()).as_json()
        (site,) = told["websites"]
        assert (site["name"], site["converged"]) == ("shop", True)
        stream = io.StringIO()
        formatting.show_status(Output(stream, is_terminal=False), "website", *seen["Website"][0])
        assert stream.getvalue() == "Website shop  converged\nRuns  2 of 2\n"

        world.manifests.remove(FILE)
        await world.until_whole(is_whole=lambda: "shop_site" not in services(world))
        await world.until_whole(is_whole=lambda: not any(map(is_its, config_labels(world))))
        assert {name for name in services(world) if name.startswith("main_")} == members
        await operator.stop()

    run_virtual(main)


def is_its(labels: dict[str, str]) -> bool:
    return SITE_LABEL in labels


def services(world: World) -> set[str]:
    return {live.value.name for live in world.store.services.values()}


def replicas(world: World) -> int:
    ids = [one.id for one in world.store.services.values() if one.value.name == "shop_site"]
    return sum(
        task.service_id in ids and task.state == "running" for task in world.store.tasks.values()
    )


def config_labels(world: World) -> list[dict[str, str]]:
    return [dict(live.value.labels) for live in world.store.configs.values()]
