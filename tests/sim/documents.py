"""The files that a simulated owner writes: valid ones, broken ones, and those to end with.

A fixed set of texts, so that a run reads each of them once.
"""

from __future__ import annotations

import random

from tests.support.builders import DIGESTS, MANIFEST, MEMBER_IMAGE, VIP, manifest

NEXT_IMAGE = "10.77.0.1:5000/queenright-member:16.1"
UNSTARTABLE_IMAGE = "10.77.0.1:5000/queenright-member:16.2"
UNKNOWN_IMAGE = "10.77.0.1:5000/queenright-member:16.3"
IMAGES = {
    **DIGESTS,
    NEXT_IMAGE: f"sha256:{'c' * 64}",
    UNSTARTABLE_IMAGE: f"sha256:{'d' * 64}",
}
"""The registry's images; it does not have ``UNKNOWN_IMAGE``, and no node can pull
``UNSTARTABLE_IMAGE``."""

LASTING: tuple[tuple[str, dict[str, str]], ...] = (
    (MEMBER_IMAGE, {}),
    (MEMBER_IMAGE, {"stopGracePeriod": "90s"}),
    (MEMBER_IMAGE, {"memory": "{limit: 3G}"}),
    (MEMBER_IMAGE, {"deletionPolicy": "remove"}),
    (MEMBER_IMAGE, {"restartPolicy": "{delay: 5s}", "healthCheck": "{retries: 5}"}),
    (MEMBER_IMAGE, {"healthCheck": "{whileStarting: healthy}"}),
    (MEMBER_IMAGE, {"postgresql": "{parameters: {work_mem: 8MB}}"}),
    (MEMBER_IMAGE, {"postgresql": "{parameters: {shared_buffers: 128MB}}"}),
    (MEMBER_IMAGE, {"postgresql": "{parameters: {max_connections: 300}}"}),
    (MEMBER_IMAGE, {"postgresql": "{parameters: {max_connections: 150}}"}),
    (
        MEMBER_IMAGE,
        {"postgresql": "{accessRules: [host app app 192.168.7.0/24 scram-sha-256]}"},
    ),
    (MEMBER_IMAGE, {"patroni": "{ttl: 20s, loopWait: 5s, retryTimeout: 5s}"}),
    (MEMBER_IMAGE, {"patroni": "{maximumLagOnFailover: 2MB}"}),
    (NEXT_IMAGE, {}),
    (MEMBER_IMAGE, {"ports": "{restApi: 18008}"}),
    (MEMBER_IMAGE, {"ports": "{postgresql: 15432}"}),
    (MEMBER_IMAGE, {"ports": "{postgresql: 15433, restApi: 18009}"}),
    (MEMBER_IMAGE, {"restApi": "{authentication: none}"}),
    (MEMBER_IMAGE, {"secrets": "{restApi: other_rest_pw}"}),
    (MEMBER_IMAGE, {"ports": "{restApi: 18008}", "secrets": "{restApi: other_rest_pw}"}),
    (MEMBER_IMAGE, {"replication": "{mode: quorum}"}),
    (MEMBER_IMAGE, {"replication": "{mode: quorum, strict: true}", "stopGracePeriod": "45s"}),
    (MEMBER_IMAGE, {"replication": "{mode: synchronous, nodes: 2, maximumLagOnSync: 64K}"}),
    (MEMBER_IMAGE, {"vip": VIP}),
    (MEMBER_IMAGE, {"vip": VIP.replace("routerId: 51", "routerId: 52")}),
    (MEMBER_IMAGE, {"vip": VIP.replace("routerId: 51", "routerId: 51, preempt: true")}),
)
"""Edits that may stay for good: the image, and further fields of spec."""
WISHES: tuple[dict[str, str], ...] = (
    {},
    {},
    {"primary": "member-1"},
    {"primary": "member-2"},
    {"primary": "member-3"},
    {"primary": "member-1", "failback": "{mode: automatic, after: 60s}"},
    {"primary": "member-2", "fastSwitchover": "false"},
)
PASSING: tuple[dict[str, str], ...] = (
    {"ports": "{raft: 15010}"},
    {"maintenance": "{nodes: [node2]}"},
    {"maintenance": "{nodes: [node3]}"},
    {"maintenance": "{nodes: [node3, node4]}"},
    {"maintenance": "{nodes: [node2, node3]}"},
    {"maintenance": "{nodes: [node2, node4], until: 2026-01-01T00:03Z}"},
    {"maintenance": "{nodes: [node3, node4]}", "replication": "{mode: quorum}"},
    {"maintenance": "{nodes: [node2]}", "replication": "{mode: synchronous, strict: true}"},
    {"promotion": "paused"},
    {"promotion": "{state: paused, until: 2026-01-01T00:02Z}"},
    {"reconcile": "paused"},
    {"reconcile": "{state: paused, until: 2026-01-01T00:02Z}"},
)
"""Edits that are over by the time a history is calm."""


def text_of(image: str, fields: dict[str, str]) -> str:
    return manifest(**fields).replace(MEMBER_IMAGE, image)


def lasting_texts() -> tuple[str, ...]:
    rng = random.Random("lasting")
    return tuple(
        text_of(image, {**fields, **wish})
        for image, fields in LASTING
        for wish in ({}, rng.choice(WISHES), rng.choice(WISHES))
    )


def passing_texts() -> tuple[str, ...]:
    rng = random.Random("passing")
    return tuple(
        text_of(image, {**fields, **wish, **passing})
        for passing in PASSING
        for image, fields in (LASTING[0], rng.choice(LASTING))
        for wish in (rng.choice(WISHES),)
    )


LASTING_TEXTS = lasting_texts()
PASSING_TEXTS = passing_texts()
PRIMARY_TEXTS = {
    name: text_of(MEMBER_IMAGE, {"primary": name}) for name in ("member-1", "member-2", "member-3")
}
REPLICATION_TEXTS = tuple(
    text_of(MEMBER_IMAGE, {"replication": mode})
    for mode in (
        "{mode: synchronous}",
        "{mode: quorum}",
        "{mode: synchronous, strict: true}",
        "{mode: quorum, strict: true, nodes: 2}",
        "{mode: quorum, maximumLagOnSync: 64K}",
        "{mode: asynchronous}",
    )
)
UNFIT_TEXTS = (
    text_of(UNSTARTABLE_IMAGE, {}),
    text_of(UNKNOWN_IMAGE, {"stopGracePeriod": "90s"}),
    MANIFEST + "    stopGracePeriod: 20s\n",
)
"""Valid, and yet not to be had; the last one is no YAML at all."""
BAD_TEXTS = (
    manifest(image2="x"),
    manifest(primary="member-9"),
    manifest(maintenance="{nodes: [node3], until: tomorrow}"),
    MANIFEST.replace("lanSubnet: 10.77.0.0/24", "lanSubnet: lan"),
    MANIFEST[: len(MANIFEST) // 2],
    "",
    "spec: [",
)
