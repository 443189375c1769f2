"""Draws a recorded terminal session as an SVG that plays once and then shows its last screen.

Pure: the same recording gives the same picture, to the byte. Without animations (a printer, a
reader who asked for none) the picture is the last screen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

COLUMNS = 100
ROWS = 30
IDLE_S = 1.0
"""The longest pause that is shown; a recorded one of minutes is cut to it."""
CHARACTER, LINE, SIZE = 7.8, 19, 13
MARGIN, BAR = 16, 34
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07|[@-Z\\-_])")
UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of a picture."""

    background: str
    bar: str
    border: str
    text: str
    quiet: str
    good: str


LIGHT = Theme("#ffffff", "#f6f8fa", "#d0d7de", "#1f2328", "#59636e", "#1a7f37")
DARK = Theme("#0d1117", "#161b22", "#30363d", "#e6edf3", "#9198a1", "#3fb950")
THEMES = {"light": LIGHT, "dark": DARK}


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the screen, the moment at which it appears, and the line that it is part of."""

    at_s: float
    text: str
    line: str


def rows(events: Iterable[tuple[float, str]], columns: int = COLUMNS) -> list[Row]:
    """The rows that the output fills, wrapped as a terminal wraps, with long pauses cut."""
    found: list[Row] = []
    shown_s, before_s, unfinished = 0.0, 0.0, ""
    for at_s, text in events:
        shown_s += min(max(at_s - before_s, 0.0), IDLE_S)
        before_s = at_s
        *lines, unfinished = (unfinished + text).replace("\r\n", "\n").split("\n")
        for line in lines:
            found += wrapped(line, columns, shown_s)
    if unfinished:
        found += wrapped(unfinished, columns, shown_s)
    return found


def wrapped(line: str, columns: int, at_s: float) -> Iterator[Row]:
    """The rows of one line, without what a terminal does not show as a character."""
    plain = UNPRINTABLE.sub("", ESCAPES.sub("", line).rsplit("\r", 1)[-1].expandtabs(8)).rstrip()
    for start in range(0, max(len(plain), 1), columns):
        yield Row(at_s, plain[start : start + columns], plain)


def draw(title: str, screen: Sequence[Row], theme: Theme) -> str:
    """The picture: a window of at most ROWS rows, which scrolls as a terminal does."""
    height = min(len(screen), ROWS)
    width_px = round(COLUMNS * CHARACTER + 2 * MARGIN)
    height_px = BAR + height * LINE + 2 * MARGIN
    last = max(len(screen) - ROWS, 0)
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width_px} {height_px}" '
            f'width="{width_px}" height="{height_px}" role="img" aria-label="{quoted(title)}">'
        ),
        f"<title>{escape(title)}</title>",
        "<style>",
        (
            f"text{{font:{SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;"
            f"fill:{theme.text};white-space:pre}}"
        ),
        f".q{{fill:{theme.quiet}}}.g{{fill:{theme.good}}}.b{{font-weight:600}}",
        "@media (prefers-reduced-motion:no-preference){",
        "@keyframes on{from{opacity:0}}",
        ".r{animation:on 1ms backwards}",
        *scrolling(screen, last),
        "}",
        "</style>",
        (
            f'<rect x=".5" y=".5" width="{width_px - 1}" height="{height_px - 1}" rx="8" '
            f'fill="{theme.background}" stroke="{theme.border}"/>'
        ),
        (
            f'<path d="M.5 {BAR}V8.5a8 8 0 0 1 8-8H{width_px - 8.5}a8 8 0 0 1 8 8V{BAR}z" '
            f'fill="{theme.bar}" stroke="{theme.border}"/>'
        ),
        *(f'<circle cx="{20 + 18 * n}" cy="17" r="5.5" fill="{theme.border}"/>' for n in range(3)),
        f'<text class="q" x="{width_px // 2}" y="22" text-anchor="middle">{escape(title)}</text>',
        f'<svg y="{BAR}" width="{width_px}" height="{height_px - BAR - MARGIN // 2}">',
        f'<g class="s" transform="translate(0 {-last * LINE})">',
        *(drawn_row(number, row) for number, row in enumerate(screen) if row.text),
        "</g></svg></svg>",
    ]
    return "\n".join(lines) + "\n"


def drawn_row(number: int, row: Row) -> str:
    style = " ".join((*(["r"] if row.at_s else []), *style_of(row.line)))
    indent = len(row.text) - len(row.text.lstrip())
    text = row.text.strip()
    x = MARGIN + indent * CHARACTER
    y = MARGIN + number * LINE + SIZE
    delay = f' style="animation-delay:{row.at_s:.2f}s"' if row.at_s else ""
    length = f'textLength="{len(text) * CHARACTER:.1f}" lengthAdjust="spacingAndGlyphs"'
    mark = f' class="{style}"' if style else ""
    return f'<text{mark}{delay} x="{x:.1f}" y="{y}" {length}>{spaced(text)}</text>'


def style_of(line: str) -> tuple[str, ...]:
    """The prompt and headings stand out; progress is quiet."""
    if line.startswith("$ "):
        return ("b",)
    if re.search(r"^(Cluster|Application) \S+  converged$|^lab: converged", line):
        return ("g", "b")
    return ("q",) if line.startswith("lab: ") else ()


def scrolling(screen: Sequence[Row], last: int) -> list[str]:
    """The keyframes that move the rows up, a row each time that one more than ROWS appears."""
    total_s = screen[-1].at_s if screen else 0.0
    if not last or not total_s:
        return []
    moves: dict[float, int] = {}
    for number in range(ROWS, len(screen)):
        moves[screen[number].at_s] = number - ROWS + 1
    steps = (
        f"{100 * at_s / total_s:.2f}%{{transform:translateY({-top * LINE}px)}}"
        for at_s, top in sorted(moves.items())
    )
    return [
        "@keyframes up{0%{transform:none}" + "".join(steps) + "}",
        f".s{{animation:up {total_s:.2f}s step-end both}}",
    ]


def spaced(text: str) -> str:
    """Spaces that no viewer collapses."""
    return escape(text).replace("  ", "\u00a0 ").replace("  ", "\u00a0 ")


def quoted(text: str) -> str:
    return escape(text, {'"': "&quot;"})
