"""A part of the loss test: browsers write while everything fails, and no accepted word is lost."""

import json
import random
import re
import subprocess

import pytest

from tests.judges.loss import run
from tests.judges.programs import HERE

pytestmark = [pytest.mark.judge, pytest.mark.slow]
SECONDS = 60
ACROSS = """\
import { crossedIn } from "./loss_log.mjs";
const [line, words] = process.argv.slice(1);
console.log(JSON.stringify(crossedIn(line, JSON.parse(words))));
"""


def found_in(line: str, words: list[str]) -> list[str]:
    """The words that the judge finds in a line, though they are across each other."""
    done = subprocess.run(
        ["node", "--input-type=module", "-e", ACROSS, line, json.dumps(words)],
        cwd=HERE, capture_output=True, text=True, check=True, timeout=30,
    )  # fmt: skip
    found: list[str] = json.loads(done.stdout)
    return found


def test_words_across_each_other_are_found_letter_by_letter() -> None:
    line = " bq231z filler 0 of 12 bq2 aq238z  a36z  bq237z q239z  aq240z "
    assert found_in(line, ["bq236z", "aq239z"]) == ["bq236z", "aq239z"]
    assert found_in(line, ["bq235z", "aq239z"]) == ["aq239z"]
    assert found_in("bq2 36", ["bq236z"]) == []
    assert found_in("bq2\n36z", ["bq236z"]) == [], "they are of one line"


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
