"""What deciding about one service takes, whoever owns it: a cluster or an application."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from queenright.core.observed import (
    ImageFound,
    ImageMissing,
    Known,
    SwarmState,
    Unknown,
)


class Scene(Protocol):
    """The swarm, the images that were looked up, and the pass's one moment."""

    @property
    def swarm(self) -> SwarmState: ...

    @property
    def images(self) -> Mapping[str, Known[ImageFound | ImageMissing] | Unknown]: ...

    @property
    def now(self) -> datetime: ...
