"""Tests imports of unusual zips, and of the same zip again.

Names follow the format's "APPNOTE" (flag 11 and field 0x7075) and Info-ZIP's Unicode path.
"""

import io
import struct
import zipfile
import zlib

from tests.imported import Imported
from tests.replica import Client
from tests.workspace import page, space
from tests.zips import finished, imported, zipped


def raw_zip(*entries: tuple[bytes, bytes, int, bytes]) -> bytes:
    """A zip from raw names, data, flags and extra fields, which Python's writer refuses."""
    body = directory = b""
    for name, data, flags, extra in entries:
        crc = zlib.crc32(data)
        head = struct.pack(
            "<HHHHHIIIHH", 20, flags, 0, 0, 0x5821, crc, len(data), len(data), len(name), len(extra)
        )
        directory += (
            b"PK\1\2" + struct.pack("<H", 20) + head
            + struct.pack("<HHHII", 0, 0, 0, 0, len(body)) + name + extra
        )  # fmt: skip
        body += b"PK\3\4" + head + name + extra + data
    end = struct.pack("<HHHHIIH", 0, 0, len(entries), len(entries), len(directory), len(body), 0)
    return body + directory + b"PK\5\6" + end


def unicode_path(name: bytes, meant: str) -> bytes:
    field = struct.pack("<BI", 1, zlib.crc32(name)) + meant.encode()
    return struct.pack("<HH", 0x7075, len(field)) + field


def test_names_of_zips_made_on_windows(admin: Client) -> None:
    done = Imported(
        admin,
        raw_zip(
            (
                b"Ordner\\B\x81cher.md",
                b"[z](Z%C3%BCge.md) [g](..\\gr\xc3\xb6\xc3\x9fe.md)\n",
                0,
                b"",
            ),
            ("Ordner\\Züge.md".encode(), b"z\n", 0, b""),  # UTF-8 that does not say so
            ("größe.md".encode(), b"g\n", 0x800, b""),
            (b"?.md", b"u\n", 0, unicode_path(b"?.md", "Ünï.md")),
            (b"./dot/./x.md", b"x\n", 0, b""),
            (b"C:\\Users\\me\\note.md", b"c\n", 0, b""),
            (b"/etc/passwd.md", b"abs\n", 0, b""),
            (b"a/../../b.md", b"up\n", 0, b""),
            (b"10:30 Talk.md", b"colon\n", 0, b""),
            (b"same.md", b"one\n", 0, b""),
            (b"same.md", b"two\n", 0, b""),
            (b"SAME.md", b"three\n", 0, b""),
            (b"README.MD", b"caps [s](Same.md)\n", 0, b""),
            (b"Thumbs.db", b"x", 0, b""),
            (b"desktop.ini", b"x", 0, b""),
        ),
    )
    for title, text in {
        "Züge": "z", "größe": "g", "Ünï": "u", "x": "x", "note": "c", "passwd": "abs", "b": "up",
        "10:30 Talk": "colon", "same": "one", "same (2)": "two", "SAME": "three",
    }.items():  # fmt: skip
        assert done.text(title) == text + "\n", title
    assert done.above["Bücher"] == "Ordner"
    assert "[z](PAGE:Züge) [g](PAGE:größe)" in done.text("Bücher")
    assert "PAGE:same" in done.text("README")
    assert done.above["note"] == "me"
    assert done.above["passwd"] == "etc"
    assert done.outcome("Thumbs.db") == "left out"
    assert "code page 437" in done.notes("Ordner/Bücher.md")
    assert "absolute" in done.notes("etc/passwd.md")
    assert "'..'" in done.notes("b.md")
    assert "same name" in done.notes("same (2).md")


def test_what_cannot_be_a_page_is_kept_as_a_file(admin: Client) -> None:
    deep = b">" * 60 + b" deep"
    done = Imported(
        admin,
        zipped(
            ("deep.md", deep),
            ("deep/child.md", b"[up](../deep.md)\n"),
            ("latin.md", "größe\n".encode("latin-1")),
            ("wide.md", "breit\n".encode("utf-16")),
            ("long.md", b"word " * 500_000),
            ("big.html", b"<p>x</p>" * 200_000),
        ),
    )
    assert done.above["child"] == "deep"
    assert "[deep.md](FILE:deep.md)" in done.text("deep")
    assert done.files("deep") == ["deep.md"]
    assert "more than 40 levels" in done.notes("deep.md")
    assert done.text("latin") == "größe\n"
    assert "Windows-1252" in done.notes("latin.md")
    assert done.text("wide") == "breit\n"
    assert done.files("long") == ["long.md"]
    assert done.files("big") == ["big.html"]
    assert "tags" in done.notes("big.html")


def test_entries_that_cannot_be_read_are_left_out_and_named(admin: Client) -> None:
    link = zipfile.ZipInfo("link.md")
    link.external_attr = 0o120777 << 16
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("p.md", "fine\n")
        archive.writestr(link, "/etc/passwd")
        archive.writestr(zipfile.ZipInfo("odd.bin"), b"x" * 100, zipfile.ZIP_BZIP2)
        archive.writestr("x/" * 50 + "deep.md", "x")
        archive.writestr("n" * 60_000 + ".md", "x")
    done = Imported(admin, out.getvalue())
    assert list(done.ids) == ["p"]
    reasons = {i["path"][:10]: i["notes"][0] for i in done.lines if i["outcome"] == "left out"}
    assert reasons["link.md"] == "it is a link, not a file"
    assert reasons["odd.bin"] == "it is compressed in an unusual way"
    assert "folders deep" in reasons["x/x/x/x/x/"]
    assert "too long" in reasons["n" * 10]


def test_the_same_zip_does_not_double(admin: Client) -> None:
    home, content = space(admin), zipped(("a.md", b"words\n"), ("a/b.md", b"more\n"))
    first = imported(admin, home, content)
    again = imported(admin, home, content)
    assert again["state"] == "done"
    assert again["result"]["already"] == first["id"]
    titles = [n["title"] for n in admin.ok("GET", f"/api/v1/spaces/{home}/tree")]
    assert titles == ["a", "b"]
    # For another target it is another import; and `copy` imports it again.
    below = page(admin, home, "below")
    assert "already" not in imported(admin, home, content, parent_id=below)["result"]
    assert "already" not in imported(admin, home, content, mode="copy")["result"]
    titles = [n["title"] for n in admin.ok("GET", f"/api/v1/spaces/{home}/tree")]
    assert sorted(titles) == ["a", "a", "a", "b", "b", "b", "below"]


def test_a_zip_replaces_what_it_made_before(admin: Client) -> None:
    home, content = space(admin), zipped(("a.md", b"words\n"), ("a/b.md", b"more\n"))
    imported(admin, home, content)
    old = admin.ok("GET", f"/api/v1/spaces/{home}/tree")[0]["id"]
    page(admin, home, "added", parent_id=old)
    imported(admin, home, content, mode="replace")
    nodes = admin.ok("GET", f"/api/v1/spaces/{home}/tree")
    assert sorted(n["title"] for n in nodes) == ["a", "b"]
    assert old not in {n["id"] for n in nodes}
    # Nothing is lost: a restore from the trash brings back the added page too.
    admin.ok("POST", f"/api/v1/nodes/{old}/restore", {})
    assert len(admin.ok("GET", f"/api/v1/spaces/{home}/tree")) == 5


def test_once_its_pages_are_gone_a_zip_is_imported_again(admin: Client) -> None:
    home, content = space(admin), zipped(("a.md", b"words\n"))
    imported(admin, home, content)
    admin.ok("DELETE", f"/api/v1/nodes/{admin.ok('GET', f'/api/v1/spaces/{home}/tree')[0]['id']}")
    assert "already" not in imported(admin, home, content)["result"]
    assert len(admin.ok("GET", f"/api/v1/spaces/{home}/tree")) == 1


def test_a_zip_that_is_asked_for_twice_at_once_is_one_job(admin: Client) -> None:
    """Like a client that repeats a request after a lost answer."""
    home = space(admin)
    content = zipped(*[(f"p{n}.md", b"words\n" * 200) for n in range(300)])
    jobs = [
        admin.post(
            f"/api/v1/spaces/{home}/imports",
            content=content,
            headers={"content-type": "application/zip"},
        ).json()
        for _ in range(3)
    ]
    for job in jobs:
        assert finished(admin, job)["state"] == "done"
    assert len(admin.ok("GET", f"/api/v1/spaces/{home}/tree")) == 300
