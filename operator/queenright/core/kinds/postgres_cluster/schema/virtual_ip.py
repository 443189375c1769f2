"""Fields of a cluster's virtual address: VRRP between the proxies' nodes, by keepalived.

A field that is wrong alone is refused here; checks of several fields are in `checks.virtual_ip`.
"""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from queenright.core.manifest.model import Part
from queenright.core.manifest.names import Address, Image, SecretName
from queenright.core.manifest.quantities import MEBI, Duration, Seconds, Size
from queenright.core.manifest.suggestions import UnfitValueError, describe

INTERFACE = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,14}$"
"""Name of an interface, as Linux (IFNAMSIZ: 15 characters) and keepalived accept it."""

WHOLE_S, FINE_S = 1.0, 0.3
"""Default advert intervals: VRRP version 2, which alone has passwords, counts whole seconds."""
WHOLE_ADVERTS, FINE_ADVERTS = 2, 3
"""Adverts missed until a backup takes over: version 3's three (RFC 5798), and one less where each
of them takes a second."""


def _interface(value: str) -> str:
    if not re.fullmatch(INTERFACE, value):
        raise UnfitValueError(
            f"{describe(value)} is not the name of a network interface such as eth0: up to 15 "
            "letters, digits, dots, hyphens and underscores (`ip link` on the node shows them)"
        )
    return value


Interface = Annotated[
    str, AfterValidator(_interface), WithJsonSchema({"type": "string", "pattern": INTERFACE})
]
"""A network interface on the proxies' nodes."""


class VipCheck(Part):
    """Each node's check of its own proxy: an answer of its statistics listener.

    A frozen HAProxy does not give one. The database does not matter here: without a leader all
    proxies are equal, and the address stays where it is.
    """

    interval_s: Seconds = Field(
        default=1, ge=1, le=60, description="Time between two checks, in whole seconds."
    )
    timeout_s: Duration = Field(
        default=0.5, ge=0.1, le=10, description="Time in which the proxy has to answer."
    )
    fall: int = Field(
        default=2,
        ge=1,
        le=10,
        description="Questions without an answer, asked one after the other within one check, "
        "after which the node gives the address up.",
    )
    rise: int = Field(
        default=2,
        ge=1,
        le=100,
        description="Good checks in a row after which the node may have it again.",
    )


class VipMemory(Part):
    """Memory of keepalived's container on each node."""

    limit_bytes: Size = Field(default=32 * MEBI, description="Hard limit.")
    reservation_bytes: Size = Field(
        default=8 * MEBI, description="Memory that swarm reserves on the node."
    )


class Vip(Part):
    """One address for clients, on one of the proxies' nodes at a time (spec: database-cluster
    §1.5): VRRP by keepalived, on every proxy node, in the node's own network."""

    image: Image = Field(
        description="The keepalived image.", examples=["10.77.0.1:5000/queenright-vip:2.2"]
    )
    address: Address = Field(
        description="The virtual address: a free one in lanSubnet, no node's own.",
        examples=["10.77.0.100"],
    )
    interface: Interface = Field(
        description="The interface in lanSubnet on the proxies' nodes.", examples=["eth0"]
    )
    router_id: int = Field(
        ge=1,
        le=255,
        description="The virtual router id: a number that no other VRRP in the network has.",
        examples=[51],
    )
    prefix_length: int = Field(
        default=32,
        ge=8,
        le=32,
        description="Prefix length with which the address is put on the interface. 32, as "
        "keepalived's own default, adds no route.",
    )
    peers: Literal["unicast", "multicast"] = Field(
        default="unicast",
        description="Whether adverts go to the other proxy nodes' addresses, or to 224.0.0.18.",
    )
    authentication: Literal["password", "none"] = Field(
        default="password",
        json_schema_extra={"default": None},
        description="`password`: VRRP version 2 with a password (in clear text in each advert: it "
        "keeps a mistaken neighbour out, not an attacker). `none`: version 3, which has no "
        "authentication and may send more than one advert a second. Default: `password` with "
        "unicast peers, `none` with multicast.",
    )
    secret: SecretName = Field(
        default="",
        description="Swarm secret with the password, of which VRRP uses the first 8 characters; "
        "created when missing. Default: `<metadata.name>_vrrp_pw`.",
        json_schema_extra={"default": None},
        examples=["main_vrrp_pw"],
    )
    advert_interval_s: Duration | None = Field(
        default=None,
        description="Time between two adverts of the holder: whole seconds with a password. "
        "Default: 1s with a password, 300ms without.",
        examples=["300ms"],
    )
    down_timer_adverts: int | None = Field(
        default=None,
        ge=1,
        le=100,
        description="Adverts missed until another node takes the address. Default: 2 with a "
        "password, 3 without.",
        examples=[3],
    )
    preempt: bool = Field(
        default=False,
        description="Whether a node of higher priority takes the address back when it returns. "
        "Each move cuts the clients' connections, so it does not, unless asked to.",
    )
    check: VipCheck = Field(default=VipCheck(), description="Each node's check of its own proxy.")
    memory: VipMemory = Field(
        default=VipMemory(), description="Memory of keepalived's container on each node."
    )

    @property
    def has_password(self) -> bool:
        return self.authentication == "password"

    @property
    def advert_s(self) -> float:
        """Seconds between two adverts."""
        default = WHOLE_S if self.has_password else FINE_S
        return default if self.advert_interval_s is None else self.advert_interval_s

    @property
    def adverts(self) -> int:
        """Adverts missed until another node takes over."""
        default = WHOLE_ADVERTS if self.has_password else FINE_ADVERTS
        return default if self.down_timer_adverts is None else self.down_timer_adverts
