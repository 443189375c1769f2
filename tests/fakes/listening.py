"""The ports on which a container listens, as it was started, whatever was written since."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import yaml

from queenright.core.swarm.objects import Service
from tests.fakes.fake_secrets import secret_text
from tests.fakes.swarm_store import SwarmStore

QUICK: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The loader of libyaml, where PyYAML has it: it reads the same several times faster."""
POSTGRESQL, RAFT, REST_API = 5432, 5010, 8008


@dataclass(frozen=True)
class Listening:
    """A member's ports, and the passwords that it asks for; "" for none."""

    postgresql: int = POSTGRESQL
    raft: int = RAFT
    rest_api: int = REST_API
    rest_password: str = ""
    superuser_password: str = ""


def member_listening(store: SwarmStore, template: Service) -> Listening:
    """Return the result of the entry point: from the template, the environment and the secrets."""
    settings = patroni_settings(store, template)
    rest_api = settings.get("restapi", {})
    asks = "authentication" in rest_api
    return Listening(
        postgresql=port_of(settings.get("postgresql", {}), POSTGRESQL),
        raft=int(template.environment.get("RAFT_SELF", "").rpartition(":")[2] or RAFT),
        rest_api=port_of(rest_api, REST_API),
        rest_password=password(store, template, "rest") if asks else "",
        superuser_password=password(store, template, "superuser"),
    )


def why_unreadable(store: SwarmStore, template: Service) -> str:
    """Return the reason why a member's Patroni exits: a variable, or its file, that was damaged by
    hand; "" if it can read them."""
    environment = template.environment
    try:
        frozenset(json.loads(environment.get("RAFT_PARTNERS", "[]")))
        int(environment.get("FAILOVER_PRIORITY", "1"))
        member_listening(store, template)
    except (ValueError, TypeError, AttributeError, RecursionError, yaml.YAMLError) as error:
        return f"FATAL: {type(error).__name__}"
    return ""


def patroni_settings(store: SwarmStore, template: Service) -> Mapping[str, Any]:
    for reference in template.configs:
        live = store.configs.get(reference.name)
        if live is not None and reference.target.endswith("patroni.yml.tpl"):
            return settings_in(live.value.data)
    return {}


@lru_cache(maxsize=256)
def settings_in(template: bytes) -> Mapping[str, Any]:
    found = QUICK(template).get_single_data()
    return found if isinstance(found, dict) else {}


def port_of(section: Mapping[str, Any], default: int) -> int:
    return int(str(section.get("listen", default)).rpartition(":")[2])


def password(store: SwarmStore, template: Service, what: str) -> str:
    mounted = [item.name for item in template.secrets if what in item.target]
    return secret_text(store, mounted[0]) if mounted and mounted[0] in store.secret_values else ""


@dataclass(frozen=True)
class Server:
    """One server of a proxy's listener. ``connects`` is the port that its check opens besides."""

    address: str
    port: int
    check_port: int
    connects: int = 0


def servers_of(store: SwarmStore, proxy: Service, listener: str = "primary") -> list[Server]:
    """The servers of a proxy's listener, by the configuration that its container was started
    with."""
    texts = (store.configs.get(item.name) for item in proxy.configs)
    found = (c.value.data.decode() for c in texts if c and b"listen primary" in c.value.data)
    config = next(found, "")
    section = config.partition(f"listen {listener}\n")[2].partition("\nlisten ")[0]
    opens_too = "http-check connect port srv_name,field(2,.)" in section
    return [*servers_in(section, opens_too=opens_too)]


def servers_in(section: str, *, opens_too: bool) -> Iterator[Server]:
    for line in section.splitlines():
        words = line.split()
        if words[:1] == ["server"]:
            address, _, port = words[2].partition(":")
            assert words[3:5] == ["check", "port"], line
            connects = int(words[1].split(".")[1]) if opens_too else 0
            yield Server(address, int(port), int(words[5]), connects)
