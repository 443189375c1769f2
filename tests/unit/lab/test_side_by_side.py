"""Labs beside the usual one, and what a worker's lab gets to do."""

from __future__ import annotations

import ipaddress
from pathlib import Path

import pytest

from tests.lab.settings import LabSettings
from tests.side_by_side import LONGEST_FIRST, group_of, rank

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


def test_a_modules_tests_stay_together_and_so_do_all_contracts() -> None:
    assert group_of("tests/e2e/test_lab.py::test_a[x::y]") == "e2e/test_lab.py"
    assert group_of("tests/contract/test_swarm.py::test_a") == "contract"


def test_every_listed_group_exists_and_a_new_one_starts_first() -> None:
    assert [group for group in LONGEST_FIRST if not (TESTS / group).exists()] == []
    assert rank("e2e/test_new.py") < rank(LONGEST_FIRST[0]) < rank(LONGEST_FIRST[1])
