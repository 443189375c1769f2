"""Sanitises names and media types of files.

Invariant: neither can end a header line, leave a folder or make a browser run the file.
"""

import codecs
import re
import unicodedata
from urllib.parse import quote

_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]{1,80}/[a-z0-9!#$&^_.+-]{1,80}")
_SHOWN = {
    "application/pdf",
    "image/avif",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/svg+xml",
    "image/webp",
    "text/plain",
}
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
DEFAULT_TYPE = "application/octet-stream"
MAX_NAME_BYTES = 200


def file_name(text: str) -> str:
    """A file name without folders, of at most 200 bytes; `file` if nothing is left."""
    bare = re.split(r"[/\\]", text)[-1]
    clean = "".join(c for c in bare if unicodedata.category(c)[0] != "C" and c not in '<>:"|?*')
    clean = unicodedata.normalize("NFC", clean).strip(" .")
    stem, dot, ending = clean.rpartition(".")
    while len(clean.encode()) > MAX_NAME_BYTES:
        if stem and len(ending) < 20:
            stem = stem[:-1]
            clean = f"{stem}{dot}{ending}"
        else:
            clean = clean[:-1]
    return clean or "file"


def media_type(text: str) -> str:
    """The media type without parameters; the default type if it is invalid."""
    bare = text.partition(";")[0].strip().lower()
    return bare if _TYPE.fullmatch(bare) else DEFAULT_TYPE


def is_shown(kind: str) -> bool:
    """True if a browser may show the file: its type holds no program, or may not run it."""
    return kind in _SHOWN or kind.startswith(("audio/", "video/"))


def policy(kind: str) -> str:
    """The content security policy of a file that is opened directly.

    A browser shows a film in a page that it generates, which must be allowed to load it, and a PDF
    in a viewer that does not work in a sandbox. Neither runs scripts of this site. Pages of this
    site show a PDF in a frame; no other file is ever shown in one.
    """
    if kind == "application/pdf":
        return f"{_POLICY}; frame-ancestors 'self'; object-src 'self'; frame-src 'self'"
    closed = f"{_POLICY}; frame-ancestors 'none'"
    if kind.startswith(("audio/", "video/")):
        return f"{closed}; media-src 'self'"
    return f"{closed}; sandbox"


def charset(head: bytes, *, is_whole: bool) -> str:
    """Guesses a text's encoding from its beginning; windows-1252 if it is not Unicode."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head, final=is_whole)
    except UnicodeDecodeError:
        return "windows-1252"
    return "utf-8"


def disposition(name: str, *, shown: bool) -> str:
    """The value of the Content-Disposition header."""
    plain = "".join(
        c if c.isascii() and c.isprintable() and c not in '"\\%;' else "_" for c in name
    )
    how = "inline" if shown else "attachment"
    return f"{how}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
