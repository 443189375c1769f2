"""Every mistake that a virtual address can have, one a case."""

from tests.support.documents import edited

FIELDS = {
    "image": "registry:5000/queenright-vip:2.2",
    "address": "10.77.0.100",
    "interface": "eth0",
    "routerId": "51",
}


def with_vip(*edits: tuple[str, str], **fields: str) -> str:
    """A manifest with a virtual address; `fields` are further ones, an empty one is left out."""
    lines = [f"  {name}: {value}" for name, value in {**FIELDS, **fields}.items() if value]
    return edited(*edits, more="\n".join(["vip:", *lines]))


OWN_ADDRESS = ("node: node3", "node: node3, address: 10.77.0.100")
ONE_PROXY = "    nodes: [node2]\n"

VIP_CASES: dict[str, str] = {
    "vip a word": edited(more="vip: 10.77.0.100"),
    "vip nothing in it": edited(more="vip: {}"),
    "vip without image": with_vip(image=""),
    "vip without address": with_vip(address=""),
    "vip without interface": with_vip(interface=""),
    "vip without routerId": with_vip(routerId=""),
    "vip image with capitals": with_vip(image="Vip:2"),
    "vip address outside lanSubnet": with_vip(address="10.78.0.100"),
    "vip address with prefix": with_vip(address="10.77.0.100/24"),
    "vip address the network's": with_vip(address="10.77.0.0"),
    "vip address the broadcast's": with_vip(address="10.77.0.255"),
    "vip address a member's": with_vip(OWN_ADDRESS),
    "vip address IPv6": with_vip(address="'fd00::1'"),
    "vip interface too long": with_vip(interface="averylonginterface0"),
    "vip interface with a space": with_vip(interface="eth 0"),
    "vip interface a path": with_vip(interface="../eth0"),
    "vip interface not text": with_vip(interface="0"),
    "vip routerId zero": with_vip(routerId="0"),
    "vip routerId too big": with_vip(routerId="256"),
    "vip routerId text": with_vip(routerId="fifty"),
    "vip routerId quoted": with_vip(routerId="'51'"),
    "vip prefixLength too long": with_vip(prefixLength="33"),
    "vip prefixLength too short": with_vip(prefixLength="7"),
    "vip peers a list": with_vip(peers="[10.77.0.12]"),
    "vip peers unknown": with_vip(peers="broadcast"),
    "vip authentication unknown": with_vip(authentication="ah"),
    "vip authentication a switch": with_vip(authentication="false"),
    "vip secret with a space": with_vip(secret="a b"),
    "vip secret the superuser's": with_vip(secret="pg_superuser_pw"),
    "vip secret a role's": with_vip(secret="shop_pw")
    + "  roles: [{name: shop, passwordSecret: shop_pw}]\n",
    "vip advertInterval fine with a password": with_vip(advertInterval="300ms"),
    "vip advertInterval too long with a password": with_vip(advertInterval="5m"),
    "vip advertInterval too fine": with_vip(authentication="none", advertInterval="15ms"),
    "vip advertInterval zero": with_vip(authentication="none", advertInterval="0"),
    "vip advertInterval too long": with_vip(authentication="none", advertInterval="41s"),
    "vip advertInterval no duration": with_vip(advertInterval="often"),
    "vip downTimerAdverts zero": with_vip(downTimerAdverts="0"),
    "vip downTimerAdverts one": with_vip(downTimerAdverts="1"),
    "vip preempt a word": with_vip(preempt="never"),
    "vip check half a second": with_vip(check="{interval: 500ms}"),
    "vip check no time": with_vip(check="{timeout: 0}"),
    "vip check never falls": with_vip(check="{fall: 0}"),
    "vip check never rises": with_vip(check="{rise: 0}"),
    "vip check's field": with_vip(check="{port: 7000}"),
    "vip memory below Docker's least": with_vip(memory="{limit: 1M, reservation: 1M}"),
    "vip memory below the reservation": with_vip(memory="{limit: 16M, reservation: 17M}"),
    "vip misspelt field": with_vip(routerid="51"),
    "member called vip": with_vip(("member-2", "vip")),
    "vip on one node": with_vip(
        ("queenright-proxy:3.0-alpine\n", "queenright-proxy:3.0-alpine\n" + ONE_PROXY)
    ),
}

BEYOND = {
    # what takes more than one field
    *("vip address outside lanSubnet", "vip address the network's", "vip address the broadcast's"),
    *("vip address a member's", "vip secret the superuser's", "vip on one node"),
    "vip secret a role's",
    *("vip advertInterval fine with a password", "vip advertInterval too long with a password"),
    *("vip memory below the reservation", "member called vip"),
    # what arithmetic on a text with a unit decides, and what is only unwise
    *("vip advertInterval too fine", "vip advertInterval zero", "vip advertInterval too long"),
    *("vip check half a second", "vip memory below Docker's least", "vip downTimerAdverts one"),
}
"""Cases that no JSON Schema can refuse."""
