"""Check a parameter and its value: PostgreSQL 16 accepts it, and Patroni does not set it.

Pure: from a table of PostgreSQL's `pg_settings` and from the parameters that Patroni sets or
refuses itself. The server starts with every value that passes here.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType

from queenright.core.manifest.suggestions import describe, did_you_mean

Value = str | int | float

MANAGED: Mapping[str, str] = MappingProxyType(
    {
        "listen_addresses": "is set by Patroni: a member listens on every address of its container",
        "port": "is set by Patroni; write spec.ports.postgresql instead",
        "cluster_name": "is set by Patroni to the document's metadata.name",
        "data_directory": "is set by Patroni: the data volume is mounted there",
        "config_file": "is written by Patroni; write the parameters themselves here",
        "hba_file": "is written by Patroni; write spec.postgresql.accessRules instead",
        "ident_file": "is written by Patroni and can't be placed elsewhere",
        "external_pid_file": "is not for a container; Patroni watches the server itself",
        "unix_socket_directories": "can't change: the member's tools use /var/run/postgresql",
        "primary_conninfo": "is set by Patroni: a replica follows whoever is the leader",
        "primary_slot_name": "is set by Patroni, one slot for each member",
        "synchronous_standby_names": "is set by Patroni; write spec.replication instead",
    }
)
"""Parameters that a manifest can't set, and what to do instead."""

MINIMA: Mapping[str, str] = MappingProxyType(
    {
        "max_connections": "25",
        "max_wal_senders": "3",
        "wal_keep_size": "16MB",
        "max_locks_per_transaction": "32",
        "max_replication_slots": "4",
        "max_worker_processes": "2",
    }
)
"""Below these Patroni silently takes its own defaults (its `ConfigHandler.CMDLINE_OPTIONS`)."""

_ON, _OFF = frozenset({"on", "true", "yes", "1"}), frozenset({"off", "false", "no", "0"})
_MEMORY = {"B": 1, "kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
_TIME_MS = {"us": 0.001, "ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
CUSTOM_PATTERN = r"^[A-Za-z_][A-Za-z0-9_$]*(\.[A-Za-z_][A-Za-z0-9_$]*)+$"
"""Names of extensions' parameters, such as `pg_stat_statements.max`."""

_CUSTOM = re.compile(CUSTOM_PATTERN, re.ASCII)
_HEX_OR_OCTAL = re.compile(r"\s*[-+]?(0[xX][0-9a-fA-F]+|0[0-7]+)\s*", re.ASCII)
_NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([A-Za-z]*)\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One of PostgreSQL's parameters. `unit` is that of a bare number (`kB`, `8kB`, `ms`), bounds
    are in it; `needs_restart` is True if a change takes effect only after a restart."""

    name: str
    type: str
    unit: str
    needs_restart: bool
    minimum: float
    maximum: float
    words: tuple[str, ...]


@cache
def parameters() -> Mapping[str, Parameter]:
    """Return PostgreSQL 16's parameters by name."""
    text = resources.files(__package__).joinpath("postgresql_16.tsv").read_text(encoding="utf-8")
    table = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, type_, unit, context, low, high, words = (line.split("\t") + [""] * 6)[:7]
        table[name] = Parameter(
            name,
            type_,
            unit,
            context == "postmaster",
            float(low or -math.inf),
            float(high or math.inf),
            tuple(words.split(",")) if words else (),
        )
    return MappingProxyType(table)


def parameter_error(name: str, value: Value) -> str | None:
    """Return the reason against this value, in words that follow the name, or None."""
    if name in MANAGED:
        return MANAGED[name]
    if name.startswith("recovery_target"):
        return "is for a restore to a point in time, which a running cluster can't do"
    if isinstance(value, str) and not value.isprintable():
        return f"holds a character that is not printable: {describe(value)}"
    parameter = parameters().get(name)
    if parameter is None:
        if _CUSTOM.fullmatch(name):
            return None
        return (
            f"is not a parameter of PostgreSQL 16{did_you_mean(name, parameters())}"
            if len(name) <= 63
            else "is not a parameter of PostgreSQL 16"
        )
    return _value_refusal(parameter, value) or _rule_refusal(parameter, value)


def is_on(value: Value) -> bool:
    """Return True if a switch's value means on."""
    return str(value).strip().lower() in _ON


def _value_refusal(parameter: Parameter, value: Value) -> str | None:
    word = str(value).strip().lower()
    match parameter.type:
        case "bool":
            return None if word in _ON | _OFF else f"must be on or off, not {describe(value)}"
        case "enum":
            if word in parameter.words or (
                {"on", "off"} <= {*parameter.words} and word in _ON | _OFF
            ):
                return None
            near = did_you_mean(word, parameter.words)
            return f"must be one of {', '.join(parameter.words)}, not {describe(value)}{near}"
        case "integer" | "real":
            return _number_refusal(parameter, value)
    return None


def _number_refusal(parameter: Parameter, value: Value) -> str | None:
    amount = amount_of(parameter, value)
    if amount is None:
        return f"must be {_expected(parameter)}, not {describe(value)}"
    if not parameter.minimum <= amount <= parameter.maximum:
        return f"must be {_range(parameter)}, not {describe(value)}{_octal_hint(parameter)}"
    return None


def amount_of(parameter: Parameter, value: Value) -> float | None:
    """Return the value in the parameter's own unit, rounded as PostgreSQL does, or None."""
    text = str(value)
    if len(text) > 40:
        return None
    if isinstance(value, str) and parameter.type == "integer" and _HEX_OR_OCTAL.fullmatch(text):
        return float(int(text, 16) if "x" in text.lower() else int(text, 8))
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    number, unit = float(match[1]), match[2]
    if unit:
        scale = _scale(parameter.unit)
        given = (_MEMORY if parameter.unit.endswith("B") else _TIME_MS).get(unit)
        if scale is None or given is None:
            return None
        number = number * given / scale
    if not math.isfinite(number):
        return None
    return float(round(number)) if parameter.type == "integer" else number


def _scale(unit: str) -> float | None:
    """Return the bytes or milliseconds of a parameter's unit."""
    if unit == "8kB":
        return 8192
    return _MEMORY.get(unit) or _TIME_MS.get(unit)


def _expected(parameter: Parameter) -> str:
    if parameter.unit.endswith("B"):
        return (
            f"a size such as 64MB (units B, kB, MB, GB, TB; a bare number counts {parameter.unit})"
        )
    if parameter.unit:
        return f"a time such as 5s (units us, ms, s, min, h, d; a bare number is {parameter.unit})"
    return "a number" if parameter.type == "real" else "a whole number"


def _octal_hint(parameter: Parameter) -> str:
    """Return a hint for file modes: PostgreSQL reads a bare number as decimal."""
    return '; a file mode is octal and in quotes: "0640"' if parameter.maximum == 0o777 else ""


def _range(parameter: Parameter) -> str:
    unit = f" (in units of {parameter.unit})" if parameter.unit else ""
    low, high = f"{parameter.minimum:.10g}", f"{parameter.maximum:.10g}"
    if math.isinf(parameter.maximum):
        return f"at least {low}{unit}"
    return f"from {low} to {high}{unit}"


def _rule_refusal(parameter: Parameter, value: Value) -> str | None:
    """Return the reason of a rule of this cluster, beyond PostgreSQL's own, or None."""
    word = str(value).strip().lower()
    match parameter.name:
        case "hot_standby" if word in _OFF:
            return "must be on: replicas serve reads, and Patroni sets it"
        case "wal_level" if word == "minimal":
            return "must be replica or logical: replicas can't follow on minimal"
        case "password_encryption" if word == "md5":
            return "must be scram-sha-256; the access rules take no other (spec: §5)"
        case "full_page_writes" if word in _OFF:
            return "must be on: a former leader can't be rewound without it"
    amount = amount_of(parameter, value)
    if parameter.name == "vacuum_buffer_usage_limit" and amount is not None and 0 < amount < 128:
        return f"must be 0, or 128kB or more, not {describe(value)}"
    if parameter.name in MINIMA:
        least = MINIMA[parameter.name]
        bound = amount_of(parameter, least)
        if amount is not None and bound is not None and amount < bound:
            return f"must be at least {least}, or Patroni ignores it; not {describe(value)}"
    return None
