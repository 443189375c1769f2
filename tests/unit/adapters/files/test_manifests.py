"""Manifests on a real disk: whatever a person does to the files, the reader reports problems."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from queenright.adapters.files.manifests import MOST_BYTES, ManifestFiles
from queenright.ports.manifests import Manifests
from tests.support.documents import BASE


def told(path: Path) -> list[str]:
    return [
        str(problem).replace(str(path.parent), "…")
        for problem in ManifestFiles(path).read().problems
    ]


def test_the_adapter_is_the_port(tmp_path: Path) -> None:
    manifests: Manifests = ManifestFiles(tmp_path)
    assert manifests.fingerprint() == manifests.fingerprint()


def test_a_file(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(BASE)
    reading = ManifestFiles(file).read()
    assert reading.files == {str(file): BASE}
    assert reading.problems == ()
    assert reading.fingerprint == ManifestFiles(file).fingerprint()


def test_a_directorys_own_yaml_files_in_order(tmp_path: Path) -> None:
    for name in ("b.yaml", "a.yml", ".hidden.yaml", "notes.txt", "c.yaml~"):
        (tmp_path / name).write_text(name)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "d.yaml").write_text("d")
    (tmp_path / "e.yaml").mkdir()
    reading = ManifestFiles(tmp_path).read()
    assert [Path(name).name for name in reading.files] == ["a.yml", "b.yaml"]
    assert reading.problems == ()


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert ManifestFiles(file).read().files == {str(file): "a: 1\n"}


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    assert told(file) == ["…/cluster.yaml:1: file: does not exist (any more)"]


def test_a_directory_without_manifests(tmp_path: Path) -> None:
    directory = tmp_path / "desired"
    directory.mkdir()
    assert told(directory) == ["…/desired:1: file: the directory has no *.yaml or *.yml file in it"]


def test_a_link_to_nowhere(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.symlink_to(tmp_path / "nowhere")
    assert told(file) == ["…/cluster.yaml:1: file: does not exist (any more)"]


def test_a_link_to_itself(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.symlink_to(file)
    (line,) = told(file)
    assert line.startswith("…/cluster.yaml:1: file: can't be read: ")


def test_other_bytes_than_utf_8(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_bytes(b"a: 1\nb: \xff\n")
    assert told(file) == ["…/cluster.yaml:1: file: is not UTF-8 text (byte 8, line 2)"]


def test_a_file_too_large_for_a_manifest(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_bytes(b"#" * MOST_BYTES)
    assert told(file) == []
    file.write_bytes(b"#" * (MOST_BYTES + 1))
    assert told(file) == ["…/cluster.yaml:1: file: is larger than 1 MiB, which no manifest is"]


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "cluster.yaml")
    assert told(tmp_path / "cluster.yaml") == ["…/cluster.yaml:1: file: is not a regular file"]


def test_a_device_is_not_read() -> None:
    assert [str(problem) for problem in ManifestFiles(Path("/dev/zero")).read().problems] == [
        "/dev/zero:1: file: is not a regular file"
    ]


def test_a_name_that_no_file_can_have() -> None:
    reading = ManifestFiles(Path("a\0b")).read()
    assert [problem.field for problem in reading.problems] == ["file"]
    assert ManifestFiles(Path("a\0b")).fingerprint()


def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff.yaml")).write_text("a: 1\n")
    (name,) = ManifestFiles(tmp_path).read().files
    assert name.encode().endswith("�.yaml".encode()) or name.endswith("?.yaml")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may not read")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(BASE)
    file.chmod(0)
    for directory in (tmp_path, *tmp_path.parents[:3]):
        directory.chmod(0o755)
    os.seteuid(65534)
    try:
        lines = told(file)
    finally:
        os.seteuid(0)
    assert lines == ["…/cluster.yaml:1: file: can't be read: permission denied"]


def rewrite(file: Path) -> None:
    file.write_text(BASE + "#\n")


def replace(file: Path) -> None:
    other = file.with_suffix(".new")
    other.write_text(file.read_text())
    other.replace(file)


def touch(file: Path) -> None:
    os.utime(file, ns=(1, 1))


@pytest.mark.parametrize("change", [rewrite, replace, touch, Path.unlink])
def test_every_change_of_a_file_changes_the_fingerprint(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(BASE)
    before = ManifestFiles(tmp_path).fingerprint()
    change(file)
    assert ManifestFiles(tmp_path).fingerprint() != before


def test_a_new_file_and_a_swapped_link_change_the_fingerprint(tmp_path: Path) -> None:
    for version in ("one", "two"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "cluster.yaml").write_text(BASE)
    (tmp_path / "desired").symlink_to("one")
    manifests = ManifestFiles(tmp_path / "desired")
    first = manifests.fingerprint()
    (tmp_path / "desired.new").symlink_to("two")
    (tmp_path / "desired.new").replace(tmp_path / "desired")
    second = manifests.fingerprint()
    (tmp_path / "two" / "more.yaml").write_text("a: 1\n")
    assert len({first, second, manifests.fingerprint()}) == 3


@pytest.mark.parametrize("moment", range(3, 6))
def test_a_file_replaced_while_it_is_read_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    """Somebody replaces it the moment before its status is asked for the nth time."""
    file, asked, status = tmp_path / "cluster.yaml", list[str](), os.stat

    def restless(path: str | Path, **how: bool) -> os.stat_result:
        if str(path) == str(file):
            asked.append(str(path))
            if len(asked) == moment:
                replace(file)
        return status(path, **how)

    file.write_text(BASE)
    manifests = ManifestFiles(file)
    monkeypatch.setattr(os, "stat", restless)
    reading = manifests.read()
    monkeypatch.undo()
    assert len(asked) >= moment, "the file was never replaced"
    assert reading.problems
    assert all("changed during the read" in problem.message for problem in reading.problems)
    assert manifests.read().problems == ()


def opened(monkeypatch: pytest.MonkeyPatch, manifests: ManifestFiles) -> tuple[list[str], str]:
    """Return the names of the files that a reading opens, and the text of the last one."""
    found, real = list[str](), os.open

    def noting(path: Path, flags: int) -> int:
        found.append(path.name)
        return real(path, flags)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", noting)
        reading = manifests.read()
    assert reading.problems == ()
    return found, [*reading.files.values()][-1]


@pytest.mark.parametrize("change", [rewrite, replace])
def test_only_changed_files_are_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None]
) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(BASE)
    manifests = ManifestFiles(tmp_path)
    everything = ["a.yaml", "b.yaml"]
    assert opened(monkeypatch, manifests)[0] == everything
    assert opened(monkeypatch, manifests)[0] == everything, "written a moment ago"
    monkeypatch.setattr("queenright.adapters.files.manifests.OLD_ENOUGH_NS", 0)
    assert opened(monkeypatch, manifests)[0] == everything
    assert opened(monkeypatch, manifests)[0] == []
    change(tmp_path / "b.yaml")
    found, text = opened(monkeypatch, manifests)
    assert found == ["b.yaml"]
    assert text == (tmp_path / "b.yaml").read_text()
    (tmp_path / "a.yaml").unlink()
    assert opened(monkeypatch, manifests)[0] == []
