"""What a call to the outside world can meet with; every port's writes raise these.

``ConflictError``: somebody else wrote first. ``RejectedError``: refused for good. Anything else is
``UnavailableError``, and whether the call took effect is then not known.
"""

from __future__ import annotations


class PortError(Exception):
    """A call that did not do what was asked; its text is for people, and has no secret in it."""


class ConflictError(PortError):
    """A stale version, a name that was taken meanwhile, or an object that is gone: observe
    again."""


class RejectedError(PortError):
    """Understood and refused; the same call will be refused again."""


class LookOnlyError(PortError):
    """Not even tried: it takes something that a command which only looks does not make."""


class UnavailableError(PortError):
    """No answer, or none in time: whether the call took effect is not known. Also a refusal that
    passes by itself, like the removal of what a task still uses: the same call may work later."""
