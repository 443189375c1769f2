"""Every simulated run is watched for passes that broke: no exception may hide in the log."""

from collections.abc import Iterator

import pytest

from tests.sim.broken_passes import broken_passes
from tests.sim.seeds import FAULTS, HISTORIES, SEED, faults, first_seed, histories


@pytest.fixture(autouse=True)
def no_pass_breaks() -> Iterator[None]:
    with broken_passes() as broken:
        yield
    assert not broken, broken[0]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The seeds of this run, with which it can be had again."""
    terminalreporter.write_line(
        f"simulated histories: {SEED}={first_seed()} {HISTORIES}={histories()} {FAULTS}={faults()}"
    )
