"""Sets how often Python looks for garbage in this process.

A full collection walks over every object, and the event loop waits meanwhile: with 1,000 clusters
0.3 to 0.4 s, about three times a pass by Python's own thresholds. Nearly all of what a pass leaves
is freed without it, by reference counts; what an ended pass leaves is not, because anyio keeps the
frames of cancelled tasks in circles: tens of thousands of objects each.
"""

from __future__ import annotations

import gc

THRESHOLDS = (10_000, 500, 100)
"""Of the three generations (gc.set_threshold). The first is small, because a search of it holds the
loop, too: 100,000 young objects for up to 0.14 s."""
AFTERWARDS = (10_000, 5, 40)
"""Once what lasts is spared: what passes have left is found while it is young, 50,000 objects at a
time."""


def collect_rarely() -> None:
    """Look for garbage after more objects, in the whole process."""
    gc.set_threshold(*THRESHOLDS)


def spare_present_objects() -> None:
    """Leave the present objects out of later searches, to be called when what lasts has been made:
    nearly all of them stay as long as the process. Counts of references still free them; a circle
    of garbage that is there now stays, so it is called twice at most."""
    gc.freeze()
    gc.set_threshold(*AFTERWARDS)
