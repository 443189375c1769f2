"""Messages for Patroni's answers, in one file to read: ``tests/golden/patroni_errors.txt``."""

import itertools

from queenright.adapters.patroni.errors import (
    IN_PROGRESS,
    LEADS,
    NOBODY_LEADS,
    NOT_PENDING,
    move_outcome,
    patch_outcome,
    refusal_error,
    reinitialize_outcome,
    restart_outcome,
)
from tests.golden.compare import assert_golden

TEXT = "Patroni's text"
ANSWERS = (
    *((status, TEXT) for status in (200, 400, 409, 412, 500, 503)),
    (503, NOT_PENDING),
    (503, IN_PROGRESS),
)


def test_the_messages() -> None:
    lines = []
    for has_password, status in itertools.product((True, False), (401, 403, 404, 411)):
        error = refusal_error("PATCH /config", status, has_password=has_password)
        lines.append(f"{type(error).__name__}: {error}")
    for verb, outcome in (
        ("PATCH /config", patch_outcome),
        ("switchover to member-2", move_outcome),
        ("restart of member-2", restart_outcome),
    ):
        for status, text in ANSWERS:
            error = outcome(verb, status, text)
            lines.append(f"{type(error).__name__}: {error}" if error else f"none: {verb} {status}")
    verb = "reinitialize of member-4"
    for status, text in (*ANSWERS, (503, LEADS), (503, NOBODY_LEADS)):
        error = reinitialize_outcome(verb, status, text)
        lines.append(f"{type(error).__name__}: {error}" if error else f"none: {verb} {status}")
    assert_golden("patroni_errors.txt", "\n".join(lines) + "\n")
