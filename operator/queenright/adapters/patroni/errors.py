"""Translate Patroni's answers to changing requests into the port's errors.

Pure: from the HTTP status and Patroni's text (4.1: ``patroni/api.py``). Invariant: only a request
that Patroni refused before any effect counts as refused; every other answer but 200 may still take
effect, and the error says so.
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
MAY_HAPPEN = "it may still happen; the next pass observes the leader"
MAY_BE_APPLIED = "it may still be applied; the next pass observes the settings"
MAY_BEGIN_ANEW = "it may still begin anew; the next pass observes its state"
LEADS = "I am the leader"
NOBODY_LEADS = "no leader"
MAY_RESTART = "it may still restart; the next pass observes its state"


def refusal_error(verb: str, status: int, *, has_password: bool) -> PortError | None:
    """Return the error that any request can meet: a wrong password, or an unknown path."""
    if status in NO_ENTRY and has_password:
        return RejectedError(
            f"{verb} was refused ({status}): the secret's password is not that of the members, or "
            "the members allow no requests from this address"
        )
    if status in NO_ENTRY:
        return RejectedError(
            f"{verb} was refused ({status}): the members require a password, and none is known"
        )
    if status in UNKNOWN_VERB:
        return RejectedError(f"{verb} was refused ({status}): the answer is not from Patroni 4")
    return None


def patch_outcome(verb: str, status: int, text: str) -> PortError | None:
    """Return the error of a patch. 409 is a lost compare-and-swap, or a write that Raft did not
    take in time; 503 is a cluster without settings. The bodies of both are pages of HTML without
    detail."""
    match status:
        case 200:
            return None
        case 409:
            return ConflictError(f"{verb} failed (409): another writer was first, or no quorum")
        case 400:
            return RejectedError(f"{verb} was refused (400): {text}")
        case 503:
            return UnavailableError(f"{verb} failed (503): the cluster has no settings yet")
        case _:
            return UnavailableError(f"{verb} failed ({status}); {MAY_BE_APPLIED}")


def move_outcome(verb: str, status: int, text: str) -> PortError | None:
    """Return the error of a change of leader. Even after 200 another member may have won."""
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
        return ConflictError(f"{verb} did nothing: no restart is pending there any more")
    if status == UNAVAILABLE and IN_PROGRESS in text:
        return UnavailableError(f"{verb} did nothing: {text}")
    return UnavailableError(f"{verb} failed ({status}: {text}); {MAY_RESTART}")


def reinitialize_outcome(verb: str, status: int, text: str) -> PortError | None:
    """Return the error of a request to begin the base backup anew. 503 has Patroni's reason; where
    it names none that it gives before it does anything, the copy may have begun."""
    if status == OK:
        return None
    if status == UNAVAILABLE and LEADS in text:
        return ConflictError(f"{verb} did nothing: the member leads")
    if status == UNAVAILABLE and NOBODY_LEADS in text:
        return UnavailableError(f"{verb} did nothing: {text}")
    if status == UNAVAILABLE and IN_PROGRESS in text:
        return UnavailableError(f"{verb} only ended what the member was at: {text}")
    return UnavailableError(f"{verb} failed ({status}: {text}); {MAY_BEGIN_ANEW}")


def differing(expected: Mapping[str, Any], found: Mapping[str, Any], path: str = "") -> list[str]:
    """Return the paths at which ``found`` differs from ``expected``; None means an absent key. Keys
    that only ``found`` has are ignored."""
    paths = []
    for key, wanted in expected.items():
        here = f"{path}.{key}" if path else key
        present = found.get(key)
        if isinstance(wanted, Mapping):
            if isinstance(present, Mapping) or present is None:
                paths += differing(wanted, present or {}, here)
            else:
                paths.append(here)
        elif not is_same_json(present, wanted):
            paths.append(here)
    return paths


def is_same_json(one: object, other: object) -> bool:
    """Return True for values equal as JSON: 1 is not true, but 1 and 1.0 are one number."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def readable(body: bytes) -> str:
    """Return Patroni's text on one line; a page of HTML has none for people."""
    text = " ".join(body.decode(errors="replace").split())
    return "no text" if not text or text.startswith("<") else text[:TEXT_LENGTH]
