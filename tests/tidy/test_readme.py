"""The README's promises: its manifest is valid, and its two commands are targets."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.support.command_line import start

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_manifest_is_valid_and_twenty_lines_at_most(tmp_path: Path) -> None:
    (manifest,) = re.findall(r"^```yaml\n(.+?)^```", README, re.MULTILINE | re.DOTALL)
    assert manifest.count("\n") <= 20
    result = start(tmp_path, "validate", "-", given=manifest)
    assert result.returncode == 0, result.stdout + result.stderr


COMMANDS = {"demo", "test", *re.findall(r"^make ([a-z-]+)", README, re.MULTILINE)}


@pytest.mark.parametrize("target", sorted(COMMANDS))
def test_a_command_of_the_readme_is_a_target(target: str) -> None:
    assert re.search(rf"^make {target}\b", README, re.MULTILINE)
    files = subprocess.run(
        ["git", "ls-files", "Makefile", "*.mk"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    makefiles = "\n".join((ROOT / name).read_text() for name in files.stdout.split())
    assert re.search(rf"^{target}:", makefiles, re.MULTILINE)
