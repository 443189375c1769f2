"""Access to the page: host names, methods, origins, tokens."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from queenright.adapters.page.access import Access, TokenError, read_token

TOKEN = "0123456789:abcdef"
ACCESS = Access(("board.example",), TOKEN)


def status(method: str = "GET", access: Access = ACCESS, **headers: str) -> int:
    given = {"host": "localhost", **headers}
    found = access.refusal(
        method, [(k.replace("_", "-").encode(), v.encode()) for k, v in given.items()]
    )
    return found.status if found else 200


def basic(password: str) -> str:
    return f"Basic {base64.b64encode(f'me:{password}'.encode()).decode()}"


@pytest.mark.parametrize(
    ("host", "is_known"),
    [
        ("localhost", True),
        ("localhost:8790", True),
        ("127.0.0.1:8790", True),
        ("10.77.0.11", True),
        ("[::1]:8790", True),
        ("[::1]", True),
        ("board.example", True),
        ("Board.Example.:443", True),
        ("", False),
        ("evil.example", False),
        ("evil.example:8790", False),
        ("127.0.0.1.evil.example", False),
        ("localhost.evil.example", False),
        ("board.example.evil", False),
        ("localhost@evil.example", False),
        ("0x7f.1", False),
    ],
)
def test_a_host_name_that_is_not_given_is_refused(host: str, is_known: bool) -> None:
    assert ACCESS.knows_host(host) is is_known
    assert (status(host=host, authorization=basic(TOKEN)) == 421) is not is_known


@pytest.mark.parametrize(
    "method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"]
)
def test_nothing_but_reading_is_possible(method: str) -> None:
    assert status(method, authorization=basic(TOKEN)) == 405


def test_a_request_with_a_body_is_refused() -> None:
    assert status(content_length="3", authorization=basic(TOKEN)) == 400
    assert status(transfer_encoding="chunked", authorization=basic(TOKEN)) == 400
    assert status(content_length="0", authorization=basic(TOKEN)) == 200


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (basic(TOKEN), 200),
        (f"Bearer {TOKEN}", 200),
        (f"bearer {TOKEN}", 200),
        ("", 401),
        (basic(""), 401),
        (basic(TOKEN[:-1]), 401),
        (basic(TOKEN + "x"), 401),
        (f"Bearer {TOKEN}x", 401),
        ("Bearer ", 401),
        (f"Digest {TOKEN}", 401),
        (TOKEN, 401),
        ("Basic !!!", 401),
        ("Basic ÿ", 401),
    ],
)
def test_the_token_is_needed_where_there_is_one(given: str, code: int) -> None:
    assert status(authorization=given) == code


def test_without_a_token_none_is_asked_for() -> None:
    assert status(access=Access()) == 200


def test_another_site_may_link_here_and_nothing_else() -> None:
    given = {"authorization": basic(TOKEN), "sec_fetch_site": "cross-site"}
    assert status(**given, sec_fetch_mode="no-cors") == 403
    assert status(**given) == 403
    assert status(**given, sec_fetch_mode="navigate") == 200


def test_the_token_is_in_no_text() -> None:
    assert TOKEN not in repr(ACCESS)


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_token_is_read_without_its_line_end(tmp_path: Path, end: str) -> None:
    file = tmp_path / "token"
    file.write_bytes(f"{'a' * 32}{end}".encode())
    assert read_token(file) == "a" * 32


@pytest.mark.parametrize("data", [b"", b"short", b"a" * 2000, b"a" * 32 + b"\nb", b"\xff" * 32])
def test_what_is_no_token_is_refused_and_not_repeated(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "token"
    file.write_bytes(data)
    with pytest.raises(TokenError) as caught:
        read_token(file)
    assert "16 to 1024" in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_token_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    for odd in (tmp_path / "none", tmp_path):
        with pytest.raises(TokenError, match=str(odd)):
            read_token(odd)
