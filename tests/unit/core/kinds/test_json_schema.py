"""The JSON Schema: current, valid, and of one mind with our own validation."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from queenright.core.kinds.field_reference import reference
from queenright.core.kinds.json_schema import schemas
from queenright.core.manifest.yaml_reader import read_yaml
from tests.support.databases_error_cases import BEYOND
from tests.support.documents import APP, BASE, edited, edited_app, loaded
from tests.support.edge_error_cases import BEYOND as EDGE_BEYOND
from tests.support.error_cases import CASES, PROXY
from tests.support.vip_error_cases import BEYOND as VIP_BEYOND
from tests.unit.core.kinds.test_load_examples import EXAMPLES

ROOT = Path(__file__).parents[4]
TEXTS = schemas()
SCHEMAS: dict[str, dict[str, Any]] = {
    kind: json.loads(TEXTS[f"{kind.lower()}.schema.json"])
    for kind in ("PostgresCluster", "NotesApp")
}
VALIDATORS = {kind: jsonschema.Draft202012Validator(schema) for kind, schema in SCHEMAS.items()}

BEYOND_A_SCHEMA = {
    "backup with a drill in too little",
    # what takes more than one field
    *("duplicate member", "duplicate node", "duplicate address", "even number of members"),
    *("one member", "address outside lanSubnet", "broadcast address", "times don't fit the ttl"),
    *("times don't fit the default ttl", "member ports collide", "member and proxy ports collide"),
    *("memory below 2G", "memory below the reservation", "check timeout above interval"),
    "proxies' delay below their checks",
    *("proxy node twice", "same label", "same secret", "overlay overlaps", "too few slots"),
    *("all connections reserved", "shared_buffers above memory", "same name twice"),
    "TLS without certificates",
    *("primary unknown", "primary misspelt", "primary nobody", "primary in maintenance"),
    *("failback without primary", "until of active", "maintenance without nodes"),
    *(name for name in CASES if name.startswith("maintenance of ")),
    "maintenance while paused",
    *("replication of one member", "replication of two members"),
    *("backup in clear text", "backup in clear text with an authority"),
    *("backup with a password for credentials", "backup with one secret for two"),
    *("backup with a role's password", "backup without archiving", "backup without the replicas"),
    *("backup with a schedule beyond the hour", "backup with a schedule downwards"),
    *("backup with a schedule without a step", "backup with a schedule that never comes"),
    *("backup with a retention and no schedule", "backup with a retention of nothing"),
    *("backup on a volume", "backup on a volume beside a member"),
    *("backup on a volume and in a bucket", "backup on a volume and at an address"),
    *("backup on a volume with a certificate alone", "backup on a volume with a CA alone"),
    *("backup on a volume with a secret twice", "backup without a bucket"),
    *("backup by another command", "backup by a library", "backup without a time"),
    *("replicas from the backup by another command", "replicas from the backup within a minute"),
    *("restore to nothing", "restore to two targets", "restore into the parent's archive"),
    *("restore into the parent's archive, by an address", "restore with one secret for two"),
    *("restore with a password for credentials", "restore in clear text"),
    "replication strict without a mode",
    *("replication by too many nodes", "replication with a lag of nothing"),
    *("replication without the wait", "replication without the wait, by a switch"),
    "replication with more lag than a leader may have",
    "replication that may keep the primary from leading",
    *BEYOND,
    *EDGE_BEYOND,
    *VIP_BEYOND,
    # what the calendar knows
    *("until no such day", "until before the calendar", "failback at once"),
    # what arithmetic on a text with a unit decides
    *("half a second", "too fine", "proxy timeout too long", "loopWait below its minimum"),
    *("ttl below its minimum", "tmpfs too small", "memory below Docker's least", "short grace"),
    *("parameter out of range", "parameter without bound", "parameter's unit", "no time"),
    *("parameter's time unit", "parameter without unit", "below Patroni's minimum"),
    # what the contract or swarm reserves
    *("member called proxy", "swarm's port", "privileged port", "CIDR with host bits"),
    *("hot_standby off", "wal_level minimal", "md5", "full_page_writes off", "no proxy nodes"),
    # the grammar of access rules, and of texts
    *(name for name in CASES if name.startswith("rule ") and name != "rule is a number"),
    "unprintable parameter",
    "replaceAfter too short",  # what a time with a unit amounts to
    *("replaceAfter without spares", "spareNodes without replaceAfter"),
    "spareNodes twice the same",
    "acceptLoss of nobody",  # the schema does not compare a name with the members'
    # applications: what takes more than one field, or document
    *("database nowhere", "database twice", "database with a role of nobody's"),
    *("database of no cluster", "oidc's group without claim", "oidc's issuer plain HTTP"),
    "database's password a role's of its cluster",
    *("start-first with a host's port", "all replicas at once with a host's port"),
    *("no replica", "one replica", "extra host the main one", "extra host twice"),
    *("origin plain HTTP", "key the database's", "publish nowhere", "publish beside the edge"),
    *("header from anybody", "headers from anybody", "depth without header"),
    *("behindProxy without address", "behindProxy beside the edge"),
    *("grace below the shutdown", "shutdown above the grace", "placement's node twice"),
    *("too few nodes for host ports", "app's reservation"),
    *("reservation below swarm's least", "app's reservation below swarm's least"),
    *("app's cpus below swarm's least", "app checked from the start", "checked from the start"),
    *("lanSubnet everything", "shared_buffers beyond all numbers"),
    *("app's cpus reserved", "update hardly watched", "app's pause without state"),
    *("dump without image", "dump without node", "dump in two places"),
    # applications: what a size or time with a unit amounts to, and what is reserved or unwise
    *("attachment of half a megabyte", "attachment of nothing", "attachment beyond all"),
    *("body smaller than a chunk", "body small", "shutdown of days", "app's memory", "app's tmp"),
    *("app's check at once", "dump in no time", "publish swarm's port", "origin's port"),
    *("extra host's port", "app's image latest", "app's image without tag"),
    *("database's role reserved", "database's role PostgreSQL's", "app's subnet"),
    *("app's host a name", "app's host the loopback", "dump's path climbs"),
}


def validator(document: Any) -> jsonschema.Draft202012Validator:
    """Return an editor's validator for the document: of its kind, or the cluster's without one."""
    kind = document.get("kind") if isinstance(document, dict) else None
    return VALIDATORS["NotesApp" if kind == "NotesApp" else "PostgresCluster"]


def parts() -> list[tuple[str, str, dict[str, Any]]]:
    """Every part of every kind: kind, name and schema."""
    return [
        (kind, name, part)
        for kind, schema in SCHEMAS.items()
        for name, part in schema["$defs"].items()
    ]


def data_of(text: str) -> list[Any]:
    """The documents of a text as an editor sees them."""
    documents, problems = read_yaml("any.yaml", text)
    return [] if problems else [one.value for one in documents if not one.problems]


def test_the_files_are_what_the_models_give() -> None:
    for name, text in TEXTS.items():
        assert (ROOT / "crds" / name).read_text() == text, "run `make crds`"
    assert (ROOT / "docs/reference.md").read_text() == reference(), "run `make crds`"


@pytest.mark.parametrize("kind", SCHEMAS)
def test_the_schema_is_a_schema(kind: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[kind])


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_every_example_fits_the_schema(file: Path) -> None:
    for document in data_of(file.read_text()):
        assert not [error.message for error in validator(document).iter_errors(document)]


def test_the_schema_refuses_what_we_refuse() -> None:
    """All mistakes at once: a failure lists those that only one of the two sees."""
    readable = {name: documents for name, text in CASES.items() if (documents := data_of(text))}
    accepted = {
        name
        for name, documents in readable.items()
        if all(validator(document).is_valid(document) for document in documents)
    }
    assert len(readable) > 400
    assert accepted == BEYOND_A_SCHEMA & readable.keys()


ACCEPTED = {
    "durations": edited(more="stopGracePeriod: 1m30s\npatroni: {ttl: 30, loopWait: '10'}"),
    "sizes": edited(more="memory: {limit: 4GiB, reservation: 512m}\ntmpfs: {tmp: 67108864}"),
    "switches": edited(more="postgresql: {parameters: {jit: off, archive_mode: true}}"),
    "words": edited(more="postgresql: {parameters: {wal_level: logical, a.b: 1}}"),
    "nothing where that is meant": edited(more="network: {subnet: }"),
    "words of day two": edited(
        more="primary: member-2\nfailback: automatic\nreconcile: paused\npromotion: active"
    ),
    "mappings of day two": edited(
        more="primary: member-2\nfailback: {mode: automatic, after: 5m}\n"
        "reconcile: {state: paused, until: 2026-12-01T06:00Z}\n"
        "promotion: {state: paused, until: '2026-12-01 07:00:00.5 +01:00'}"
    ),
    "maintenance": edited(more="maintenance: {nodes: [node3, node4], until: 2026-12-01T06:00:30Z}"),
    "nothing desired": edited(more="primary:\nmaintenance: {nodes: [], until: }"),
    "the others of day two": edited(more="canary: {enabled: true}\nfastSwitchover: false"),
    "digest": edited(("member:16", f"member:16@sha256:{'0' * 64}")),
    "fraction of a second": edited((PROXY, PROXY + "    check: {interval: 3500ms}\n")),
    "no optional field": BASE,
    "application": APP,
    "application in words": edited_app(
        more="reconcile: paused\nedge: {image: e:1, tls: internal}\nreplicas: 3"
    ),
    "application in mappings": edited_app(
        ("{dump: none}", "{dump: {mode: attempted, image: m:16, node: node4, keep: 9}}"),
        more="publish: {mode: host, port: 3001}\nreconcile: {state: paused, until: }\n"
        "resources: {memory: {limit: 1G}, cpus: {limit: 0.5}}\nextraHosts: ['a.example.org:8443']\n"
        "behindProxy: true\naddressHeader: X-Real-IP\nprotocolHeader: X-Forwarded-Proto\n"
        "oidc: {issuer: 'https://id.example.org/a', clientId: notes, clientSecret: oidc}\n"
        "maxAttachment: 2048M\nshutdownTimeout: 25",
    ),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_the_schema_accepts_what_we_accept(name: str) -> None:
    assert loaded(ACCEPTED[name]).errors == ()
    (document,) = data_of(ACCEPTED[name])
    assert not [error.message for error in validator(document).iter_errors(document)]


def test_an_editor_that_reads_yaml_1_1_agrees() -> None:
    document = yaml.safe_load(ACCEPTED["switches"])
    assert document["spec"]["postgresql"]["parameters"]["jit"] is False
    assert validator(document).is_valid(document)


def fields(part: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return list(part.get("properties", {}).items())


def test_every_field_says_what_it_means() -> None:
    for kind, name, part in parts():
        for field, schema in fields(part):
            target = SCHEMAS[kind]["$defs"].get(schema.get("$ref", "").rpartition("/")[2], {})
            assert schema.get("description") or target.get("description"), f"{name}.{field}"


def test_defaults_fit_their_own_field() -> None:
    for kind, name, part in parts():
        for field, schema in fields(part):
            if "default" in schema:
                definitions = SCHEMAS[kind]["$defs"]
                own = VALIDATORS[kind].evolve(schema={**schema, "$defs": definitions})
                assert own.is_valid(schema["default"]), f"{name}.{field}"
