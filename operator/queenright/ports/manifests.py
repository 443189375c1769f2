"""The port for the files of the desired state: detect changes and read the texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from queenright.core.manifest.problems import Problem


@dataclass(frozen=True, slots=True)
class ManifestTexts:
    """One read of all files. `problems` are files that could not be read, with the reason; with any
    problem the files are not the whole desired state. `fingerprint` is that of the files read."""

    fingerprint: str
    files: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


class Manifests(Protocol):
    """A file, or the `*.yaml` and `*.yml` files of a directory. Both calls block for as long as the
    disk takes, and never raise, whatever a person did to the files."""

    def fingerprint(self) -> str:
        """Return a cheap digest of the files' status: equal as long as nobody has touched the
        files. A path that is gone has a fingerprint too."""
        ...

    def read(self) -> ManifestTexts:
        """Return the files as they are now, by their paths. A file that changes during the read
        gives a problem, not a text: read again."""
        ...
