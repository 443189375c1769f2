"""Names and media types of files, made harmless.

Invariant: neither can end a header line, leave a folder or make a browser run what it is given.
"""

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
    "image/webp",
    "text/plain",
}
DEFAULT_TYPE = "application/octet-stream"
MAX_NAME_BYTES = 200


def file_name(text: str) -> str:
    """A bare file name, of at most 200 bytes; `file` when nothing is left of it."""
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
    """A media type without parameters."""
    bare = text.partition(";")[0].strip().lower()
    return bare if _TYPE.fullmatch(bare) else DEFAULT_TYPE


def is_shown(kind: str) -> bool:
    """Whether a browser may show it in place: only what cannot hold a program."""
    return kind in _SHOWN or kind.startswith(("audio/", "video/"))


def disposition(name: str, *, shown: bool) -> str:
    """The value of Content-Disposition."""
    plain = "".join(
        c if c.isascii() and c.isprintable() and c not in '"\\%;' else "_" for c in name
    )
    how = "inline" if shown else "attachment"
    return f"{how}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
