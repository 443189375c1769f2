"""A newer operator over a live, converged cluster of each release has nothing to do there.

The worlds are recorded on the lab (``tests/releases``). Where a release does change something of an
older one's, its steps are written out here, and none of them stops a member.
"""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest

from queenright import __version__
from queenright.core.observed import Observed, Unknown
from queenright.core.planner import make_plan
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
from tests.releases.telling import told
from tests.releases.upgrade import followed

PROXIES_FOLLOW = (
    "create-config/main_haproxy",
    "create-config/main_route",
    "label-config/main_cluster",
)
UPGRADES: dict[tuple[str, str], list[set[str]]] = {
    ("0.1.0", "usual"): [set(PROXIES_FOLLOW), {"update-service/main_proxy"}],
    ("0.1.0", "tuned"): [
        {*PROXIES_FOLLOW, "create-config/main_patroni", "settings/main"},
        {"update-service/main_proxy"},
    ],
}
"""By release and scene, the steps of each pass by which its cluster is brought up to date; every
other recorded cluster is as the present release wants it. From 0.1.0: the proxies' script, the note
of who leads, and, where the file has parameters of its own, that they are the file's (in a template
for the first member, which is read at a bootstrap alone, and restarts nobody)."""
DIGEST = re.compile(r"-[0-9a-f]{12}$")
AFTERWARDS = {"a minute": timedelta(minutes=1), "a month": timedelta(days=30)}
SAME = [path for path in recordings() if (path.parent.name, path.stem) not in UPGRADES]


def named(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


@pytest.mark.parametrize("later", AFTERWARDS)
@pytest.mark.parametrize("path", SAME, ids=named)
async def test_nothing_is_to_be_done_over_a_recorded_cluster(path: Path, later: str) -> None:
    world = await replay(read_recording(path))
    assert unknown(world.observed) == []
    for document in world.documents:
        plan = make_plan(document, world.observed, world.moment + AFTERWARDS[later]).plan
        assert plan.is_converged, (
            f"{later} after {named(path)} was recorded, the present code would do this:\n"
            f"{told(plan, world.observed)}\n"
            "A cluster in service sees it when its operator is updated. If it is meant, record "
            f"{path.parent.name} anew while it is not released ({COMMAND}), else write the steps "
            "into UPGRADES."
        )


@pytest.mark.parametrize("recorded", UPGRADES, ids="-".join)
async def test_an_upgrade_takes_these_steps_and_stops_no_member(recorded: tuple[str, str]) -> None:
    world = await replay(read_recording(path_of(*recorded)))
    assert unknown(world.observed) == []
    (document,) = world.documents
    now = world.moment + AFTERWARDS["a minute"]
    *plans, last = followed(document, world.observed, now)
    steps = [{DIGEST.sub("", action.key) for action in plan.actions} for plan in plans]
    assert steps == UPGRADES[recorded], "\n\n".join(told(p, world.observed) for p in plans)
    assert last.is_converged, told(last, world.observed)
    assert {action.disturbs for plan in plans for action in plan.actions} == {"", "main_proxy"}
    desired = make_plan(document, world.observed, now).desired
    assert desired is not None
    assert desired.proxy.update.parallelism == 1


def unknown(observed: Observed) -> list[str]:
    """Why a source is not known: without it, nothing to do would be no proof."""
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
