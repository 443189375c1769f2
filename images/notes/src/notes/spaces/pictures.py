"""Recognises pictures by their bytes.

Invariant: the type that a client names is not trusted; a file has the type of its content.
"""

import re
from typing import Final

from notes.http.problems import Problem

MOST_BYTES: Final = 256 * 1024
#: A picture of a kind that programs outside of browsers show, too.
RASTER: Final = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
_MAGIC: Final = (
    ("image/png", re.compile(rb"\x89PNG\r\n\x1a\n")),
    ("image/jpeg", re.compile(rb"\xff\xd8\xff")),
    ("image/gif", re.compile(rb"GIF8[79]a")),
    ("image/webp", re.compile(rb"RIFF....WEBP", re.DOTALL)),
    ("image/avif", re.compile(rb"....ftypavi[fs]", re.DOTALL)),
)
#: Each part can match in one way only, so a hostile text takes no longer than another.
_SVG = re.compile(
    r"\ufeff?(?:\s|<\?xml[^>]*>|<!--(?:(?!-->).)*-->|<!DOCTYPE[^>\[]*>)*<svg[\s>]", re.DOTALL
)
_LOOKED_AT = 4096


def picture_type(data: bytes) -> str:
    """The media type of a picture. Raises a 422 for other data.

    An SVG picture may not define entities: a short one could fill a browser's memory. Scripts in
    it never run, since a browser shows it as an image, or in a sandbox.
    """
    for kind, magic in _MAGIC:
        if magic.match(data):
            return kind
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if _SVG.match(text[:_LOOKED_AT]) and "<!entity" not in text.lower():
        return "image/svg+xml"
    raise Problem(422, "This is no picture (PNG, JPEG, GIF, WebP, AVIF or SVG).", field="body")
