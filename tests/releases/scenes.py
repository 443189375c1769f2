"""The clusters that are recorded of each release: what their owner wrote, edit after edit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.e2e.swarm_facts import manifest
from tests.lab.lab import Lab

TUNED = """\
    maxConnections: 400
    timeouts: {client: 10m, server: 10m, check: 2s}
    check: {interval: 2s, fall: 2, rise: 1}
  memory: {limit: 3G, reservation: 256M}
  patroni: {ttl: 25s, loopWait: 5s, retryTimeout: 10s, maximumLagOnFailover: 4M}
  postgresql:
    parameters:
      work_mem: 8MB
      max_connections: 300
      shared_buffers: 128MB
      log_min_duration_statement: 250ms
    accessRules:
      - host reporting report 192.168.20.0/24 scram-sha-256
  healthCheck: {interval: 5s}
  stopGracePeriod: 1m
"""
WISHES = """\
  primary: member-2
  failback: {mode: automatic, after: 30m}
  maintenance: {nodes: []}
  promotion: active
  reconcile: active
  canary: {enabled: true}
"""


@dataclass(frozen=True)
class Scene:
    """``edits`` are the manifest's texts, each converged before the next one is written. ``since``
    is the first release that knows all of the fields."""

    since: tuple[int, ...]
    edits: Callable[[Lab], tuple[str, ...]]


SCENES: dict[str, Scene] = {
    "usual": Scene((0, 1), lambda lab: (manifest(lab),)),
    "tuned": Scene((0, 1), lambda lab: (manifest(lab, TUNED),)),
    "day-two": Scene((0, 2), lambda lab: (manifest(lab), manifest(lab, TUNED + WISHES))),
}


def scenes_of(release: str) -> list[str]:
    """The scenes that a release can be recorded in."""
    version = tuple(int(part) for part in release.split(".")[:2])
    return [name for name, scene in SCENES.items() if scene.since <= version]
