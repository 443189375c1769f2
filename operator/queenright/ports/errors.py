"""Errors of calls to the outside world, raised by every port's writes.

``ConflictError``: another writer was first. ``RejectedError``: a permanent refusal. Anything else
is ``UnavailableError``, and it is unknown if the call took effect.
"""

from __future__ import annotations


class PortError(Exception):
    """A call that failed; its text is for people, and holds no secret."""


class ConflictError(PortError):
    """A stale version, a name taken in the meantime, or an object that is gone: observe again."""


class RejectedError(PortError):
    """A permanent refusal; the same call will be refused again."""


class LookOnlyError(PortError):
    """Not tried: the call would create something, and the command only reads."""


class UnavailableError(PortError):
    """No answer, or none in time; it is unknown if the call took effect. Also a temporary refusal,
    such as the removal of an object that a task still uses: the same call may work later."""
