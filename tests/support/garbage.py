"""Keeps Python from looking for garbage, so that a test sees what counts of references free."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_search_for_garbage() -> Iterator[None]:
    """Keep circles of garbage for the length of the block."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
