"""Keys that the operator writes into Patroni's own settings.

Flat keys of the dynamic configuration, replicated by Raft with the settings themselves: the reason
of a pause is set and removed together with the pause, and the proxies read their hint from any
member. Patroni keeps keys that it does not know, and acts on none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Literal

from queenright.core.manifest.remembered import MOST_TEXTS

PAUSE_KEY = "queenright_pause"
"""Reason of the operator's pause: ``maintenance`` or ``promotion``. A pause without it is not the
operator's, and is never lifted."""
ROUTE_KEY = "queenright_route"
"""The proxies' hint: ``follow <member> <seconds> <nonce>`` or ``pin <member> 0 <nonce>``."""
PARAMETERS_KEY = "queenright_parameters"
"""PostgreSQL's parameters that the file has beside the contract's: sorted names, spaces between.
One that was taken out of the file and may still wait for a restart has the moment with it
(``name@<seconds since the epoch>``). A name that is not here was never in the file."""

FOLLOW_S = 60


@dataclass(frozen=True, slots=True)
class Route:
    """A hint for the proxies. ``at`` is when it was published, by the operator's clock."""

    kind: Literal["follow", "pin"]
    member: str
    at: datetime

    def __str__(self) -> str:
        seconds = FOLLOW_S if self.kind == "follow" else 0
        return f"{self.kind} {self.member} {seconds} {self.at.timestamp():.3f}"


@dataclass(frozen=True, slots=True)
class OwnParameters:
    """``names`` are the file's; ``removed`` were, until the moment that goes with each."""

    names: frozenset[str] = frozenset()
    removed: Mapping[str, datetime] = field(default_factory=dict)

    def __str__(self) -> str:
        gone = (f"{name}@{at.timestamp():.0f}" for name, at in self.removed.items())
        return " ".join(sorted((*self.names, *gone)))


def read_parameters(settings: Mapping[str, Any]) -> OwnParameters:
    """The file's parameters as listed in Patroni's settings; what can't be read is left out."""
    return _read_parameters(str(settings.get(PARAMETERS_KEY) or ""))


@lru_cache(maxsize=MOST_TEXTS)
def _read_parameters(text: str) -> OwnParameters:
    names, removed = set(), {}
    for word in text.split():
        name, at, moment = word.partition("@")
        try:
            if at:
                removed[name] = datetime.fromtimestamp(int(moment), UTC)
            else:
                names.add(name)
        except (ValueError, OverflowError, OSError):
            continue
    return OwnParameters(frozenset(names), removed)


def read_route(settings: Mapping[str, Any]) -> Route | None:
    """The hint in Patroni's settings; None where there is none that can be read."""
    try:
        kind, member, _, nonce = str(settings.get(ROUTE_KEY) or "").split()
        at = datetime.fromtimestamp(float(nonce), UTC)
    except (ValueError, OverflowError, OSError):
        return None
    match kind:
        case "follow" | "pin":
            return Route(kind, member, at)
        case _:
            return None


PAUSE_REASONS = frozenset({"maintenance", "promotion"})


def pause_reason(settings: Mapping[str, Any]) -> str:
    """Reason for which the operator paused Patroni; empty where it did not."""
    reason = str(settings.get(PAUSE_KEY) or "")
    return reason if settings.get("pause") and reason in PAUSE_REASONS else ""
