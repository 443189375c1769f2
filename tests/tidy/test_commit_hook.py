"""The hook that refuses commit subjects of another form than `area: verb …`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HOOK = ROOT / ".githooks" / "commit-msg"


def run_hook(tmp_path: Path, message: str) -> subprocess.CompletedProcess[str]:
    file = tmp_path / "COMMIT_EDITMSG"
    file.write_text(message, encoding="utf-8")
    return subprocess.run([str(HOOK), str(file)], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "message",
    [
        "sim: wait for the first cluster before the faults begin\n",
        "core/planning: split the assembly of a plan off\n\nIt had two purposes.\n",
        "docs: add decisions\n# a comment of git\n",
        "# a comment of git\n\nmake: group the targets of help\n",
        "docs: add a line\n# " + "-" * 24 + " >8 " + "-" * 24 + "\ndiff --git a b\n",
        "x: " + "a" * 69 + "\n",
        "notes: show …" + "ä" * 59 + "\n",
        "Merge branch 'readme'\n",
        'Revert "sim: wait for the first cluster"\n',
        "fixup! sim: wait for the first cluster\n",
    ],
)
def test_a_subject_of_the_form_passes(tmp_path: Path, message: str) -> None:
    result = run_hook(tmp_path, message)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("", "begin with an area"),
        ("wait for the first cluster\n", "begin with an area"),
        ("Sim: wait for the first cluster\n", "begin with an area"),
        ("notes imports: show a page\n", "begin with an area"),
        ("sim:wait\n", "begin with an area"),
        ("sim: Wait for the first cluster\n", "a verb in lower case"),
        ("sim: 20 seconds more\n", "a verb in lower case"),
        ("sim: the judge takes no note\n", "'the' is no verb"),
        ("sim: wait for the first cluster.\n", "full stop"),
        ("x: " + "a" * 70 + "\n", "it has 73"),
        ("sim: wait\nfor the first cluster\n", "second line"),
    ],
)
def test_a_subject_of_another_form_is_refused(tmp_path: Path, message: str, said: str) -> None:
    result = run_hook(tmp_path, message)
    assert result.returncode == 1
    assert said in result.stderr


def test_git_runs_the_hook(tmp_path: Path) -> None:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }

    def git(*arguments: str) -> subprocess.CompletedProcess[str]:
        settings = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        return subprocess.run(
            ["git", *settings, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    assert git("init", "-q").returncode == 0
    git("config", "core.hooksPath", str(HOOK.parent))
    assert git("commit", "--allow-empty", "-m", "It was wrong.").returncode == 1
    assert git("commit", "--allow-empty", "-m", "docs: say what is right").returncode == 0
    assert git("log", "--format=%s").stdout == "docs: say what is right\n"
