"""Every simulated run is watched for passes that broke: no exception may hide in the log."""

from collections.abc import Iterator

import pytest

from tests.sim.broken import broken_passes


@pytest.fixture(autouse=True)
def no_pass_breaks() -> Iterator[None]:
    with broken_passes() as broken:
        yield
    assert not broken, broken[0]
