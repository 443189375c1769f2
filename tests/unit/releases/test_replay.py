"""A newer operator over a live, converged cluster of each release stops no member there.

The worlds are recorded on the lab (``tests/releases``). The steps that the present release takes
over an older one's are written out here: over every one of them a single patch of Patroni's
settings, which restarts nothing.
"""

from __future__ import annotations

import re
from datetime import timedelta
from itertools import product
from pathlib import Path

import pytest

from queenright import __version__
from queenright.core.actions import PatchSettings
from queenright.core.observed import Observed, Unknown
from tests.releases.plan_text import told
from tests.releases.recording import (
    COMMAND,
    FILE,
    MOST_BYTES,
    ROOT,
    Recording,
    path_of,
    read_recording,
    recordings,
    version_of,
)
from tests.releases.replay import replay
from tests.releases.scenes import scenes_of
from tests.releases.upgrade import followed
from tests.support.plans import make_plan

PROXIES_FOLLOW = (
    "create-config/main_haproxy",
    "create-config/main_route",
    "label-config/main_cluster",
)
SETTINGS = "settings/main"
PATCH = {"check_timeline": True, "postgresql": {"basebackup": [{"checkpoint": "fast"}, "progress"]}}
"""The operator's own settings of Patroni, which no recorded cluster has yet."""
UPGRADES: dict[tuple[str, str], list[set[str]]] = {
    ("0.1.0", "usual"): [{*PROXIES_FOLLOW, SETTINGS}, {"update-service/main_proxy"}],
    ("0.1.0", "tuned"): [{*PROXIES_FOLLOW, SETTINGS}, {"update-service/main_proxy"}],
    ("0.2.0", "day-two"): [{SETTINGS, "remove-config/main_patroni"}],
}
"""By release and scene, the steps of each pass by which its cluster is brought up to date; every
other recorded cluster takes the one patch of Patroni's settings. From 0.1.0: the proxies' script,
the note of who leads, and, where the file has parameters of its own, that they are the file's. From
0.2.0 after an edit of parameters: a template that no member mounts, nor is to mount."""
DIGEST = re.compile(r"-[0-9a-f]{12}$")
AFTERWARDS = {"a minute": timedelta(minutes=1), "a month": timedelta(days=30)}
SAME = [path for path in recordings() if (path.parent.name, path.stem) not in UPGRADES]


def named(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


@pytest.mark.parametrize("path", SAME, ids=named)
async def test_one_settings_patch_and_nothing_restarted(path: Path) -> None:
    world = await replay(read_recording(path))
    assert unknown(world.observed) == []
    for document, (later, wait) in product(world.documents, AFTERWARDS.items()):
        now = world.moment + wait
        first, *rest = followed(document, world.observed, now)
        why = (
            f"{later} after {named(path)} was recorded, the present code would do this:\n"
            f"{told(first, world.observed)}\n"
            "A cluster in service sees it when its operator is updated. If it is meant, record "
            f"{path.parent.name} anew while it is not released ({COMMAND}), else write the steps "
            "into UPGRADES."
        )
        (action, *others) = first.actions if document.kind == "PostgresCluster" else (None,)
        assert not others, why
        if action is not None:
            assert isinstance(action, PatchSettings), why
            assert (action.patch, action.disrupts) == (PATCH, ""), why
        assert [*(plan.is_converged for plan in rest), not first.held] == [True] * (
            2 if action is not None else 1
        ), why


@pytest.mark.parametrize("recorded", UPGRADES, ids="-".join)
async def test_an_upgrade_takes_these_steps_and_stops_no_member(recorded: tuple[str, str]) -> None:
    world = await replay(read_recording(path_of(*recorded)))
    assert unknown(world.observed) == []
    (document,) = world.documents
    now = world.moment + AFTERWARDS["a minute"]
    *plans, last = followed(document, world.observed, now)
    patches = [a for plan in plans for a in plan.actions if isinstance(a, PatchSettings)]
    assert [set(PATCH) <= set(patch.patch) for patch in patches] == [True]
    steps = [{DIGEST.sub("", action.key) for action in plan.actions} for plan in plans]
    assert steps == UPGRADES[recorded], "\n\n".join(told(p, world.observed) for p in plans)
    assert last.is_converged, told(last, world.observed)
    assert {action.disrupts for plan in plans for action in plan.actions} <= {"", "main_proxy"}
    desired = make_plan(document, world.observed, now).desired
    assert desired is not None
    assert desired.proxy.update.parallelism == 1


def unknown(observed: Observed) -> list[str]:
    """Return the reason why a source is unknown: an unknown source would make the test empty."""
    readings = (observed.members, observed.settings, observed.raft, observed.images)
    sources = [observed.swarm, *(source for found in readings for source in found.values())]
    return [source.why for source in sources if isinstance(source, Unknown)]


async def test_what_would_be_done_is_told_field_by_field() -> None:
    recording = read_recording(path_of(version_of(ROOT), "usual"))
    proxy = next(raw for raw in recording.docker["services"] if raw["Spec"]["Name"] == "main_proxy")
    proxy["Spec"]["TaskTemplate"]["Resources"]["Limits"]["MemoryBytes"] = 1 << 20
    assert "    resources.memory_limit_bytes: 1048576 -> 67108864" in await told_lines(recording)
    recording.manifests[FILE] += "    timeouts: {server: 29m}\n"
    said = await told_lines(recording)
    assert {"    -    timeout server 30m", "    +    timeout server 29m"} <= set(said)


async def told_lines(recording: Recording) -> list[str]:
    world = await replay(recording)
    now = world.moment + AFTERWARDS["a minute"]
    plan = make_plan(world.documents[0], world.observed, now).plan
    return told(plan, world.observed).splitlines()


def test_the_present_release_is_recorded() -> None:
    present = version_of(ROOT)
    assert present == __version__
    missing = [scene for scene in scenes_of(present) if not path_of(present, scene).is_file()]
    assert not missing, f"{present} is not recorded in {', '.join(missing)}: {COMMAND}"


@pytest.mark.parametrize("path", recordings(), ids=named)
def test_a_recording_is_small_and_where_it_says(path: Path) -> None:
    recording = read_recording(path)
    assert recording.path == path
    assert path.stat().st_size <= MOST_BYTES
    assert not [raw for raw in recording.docker["secrets"] if "Data" in raw["Spec"]]
