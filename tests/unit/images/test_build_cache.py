"""The inputs of an image: a change of any of them makes it stale, nothing else does."""

from pathlib import Path

from queenright import __version__
from tests.lab.product_images import ROOT, product_images


def test_the_contracts_tags() -> None:
    named = [image.reference for image in product_images()]
    member, proxy, vip, edge, repository, operator = named
    assert (member, proxy) == ("queenright-member:16", "queenright-proxy:3.0-alpine")
    assert (vip, edge) == ("queenright-vip:2.2", "queenright-edge:2.6")
    assert repository == "queenright-repository:2.30"
    assert operator == f"queenright-operator:{__version__}"


def test_digests_are_steady_and_differ() -> None:
    first = [image.digest for image in product_images()]
    assert [image.digest for image in product_images()] == first
    assert len(set(first)) == len(first)


def test_each_dockerfile_names_its_public_base() -> None:
    for image in product_images():
        assert f"={image.base}\n" in image.dockerfile.read_text()


def test_what_is_locked_names_no_package_index() -> None:
    for lock in [path for image in product_images() for path in image.requirements]:
        text = lock.read_text()
        assert "--hash=sha256:" in text
        assert "://" not in text, lock


def test_ignore_files_let_every_copied_path_through() -> None:
    for dockerfile, ignore in (
        ("images/member/Dockerfile", "images/member/.dockerignore"),
        ("images/operator/Dockerfile", "images/operator/Dockerfile.dockerignore"),
    ):
        allowed = {line[1:] for line in _lines(ignore) if line.startswith("!")}
        for line in _lines(dockerfile):
            if line.startswith("COPY ") and "--from" not in line:
                for source in line.split()[1:-1]:
                    path = Path(source.rstrip("/"))
                    assert any(path.is_relative_to(entry) for entry in allowed), (source, ignore)


def _lines(path: str) -> list[str]:
    return (ROOT / path).read_text().splitlines()
