"""Names, references and addresses as Docker, DNS and PostgreSQL accept them.

Pure: checks a text; a refusal names the characters that are accepted.
"""

import ipaddress
import re
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, WithJsonSchema

from queenright.core.manifest.suggestions import UnfitValueError, describe

NAME_MOST = 30
"""Characters of a scope or member name: `<scope>_<member>` stays within the 63 that swarm gives a
service name, and leaves room for the suffix of a volume."""

MEANT_BY_NAME = (
    "a secret's name is the one that it has in the swarm (docker secret create NAME FILE), never "
    "the password or key itself, which must not be in any file"
)
"""The hint for a field that takes the name of a secret."""

DNS_LABEL = r"^[a-z]([-a-z0-9]*[a-z0-9])?$"
NODE_NAME = r"^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$"
OBJECT_NAME = r"^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$"
LABEL_KEY = r"^[a-z0-9]([a-z0-9._/-]*[a-z0-9])?$"
IMAGE = (
    r"^((?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*"
    r"(?::[0-9]{1,5})?/))?"
    r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$"
)
_OCTET = r"(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
IPV4_ADDRESS = rf"^{_OCTET}(\.{_OCTET}){{3}}$"
IPV4_NETWORK = rf"^{_OCTET}(\.{_OCTET}){{3}}/(3[0-2]|[12]?\d)$"


def _name(value: str) -> str:
    if len(value) > NAME_MOST:
        raise UnfitValueError(
            f"{describe(value)} has {len(value)} characters; at most {NAME_MOST} fit into the "
            "names of the services and volumes made from it"
        )
    if not re.fullmatch(DNS_LABEL, value):
        raise UnfitValueError(
            f"{describe(value)} is not a usable name: lower-case letters, digits and hyphens, "
            "a letter first, no hyphen last"
        )
    return value


def _node_name(value: str) -> str:
    if len(value) > 253 or not re.fullmatch(NODE_NAME, value):
        raise UnfitValueError(
            f"{describe(value)} is not a node name: the hostname that `docker node ls` shows, of "
            "letters, digits, dots, hyphens and underscores"
        )
    return value


def _object_name(value: str) -> str:
    if len(value) > 63 or not re.fullmatch(OBJECT_NAME, value):
        raise UnfitValueError(
            f"{describe(value)} is not a swarm object name: up to 63 letters, digits, dots, "
            "hyphens and underscores, a letter or digit first and last"
        )
    return value


def secret_name(value: str) -> str:
    """Return the name of a secret; a message never repeats a refused one: it may be the secret."""
    if len(value) > 63 or not re.fullmatch(OBJECT_NAME, value):
        raise UnfitValueError(
            "is not the name of a swarm secret: up to 63 letters, digits, dots, hyphens and "
            f"underscores, a letter or digit first and last; {MEANT_BY_NAME}"
        )
    return value


def _label_key(value: str) -> str:
    if len(value) > 128 or not re.fullmatch(LABEL_KEY, value):
        raise UnfitValueError(
            f"{describe(value)} is not a node label key: lower-case letters, digits, dots, "
            "hyphens, underscores and slashes, a letter or digit first and last"
        )
    return value


def _image(value: str) -> str:
    if len(value) > 512 or not re.fullmatch(IMAGE, value):
        hint = "; a repository name is lower-case" if re.fullmatch(IMAGE, value.lower()) else ""
        raise UnfitValueError(
            f"{describe(value)} is not an image reference such as "
            f"registry.example:5000/queenright-member:16{hint}"
        )
    return value


def _address(value: str) -> str:
    try:
        return str(ipaddress.IPv4Address(value))
    except ValueError:
        raise UnfitValueError(
            f"{describe(value)} is not an IPv4 address such as 10.77.0.12"
        ) from None


def _network(value: object) -> ipaddress.IPv4Network:
    if isinstance(value, ipaddress.IPv4Network):
        return value
    expected = "an IPv4 network in CIDR form such as 10.77.0.0/24"
    if not isinstance(value, str):
        raise UnfitValueError(f"must be {expected}, not {describe(value)}")
    address, slash, prefix = value.partition("/")
    try:
        interface = ipaddress.IPv4Interface(value)
    except ValueError:
        raise UnfitValueError(f"{describe(value)} is not {expected}") from None
    if not slash or not prefix.isdigit():
        raise UnfitValueError(f"{describe(value)} is not {expected}: the /prefix is missing")
    if str(interface.network.network_address) != address:
        raise UnfitValueError(
            f"{describe(value)} has host bits set; the network is written {interface.network}"
        )
    return interface.network


Name = Annotated[
    str,
    AfterValidator(_name),
    WithJsonSchema({"type": "string", "pattern": DNS_LABEL, "maxLength": NAME_MOST}),
]
"""A DNS label: scope and member names, which become service names, hostnames and aliases."""

NodeName = Annotated[
    str,
    AfterValidator(_node_name),
    WithJsonSchema({"type": "string", "pattern": NODE_NAME, "maxLength": 253}),
]
"""A swarm node's hostname."""

ObjectName = Annotated[
    str,
    AfterValidator(_object_name),
    WithJsonSchema({"type": "string", "pattern": OBJECT_NAME, "maxLength": 63}),
]
"""The name of a swarm network or volume."""

SecretName = Annotated[
    str,
    AfterValidator(secret_name),
    WithJsonSchema({"type": "string", "pattern": OBJECT_NAME, "maxLength": 63}),
]
"""The name of a swarm secret."""

LabelKey = Annotated[
    str,
    AfterValidator(_label_key),
    WithJsonSchema({"type": "string", "pattern": LABEL_KEY, "maxLength": 128}),
]
"""A node label's key, as used in placement constraints."""

Image = Annotated[
    str,
    AfterValidator(_image),
    WithJsonSchema({"type": "string", "pattern": IMAGE, "maxLength": 512}),
]
"""An image reference, with registry and tag or digest."""

Address = Annotated[
    str,
    AfterValidator(_address),
    WithJsonSchema({"type": "string", "pattern": IPV4_ADDRESS, "format": "ipv4"}),
]
"""An IPv4 address, as text."""

Network = Annotated[
    ipaddress.IPv4Network,
    BeforeValidator(_network),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "pattern": IPV4_NETWORK, "examples": ["10.77.0.0/24"]}),
]
"""An IPv4 network; YAML gives it in CIDR form."""

Port = Annotated[int, Field(ge=1, le=65535)]
"""A TCP port."""
