"""Lets Lighthouse judge the speed of four screens as a phone, several times; prints the medians.

Lighthouse reckons with a processor four times slower than this one and a network of 1.6 Mbit/s:
what else runs on the machine counts four times too.
"""

import os
import statistics
from collections.abc import Iterator

from bench.figures import Figure
from bench.stand import postgres
from tests.judges.lighthouse import Run, judged
from tests.replica import Replica

TARGET = 95


def measure() -> Iterator[Figure]:
    """Yields the median score of each screen, of RUNS (3); RuntimeError if a run has none."""
    runs = int(os.environ.get("RUNS", "3"))
    env = {"ORIGIN": "", "PROTOCOL_HEADER": "x-forwarded-proto"}
    with postgres() as server, Replica(server.database("lighthouse"), env).running() as running:
        found = judged(running, ("performance",), runs=runs)
    load = os.getloadavg()[0]
    for name, every in found.runs.items():
        scores = [score_of(run, number) for number, run in enumerate(every, start=1)]
        note = f"of {sorted(scores)}; {_metrics(every)}; load {load:.0f}"
        yield Figure(
            f"Lighthouse, performance: {name}",
            statistics.median(scores),
            "",
            at_least=TARGET,
            note=note,
        )


def score_of(run: Run, number: int) -> int:
    """Returns the performance score (0 to 100) of a screen's run `number`; RuntimeError if none."""
    score = run.scores.get("performance")
    if score is None or run.error:
        raise RuntimeError(
            f"Lighthouse, {run.screen}, run {number}: no score ({run.error or 'no reason given'});"
            " run it again when the machine is quiet"
        )
    return score


def _metrics(every: list[Run]) -> str:
    units = {"shift": ""}
    found = []
    for name in every[0].metrics:
        values = [value for run in every if (value := run.metrics.get(name)) is not None]
        if values:
            shown = (
                f"{statistics.median(values):.2f}"
                if name in units
                else f"{statistics.median(values):.0f}"
            )
            found.append(f"{name} {shown}{units.get(name, ' ms')}")
    return ", ".join(found)
