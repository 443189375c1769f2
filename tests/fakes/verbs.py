"""Requests that change something at Patroni, as they reach it, and their faults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.instances import Instance


@dataclass
class VerbFaults:
    """Chances, 0 to 1: a verb's answer is lost; a switchover is done late, or never, after an
    ambiguous answer; a patch loses its race."""

    answer_lost: float = 0.0
    late: float = 0.0
    vain: float = 0.0
    conflict: float = 0.0
    slow: float = 0.0
    slow_s: float = 1.5


@dataclass(frozen=True)
class Verb:
    """A verb as it reaches Patroni, for whoever judges it."""

    kind: str
    member: Instance
    patch: Mapping[str, Any] = field(default_factory=dict)
    expected: Mapping[str, Any] = field(default_factory=dict)
    leader: str = ""
    candidate: str = ""
    voter: str = ""
