"""The program as a person starts it, and how it ended."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from queenright.cli.main import main
from tests.support.builders import MANIFEST

PROGRAM = (sys.executable, "-m", "queenright")
ADDRESSED = "".join(
    line.replace("}", f", address: 10.77.0.{11 + int(line[line.index('member-') + 7])}}}")
    if "member-" in line and "node:" in line
    else line
    for line in MANIFEST.splitlines(keepends=True)
)


def environment(tmp_path: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME"}}
    paths = os.pathsep.join(str(Path(path).resolve()) for path in ("operator", "."))
    return kept | {
        "PYTHONPATH": paths,
        "DOCKER_HOST": f"unix://{tmp_path}/docker.sock",
        "QUEENRIGHT_MANIFESTS": str(tmp_path / "manifests"),
        "QUEENRIGHT_STATE_DIR": str(tmp_path / "state"),
        **more,
    }


@dataclass(frozen=True)
class Ended:
    returncode: int
    stdout: str
    stderr: str


def start(tmp_path: Path, *words: str, given: str = "", **more: str) -> Ended:
    """The program in this process, which is quick."""
    outside = {name: None for name in os.environ if name.startswith("QUEENRIGHT_")}
    own = outside | environment(tmp_path, **more)
    result = CliRunner().invoke(main, words, given, env=own, prog_name="queenright")
    assert isinstance(result.exception, SystemExit | None), result.exception
    return Ended(result.exit_code, result.stdout, result.stderr)


def launch(tmp_path: Path, *words: str, given: str = "", **more: str) -> Ended:
    """The program in a process of its own, with real pipes."""
    found = subprocess.run(
        [*PROGRAM, *words],
        env=environment(tmp_path, **more),
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in found.stderr, found.stderr
    return Ended(found.returncode, found.stdout, found.stderr)
