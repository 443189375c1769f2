"""Labs beside the usual one, and what a worker's lab gets to do."""

from __future__ import annotations

import ipaddress
import itertools
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e import image_containers
from tests.e2e import test_own_disks as own_disks
from tests.lab.settings import LabSettings
from tests.support.side_by_side import (
    LONGEST_FIRST,
    WITHOUT_LAB,
    Turns,
    deploys,
    group_of,
    has_lab,
    next_group,
    rank,
)

TESTS = Path(__file__).parents[2]
FIRST = LabSettings(Path("/var/lib/lab"), 3, ipaddress.IPv4Network("10.77.0.0/24"))


def test_the_usual_lab_is_the_first_workers() -> None:
    assert FIRST.beside(0) == FIRST


def test_labs_beside_share_nothing_but_the_builder() -> None:
    labs = [FIRST.beside(number) for number in range(4)]
    for what in ("directory", "subnet", "name", "registry", "host_address"):
        assert len({getattr(lab, what) for lab in labs}) == len(labs), what
    assert {lab.builder_directory for lab in labs} == {Path("/var/lib/lab/builder")}
    assert {lab.nodes for lab in labs} == {3}
    assert labs[1].directory == Path("/var/lib/lab-2")
    assert labs[1].subnet == ipaddress.IPv4Network("10.77.1.0/24")


@pytest.mark.parametrize("number", [0, 1])
def test_a_command_finds_its_lab_by_the_variables(number: int) -> None:
    lab = FIRST.beside(number)
    found = LabSettings.from_environment(lab.variables())
    assert found.variables() == lab.variables()


def test_a_modules_tests_stay_together_and_so_do_those_of_some_directories() -> None:
    assert group_of("tests/e2e/test_lab.py::test_a[x::y]") == "e2e/test_lab.py"
    assert group_of("tests/contract/test_swarm.py::test_a") == "contract"
    assert group_of("tests/e2e/images/test_refusals.py::test_a") == "e2e/images"


def test_every_listed_group_exists_and_a_new_one_starts_first() -> None:
    listed = LONGEST_FIRST + WITHOUT_LAB
    assert len({*listed}) == len(listed)
    assert [group for group in listed if not (TESTS / group).exists()] == []
    assert rank("e2e/test_new.py") < rank(LONGEST_FIRST[0]) < rank(LONGEST_FIRST[1])


def test_contracts_without_a_lab_deploy_nothing() -> None:
    found = [group for group in WITHOUT_LAB if not deploys(group)]
    assert "contract/test_rewind.py" in found
    assert not [group for group in found if not group.startswith("contract/")]
    assert all(deploys(group) for group in (*LONGEST_FIRST, "e2e/test_new.py"))


def test_the_last_of_several_workers_has_no_lab() -> None:
    assert has_lab(0, 1)
    assert [has_lab(number, 3) for number in range(4)] == [True, True, False, True]


def test_a_worker_without_a_lab_gets_what_needs_none_and_the_others_that_at_the_end() -> None:
    waiting = ["e2e/test_new.py", WITHOUT_LAB[0], LONGEST_FIRST[0], WITHOUT_LAB[1]]
    assert next_group(waiting, on_lab=True) == "e2e/test_new.py"
    assert next_group(waiting[1:], on_lab=True) == LONGEST_FIRST[0]
    assert next_group(WITHOUT_LAB, on_lab=True) == WITHOUT_LAB[0]
    assert next_group(waiting, on_lab=False) == WITHOUT_LAB[0]
    assert next_group(LONGEST_FIRST, on_lab=False) is None
    assert next_group([], on_lab=True) is None


def waits(take: Callable[[], None], until: Callable[[], None]) -> bool:
    """Return True if a turn is taken after another one's end, and not before."""
    taken = threading.Event()
    thread = threading.Thread(target=lambda: (take(), taken.set()), daemon=True)
    thread.start()
    early = taken.wait(0.3)
    until()
    assert taken.wait(60), "nobody's turn any more"
    return not early


def test_labs_are_deployed_side_by_side_and_quiet_tests_run_so(tmp_path: Path) -> None:
    first, second = Turns(tmp_path), Turns(tmp_path)
    for take in ("deploy", "be_quiet"):
        getattr(first, take)()
        getattr(second, take)()
        first.end()
        second.end()


def test_nothing_is_deployed_beside_a_quiet_test_or_the_reverse(tmp_path: Path) -> None:
    first, second = Turns(tmp_path), Turns(tmp_path)
    first.deploy()
    assert waits(second.be_quiet, until=first.be_quiet)
    second.end()
    assert waits(second.deploy, until=first.end)


def test_whoever_has_a_turn_keeps_it_when_another_one_waits(tmp_path: Path) -> None:
    first, second = Turns(tmp_path), Turns(tmp_path)
    first.be_quiet()

    def again() -> None:
        first.be_quiet()
        first.end()

    assert waits(second.deploy, until=again)


QUIET_TEST = """
import pytest

pytestmark = [pytest.mark.timeout(2), pytest.mark.quiet]


def test_the_first_of_its_file():
    pass
"""
PLUGIN = """
from tests.support.side_by_side import SIDE_BY_SIDE, SideBySide


def pytest_configure(config):
    config.pluginmanager.register(SideBySide(), SIDE_BY_SIDE)
"""


@pytest.fixture
def short_path() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="qr") as found:
        yield found


@pytest.mark.slow
def test_a_quiet_test_that_waits_for_its_turn_does_not_use_up_its_time(
    tmp_path: Path, short_path: str
) -> None:
    """The first of a file has the turn to deploy, and waits for the other one when it begins."""
    (tmp_path / "conftest.py").write_text(PLUGIN)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = quiet: measures time\n")
    (tmp_path / "test_quiet.py").write_text(QUIET_TEST)
    lab = Path(short_path) / "lab"  # with its sockets' names below 100 characters
    other = Turns(lab / "turns")
    other.deploy()
    environment = os.environ | {"LAB_DIR": str(lab), "PYTHONPATH": str(TESTS.parent)}
    for name in ("PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "PYTEST_ADDOPTS"):
        environment.pop(name, None)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_quiet.py"]
    run = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    )
    with pytest.raises(subprocess.TimeoutExpired):
        run.communicate(timeout=8)
    other.end()
    said, _ = run.communicate(timeout=60)
    assert run.returncode == 0, said
    assert "1 passed" in said


def test_the_networks_of_one_run_do_not_overlap() -> None:
    labs = [LabSettings(Path("/var/lib/lab"), 3).beside(number).subnet for number in range(4)]
    others = [own_disks.SUBNET, *map(ipaddress.IPv4Network, image_containers.SUBNETS)]
    for one, other in itertools.combinations([*labs, *others], 2):
        assert not one.overlaps(other), f"{one}, {other}"
