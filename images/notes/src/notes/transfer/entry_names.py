"""Decodes and cleans the names of a zip's entries, whatever program wrote the zip.

Decides from one entry's directory record alone. Invariant: the resulting path is relative and has
no `..` and no empty part; it decides titles and places in the tree, never a path on a disk.
"""

import re
import struct
import unicodedata
import zipfile
import zlib

MAX_PARTS = 40
MAX_BYTES = 4000
_UTF8_FLAG = 0x800
_UNICODE_PATH = 0x7075
_DRIVE = re.compile(r"^[A-Za-z]:(?=[/\\]|$)")
_JUNK = re.compile(
    r"(^|/)(__MACOSX|\.DS_Store|\._[^/]*|\.git|\.svn|\.hg|Thumbs\.db|desktop\.ini|\.obsidian"
    r"|\.trash|\.stfolder|\.stversions|\.Trashes|\.Spotlight-V100|~\$[^/]*)(/|$)",
    re.IGNORECASE,
)


def fold(path: str) -> str:
    """A key that is equal for names that differ only in case or Unicode composition."""
    return unicodedata.normalize("NFC", path).casefold()


def is_junk(path: str) -> bool:
    """True for a file of the operating system or an editor, which no user wrote."""
    return _JUNK.search(path) is not None


def decoded(info: zipfile.ZipInfo) -> tuple[str, list[str]]:
    """An entry's decoded name, and notes on guesses.

    Without the UTF-8 flag the format defines code page 437; many programs write UTF-8 nevertheless,
    or add it in an extra field.
    """
    name = info.orig_filename
    if info.flag_bits & _UTF8_FLAG:
        return name, []
    raw = name.encode("cp437", "replace")
    unicode_name = _unicode_path(info.extra, raw)
    if unicode_name is not None:
        return unicode_name, []
    if raw.isascii():
        return name, []
    try:
        return raw.decode("utf-8"), []
    except UnicodeDecodeError:
        return name, ["its name was read as code page 437"]


def _unicode_path(extra: bytes, raw: bytes) -> str | None:
    while len(extra) >= 4:
        kind, size = struct.unpack_from("<HH", extra)
        field = extra[4 : 4 + size]
        extra = extra[4 + size :]
        if kind == _UNICODE_PATH and len(field) > 5 and field[0] == 1:
            if struct.unpack_from("<I", field, 1)[0] != zlib.crc32(raw):
                return None
            try:
                return field[5:].decode("utf-8")
            except UnicodeDecodeError:
                return None
    return None


class UnusableNameError(ValueError):
    """The name cannot become a page's; the text gives the reason."""


def cleaned(name: str) -> tuple[str, list[str]]:
    """The path, relative and without `..`, and the changes. Raises `UnusableNameError`."""
    notes = list[str]()
    if len(name.encode("utf-8", "replace")) > MAX_BYTES:
        raise UnusableNameError("its name is too long")
    if "\\" in name:
        name = name.replace("\\", "/")
    if _DRIVE.match(name):
        name = name[2:]
        notes.append("the drive was removed from its name")
    if name.startswith("/"):
        notes.append("its absolute name was made relative")
    parts = list[str]()
    for part in name.split("/"):
        plain = "".join(c for c in part if unicodedata.category(c) not in {"Cc", "Cs"})
        if plain == "..":
            notes.append("'..' in its name was resolved")
            del parts[-1:]
        elif plain not in {"", "."}:
            parts.append(unicodedata.normalize("NFC", plain))
    if not parts:
        raise UnusableNameError("it has no name")
    if len(parts) > MAX_PARTS:
        raise UnusableNameError(f"it lies more than {MAX_PARTS} folders deep")
    return "/".join(parts), list(dict.fromkeys(notes))


def shown(name: str) -> str:
    """A name shortened and made printable for a message."""
    return "".join(c if c.isprintable() else "?" for c in name[:120])
