"""Runs a function in a fork of this process: whatever it changes, this process keeps its own state.

What many tests begin from is made once, and each goes on from there. A copy would not do: a
simulated world has coroutines that wait, and those can't be copied.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import traceback
from collections.abc import Callable
from typing import NoReturn, TypeVar, cast

T = TypeVar("T")


def in_a_fork(work: Callable[[], T]) -> T:
    """Return what ``work`` returns in a fork of this process, by way of pickle.

    AssertionError with the traceback if it raises anything, or if the fork ends without an answer.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _answer(work, writer)
    os.close(writer)
    try:
        with os.fdopen(reader, "rb") as answers:
            answer = answers.read()
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        _, status = os.waitpid(child, 0)
    if not answer:
        raise AssertionError(f"a fork ended without an answer (status {status})")
    is_well, told = pickle.loads(answer)  # noqa: S301  # our own
    if not is_well:
        raise AssertionError(f"in a fork:\n{told}")
    return cast("T", told)


def _answer(work: Callable[[], T], writer: int) -> NoReturn:
    """Write the answer, and end without what this process would do at its own end."""
    try:
        gc.freeze()  # a search would copy every page that is shared
        try:
            answer = pickle.dumps((True, work()))
        except BaseException:  # noqa: BLE001  # the parent raises it
            answer = pickle.dumps((False, traceback.format_exc()))
        with os.fdopen(writer, "wb") as answers:
            answers.write(answer)
    finally:
        os._exit(0)
