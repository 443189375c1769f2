"""Edits of any field, drawn from the kinds' own schema, so that a new field is drawn by itself.

A field is a path of YAML names; ``[]`` stands for the items of a list. ``draw_edit`` changes one
field of a text to another value that the schema allows; whether the text as a whole is valid is
for the loader to say.
"""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import yaml

from queenright.core.kinds.registry import KINDS
from tests.fakes.listening import QUICK
from tests.fakes.loading import judged
from tests.support.builders import FILE, MANIFEST, MEMBER_IMAGE

Path = tuple[str, ...]
ITEMS = "[]"
UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
SIZE_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
POOL: Mapping[str, tuple[str, ...]] = {
    "node": ("node1", "node2", "node3", "node4", "node9"),
    "nodes": ("node1", "node2", "node3", "node4", "node9"),
    "spareNodes": ("node1", "node4", "node9"),
    "address": ("10.77.0.12", "10.77.0.13", "10.77.0.99", "10.77.0.201", "192.168.3.4"),
    "lanSubnet": ("10.77.0.0/16", "10.76.0.0/14", "192.168.0.0/16"),
    "subnet": ("10.90.0.0/24", "10.91.4.0/24"),
    "leader": ("member-1", "member-2", "member-3"),
    "primary": ("member-1", "member-2", "member-3", "member-9"),
    "interface": ("eth0", "eth1"),
    "until": ("2026-01-01T00:04Z", "2026-01-01T06:00Z"),
    "validUntil": ("2026-01-01T00:04Z", "2030-01-01T00:00Z"),
    "origin": ("https://notes.example.org", "https://wiki.example.org"),
    "cluster": ("main", "other"),
    "extraHosts": ("a.example.org", "b.example.org"),
    "issuer": ("https://id.example.org", "https://sso.example.org/realms/x"),
    "host": ("0.0.0.0", "::", "127.0.0.1"),
    "protocolHeader": ("X-Forwarded-Proto", "X-Scheme"),
    "hostHeader": ("X-Forwarded-Host", "X-Host"),
    "addressHeader": ("X-Forwarded-For", "X-Real-IP"),
    "directoryRoot": ("tls_certificate",),
    "certificate": ("tls_certificate", "tls_certificate_2"),
    "key": ("tls_key", "tls_key_2"),
    "urlSecret": ("notes_url", "notes_url_2"),
    "clientSecret": ("oidc_secret", "oidc_secret_2"),
    "email": ("admin@example.org",),
    "directory": ("https://acme.example.org/directory",),
    "trustedProxies": ("10.77.0.1", "10.77.0.0/24"),
    "path": ("/srv/dumps", "/var/dumps"),
    "bucket": ("backups", "archive"),
    "prefix": ("clusters", "clusters/berlin"),
    "endpoint": ("https://s3.example", "https://s3.example:9000/gate"),
    "system": ("7412345678901234567", "main"),
    "base": ("20260131T120004", "latest"),
    "lsn": ("0/3000060", "here"),
    "time": ("2026-01-01T00:00Z", "2025-12-31T12:00Z"),
    "region": ("eu-central-1", "eu-west-2"),
    "schedule": ("weekly", "0 * * * *", "*/5 * * * *", "30 2 * * 0", "60 * * * *"),
    "credentials": ("main_backup", "other_backup"),
    "ca": ("s3_ca", "other_s3_ca"),
    "accessRules": (
        "host app app 192.168.7.0/24 scram-sha-256",
        "host all all 192.168.8.0/24 reject",
    ),
    "encoding": ("UTF8", "LATIN1"),
    "locale": ("C", "C.UTF-8"),
    "extensions": ("vector", "no_such_extension"),
    "owner": ("app", "report"),
    "connect": ("app", "report"),
    "memberOf": ("app", "report", "pg_monitor"),
}
"""Values of the free texts, by the field's name: some that fit and some that do not."""
PARAMETERS: tuple[tuple[str, object], ...] = (
    ("work_mem", "8MB"),
    ("shared_buffers", "128MB"),
    ("max_connections", 150),
    ("max_connections", 300),
    ("wal_level", "logical"),
    ("log_statement", "all"),
    ("autovacuum", False),
    ("archive_mode", "on"),
    ("max_wal_senders", 12),
    ("statement_timeout", "1min"),
    ("no_such_parameter", "1"),
)
FRESH_NAMES = ("other", "member-4", "other_pw")


@dataclass(frozen=True)
class SchemaField:
    """One field that a person may write: its path, and its JSON Schema."""

    path: Path
    schema: Mapping[str, Any]

    def __str__(self) -> str:
        return ".".join(self.path)


@cache
def fields_of(kind: str) -> tuple[SchemaField, ...]:
    """All fields of a kind that have a value of their own, each once."""
    schema = KINDS[kind].model.model_json_schema(by_alias=True)
    found: dict[Path, SchemaField] = {}
    for one in _walk(schema, (), schema.get("$defs", {})):
        found.setdefault(one.path, one)
    return tuple(found.values())


def _walk(node: Mapping[str, Any], path: Path, defs: Mapping[str, Any]) -> Iterator[SchemaField]:
    if "$ref" in node:
        named = defs[node["$ref"].rpartition("/")[2]]
        node = {**named, **{key: value for key, value in node.items() if key != "$ref"}}
    variants = [item for key in ("allOf", "anyOf", "oneOf") for item in node.get(key, ())]
    if variants:
        kept = {key: node[key] for key in ("default",) if key in node}
        for variant in variants:
            yield from _walk({**kept, **variant}, path, defs)
    elif node.get("properties"):
        for name, inner in node["properties"].items():
            yield from _walk(inner, (*path, name), defs)
    elif node.get("type") == "array":
        yield from _walk(node.get("items", {}), (*path, ITEMS), defs)
    elif "const" not in node and node.get("type") != "null":
        yield SchemaField(path, node)


def draw_value(one: SchemaField, present: object, rng: random.Random) -> object:
    """Return another value for a field; None removes the field."""
    schema, default = one.schema, one.schema.get("default")
    present = default if present is None else present
    name = next(part for part in reversed(one.path) if part != ITEMS)
    if present not in (None, default) and rng.random() < 0.1 and ITEMS not in one.path:
        return None
    if name == "image":
        base = str(present or MEMBER_IMAGE)
        return f"{base.removesuffix('.1')}.1" if rng.random() < 0.8 else "no/such:1"
    if name in POOL and schema.get("type") not in {"integer", "number"}:
        return rng.choice([value for value in POOL[name] if value != present])
    if "enum" in schema:
        return rng.choice([value for value in schema["enum"] if value != present])
    if schema.get("type") == "boolean":
        return not present
    if "additionalProperties" in schema:
        key, value = rng.choice(PARAMETERS)
        return {**(present if isinstance(present, dict) else {}), key: value}
    pattern = str(schema.get("pattern", ""))
    if "(ms|s|m|h|d)" in pattern or "bB" in pattern or schema.get("type") in {"integer", "number"}:
        return _number(schema, present, rng, is_size="bB" in pattern)
    return rng.choice([value for value in FRESH_NAMES if value != present])


def _number(
    schema: Mapping[str, Any], present: object, rng: random.Random, *, is_size: bool
) -> object:
    """Near the present one, mostly; now and then at the schema's own bounds."""
    base = _amount(present, is_size=is_size)
    low, high = schema.get("minimum", 0), schema.get("maximum")
    drawn = max(low, round(rng.choice((base * 2, base / 2, base + 1, base - 1))))
    if high is not None:
        drawn = rng.choice((min(drawn, high), min(drawn, high), low, high))
    if "(ms|s|m|h|d)" in str(schema.get("pattern", "")):
        return f"{drawn}s"
    return int(drawn)


def _amount(value: object, *, is_size: bool) -> float:
    if isinstance(value, int | float):
        return float(value)
    units = SIZE_UNITS if is_size else UNITS
    parts = re.findall(r"(\d+(?:\.\d+)?)\s?([a-zA-Z]*)", str(value or ""))
    keyed = [(float(number), unit.lower()) for number, unit in parts]
    if not keyed:
        return 64.0 * (1 << 20) if is_size else 10.0
    return sum(number * units.get(unit[:1] if is_size else unit, 1.0) for number, unit in keyed)


@dataclass(frozen=True)
class Edit:
    """A field's new value, and the text with it, in its file."""

    file: str
    field: SchemaField
    value: object
    text: str

    @property
    def problems(self) -> tuple[str, ...]:
        """Return the problems of the text; () if it is valid."""
        return tuple(str(error) for error in judged({FILE: MANIFEST, self.file: self.text}).errors)

    def __str__(self) -> str:
        return f"{self.field} becomes {self.value!r}"


@lru_cache(maxsize=64)
def _parsed(text: str) -> Any:
    return yaml.load(text, Loader=QUICK)  # noqa: S506  # a safe loader


def draw_edit(file: str, text: str, one: SchemaField, rng: random.Random) -> Edit:
    """The text with one field changed; of a list, one of its items or a further one."""
    document = copy.deepcopy(_parsed(text))
    parent, key = _place(document, one.path, rng)
    present = parent[key] if _has(parent, key) else None
    value = draw_value(one, present, rng)
    if value is None:
        del parent[key]
    elif isinstance(parent, list) and key == len(parent):
        parent.append(value)
    else:
        parent[key] = value
    return Edit(file, one, value, yaml.safe_dump(document, sort_keys=False))


def _has(parent: Any, key: Any) -> bool:
    return key < len(parent) if isinstance(parent, list) else key in parent


def _place(document: Any, path: Path, rng: random.Random) -> tuple[Any, Any]:
    """The mapping or list that holds the field, made where it is absent, and its key there."""
    node = document
    for position, part in enumerate(path[:-1]):
        following = path[position + 1]
        empty: Any = [] if following == ITEMS else {}
        if part == ITEMS:
            if not node:
                node.append({})
            node = node[rng.randrange(len(node))]
        else:
            if not isinstance(node.get(part), list if following == ITEMS else dict):
                node[part] = empty
            node = node[part]
    if path[-1] == ITEMS:
        return node, rng.randrange(len(node) + 1)
    return node, path[-1]
