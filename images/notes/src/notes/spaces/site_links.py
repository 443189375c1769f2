"""Checks the links of a site's navigation.

Invariant: none runs a script, and a label cannot turn the text around it.
"""

import re
import unicodedata
from urllib.parse import urlsplit

from notes.http.problems import Problem

_TURNS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_PATH = re.compile(r"/(?![/\\])[^\s\\]*")


def label(text: str) -> str:
    """The label of a link, in one line. Raises a 422 if nothing of it can be seen.

    Characters that turn the direction of the text around it are left out.
    """
    shown = " ".join(_TURNS.sub("", text).split())
    if not any(unicodedata.category(c)[0] not in "CZ" for c in shown):
        raise Problem(422, "A link needs a label.", field="links")
    if not shown.replace("\u200c", "").replace("\u200d", "").isprintable():
        raise Problem(422, "A label has no control characters.", field="links")
    return shown


def address(text: str) -> str:
    """The address of a link. Raises a 422 unless it is a path, or http, https or mailto."""
    url = text.strip()
    is_plain = url.isprintable() and not any(c.isspace() for c in url)
    if is_plain and _PATH.fullmatch(url):
        return url
    try:
        parts = urlsplit(url)
        is_web = parts.scheme in {"http", "https"} and bool(parts.hostname) and "\\" not in url
    except ValueError:
        is_web = False
    else:
        is_web = is_web or (parts.scheme == "mailto" and "@" in parts.path)
    if not is_plain or not is_web:
        raise Problem(
            422, "A link is a path like /p/…, or an http, https or mailto address.", field="links"
        )
    return url
