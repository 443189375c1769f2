"""Ten clusters on the same nodes, deployed at once: each node gets the labels of all of them."""

from __future__ import annotations

from queenright.core.audit.record import Done
from tests.fakes.files import Ended
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.support.builders import MEMBER_IMAGE, PROXY_IMAGE

CLUSTERS = [f"shop{number}" for number in range(10)]
NODES = ("node2", "node3", "node4")


def shop(number: int) -> str:
    """The YAML of one of the clusters: ports, secrets and labels of its own on common nodes."""
    name, further = f"shop{number}", 10 * number
    secrets = ("replication", "superuser", "restApi")
    return f"""\
apiVersion: queenright/v1alpha1
kind: PostgresCluster
metadata: {{name: {name}}}
spec:
  image: {MEMBER_IMAGE}
  lanSubnet: 10.77.0.0/24
  members:
    - {{name: one, node: node2, failoverPriority: 3}}
    - {{name: two, node: node3}}
    - {{name: three, node: node4}}
  proxies:
    image: "{PROXY_IMAGE}"
    ports:
      {{primary: {6000 + further}, replicas: {6001 + further}, statistics: {7000 + further}}}
  ports: {{postgresql: {5432 + further}, raft: {5010 + further}, restApi: {8008 + further}}}
  secrets: {{{", ".join(f"{key}: {name}_{key.lower()}_pw" for key in secrets)}}}
  nodeLabels: {{member: {name}-node, proxy: {name}-proxy}}
"""


def is_whole(world: World, name: str) -> bool:
    members = list(world.patroni_model.of_cluster(name))
    well = [member for member in members if world.patroni_model.is_well(member)]
    led = world.patroni_model.leader(name) is not None
    return led and len(well) == len(world.containers(f"{name}_proxy")) == len(NODES)


def test_ten_clusters_on_the_same_nodes_are_whole_as_soon_as_one() -> None:
    async def deployed(count: int) -> tuple[float, World]:
        world = World()
        world.manifests.files = {f"/etc/queenright/shop{n}.yaml": shop(n) for n in range(count)}
        operator = world.start_operator()
        names = CLUSTERS[:count]
        took = await world.until_whole(is_whole=lambda: all(is_whole(world, n) for n in names))
        await operator.stop()
        return took, world

    async def main() -> None:
        alone, _ = await deployed(1)
        took, world = await deployed(len(CLUSTERS))
        ended = [record for record in world.audit.records if isinstance(record, Ended)]
        failed = [item for item in ended if not isinstance(item.outcome, Done)]
        assert not failed
        assert took <= 1.5 * alone
        for node in NODES:
            labels = world.store.node_named(node).labels
            assert {f"{name}-node" for name in CLUSTERS} <= labels.keys()

    run_virtual(main)
