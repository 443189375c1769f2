"""The operator's JSON log lines of a situation, as they are written to standard output."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import structlog

from queenright.adapters.logging import configure_logging
from queenright.core.planning.plan import Refusal
from queenright.engine.lease import LeaseKeeper
from queenright.engine.planning import PlannedPass
from queenright.engine.state_lines import Measured, StateLines
from tests.fakes.virtual_loop import run_virtual
from tests.support.sights import StillTime

Line = dict[str, Any]


def state_lines(
    found: PlannedPass,
    refused: Mapping[str, Refusal] | None = None,
    problems: Sequence[object] = (),
    measured: Measured | None = None,
    *,
    pass_s_ago: float = 0.0,
    lease: LeaseKeeper | None = None,
) -> list[Line]:
    """Return the lines of one minute: `operator`, and `state` of each document."""

    async def write() -> None:
        clock = StillTime()
        lines = StateLines(clock, lease)
        lines.note(found, refused or {}, problems, measured)
        clock.at_s += pass_s_ago
        await lines.write()

    return logged(lambda: run_virtual(write))


def logged(act: Any) -> list[Line]:
    """Return what an act logs, with the operator's own logging."""
    out, before = io.StringIO(), structlog.get_config()
    configure_logging("json", "info", out)
    try:
        act()
    finally:
        structlog.configure(**before)
    return [json.loads(line) for line in out.getvalue().splitlines()]
