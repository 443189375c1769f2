"""Runs Lighthouse on screens of a furnished workspace, for a test and for the bench."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.judges.programs import NEW_NODE, front, node
from tests.judges.screen_world import furnish
from tests.judges.screens import SCREENS
from tests.judges.test_accessibility import PLAIN
from tests.replica import Replica

#: Sign-in, the workspace's page, the plain page, a shared page.
NAMES = ("login", "page", "plain-page", "share")


@dataclass(frozen=True, slots=True)
class Run:
    """One run on one screen: scores from 0 to 100, and metrics (ms, but `shift` has no unit)."""

    screen: str
    address: str
    version: str
    error: str
    scores: dict[str, int | None]
    metrics: dict[str, float | None]
    passed: int
    failed: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Installation:
    """Chromium's reasons against installing what is at an address."""

    path: str
    manifest: str
    errors: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Found:
    """The answers: runs by screen, and installations by path."""

    runs: dict[str, list[Run]]
    installations: dict[str, Installation]


def judged(
    replica: Replica, categories: Sequence[str], *, runs: int = 1, installable: Sequence[str] = ()
) -> Found:
    """Sets `replica` up and lets Lighthouse judge NAMES; RuntimeError if it can't.

    The replica's ORIGIN is empty and its PROTOCOL_HEADER is x-forwarded-proto.
    """
    with replica.client(headers=PLAIN) as client:
        ids = furnish(client.set_up())
        cookie = client.jar["notes"]
    by_name = {screen.name: screen for screen in SCREENS}
    given = {
        "cookie": cookie,
        "screens": [by_name[name].at(ids) for name in NAMES],
        "categories": list(categories),
        "runs": runs,
        "installable": list(installable),
    }
    with front(replica) as base:
        done = node("lighthouse.mjs", base, json.dumps(given), timeout_s=1500, program=NEW_NODE)
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    return _read(done.stdout)


def _read(lines: str) -> Found:
    found = Found({}, {})
    for line in lines.splitlines():
        one = json.loads(line)
        if "screen" in one:
            found.runs.setdefault(one["screen"], []).append(Run(**one))
        else:
            errors = one["manifestErrors"] + one["errors"]
            path = one["installable"]
            found.installations[path] = Installation(path, one["manifest"], errors)
    return found
