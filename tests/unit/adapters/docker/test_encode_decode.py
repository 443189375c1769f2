"""Docker's JSON and ours: what is written is read back equal, and nothing is silently lost."""

from __future__ import annotations

import copy
import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queenright.adapters.docker.decode import (
    decode_service,
    decode_service_spec,
    decode_task,
    moment,
)
from queenright.adapters.docker.encode import encode_service
from queenright.core.observed import NEVER
from queenright.core.swarm.objects import (
    HOST_NETWORK,
    Attachment,
    FileReference,
    HealthCheck,
    Mount,
    Port,
    Resources,
    RestartPolicy,
    Service,
    UpdatePolicy,
)
from tests.support.builders import desired, three_nodes
from tests.support.changed import live
from tests.support.examples import examples

RECORDED = Path(__file__).parent / "recorded"
WORDS = st.text("abcdefgh-_./=:", min_size=1, max_size=8)
LABELS = st.dictionaries(WORDS, WORDS, max_size=3)
SECONDS = st.integers(0, 10_000_000).map(lambda microseconds: microseconds / 1_000)
IDS = st.sampled_from(["0", "999"])


def sorted_tuples(items: st.SearchStrategy[Any], key: Any = repr) -> st.SearchStrategy[Any]:
    return st.lists(items, max_size=3, unique_by=key).map(lambda found: tuple(sorted(found)))


FILES = st.builds(FileReference, WORDS, WORDS, IDS, IDS, st.sampled_from([0o400, 0o444]))
MOUNTS = st.one_of(
    st.builds(Mount, WORDS, st.just("volume"), WORDS, st.booleans()),
    st.builds(
        Mount,
        WORDS,
        st.just("tmpfs"),
        size_bytes=st.integers(1, 1 << 30),
        mode=st.just(0o1777),
    ),
)
POLICIES = st.builds(
    UpdatePolicy,
    st.integers(0, 3),
    SECONDS,
    st.sampled_from(["stop-first", "start-first"]),
    st.sampled_from(["pause", "continue", "rollback"]),
    SECONDS,
    st.sampled_from([0.0, 0.5]),
)
SERVICES = st.builds(
    Service,
    name=WORDS,
    image=WORDS,
    mode=st.just("replicated"),
    replicas=st.integers(0, 5),
    labels=LABELS,
    container_labels=LABELS,
    command=st.lists(WORDS, max_size=3).map(tuple),
    args=st.lists(WORDS, max_size=3).map(tuple),
    environment=st.dictionaries(st.text("ABC_", min_size=1, max_size=5), WORDS, max_size=3),
    hostname=WORDS,
    user=st.sampled_from(["", "999", "0:0"]),
    groups=sorted_tuples(WORDS),
    working_directory=st.sampled_from(["", "/srv"]),
    init=st.booleans(),
    tty=st.booleans(),
    read_only=st.booleans(),
    stop_signal=st.sampled_from(["", "SIGUSR1"]),
    stop_grace_s=SECONDS,
    capabilities_added=sorted_tuples(st.sampled_from(["CAP_NET_RAW", "CAP_NET_ADMIN"])),
    capabilities_dropped=sorted_tuples(st.sampled_from(["ALL", "CAP_CHOWN"])),
    hosts=sorted_tuples(WORDS),
    networks=sorted_tuples(
        st.builds(Attachment, WORDS, sorted_tuples(WORDS)), key=lambda item: item.network
    ),
    constraints=sorted_tuples(st.sampled_from(["node.labels.a==1", "node.role==worker"])),
    endpoint_mode=st.sampled_from(["vip", "dnsrr"]),
    ports=sorted_tuples(
        st.builds(
            Port,
            st.integers(1, 65535),
            st.integers(1, 65535),
            st.sampled_from(["tcp", "udp"]),
            st.sampled_from(["host", "ingress"]),
        )
    ),
    mounts=sorted_tuples(MOUNTS, key=lambda mount: mount.target),
    configs=sorted_tuples(FILES),
    secrets=sorted_tuples(FILES),
    health_check=st.none()
    | st.builds(
        HealthCheck,
        st.lists(WORDS, min_size=1, max_size=3).map(tuple),
        SECONDS,
        SECONDS,
        SECONDS,
        st.integers(1, 9),
    ),
    resources=st.builds(Resources, *[st.integers(0, 1 << 33)] * 4),
    restart=st.builds(
        RestartPolicy,
        st.sampled_from(["any", "on-failure", "none"]),
        SECONDS,
        st.integers(0, 9),
        SECONDS,
    ),
    update=POLICIES,
    rollback=POLICIES,
)


JOBS = SERVICES.map(
    lambda service: dataclasses.replace(
        service, mode="replicated-job", replicas=1, update=UpdatePolicy(), rollback=UpdatePolicy()
    )
)


def encode(service: Service) -> dict[str, Any]:
    networks = {item.network: f"id-{item.network}" for item in service.networks}
    configs = {item.name: f"id-{item.name}" for item in service.configs}
    secrets = {item.name: f"id-{item.name}" for item in service.secrets}
    spec = encode_service(service, 3, networks, configs, secrets)
    return json.loads(json.dumps(spec))  # type: ignore[no-any-return]


def decode(spec: dict[str, Any], service: Service) -> Service:
    return decode_service_spec(spec, {f"id-{i.network}": i.network for i in service.networks})


@given(SERVICES | JOBS)
@settings(max_examples=examples(150), deadline=None, derandomize=True)
def test_what_is_written_is_read_back_equal(service: Service) -> None:
    assert decode(encode(service), service) == service


@given(SERVICES | JOBS)
@settings(max_examples=examples(50), deadline=None, derandomize=True)
def test_defaults_that_docker_leaves_out_make_no_difference(service: Service) -> None:
    """The engine omits empty values when it answers."""
    assert decode(without_empty(encode(service)), service) == service


def without_empty(value: Any) -> Any:
    keep_zero = {"Replicas", "StopGracePeriod", "Delay", "Parallelism", "Monitor"}
    if isinstance(value, dict):
        return {
            key: without_empty(item)
            for key, item in value.items()
            if key in keep_zero or item not in (None, "", 0, False, [], {}) or key == "Global"
        }
    return [without_empty(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", [service.name for service in desired().services])
def test_the_services_that_we_deploy_are_read_back_equal(name: str) -> None:
    service = live(three_nodes(), name).value
    assert decode(encode(service), service) == service
    assert decode(encode(service), service).other == {}


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (("TaskTemplate", "ContainerSpec", "Sysctls"), {"net.core.somaxconn": "1"}, "Sysctls"),
        (("TaskTemplate", "ContainerSpec", "DNSConfig"), {"Nameservers": ["1.1.1.1"]}, "DNS"),
        (("TaskTemplate", "ContainerSpec", "Ulimits"), [{"Name": "nofile"}], "Ulimits"),
        (("TaskTemplate", "LogDriver"), {"Name": "syslog"}, "LogDriver"),
        (("TaskTemplate", "Placement", "MaxReplicas"), 2, "MaxReplicas"),
        (("TaskTemplate", "Placement", "Preferences"), [{"Spread": {}}], "Preferences"),
        (("TaskTemplate", "ContainerSpec", "OpenStdin"), True, "OpenStdin"),
        (("TaskTemplate", "ContainerSpec", "Isolation"), "hyperv", "Isolation"),
        (("TaskTemplate", "Runtime"), "plugin", "Runtime"),
    ],
)
def test_a_setting_that_nothing_models_is_seen(
    path: tuple[str, ...], value: object, told: str
) -> None:
    service = desired().members[0].service
    spec = encode(service)
    at = spec
    for step in path[:-1]:
        at = at.setdefault(step, {})
    at[path[-1]] = value
    found = decode(spec, service)
    assert found != service
    assert any(told in key for key in found.other)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("Mounts", 0, "VolumeOptions"), {"DriverConfig": {"Name": "nfs"}}),
        (("Mounts", 0, "Consistency"), "cached"),
        (("Healthcheck", "StartInterval"), 5),
        (("Secrets", 0, "File", "Extra"), "x"),
    ],
)
def test_a_setting_within_a_modelled_part_is_seen(path: tuple[Any, ...], value: object) -> None:
    service = desired().members[0].service
    spec = encode(service)
    at: Any = spec["TaskTemplate"]["ContainerSpec"]
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    assert decode(spec, service) != service


def test_decoding_leaves_its_input_alone() -> None:
    service = desired().members[0].service
    spec = encode(service)
    before = copy.deepcopy(spec)
    decode(spec, service)
    assert spec == before


RECORDINGS = sorted(RECORDED.glob("*.json"))


@pytest.mark.parametrize("file", RECORDINGS, ids=[file.stem for file in RECORDINGS])
def test_recorded_services_have_nothing_unmodelled(file: Path) -> None:
    recorded = json.loads(file.read_text())
    found = decode_service(recorded["service"], recorded["networks"])
    assert found.value.other == {}
    again = decode(encode(found.value), found.value)
    assert again == found.value
    for raw in recorded["tasks"]:
        task = decode_task(raw)
        assert task.service_id == found.id
        assert task.at > NEVER


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("2026-01-02T03:04:05.123456789Z", "2026-01-02T03:04:05.123456+00:00"),
        ("2026-01-02T03:04:05.1Z", "2026-01-02T03:04:05.100000+00:00"),
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05+00:00"),
        ("2026-01-02T03:04:05.123456789+02:00", "2026-01-02T01:04:05.123456+00:00"),
        ("2026-01-02T03:04:05-05:30", "2026-01-02T08:34:05+00:00"),
        ("2026-01-02T03:04:05+00:00", "2026-01-02T03:04:05+00:00"),
        ("2026-01-02T03:04:05", "2026-01-02T03:04:05+00:00"),
        ("0001-01-01T00:00:00Z", NEVER.isoformat()),
        ("", NEVER.isoformat()),
        (None, NEVER.isoformat()),
    ],
)
def test_dockers_times(text: str | None, told: str) -> None:
    assert moment(text).isoformat() == told


def test_the_nodes_own_network_is_asked_for_by_name_and_read_back_by_swarms_id() -> None:
    service = Service("a", "b:1", networks=(Attachment(HOST_NETWORK),))
    spec = encode_service(service, 0, {}, {}, {})
    assert spec["TaskTemplate"]["Networks"] == [{"Target": "host", "Aliases": []}]
    spec["TaskTemplate"]["Networks"] = [{"Target": "swarms-own-id"}]
    assert decode_service_spec(spec, {"swarms-own-id": HOST_NETWORK}) == service


def test_a_tasks_addresses_are_told_by_the_networks_name() -> None:
    attachment = {
        "Network": {"ID": "x", "Spec": {"Name": "notes_app"}},
        "Addresses": ["10.0.9.7/24"],
    }
    raw = {"ID": "t", "NetworksAttachments": [attachment, {"Network": {}}, {}]}
    assert decode_task(raw).addresses == {"notes_app": "10.0.9.7"}


def test_a_health_check_with_the_images_own_test_comes_back() -> None:
    check = HealthCheck((), interval_s=5, timeout_s=5, start_period_s=60, retries=3)
    service = Service("notes_web", "image", health_check=check)
    raw = encode_service(service, 0, {}, {}, {})
    assert decode_service_spec(raw, {}).health_check == check
