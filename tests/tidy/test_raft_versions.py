"""The Raft library that the contract measures is the one that the member image runs."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.tidy.test_tidy import ROOT


def pinned(requirements: Path) -> dict[str, str]:
    return dict(re.findall(r"^([\w-]+)==(\S+)", requirements.read_text(), re.MULTILINE))


@pytest.mark.parametrize("package", ["patroni", "pysyncobj"])
def test_tests_and_member_image_have_the_same_version(package: str) -> None:
    of_image = pinned(ROOT / "images/member/requirements.txt")[package]
    assert pinned(ROOT / "requirements/dev.txt")[package] == of_image
    assert version(package) == of_image
