"""The demonstration's closing text."""

from __future__ import annotations

from tests.lab.demo import SITE, farewell
from tests.lab.lab import Lab
from tests.lab.recording import END
from tests.lab.settings import LabSettings


def test_the_farewell_ends_with_the_workspace_and_the_way_into_it() -> None:
    lab = Lab(LabSettings())
    *_, last = farewell(lab).rstrip().split("\n\n")
    address, *way = last.splitlines()
    assert address.split()[0] == "Notes"
    assert address.endswith(f"https://{SITE}/w"), "the workspace, not the plain pages"
    assert any(f'"{lab.manager.address} {SITE}"' in line for line in way)
    assert "the first visitor sets the application up" in last
    assert "password" in last


def test_the_picture_of_the_demonstration_ends_before_the_farewell() -> None:
    assert farewell(Lab(LabSettings())).startswith(END)
