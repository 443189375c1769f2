"""Tests URL, client address, host rules, guards and limits, as functions and over HTTP."""

import re
import socket
from dataclasses import replace
from uuid import uuid4

import pytest

from notes.config import Settings, load
from notes.http.viewer import Seen
from notes.middleware import request_url
from notes.middleware.csrf import refusal
from notes.middleware.hostname import normal_host
from notes.middleware.sites import HostMap, SpaceHost
from tests.replica import Client, Replica
from tests.test_config import GOOD

SETTINGS = load(
    {**GOOD, "ORIGIN": "https://notes.example.org", "APP_EXTRA_HOSTS": "intern.example"}
)


def headers(**given: str) -> list[tuple[bytes, bytes]]:
    return [(k.replace("_", "-").encode(), v.encode()) for k, v in given.items()]


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("Notes.Example.ORG", "notes.example.org"),
        ("notes.example.org.", "notes.example.org"),
        ("notes.example.org:443", "notes.example.org"),
        ("notes.example.org:8080", "notes.example.org:8080"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("[::1]:3000", "[::1]:3000"),
        ("127.0.0.1", "127.0.0.1"),
        ("a b", None),
        ("a/b", None),
        ("a@b", None),
        ("a:99999", None),
        ("", None),
        ("-a.example", None),
        ("a..b", None),
        ("[zz]", None),
        ("a\r\nx: y", None),
    ],
)
def test_normal_host(text: str, host: str | None) -> None:
    assert normal_host(text) == host


@pytest.mark.parametrize(
    ("header", "given", "scheme"),
    [
        (None, {"x_forwarded_proto": "http"}, "https"),
        ("x-forwarded-proto", {"x_forwarded_proto": "http"}, "http"),
        ("x-forwarded-proto", {"x_forwarded_proto": "https"}, "https"),
        ("x-forwarded-proto", {"x_forwarded_proto": "javascript"}, "https"),
        ("x-forwarded-proto", {}, "https"),
    ],
)
def test_scheme(header: str | None, given: dict[str, str], scheme: str) -> None:
    settings = replace(SETTINGS, protocol_header=header)
    assert request_url.scheme(settings, headers(**given)) == scheme


def test_host_comes_from_the_named_header_only() -> None:
    given = headers(host="a.example", x_forwarded_host="b.example")
    assert request_url.host(SETTINGS, given) == "a.example"
    assert request_url.host(replace(SETTINGS, host_header="x-forwarded-host"), given) == "b.example"
    assert request_url.host(SETTINGS, headers(host="a.example") * 2) is None
    assert request_url.host(SETTINGS, []) is None
    assert request_url.host(SETTINGS, [(b"host", b"\xff\xfe")]) is None


@pytest.mark.parametrize(
    ("header", "depth", "forwarded", "address"),
    [
        (None, 1, "9.9.9.9", "7.7.7.7"),
        ("x-forwarded-for", 1, "6.6.6.6, 9.9.9.9", "9.9.9.9"),
        ("x-forwarded-for", 2, "6.6.6.6, 9.9.9.9", "6.6.6.6"),
        ("x-forwarded-for", 3, "6.6.6.6, 9.9.9.9", "7.7.7.7"),
        ("x-forwarded-for", 1, "", "7.7.7.7"),
        ("x-forwarded-for", 1, "rubbish", "7.7.7.7"),
        ("x-forwarded-for", 1, "[2001:db8::1]:80", "2001:db8::1"),
        ("x-forwarded-for", 1, "9.9.9.9:1234", "9.9.9.9"),
        ("x-real-ip", 1, "6.6.6.6, 9.9.9.9", "7.7.7.7"),
    ],
)
def test_address(header: str | None, depth: int, forwarded: str, address: str) -> None:
    settings = replace(SETTINGS, address_header=header, xff_depth=depth)
    assert request_url.address(settings, headers(x_forwarded_for=forwarded), "7.7.7.7") == address


def test_host_rules() -> None:
    space, off = uuid4(), uuid4()
    spaces = {"team.example": SpaceHost(space, True), "off.example": SpaceHost(off, False)}
    hosts = HostMap(SETTINGS, spaces)
    for main in ("notes.example.org", "intern.example"):
        site = hosts.site(main)
        assert site is not None
        assert site.space_id is None
    found = hosts.site("team.example")
    assert found is not None
    assert found.space_id == space
    assert hosts.site("off.example") is None
    assert hosts.site("other.example") is None
    assert hosts.may_have_certificate("notes.example.org")
    assert hosts.may_have_certificate("team.example")
    assert not hosts.may_have_certificate("intern.example")
    assert not hosts.may_have_certificate("off.example")
    claimed = HostMap(SETTINGS, {"notes.example.org": SpaceHost(space, True)}).site(
        "notes.example.org"
    )
    assert claimed is not None
    assert claimed.space_id is None, "no space takes the main site's host"
    without_origin: Settings = replace(SETTINGS, origin=None)
    assert HostMap(without_origin, spaces).site("anything.example") is not None
    assert not HostMap(without_origin, spaces).may_have_certificate("anything.example")


SEEN = Seen("https", "notes.example.org", "1.1.1.1")


@pytest.mark.parametrize(
    ("method", "given", "cookie", "refused"),
    [
        ("GET", {}, True, False),
        ("POST", {"content-type": "application/x-www-form-urlencoded"}, False, True),
        ("POST", {"content-type": "text/plain", "origin": "https://evil.example"}, True, True),
        ("POST", {"content-type": "multipart/form-data; boundary=x", "origin": "null"}, True, True),
        ("POST", {"content-type": "text/plain", "origin": SEEN.origin}, True, False),
        ("POST", {"content-type": "text/plain", "origin": "http://notes.example.org"}, True, True),
        ("PUT", {"content-type": "application/json"}, True, True),
        ("PUT", {"content-type": "application/json"}, False, False),
        ("PUT", {"content-type": "application/json", "origin": "https://x.example"}, False, True),
        ("DELETE", {"sec-fetch-site": "same-origin"}, True, False),
        ("DELETE", {"sec-fetch-site": "same-site"}, True, True),
        ("POST", {"content-type": "text/plain", "authorization": "Bearer x"}, True, False),
    ],
)
def test_cross_site_guard(method: str, given: dict[str, str], cookie: bool, refused: bool) -> None:
    assert (refusal(method, given, SEEN, cookie) is not None) is refused


def test_the_guards_message_is_the_contracts() -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    expected = "Cross-site POST form submissions are forbidden"
    assert refusal("POST", form, SEEN, has_cookie=False) == expected


def test_unknown_hosts_get_a_plain_404(replica: Replica) -> None:
    with replica.client(host="evil.example") as client:
        response = client.get("/")
        assert response.status_code == 404
        assert response.headers["content-type"].startswith("text/plain")
        for path in ("/healthz", "/readyz", "/internal/tls-ask?domain=notes.example.org"):
            assert client.get(path).status_code == 200
    with replica.client(host="intern.example.org") as client:
        assert client.get("/api/v1/setup").status_code == 200


@pytest.mark.parametrize(
    ("domain", "status"),
    [
        ("notes.example.org", 200),
        ("NOTES.example.org.", 200),
        ("intern.example.org", 404),
        ("notes.example.org:8443", 404),
        ("evil.example", 404),
        ("", 404),
        ("a b%00", 404),
        ("%ff%fe", 404),
    ],
)
def test_tls_ask(anybody: Client, domain: str, status: int) -> None:
    assert anybody.get(f"/internal/tls-ask?domain={domain}").status_code == status


def test_every_answer_has_its_guarding_headers(anybody: Client) -> None:
    first, second = anybody.get("/api/v1/setup"), anybody.get("/nowhere")
    assert second.status_code == 404
    for response in (first, second):
        assert response.headers["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'none'" in response.headers["content-security-policy"]
        assert "server" not in response.headers
    policy = first.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert not re.search(r"(script|style)-src|unsafe", policy)


def test_bodies_over_the_limit_are_refused(own_replica) -> None:  # type: ignore[no-untyped-def]
    replica = own_replica(BODY_SIZE_LIMIT="10K")
    with replica.client() as client:
        told = client.problem(
            413, "POST", "/api/v1/session", content=b"x" * 20_000,
            headers={"content-type": "application/json"},
        )  # fmt: skip
        assert "BODY_SIZE_LIMIT" in told["detail"]

        def parts():  # type: ignore[no-untyped-def]
            for _ in range(20):
                yield b" " * 1024

        streamed = client.post(
            "/api/v1/session", content=parts(), headers={"content-type": "application/json"}
        )
        assert streamed.status_code == 413


def raw(replica: Replica, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", replica.port), 5) as conn:
        conn.sendall(request)
        conn.settimeout(5)
        answer = b""
        while part := conn.recv(65536):
            answer += part
            if b"\r\n\r\n" in answer:
                break
    return answer


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GET / HTTP/1.1\r\nHost: notes.example.org\r\nHost: evil.example\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: \xff\xfe\r\n\r\n",
        b"GET //evil.example/ HTTP/1.1\r\nHost: notes.example.org\r\n\r\n",
        b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        b"\x16\x03\x01 not http at all\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: notes.example.org\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: notes.example.org\r\nContent-Length: 5\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
)
def test_broken_requests_are_refused(replica: Replica, request_bytes: bytes) -> None:
    status = raw(replica, request_bytes).split(b" ", 2)[1:2]
    assert status
    assert status[0].startswith(b"4")


@pytest.mark.parametrize("path", ["/%2e%2e/etc/passwd", "/..%2f..%2fetc/passwd", "/%00", "/%ff"])
def test_paths_that_climb_lead_nowhere(anybody: Client, path: str) -> None:
    assert anybody.get(path).status_code == 404


def test_a_sign_on_from_an_extra_host_begins_where_it_comes_back(replica: Replica) -> None:
    with replica.client(host="intern.example.org") as client:
        away = client.get("/auth/oidc/start?return_to=/settings")
        begin = "https://notes.example.org/auth/oidc/start?return_to=%2Fsettings"
        assert (away.status_code, away.headers["location"]) == (303, begin)


def test_header_injection_gets_nowhere(anybody: Client) -> None:
    response = anybody.get("/auth/oidc/start?return_to=/%0d%0aSet-Cookie:%20x=y")
    assert "set-cookie" not in response.headers
