"""Virtual addresses side by side: in one network each address and router id has one owner."""

import pytest

from queenright.core.kinds.load import load
from queenright.core.manifest.document import Loaded
from tests.support.documents import BASE
from tests.unit.core.kinds.postgres_cluster.checks.test_conflicts import OTHER

ELSEWHERE = OTHER.replace("10.77.0.0/24", "10.78.0.0/24")


def vip(address: str, router_id: int) -> str:
    fields = f"address: {address}, interface: eth0, routerId: {router_id}"
    return f"  vip: {{image: 'v:2', {fields}}}\n"


def load_both(first: str, second: str) -> Loaded:
    return load({"a.yaml": first, "b.yaml": second})


def told(first: str, second: str) -> list[str]:
    return [str(problem) for problem in load_both(first, second).problems]


def test_two_may_share_a_network() -> None:
    result = load_both(BASE + vip("10.77.0.100", 51), OTHER + vip("10.77.0.101", 52))
    assert result.problems == ()
    assert len(result.documents) == 2


def test_a_router_id_is_unique_in_a_network_and_free_in_another() -> None:
    first = BASE + vip("10.77.0.100", 51)
    assert told(first, OTHER + vip("10.77.0.101", 51)) == [
        (
            "b.yaml:17: spec.vip.routerId: 51 is also the router id of cluster main (a.yaml:1), in "
            "the same network: each would take the other's adverts for its own; write another"
        )
    ]
    assert told(first, ELSEWHERE + vip("10.78.0.101", 51)) == []


def test_what_vrrp_sends_in_clear_text_is_nobodys_password() -> None:
    sender = vip("10.77.0.100", 51)
    mine = sender.replace("routerId: 51", "routerId: 51, secret: pg_superuser_pw")
    taken = OTHER.replace("superuser: other_b", "superuser: main_vrrp_pw")
    assert told(BASE, OTHER + mine) == [
        (
            "b.yaml:17: spec.vip.secret: is also a password of cluster main "
            "(a.yaml:1), and VRRP sends its beginning in clear text; use a secret of its own"
        )
    ]
    assert taken != OTHER
    (problem,) = told(BASE + sender, taken)
    assert "spec.secrets.superuser: is also the VRRP password of cluster" in problem
    assert ": warning: " not in problem


def test_an_address_has_one_owner() -> None:
    first = BASE + vip("10.77.0.100", 51)
    assert told(first, OTHER + vip("10.77.0.100", 52)) == [
        (
            'b.yaml:17: spec.vip.address: "10.77.0.100" is also the virtual address of cluster '
            "main (a.yaml:1); write another"
        )
    ]


@pytest.mark.parametrize("owner_first", [True, False])
def test_no_member_of_another_cluster_has_it(owner_first: bool) -> None:
    owner = BASE.replace("node: node3}", "node: node3, address: 10.77.0.100}")
    if owner_first:
        problems = told(owner, OTHER + vip("10.77.0.100", 52))
        assert problems == [
            (
                'b.yaml:17: spec.vip.address: "10.77.0.100" is the address of member-2 of cluster '
                "main (a.yaml:1); write one that no node has"
            )
        ]
    else:
        problems = told(OTHER + vip("10.77.0.100", 52), owner)
        assert problems == [
            (
                'b.yaml:9: spec.members[1].address: "10.77.0.100" is the virtual address of '
                "cluster other (a.yaml:1)"
            )
        ]
