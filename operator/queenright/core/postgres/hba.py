"""Check a line of `pg_hba.conf`: its syntax for PostgreSQL, and if it can ever take effect.

Pure: from one rule and the contract's own rules around it (spec: database-cluster §2.5): the first
rule that matches a connection decides, and a deployer's rules come after the seventh.
"""

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from types import MappingProxyType

from queenright.core.manifest.suggestions import describe, did_you_mean

SUPERUSER = "postgres"
REPLICATION_USER = "replicator"
OVERLAY_RANGE = IPv4Network("10.0.0.0/8")
"""Overlay and ingress networks translate addresses into this range (spec: §2.5)."""
BRIDGE_RANGE = IPv4Network("172.16.0.0/12")
"""Docker's default bridge networks (spec: §2.5)."""
REJECT_ALL = "host all all 0.0.0.0/0 reject"

HOST_TYPES = ("host", "hostssl", "hostnossl", "hostgssenc", "hostnogssenc")
ANY_TYPE = (*HOST_TYPES, "local")
METHODS = MappingProxyType(
    {
        "scram-sha-256": ANY_TYPE,
        "reject": ANY_TYPE,
        "trust": ANY_TYPE,
        "password": ANY_TYPE,
        "md5": ANY_TYPE,
        "peer": ("local",),
        "ident": ANY_TYPE,
        "gss": HOST_TYPES,
        "ldap": ANY_TYPE,
        "radius": ANY_TYPE,
        "cert": ("hostssl",),
        "pam": ANY_TYPE,
    }
)
_WITH_OPTIONS = frozenset({"ident", "peer", "gss", "ldap", "radius", "cert", "pam"})
_WITH_MAP = frozenset({"ident", "peer", "gss", "cert"})
_NEEDED_OPTIONS = MappingProxyType(
    {"ldap": ("ldapserver", "ldapurl"), "radius": ("radiusservers",)}
)
_TOKEN = re.compile(r'(?:"[^"]*"|[^\s"])+')
_HOST_NAME = re.compile(r"\.?[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?")
_OPTION = re.compile(r"[a-z_]+=.+")
_FORM = "`host <database> <user> <address> <method>` or `local <database> <user> <method>`"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule in its parts; `address` is empty for `local`, and as written otherwise."""

    type: str
    database: str
    user: str
    address: str
    method: str

    @property
    def network(self) -> IPv4Network | None:
        """Return the sources that it covers, if they are an IPv4 range."""
        if self.address == "all":
            return IPv4Network("0.0.0.0/0")
        try:
            return IPv4Network(self.address, strict=False)
        except ValueError:
            return None


def parse_rule(line: str) -> Rule | str:
    """Return the rule, or a message about its first fault."""
    if not line.isprintable():
        return "must be one line of plain characters, with spaces between its parts"
    if line.count('"') % 2:
        return "has a quote that is never closed"
    words = _TOKEN.findall(re.sub(r",\s+", ",", line))
    if not words:
        return f"is empty; a rule is {_FORM}"
    if "#" in line or words[0].startswith(("@", "include")):
        return "must be a rule alone, without comments or included files"
    kind, *rest = words
    if kind not in ANY_TYPE:
        meant = did_you_mean(kind, ANY_TYPE)
        return f"starts with {describe(kind)}; a rule is {_FORM}{meant}"
    if kind == "local":
        return _finish(kind, rest[:2], "", rest[2:])
    address, after = (rest[2] if len(rest) > 2 else ""), rest[3:]
    if "/" not in address and after and _is_address(after[0]) and _is_address(address):
        address, after = f"{address}/{after[0]}", after[1:]
    complaint = _address_complaint(address) if address else None
    return complaint or _finish(kind, rest[:2], address, after)


def _finish(kind: str, who: list[str], address: str, rest: list[str]) -> Rule | str:
    if not rest:
        return f"ends early: {_FORM}"
    method, *options = rest
    if method not in METHODS:
        meant = did_you_mean(method, METHODS)
        return f"{describe(method)} is not an authentication method{meant}"
    if kind not in METHODS[method]:
        return f"the method {method} is not for {kind} rules; {' or '.join(METHODS[method])} only"
    if method == "md5":
        return "md5 is not to be used; write scram-sha-256 (spec: §5)"
    complaint = _options_complaint(method, options)
    if complaint:
        return complaint
    return Rule(kind, who[0], who[1], address, method)


def _options_complaint(method: str, options: Sequence[str]) -> str | None:
    """Return the options' fault; PostgreSQL rejects the whole file if one is wrong."""
    for option in options:
        name = option.partition("=")[0]
        if not _OPTION.fullmatch(option):
            # A password of these options that has a blank in it ends up here.
            secret = any(re.match("radiussecrets|ldapbindpasswd", one) for one in options)
            shown = "the text" if secret else describe(option)
            return f"{shown} after the method is not an option of the form name=value"
        if name == "map" and method not in _WITH_MAP:
            return f"the method {method} takes no map; {', '.join(sorted(_WITH_MAP))} do"
        if name != "clientcert" and method not in _WITH_OPTIONS:
            return f"the method {method} takes no option {describe(name)}"
    needed = _NEEDED_OPTIONS.get(method, ())
    if needed and not any(option.startswith(tuple(f"{n}=" for n in needed)) for option in options):
        return f"the method {method} needs the option {' or '.join(needed)}"
    return None


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _address_complaint(address: str) -> str | None:
    if address in {"all", "samehost", "samenet"}:
        return None
    if "/" in address:
        try:
            ipaddress.ip_network(address)
        except ValueError as error:
            if "host bits" in str(error):
                network = ipaddress.ip_interface(address).network
                return f"{describe(address)} has host bits set; the network is written {network}"
            return f"{describe(address)} is not a network such as 192.168.20.0/24"
        return None
    if _is_address(address):
        return f"{describe(address)} needs a prefix: {address}/32 is that host alone"
    if not _HOST_NAME.fullmatch(address) or re.fullmatch(r"[\d.]+", address):
        return f"{describe(address)} is not a network, a host name, all, samehost or samenet"
    return None


def warning(rule: Rule, lan_subnet: IPv4Network, *, encrypts: bool = False) -> str | None:
    """Return what a valid rule's author may not expect, or None. `encrypts` is True if the server
    has TLS, which the contract leaves out (spec: §1.8)."""
    if rule.type in {"hostssl", "hostgssenc"} and not encrypts:
        return f"never takes effect: no connection is encrypted here, so none is {rule.type}"
    if rule.method == "trust":
        return "trust lets anyone in without a password; write scram-sha-256"
    if rule.method == "password":
        return "password sends passwords readable over the network; use scram-sha-256"
    if rule.database.split(",") == ["replication"]:
        return None
    if rule.type == "local":
        return "never takes effect: the contract's rule 2 decides every local connection first"
    network = rule.network
    for number, covered in ((5, lan_subnet), (6, OVERLAY_RANGE), (7, BRIDGE_RANGE)):
        if network is not None and network.subnet_of(covered):
            return (
                f"never takes effect: the contract's rule {number} decides every connection from "
                f"{covered} first"
            )
    return None


def access_rules(lan_subnet: IPv4Network, extra: Sequence[str]) -> tuple[str, ...]:
    """Return the contract's eight rules in order, the deployer's between the last two (§2.5)."""
    hosts = [
        f"host {database} {user} {source} scram-sha-256"
        for database, user, source in (
            ("replication", REPLICATION_USER, lan_subnet),
            ("replication", REPLICATION_USER, OVERLAY_RANGE),
            ("all", "all", lan_subnet),
            ("all", "all", OVERLAY_RANGE),
            ("all", "all", BRIDGE_RANGE),
        )
    ]
    local = [f"local all {SUPERUSER} peer", "local all all scram-sha-256"]
    return (*local, *hosts, *extra, REJECT_ALL)
