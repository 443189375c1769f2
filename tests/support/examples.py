"""The number of examples of a property test.

``QUEENRIGHT_EXAMPLES`` scales all of them: 80 is the usual number, ``make check`` takes 10.
"""

import os

USUAL = 80
EXAMPLES = int(os.environ.get("QUEENRIGHT_EXAMPLES", str(USUAL)))


def examples(usual: int) -> int:
    """So many examples in this run for a test that usually takes ``usual`` of them."""
    return max(5, usual * EXAMPLES // USUAL)
