"""A part of the loss test: browsers write while everything fails, and no accepted word is lost."""

import random
import re

import pytest

from tests.judges.loss import run

pytestmark = [pytest.mark.judge, pytest.mark.slow]
SECONDS = 60


@pytest.mark.timeout(600)
def test_no_accepted_word_is_lost() -> None:
    seed = random.randrange(10**6)
    code, said = run(rounds=100, seconds=SECONDS, seed=seed)
    print(said)
    assert code == 0, said
    told = re.search(rf"seed {seed}: (\d+) rounds, (\d+) words accepted, 0 lost", said)
    assert told, said
    assert int(told[1]) > 0, said
    assert int(told[2]) > 0, said
