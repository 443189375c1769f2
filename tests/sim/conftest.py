"""Every simulated run is watched: no exception may hide in the log, and what is remembered from an
earlier pass has to be what would be made anew.

The second makes every plan twice. A quick run watches one test in ``QUICK_ONE_IN`` so and `make
test-all` one in ``JUDGED_ONE_IN``, other ones for every commit; `make sim` watches all."""

from collections.abc import Iterator

import pytest

from tests.sim.broken_passes import broken_passes
from tests.sim.remembered_judge import Judged, judged_memory
from tests.sim.seeds import (
    FAULTS,
    HISTORIES,
    SEED,
    faults,
    first_seed,
    has_turn,
    histories,
    is_quick,
)

QUICK_ONE_IN, JUDGED_ONE_IN = 20, 5


@pytest.fixture(autouse=True)
def no_pass_breaks() -> Iterator[None]:
    with broken_passes() as broken:
        yield
    assert not broken, broken[0]


def is_judged(name: str) -> bool:
    """Return True if this run compares what is remembered in the test of this name."""
    return has_turn(name, QUICK_ONE_IN if is_quick() else JUDGED_ONE_IN)


@pytest.fixture
def nothing_is_stale() -> Iterator[Judged]:
    with judged_memory() as judged:
        yield judged
    assert not judged.wrong, judged.wrong[0]
    assert not judged.failed_on_view, judged.failed_on_view[0]


@pytest.fixture(autouse=True)
def nothing_is_stale_in_some(request: pytest.FixtureRequest) -> None:
    """Judge the test, if its turn has come; one may ask for the judge itself."""
    if is_judged(request.node.nodeid):
        request.getfixturevalue("nothing_is_stale")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The seeds of this run, with which it can be had again."""
    terminalreporter.write_line(
        f"simulated histories: {SEED}={first_seed()} {HISTORIES}={histories()} {FAULTS}={faults()}"
    )
