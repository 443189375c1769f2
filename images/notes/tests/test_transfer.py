"""Tests import and export: exact round trips, and refused zips."""

import hashlib
import io
import os
import stat
import struct
import subprocess
import zipfile
import zlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from notes.transfer.export_plan import _unused
from notes.transfer.zip_write import Entry, zip_stream
from tests.postgres import Postgres
from tests.replica import Client
from tests.uploads import attach
from tests.workspace import page, space
from tests.zips import exported, finished, imported, left_behind, tree, zipped


@pytest.mark.judge
@pytest.mark.parametrize("command", [["unzip", "-tqq"], ["7z", "t", "-bso0"]], ids=lambda c: c[0])
def test_an_export_is_a_zip_to_others(admin: Client, tmp_path: Path, command: list[str]) -> None:
    home = space(admin)
    made = page(admin, home, "Ä page: with/slashes", markdown="text\n")
    attach(admin, made, "pic (1).png", os.urandom(5_000_000), "image/png")
    archive = tmp_path / "export.zip"
    archive.write_bytes(exported(admin, home))
    subprocess.run([*command, str(archive)], check=True)


def test_a_round_trip_is_exact(admin: Client) -> None:
    home = space(admin)
    top = page(admin, home, "Top / of: all? ü", markdown="# Hi\n\ntext\n")
    page(admin, home, "same", parent_id=top, markdown="first\n")
    second = page(admin, home, "Same", parent_id=top, markdown="second\n")
    data = os.urandom(5_000_000)
    file = attach(admin, home_page := page(admin, home, "a"), "pic (1).png", data, "image/png")[
        "id"
    ]
    text = f"[second](/p/{second}) ![pic](/api/v1/attachments/{file}) [out](https://x.example/)\n"
    admin.ok("PUT", f"/api/v1/nodes/{home_page}", {"base_version": 1, "markdown": text})
    first = exported(admin, home)
    copy = space(admin)
    job = imported(admin, copy, first)
    assert job["state"] == "done", job
    assert job["progress"]["pages"] == 4
    assert exported(admin, copy) == first
    originals, copies = tree(admin, home), tree(admin, copy)
    assert [t[:2] for t in originals] == [t[:2] for t in copies]
    last = admin.ok("GET", f"/api/v1/spaces/{copy}/tree")
    new = next(n["id"] for n in last if n["title"] == "a")
    files = admin.ok("GET", f"/api/v1/nodes/{new}/attachments")
    assert [(f["name"], f["type"], f["sha256"]) for f in files] == [
        ("pic (1).png", "image/png", hashlib.sha256(data).hexdigest())
    ]
    linked = next(n["id"] for n in last if n["title"] == "Same")
    assert f"/p/{linked}" in admin.get(f"/api/v1/nodes/{new}/markdown").text


def test_a_foreign_zip_becomes_pages(admin: Client) -> None:
    home = space(admin)
    content = zipped(
        ("README.md", b"\xef\xbb\xbfhello [b](notes/b.md#part)\n"),
        ("notes/a.md", b"![p](img/p.png)\n"),
        ("notes/b.md", b"b\n"),
        ("notes/img/p.png", b"png"),
        ("__MACOSX/x", b"skip"),
    )
    parent = page(admin, home, "Imported here")
    job = imported(admin, home, content, parent_id=parent)
    assert job["state"] == "done", job
    found = {title: (above, text) for title, above, text in tree(admin, home)}
    assert found["README"][0] == "Imported here"
    assert found["notes"][0] == "Imported here"
    assert found["a"][0] == "notes"
    assert "/api/v1/attachments/" in found["a"][1]
    assert "/p/" in found["README"][1]
    assert "#part" in found["README"][1]


def test_a_zip_of_many_chunks_is_imported(admin: Client) -> None:
    """The zip is larger than an import's cache, so chunks are read more than once."""
    home = space(admin)
    # Read in another order than in the zip.
    files = {f"f{9 - n}.bin": os.urandom(6_000_000) for n in range(5)}
    job = imported(admin, home, zipped(("p.md", b"words\n"), *files.items()))
    assert job["state"] == "done", job
    node = admin.ok("GET", f"/api/v1/spaces/{home}/tree")[0]["id"]
    made = admin.ok("GET", f"/api/v1/nodes/{node}/attachments")
    assert {f["name"]: f["sha256"] for f in made} == {
        name: hashlib.sha256(data).hexdigest() for name, data in files.items()
    }


def link() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        info = zipfile.ZipInfo("link.md")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    return out.getvalue()


def damaged() -> bytes:
    content = bytearray(zipped(("a.md", b"some words " * 100)))
    content[40] ^= 0xFF
    return bytes(content)


def lying() -> bytes:
    """A zip whose directory has a wrong size."""
    content = bytearray(zipped(("a.md", b"x" * 1000)))
    at = content.index(b"PK\1\2")
    content[at + 24 : at + 28] = struct.pack("<I", 10)
    return bytes(content)


def overlapping() -> bytes:
    """A zip with two directory records of the same bytes, like the densest zip bombs."""
    content = zipped(("a.bin", bytes(100_000)), ("b.bin", bytes(100_000)))
    at = content.rindex(b"PK\1\2")
    return content[: at + 42] + struct.pack("<I", 0) + content[at + 46 :]


def many(count: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number in range(count):
            archive.writestr(f"{number}.md", b"")
    return out.getvalue()


def lying_about_its_directory() -> bytes:
    """A zip whose directory claims one entry, and has 60,000."""
    content = bytearray(many(60_000))
    at = content.rindex(b"PK\5\6")
    content[at + 8 : at + 12] = struct.pack("<HH", 1, 1)
    return bytes(content)


def long_names() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number in range(300):
            archive.writestr(f"{number}" + "n" * 65_000, b"")
    return out.getvalue()


def bomb_in_parts() -> bytes:
    part = zipped(("bomb.bin", bytes(400_000_000)))
    return zipped(*[(f"Part-{n}.zip", part) for n in range(10)])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: b"no zip at all", "not a zip"),
        (lambda: b"", "not a zip"),
        (lambda: zipped(("bomb.bin", bytes(50_000_000))), "unpacks to far more"),
        (bomb_in_parts, "unpacks to"),
        (lambda: zipped(("notes-export.json", b"{")), "damaged"),
        (lambda: zipped(("fine.md", b"x"), ("data.json", b"[" * 100_000)), "done"),
        (lambda: zipped(("data.json", b"[" * 100_000)), "damaged"),
        (lambda: zipped(("data.json", b"{}")), "no book"),
        (damaged, "damaged"),
        (lying, "damaged"),
        (overlapping, "overlap"),
        (lambda: many(100_000), "more than 50000 entries"),
        (lying_about_its_directory, "more than 50000 entries"),
        (long_names, "directory is larger"),
    ],
)
def test_bad_zips_are_refused_and_leave_nothing(
    admin: Client, postgres: Postgres, make: Callable[[], bytes], said: str
) -> None:
    home = space(admin)
    job = imported(admin, home, make())
    if said == "done":
        assert job["state"] == "done", job
        return
    assert job["state"] == "failed"
    assert said in job["error"]
    assert admin.ok("GET", f"/api/v1/spaces/{home}/tree") == []
    assert left_behind(postgres, "main", job["id"]) == {}


def test_imports_are_asked_for_soundly(admin: Client, anybody: Client) -> None:
    home = space(admin)
    url = f"/api/v1/spaces/{home}/imports"
    anybody.problem(401, "POST", url, content=b"x", headers={"content-type": "application/zip"})
    admin.problem(415, "POST", url, content=b"x", headers={"content-type": "image/png"})
    admin.problem(400, "POST", url, content=b"{", headers={"content-type": "application/json"})
    long = b" " * 70_000 + b"{}"
    admin.problem(413, "POST", url, content=long, headers={"content-type": "application/json"})
    made = page(admin, home)
    file = attach(
        admin, made, "x.zip", zipped(("p.md", b"from an attachment\n")), "application/zip"
    )
    job = finished(admin, admin.ok("POST", url, {"attachment_id": file["id"]}, 202))
    assert job["state"] == "done"
    assert len(tree(admin, home)) == 2


def test_pages_of_one_title_are_named_at_once() -> None:
    class Counted(dict[str, int]):
        asked = 0

        def __contains__(self, key: object) -> bool:
            self.asked += 1
            return super().__contains__(key)

    used = Counted()
    titles = ["Untitled (2)", *["Untitled"] * 500, *["untitled"] * 500]
    stems = [_unused(used, "a/", title, ".md") for title in titles]
    assert len({stem.lower() for stem in stems}) == len(titles)
    assert stems[1:4] == ["a/Untitled", "a/Untitled (3)", "a/Untitled (4)"]
    assert used.asked < 3 * len(titles), "every name is looked for from the first number on"


async def test_zips_beyond_4_gb_and_65535_entries_have_wide_directories() -> None:
    size = 5 * 1024**3
    piece = bytes(1024 * 1024)

    async def nothing() -> AsyncIterator[bytes]:
        for _ in range(size // len(piece)):
            yield piece

    async def entries() -> AsyncIterator[Entry]:
        yield Entry("big", size, 0, nothing())
        for number in range(70_000):
            yield Entry(f"s{number}", 1, zlib.crc32(b"x"), b"x")

    tail = b""
    total = 0
    async for part in zip_stream(entries()):
        total += len(part)
        tail = (tail + part)[-200:] if len(part) < 1024 else part[-8_000_000:]
    assert b"PK\6\6" in tail
    assert b"PK\6\7" in tail
    assert total > size
