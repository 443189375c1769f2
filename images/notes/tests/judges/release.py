"""A second release of the application, which differs from the first in its workspace alone."""

import shutil
import subprocess
from pathlib import Path

from tests.judges.programs import NEW_NODE

PROJECT = Path(__file__).resolve().parents[2]
#: Every chunk imports the first one, so this changes the name of each.
WORD, OTHER = 'newVersion: "', 'newVersion: "Release two. '


def next_release(folder: Path) -> Path:
    """Builds a release in an empty folder; returns the folder of its package for `PYTHONPATH`."""
    package = folder / "src" / "notes"
    built = package / "web" / "static"
    shutil.copytree(PROJECT / "src" / "notes", package, ignore=_is_built)
    web = folder / "web"
    shutil.copytree(PROJECT / "web", web, ignore=shutil.ignore_patterns("node_modules"))
    (web / "node_modules").symlink_to((PROJECT / "web" / "node_modules").resolve())
    words = web / "src" / "words" / "en.ts"
    text = words.read_text()
    assert text.count(WORD) == 1
    words.write_text(text.replace(WORD, OTHER))
    done = subprocess.run(
        [NEW_NODE, "build.mjs"], cwd=web, check=False, capture_output=True, text=True
    )
    # A few bytes more than the budget of the editor do not matter here.
    assert (built / "manifest.json").is_file(), done.stdout + done.stderr
    return package.parent


def _is_built(folder: str, names: list[str]) -> list[str]:
    left = {"static", "static.next"} if Path(folder).name == "web" else set[str]()
    return [name for name in names if name in left or name == "__pycache__"]
