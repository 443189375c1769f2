"""The demo space of a new installation: a short tour, imported from Markdown files of this package.

It is an ordinary space with ordinary pages, so it is deleted like any other.
"""

import hashlib
import io
import zipfile
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Annotated
from uuid import UUID

import msgspec
from psycopg.types.json import Jsonb

from notes.db.connect import Conn
from notes.files import chunks
from notes.http.viewer import Viewer
from notes.pages.roles import Role
from notes.quotas.limits import ROW_BYTES
from notes.spaces.making import NewSpace, make_space

Language = Annotated[str, msgspec.Meta(pattern="^[a-z]{2,3}$")]
"""The code of a language. One that has no tour gets the English one."""
_NAMES: dict[str, tuple[str, str]] = {
    "en": ("Tour", "How to write, find and share pages. Delete it when you have seen it."),
    "de": (
        "Rundgang",
        "Seiten schreiben, finden, teilen. Löschen Sie ihn, wenn Sie ihn kennen.",
    ),
}
#: The short names of demo spaces, by which one is found again.
SLUGS = tuple(name.lower() for name, _ in _NAMES.values())
#: All entries have this date: the same files make the same zip.
_DATE = (2020, 1, 1, 0, 0, 0)


def demo_zip(language: Language) -> bytes:
    """The tour in a language, as a zip that the import understands; the same bytes each time."""
    language = language if language in _NAMES else "en"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, file in sorted(_files(files("notes.transfer") / "demo" / language, "")):
            archive.writestr(zipfile.ZipInfo(path, _DATE), file.read_bytes())
    return out.getvalue()


def _files(folder: Traversable, above: str) -> list[tuple[str, Traversable]]:
    found = list[tuple[str, Traversable]]()
    for entry in folder.iterdir():
        path = f"{above}{entry.name}"
        found += _files(entry, f"{path}/") if entry.is_dir() else [(path, entry)]
    return found


async def offer_demo(conn: Conn, viewer: Viewer, language: Language) -> UUID:
    """Creates the demo space, which everybody may edit, and queues the import of its pages.

    Returns the space's id.
    """
    name, description = _NAMES.get(language, _NAMES["en"])
    space = await make_space(conn, viewer, NewSpace(name.lower(), name, description, Role.EDITOR))
    content = demo_zip(language)
    digest = hashlib.sha256(content).digest()
    cursor = await conn.execute(
        "INSERT INTO uploads (space_id, user_id, name, media_type, size, sha256, reserved)"
        " VALUES (%s, %s, %s, 'application/zip', %s, %s, %s) RETURNING id",
        (space, viewer.user_id, f"{name}.zip", len(content), digest, len(content) + ROW_BYTES),
    )
    row = await cursor.fetchone()
    upload: UUID = row["id"]  # type: ignore[index]
    await chunks.store(conn, upload, 0, content)
    payload = {
        "file_id": str(upload),
        "parent_id": None,
        "name": viewer.name,
        "mode": "once",
        "zip": f"{name}.zip",
    }
    cursor = await conn.execute(
        "INSERT INTO jobs (kind, space_id, user_id, payload, digest)"
        " VALUES ('import', %s, %s, %s, %s) RETURNING id",
        (space, viewer.user_id, Jsonb(payload), digest),
    )
    row = await cursor.fetchone()
    job: UUID = row["id"]  # type: ignore[index]
    await conn.execute("UPDATE uploads SET job_id = %s WHERE id = %s", (job, upload))
    await conn.execute("SELECT pg_notify('app_jobs', '')")
    return space
