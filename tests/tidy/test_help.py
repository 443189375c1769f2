"""`make help`: every target with a description is listed once, in one of the groups."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GROUPS = ["Start", "Develop", "Lab", "Notes", "Release"]


def listed() -> list[str]:
    result = subprocess.run(
        ["make", "-s", "--no-print-directory", "help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout.splitlines()


def described() -> Counter[str]:
    """Names of targets with a `## description` in the Makefile and what it includes."""
    found = subprocess.run(
        ["git", "ls-files", "Makefile", "*.mk"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    text = "\n".join((ROOT / name).read_text() for name in found.stdout.split())
    return Counter(re.findall(r"^([a-z][a-z-]*):.*## ", text, re.MULTILINE))


def test_help_shows_the_groups_in_order() -> None:
    assert [line for line in listed() if line and not line.startswith(" ")] == GROUPS


def test_help_lists_every_described_target() -> None:
    names = Counter(line.split()[0] for line in listed() if line.startswith("  "))
    assert names == described()
    assert len(names) > 30
