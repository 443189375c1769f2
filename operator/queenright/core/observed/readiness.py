"""A replica's answer on ``/readyz``, and the replica that is asked (spec: notes-app §4)."""

from __future__ import annotations

from dataclasses import dataclass

MOST_SAID = 200
"""Characters of a replica's text that are kept."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """One replica's answer. ``status`` is HTTP's (200, 503), ``reason`` its cause for not being
    ready, on one line."""

    status: int
    reason: str = ""

    @property
    def is_ready(self) -> bool:
        return self.status == 200


@dataclass(frozen=True, slots=True)
class ReadinessTarget:
    """A replica to ask: ``address`` and ``port`` as reached from ``network``, or from anywhere if
    that is empty. ``image`` is the image that it runs."""

    task_id: str
    address: str
    port: int
    network: str = ""
    image: str = ""


def answer(status: int, body: str) -> Readiness:
    """Return the answer with the body as one line of printable text, cut to its limit."""
    words = "".join(item if item.isprintable() else " " for item in body[: 4 * MOST_SAID])
    return Readiness(status, "" if status == 200 else " ".join(words.split())[:MOST_SAID])
