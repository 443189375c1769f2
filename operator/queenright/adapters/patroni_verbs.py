"""What Patroni's answer to a verb means, in the port's errors.

Decides from the HTTP status and Patroni's own text (4.1: ``patroni/api.py``). Invariant: only what
Patroni refused before it did anything is a refusal; everything else that is not 200 may still
happen, and is told as such.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from queenright.ports.errors import ConflictError, PortError, RejectedError, UnavailableError

OK, UNAVAILABLE = 200, 503
NO_ENTRY = frozenset({401, 403})
UNKNOWN_VERB = frozenset({404, 405, 411, 501})
NOT_PENDING = "restart conditions are not satisfied"
IN_PROGRESS = "already in progress"
TEXT_LENGTH = 300
MAY_HAPPEN = "it may still happen: who leads is to be observed"
MAY_BE_APPLIED = "it may still be applied: the settings are to be observed"
MAY_RESTART = "it may still restart: its state is to be observed"


def refusal(verb: str, status: int, *, has_password: bool) -> PortError | None:
    """What no verb passes: the wrong password, or a verb that Patroni does not know."""
    if status in NO_ENTRY and has_password:
        return RejectedError(
            f"{verb} was refused ({status}): the secret's password is not the members', or the "
            "members let nobody in from this address"
        )
    if status in NO_ENTRY:
        return RejectedError(
            f"{verb} was refused ({status}): the members ask for a password, and none is known"
        )
    if status in UNKNOWN_VERB:
        return RejectedError(f"{verb} was refused ({status}): what answers is not Patroni 4")
    return None


def patch_outcome(verb: str, status: int, text: str) -> PortError | None:
    """409 is a lost compare-and-swap, or a write that Raft did not take in time; 503 is a cluster
    whose settings are gone. The bodies of both are pages of HTML, and say no more."""
    match status:
        case 200:
            return None
        case 409:
            return ConflictError(f"{verb} was not taken (409): others wrote first, or no quorum")
        case 400:
            return RejectedError(f"{verb} was refused (400): {text}")
        case 503:
            return UnavailableError(f"{verb} was not taken (503): the cluster has no settings yet")
        case _:
            return UnavailableError(f"{verb} failed ({status}); {MAY_BE_APPLIED}")


def move_outcome(verb: str, status: int, text: str) -> PortError | None:
    """200 only says that the request has ended: another member may have won."""
    match status:
        case 200:
            return None
        case 400 | 409 | 412 | 422:
            return RejectedError(f"{verb} was refused ({status}): {text}")
        case _:
            return UnavailableError(f"{verb} is ambiguous ({status}: {text}); {MAY_HAPPEN}")


def restart_outcome(verb: str, status: int, text: str) -> PortError | None:
    if status == OK:
        return None
    if status == UNAVAILABLE and NOT_PENDING in text:
        return ConflictError(f"{verb} was not done: no restart is pending there any more")
    if status == UNAVAILABLE and IN_PROGRESS in text:
        return UnavailableError(f"{verb} was not done: {text}")
    return UnavailableError(f"{verb} failed ({status}: {text}); {MAY_RESTART}")


def differing(expected: Mapping[str, Any], found: Mapping[str, Any], path: str = "") -> list[str]:
    """The paths under which ``found`` is not as ``expected``; None stands for an absent key. What
    only ``found`` has is not asked about."""
    paths = []
    for key, wanted in expected.items():
        here = f"{path}.{key}" if path else key
        present = found.get(key)
        if isinstance(wanted, Mapping):
            if isinstance(present, Mapping) or present is None:
                paths += differing(wanted, present or {}, here)
            else:
                paths.append(here)
        elif not same(present, wanted):
            paths.append(here)
    return paths


def same(one: object, other: object) -> bool:
    """Equal as JSON: 1 is not true, but 1 and 1.0 are one number."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def readable(body: bytes) -> str:
    """Patroni's words on one line; a page of HTML has none for people."""
    text = " ".join(body.decode(errors="replace").split())
    return "no words" if not text or text.startswith("<") else text[:TEXT_LENGTH]
