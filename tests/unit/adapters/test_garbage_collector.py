"""The thresholds of Python's garbage collector."""

from __future__ import annotations

import gc

from queenright.adapters.garbage_collector import (
    AFTERWARDS,
    THRESHOLDS,
    collect_rarely,
    spare_present_objects,
)


def test_garbage_is_looked_for_rarely_and_still_looked_for() -> None:
    before = gc.get_threshold()
    try:
        collect_rarely()
        assert gc.get_threshold() == THRESHOLDS
        assert all(now > then for now, then in zip(THRESHOLDS, (700, 10, 10), strict=True))
        assert gc.isenabled()
    finally:
        gc.set_threshold(*before)


def test_present_objects_are_left_out_of_later_searches() -> None:
    before = gc.get_threshold()
    try:
        spare_present_objects()
        assert gc.get_freeze_count() > 0
        assert gc.get_threshold() == AFTERWARDS
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)
