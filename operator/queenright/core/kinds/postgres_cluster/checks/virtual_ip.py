"""Checks of the virtual address that need more than one field, document or node."""

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address

from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.manifest.problems import Finding, Path
from queenright.core.manifest.quantities import format_duration

VIP: Path = ("spec", "vip")
VIP_NAME = "vip"
"""Name of keepalived's service within the cluster."""
MOST_WHOLE_S = 255
LEAST_FINE_S, MOST_FINE_S = 0.01, 40.95
"""Advert intervals that packets of version 2 and 3 can carry, in steps of 1 s and 10 ms."""


def _address(cluster: PostgresCluster) -> Iterator[Finding]:
    vip, lan = cluster.spec.vip, cluster.spec.lan_subnet
    if vip is None:
        return
    address, path = IPv4Address(vip.address), (*VIP, "address")
    lan_path: Path = ("spec", "lanSubnet")
    if address not in lan:
        message = f'"{address}" is outside lanSubnet {lan}'
        yield Finding(path, message, involves=(lan_path,))
    elif lan.prefixlen < 31 and address in {lan.network_address, lan.broadcast_address}:
        message = f'"{address}" is the network or broadcast address of {lan}; write a free one'
        yield Finding(path, message, involves=(lan_path,))
    for index, member in enumerate(cluster.spec.members):
        if member.address == vip.address:
            other: Path = ("spec", "members", index, "address")
            message = f'"{address}" is {member.name}\'s own address; write one that no node has'
            yield Finding(path, message, involves=(other,))


def _advert_interval(cluster: PostgresCluster) -> Iterator[Finding]:
    vip = cluster.spec.vip
    if vip is None or vip.advert_interval_s is None:
        return
    seconds, path = vip.advert_interval_s, (*VIP, "advertInterval")
    involves = ((*VIP, "authentication"), (*VIP, "peers"))
    shown = format_duration(seconds)
    if vip.has_password and (seconds != int(seconds) or not 1 <= seconds <= MOST_WHOLE_S):
        yield Finding(
            path,
            f"{shown} can't be sent by VRRP version 2, which a password needs: write whole "
            f"seconds from 1s to {MOST_WHOLE_S}s, or authentication: none",
            involves=involves,
        )
    elif not vip.has_password and (
        round(seconds * 1000) % 10 or not LEAST_FINE_S <= seconds <= MOST_FINE_S
    ):
        yield Finding(
            path,
            f"{shown} can't be sent by VRRP version 3: write 10ms to 40950ms in steps of 10ms",
            involves=involves,
        )


def _wanted_adverts(cluster: PostgresCluster) -> Iterator[Finding]:
    vip = cluster.spec.vip
    if vip is not None and vip.adverts == 1:
        message = (
            "1: a single advert that is lost or late moves the address, or leaves two holders for "
            "a moment; 2 or more is safer"
        )
        yield Finding((*VIP, "downTimerAdverts"), message, "warning")


def _proxies_enough(cluster: PostgresCluster) -> Iterator[Finding]:
    if cluster.spec.vip is not None and len(cluster.spec.proxies.nodes) == 1:
        message = "has one proxy node to be on, so nothing takes it over; list more proxies.nodes"
        yield Finding(VIP, message, "warning", (("spec", "proxies", "nodes"),))


def _member_name_free(cluster: PostgresCluster) -> Iterator[Finding]:
    for index, member in enumerate(cluster.spec.members):
        if cluster.spec.vip is not None and member.name == VIP_NAME:
            message = f'"{VIP_NAME}" is what keepalived\'s service is called; write another name'
            yield Finding(("spec", "members", index, "name"), message, involves=(VIP,))


def _secret_apart(cluster: PostgresCluster) -> Iterator[Finding]:
    vip, secrets = cluster.spec.vip, cluster.spec.secrets
    if vip is None or not vip.has_password:
        return
    for field, name in (
        ("replication", secrets.replication),
        ("superuser", secrets.superuser),
        ("restApi", secrets.rest_api),
    ):
        if name == vip.secret:
            yield Finding(
                (*VIP, "secret"),
                f"is also secrets.{field}, and VRRP sends its beginning in clear text: "
                "use a secret of its own",
                involves=(("spec", "secrets", field),),
            )
    for index, role in enumerate(cluster.spec.roles):
        if role.password_secret == vip.secret:
            other: Path = ("spec", "roles", index, "passwordSecret")
            yield Finding(
                (*VIP, "secret"),
                f"is also roles[{index}].passwordSecret, and VRRP sends its "
                "beginning in clear text: use a secret of its own",
                involves=(other,),
            )


VIP_CHECKS = (
    _address,
    _advert_interval,
    _wanted_adverts,
    _proxies_enough,
    _member_name_free,
    _secret_apart,
)


def vrrp_secrets_apart(
    earlier: PostgresCluster, later: PostgresCluster, whose: str
) -> Iterator[Finding]:
    """Findings for a VRRP password that is also another cluster's password.

    VRRP sends its password in clear text. The finding is at the later cluster.
    """
    for field, name in passwords_of(later):
        if name in vrrp_secrets(earlier):
            message = f"is also the VRRP password of {whose}, which sends its beginning"
            yield Finding(field, f"{message} in clear text; use a secret of its own")
    if vrrp_secrets(later) & {name for _, name in passwords_of(earlier)}:
        message = f"is also a password of {whose}, and VRRP sends its beginning"
        yield Finding((*VIP, "secret"), f"{message} in clear text; use a secret of its own")


def vrrp_secrets(cluster: PostgresCluster) -> frozenset[str]:
    vip = cluster.spec.vip
    return frozenset({vip.secret}) if vip is not None and vip.has_password else frozenset()


def passwords_of(cluster: PostgresCluster) -> Iterator[tuple[Path, str]]:
    """The secrets with which one gets at data or at Patroni, each with its field."""
    secrets: Path = ("spec", "secrets")
    yield (*secrets, "replication"), cluster.spec.secrets.replication
    yield (*secrets, "superuser"), cluster.spec.secrets.superuser
    yield (*secrets, "restApi"), cluster.spec.secrets.rest_api
    for index, role in enumerate(cluster.spec.roles):
        if role.password_secret is not None:
            yield ("spec", "roles", index, "passwordSecret"), role.password_secret


def vips_apart(earlier: PostgresCluster, later: PostgresCluster, whose: str) -> Iterator[Finding]:
    """Two clusters in one network: an address, and a router id, has one owner."""
    first, second = earlier.spec.vip, later.spec.vip
    owned = {m.address: m.name for m in earlier.spec.members if m.address}
    if second is not None and second.address in owned:
        message = f'"{second.address}" is the address of {owned[second.address]} of {whose}'
        yield Finding((*VIP, "address"), f"{message}; write one that no node has")
    if first is None:
        return
    for index, member in enumerate(later.spec.members):
        if member.address == first.address:
            message = f'"{member.address}" is the virtual address of {whose}'
            yield Finding(("spec", "members", index, "address"), message)
    if second is None or not earlier.spec.lan_subnet.overlaps(later.spec.lan_subnet):
        return
    if first.address == second.address:
        message = f'"{second.address}" is also the virtual address of {whose}; write another'
        yield Finding((*VIP, "address"), message)
    if first.router_id == second.router_id:
        message = (
            f"{second.router_id} is also the router id of {whose}, in the same network: each would "
            "take the other's adverts for its own; write another"
        )
        yield Finding((*VIP, "routerId"), message)


def vip_on_nodes(cluster: PostgresCluster, nodes: Mapping[str, str]) -> Iterator[Finding]:
    """``nodes`` are the swarm's, by name, with their addresses."""
    vip = cluster.spec.vip
    taken = {address: name for name, address in nodes.items() if address}
    if vip is not None and vip.address in taken:
        message = f'"{vip.address}" is node {taken[vip.address]}\'s own address; write a free one'
        yield Finding((*VIP, "address"), message)
