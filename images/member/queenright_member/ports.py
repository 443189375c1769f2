"""Decides on which ports of its own container a member listens, from the configuration that it was
started with: a cluster may have others than the contract's (spec: database-cluster §2.4)."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

CONFIG = "/tmp/patroni.yml"


@dataclass(frozen=True, slots=True)
class Ports:
    """The REST API's and PostgreSQL's."""

    rest_api: int = 8008
    postgresql: int = 5432


def own_ports(config: Path | None = None) -> Ports:
    """The ports in the generated configuration; the contract's where it can't be read."""
    path = config or Path(os.environ.get("PATRONICTL_CONFIG_FILE", CONFIG))
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
        return Ports(_port(found["restapi"]), _port(found["postgresql"]))
    except (OSError, ValueError, yaml.YAMLError, LookupError, TypeError):
        return Ports()


def _port(section: dict[str, Any]) -> int:
    return int(str(section["listen"]).rpartition(":")[2])
