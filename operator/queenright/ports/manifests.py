"""The desired state's files, as the engine needs them: have they changed, and what do they say?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from queenright.core.spec.problems import Problem


@dataclass(frozen=True, slots=True)
class ManifestTexts:
    """One read of all files. `problems` tells those that could not be read, and why; with any of
    them the files are not the whole desired state. `fingerprint` is of the very files read."""

    fingerprint: str
    files: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


class Manifests(Protocol):
    """A file, or the `*.yaml` and `*.yml` files of a directory. Both calls block for as long as the
    disk takes, and never raise for what a person did to the files."""

    def fingerprint(self) -> str:
        """Cheap, from file status alone: equal as long as nobody has touched the files. A path that
        is gone has a fingerprint too."""
        ...

    def read(self) -> ManifestTexts:
        """The files as they are now, by their paths. A file that changes while it is read is a
        problem, not a text: read again."""
        ...
