"""The version, `<major>.<minor>.<commit_count>` (spec: notes-app §9.1).

Major and minor come from the package's manifest. The image build writes the number of commits into
the package; in a source tree git counts them.
"""

import functools
import subprocess
from importlib import metadata, resources
from pathlib import Path


@functools.cache
def version() -> str:
    """The running version; the count is 0 if neither the build nor git provides it."""
    major, minor = metadata.version("notes").split(".")[:2]
    return f"{major}.{minor}.{_commit_count()}"


def _commit_count() -> int:
    written = resources.files("notes").joinpath("commit_count")
    if written.is_file():
        return int(written.read_text().strip())
    try:
        counted = subprocess.run(
            ["git", "rev-list", "--count", "HEAD"],  # noqa: S607 - a developer's own git
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
            timeout=5,
        )
    except (OSError, subprocess.SubprocessError):
        return 0
    return int(counted.stdout.strip())
