"""Derives from one colour those that are readable on the light and on the dark ground of a site.

Colours are `#rrggbb`. Invariant: a derived colour has a contrast of at least `LEAST` to its ground
(WCAG 2.2 AA, text of any size), for every colour that it is derived from.
"""

import colorsys
from typing import Final, NamedTuple

#: The grounds of the style sheet of the HTML views.
LIGHT_GROUND: Final = "#ffffff"
DARK_GROUND: Final = "#16181c"
LEAST: Final = 4.5
_STEP = 0.005


class Shades(NamedTuple):
    """A colour as text on the light and on the dark ground."""

    light: str
    dark: str


def shades(accent: str) -> Shades:
    """The colour for both grounds: unchanged where it is readable, else darker or lighter."""
    return Shades(
        readable(accent, LIGHT_GROUND, towards=0.0), readable(accent, DARK_GROUND, towards=1.0)
    )


def readable(accent: str, ground: str, *, towards: float) -> str:
    """The nearest colour of the same hue that is readable on `ground`.

    It changes the lightness (0 to 1) step by step `towards` black (0.0) or white (1.0).
    """
    hue, lightness, saturation = colorsys.rgb_to_hls(*_parts(accent))
    step = _STEP if towards > lightness else -_STEP
    found = accent
    while contrast(found, ground) < LEAST:
        lightness = min(1.0, max(0.0, lightness + step))
        found = _written(colorsys.hls_to_rgb(hue, lightness, saturation))
    return found


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, 1 to 21 (WCAG 2.2)."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in _parts(colour)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _parts(colour: str) -> tuple[float, float, float]:
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return red / 255, green / 255, blue / 255


def _written(parts: tuple[float, float, float]) -> str:
    return "#" + bytes(round(part * 255) for part in parts).hex()
