"""Classifies database errors: dead connection, retryable transaction, or neither.

Invariant: a connection to a demoted server counts as dead. The server still answers, but accepts no
writes, so keeping the connection would keep a replica broken until it is restarted.
"""

import psycopg
from psycopg import errors

# 25006: the server has become a standby. 57P0x: it is stopping, stopped or not yet started.
_DEAD_STATES = {"25006", "57P01", "57P02", "57P03", "57P05"}
_TRY_AGAIN_STATES = {"40001", "40P01"}


class UnavailableError(Exception):
    """No usable database connection within the time that a request may wait."""


class OutcomeUnknownError(UnavailableError):
    """The connection broke while committing: the change may or may not be there."""


def is_dead(error: BaseException) -> bool:
    """True if the connection that raised `error` must not be used again."""
    if not isinstance(error, psycopg.Error):
        return False
    if error.sqlstate is not None:
        return error.sqlstate in _DEAD_STATES or error.sqlstate.startswith("08")
    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)


def may_repeat(error: BaseException) -> bool:
    """True if the same transaction may succeed when it is run again."""
    if isinstance(error, psycopg.Error) and error.sqlstate in _TRY_AGAIN_STATES:
        return True
    # Too many connections, or the server is starting: a retry may succeed.
    return is_dead(error) or isinstance(error, errors.TooManyConnections)
