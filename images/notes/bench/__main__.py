"""`python -m bench [section ...]`: measures and prints each figure with its target.

Exit code 0 if every target is met, 1 if one is missed, or a budget was not measured.
"""

import os
import sys
from collections.abc import Callable, Iterator

from bench import (
    export,
    files,
    lighthouse,
    memory,
    pages,
    places,
    plain,
    search,
    stacks,
    together,
    upgrade,
    web,
)
from bench.budgets import unmeasured
from bench.figures import Figure

SECTIONS: dict[str, Callable[[], Iterator[Figure]]] = {
    "pages": pages.measure,
    "plain": plain.measure,
    "files": files.measure,
    "search": search.measure,
    "memory": memory.measure,
    "export": export.measure,
    "upgrade": upgrade.measure,
    "web": web.measure,
    "places": places.measure,
    "together": together.measure,
    "stacks": stacks.measure,
    "lighthouse": lighthouse.measure,
}


def main() -> int:
    """Runs the named sections, or all."""
    # If other programs are busy, ratios are less certain than they look, and times mean nothing.
    print(f"{os.cpu_count()} cores, {os.getloadavg()[0]:.1f} processes running before", flush=True)
    missed = 0
    for name in sys.argv[1:] or list(SECTIONS):
        measured = set[str]()
        for figure in SECTIONS[name]():
            print(figure.line(), flush=True)
            measured.add(figure.name)
            missed += not figure.met
        # Only parts of a section, where somebody wants those.
        for left in () if os.environ.get("PARTS") else unmeasured(name, measured):
            print(f"{left}: not measured, though it has a budget", flush=True)
            missed += 1
    print(f"{missed} targets missed" if missed else "every target met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
