"""A member's lag over time as a small picture, with its figures in words.

Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from queenright.core.page.html import Html, tag

WIDTH, HEIGHT = 120, 24
MINUTES = 60


def lag_chart(name: str, lags: Sequence[int | None]) -> Html:
    """Return the chart of the lag in MB, one value a minute, the newest last. A minute in which it
    was not known is a gap; the figures are in the caption, so that the picture may be left out."""
    known = [lag for lag in lags if lag is not None]
    newest = lags[-1] if lags else None
    now = f"{newest} MB now" if newest is not None else "unknown now"
    words = f"{name}: {now}, at most {max(known, default=0)} MB in {len(lags)} min"
    lines = (
        tag("polyline", points=" ".join(run)) for run in runs(lags[-MINUTES:], max([*known, 1]))
    )
    drawn = tag(
        "svg",
        *lines,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        width=str(WIDTH),
        height=str(HEIGHT),
        aria_hidden="true",
    )
    return tag("figure", drawn, tag("figcaption", words))


def runs(lags: Sequence[int | None], highest: int) -> list[list[str]]:
    """Return the points of each stretch without a gap; of a single value, two points."""
    first = MINUTES - len(lags)
    found: list[list[str]] = [[]]
    for minute, lag in enumerate(lags, start=first):
        if lag is None:
            found.append([])
            continue
        x = minute * WIDTH / (MINUTES - 1)
        y = (HEIGHT - 1) - lag * (HEIGHT - 2) / highest
        found[-1].append(f"{x:.0f},{y:.1f}")
    return [run if len(run) > 1 else run * 2 for run in found if run]
