"""Texts and files whose pages are gone: Chromium keeps them, and saves texts as new pages."""

import json

import pytest

from tests.judges.loss import world
from tests.judges.programs import node

pytestmark = [pytest.mark.judge, pytest.mark.slow]
SCENARIOS = 36


@pytest.mark.timeout(500)
def test_texts_whose_pages_are_gone_are_kept() -> None:
    with world() as given:
        done = node("workspace_gone.mjs", json.dumps(given), timeout_s=450)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
