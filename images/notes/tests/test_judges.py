"""Programs that nobody here wrote have their say."""

import base64
import contextlib
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.postgres import free_port
from tests.replica import Client, Replica
from tests.test_files import attach
from tests.test_pages import page, space

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]
JUDGES = Path(__file__).parent / "judges"
SECRET = "the client's secret of this test"


@contextlib.contextmanager
def process(*command: str, until: Callable[[], bool], **more: object) -> Iterator[None]:
    running = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more
    )  # type: ignore[call-overload]
    try:
        deadline = time.monotonic() + 20
        while not until():
            assert time.monotonic() < deadline, command[0]
            assert running.poll() is None, command
            time.sleep(0.05)
        yield
    finally:
        running.terminate()
        running.wait(10)


def answers(url: str) -> Callable[[], bool]:
    def ask() -> bool:
        with contextlib.suppress(httpx.HTTPError):
            return httpx.get(url, timeout=2).status_code < 500
        return False

    return ask


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    port = free_port()
    issuer = f"http://127.0.0.1:{port}"
    uris = [f"https://{h}/auth/oidc/callback" for h in ("notes.example.org", "team.example.org")]
    with process(
        "node", str(JUDGES / "identity_provider.mjs"), str(port), "notes", SECRET, *uris,
        until=answers(f"{issuer}/.well-known/openid-configuration"),
    ):  # fmt: skip
        yield issuer


@pytest.fixture(scope="module")
def single(postgres, provider: str) -> Iterator[Replica]:  # type: ignore[no-untyped-def]
    env = {
        "ORIGIN": "https://notes.example.org",
        "OIDC_ISSUER": provider,
        "OIDC_CLIENT_ID": "notes",
        "OIDC_CLIENT_SECRET": SECRET,
        "OIDC_GROUPS_CLAIM": "groups",
        "OIDC_ADMIN_GROUP": "admins",
    }
    replica = Replica(postgres.database("single"), env).start()
    with replica.client() as client:
        client.set_up()
    yield replica
    assert "Traceback" not in replica.log
    assert SECRET not in replica.log
    replica.end()


def sign_on(client: Client, person: str) -> str:
    """Signs on at the provider as a person would; the address that it sends the browser back to."""
    away = client.get("/auth/oidc/start?return_to=/settings").headers["location"]
    with httpx.Client(follow_redirects=False, timeout=20) as browser:
        answer = browser.get(away)
        for _ in range(12):
            if answer.is_redirect:
                url = str(answer.next_request.url) if answer.next_request else ""
                if "/auth/oidc/callback" in url:
                    return url.partition("example.org")[2]
                answer = browser.get(url)
                continue
            action = re.search(r'action="([^"]+)"', answer.text)
            prompt = re.search(r'name="prompt" value="([^"]+)"', answer.text)
            assert action, answer.text
            assert prompt, answer.text
            form = {"prompt": prompt[1], "login": person, "password": "x"}
            answer = browser.post(httpx.URL(str(answer.url)).join(action[1]), data=form)
    raise AssertionError("the provider never came back")


def test_single_sign_on_with_groups_and_administrators(single: Replica) -> None:
    for person, is_admin in (("ada", True), ("bob", False)):
        with single.client() as client:
            back = sign_on(client, person)
            landed = client.get(back)
            assert (landed.status_code, landed.headers["location"]) == (303, "/settings")
            me = client.ok("GET", "/api/v1/me")
            assert me["email"] == f"{person}@id.example"
            assert me["is_admin"] is is_admin
            replayed = client.get(back, headers={"accept": "application/json"})
            assert replayed.status_code == 400
            assert "used before" in replayed.json()["detail"]
            if is_admin:
                names = {g["name"]: g["members"] for g in client.ok("GET", "/api/v1/groups")}
                assert me["id"] in names["admins"]


def test_a_sign_on_belongs_to_its_browser(single: Replica) -> None:
    with single.client() as one, single.client() as other:
        back = sign_on(one, "bob")
        stolen = other.get(back, headers={"accept": "application/json"})
        assert stolen.status_code == 400
        assert "another browser" in stolen.json()["detail"]
        forged = one.get(
            "/auth/oidc/callback?state=forged&code=x", headers={"accept": "application/json"}
        )
        assert forged.status_code == 400
        assert forged.json()["errors"][0]["field"] == "state"


def test_sign_on_from_a_spaces_domain(single: Replica) -> None:
    with single.client() as admin:
        admin.log_in()
        home = space(admin)
        change = {"domain": "team.example.org", "site_enabled": True, "everyone_role": "viewer"}
        admin.ok("PATCH", f"/api/v1/spaces/{home}", change)
    with single.client(host="team.example.org") as client:
        deadline = time.monotonic() + 5
        while client.get("/login").status_code == 404:
            assert time.monotonic() < deadline
        away = client.get("/auth/oidc/start").headers["location"]
        uri = parse_qs(urlsplit(away).query)["redirect_uri"]
        assert uri == ["https://team.example.org/auth/oidc/callback"]
        assert client.get(sign_on(client, "bob")).status_code == 303
        assert client.ok("GET", "/api/v1/me")["email"] == "bob@id.example"


class Forger:
    """A provider that answers with whatever token a test wants."""

    def __init__(self, port: int) -> None:
        self.issuer = f"http://127.0.0.1:{port}"
        self.key = RSAKey.generate_key(2048, parameters={"kid": "k"})
        self.token = ""

    def answer(self, path: str) -> object:
        if path.startswith("/.well-known"):
            return {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/auth",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/jwks",
            }
        if path == "/jwks":
            return {"keys": [self.key.as_dict(private=False)]}
        return {"id_token": self.token, "access_token": "a", "token_type": "Bearer"}


def test_forged_tokens_are_refused(own_replica: Start) -> None:
    import http.server
    import threading

    port = free_port()
    forger = Forger(port)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(forger.answer(self.path)).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 - the library's name

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    replica = own_replica(
        OIDC_ISSUER=forger.issuer, OIDC_CLIENT_ID="notes", OIDC_CLIENT_SECRET="s" * 40
    )
    now = int(time.time())
    other = RSAKey.generate_key(2048, parameters={"kid": "k"})

    def raw(head: dict[str, str], claims: dict[str, object], signature: bytes = b"") -> str:
        parts = (json.dumps(head).encode(), json.dumps(claims).encode(), signature)
        return ".".join(base64.urlsafe_b64encode(p).rstrip(b"=").decode() for p in parts)

    def attempt(make: Callable[[dict[str, object]], str]) -> httpx.Response:
        with replica.client() as client:
            away = client.get("/auth/oidc/start").headers["location"]
            query = parse_qs(urlsplit(away).query)
            good: dict[str, object] = {
                "iss": forger.issuer, "aud": "notes", "sub": "x", "exp": now + 300, "iat": now,
                "nonce": query["nonce"][0], "email": "x@id.example",
            }  # fmt: skip
            forger.token = make(good)
            back = f"/auth/oidc/callback?code=c&state={query['state'][0]}"
            return client.get(back, headers={"accept": "application/json"})

    def signed(change: dict[str, object], key: RSAKey = forger.key) -> Callable[..., str]:
        return lambda good: jwt.encode({"alg": "RS256", "kid": "k"}, {**good, **change}, key)

    try:
        with replica.client() as client:
            client.set_up()
        assert attempt(signed({})).status_code == 303
        public = forger.key.as_pem(private=False)
        cases: dict[str, Callable[..., str]] = {
            "alg none": lambda good: raw({"alg": "none"}, good),
            "public key as a shared secret": lambda good: raw(
                {"alg": "HS256", "kid": "k"}, good, public[:32]
            ),
            "another key": signed({}, other),
            "another issuer": signed({"iss": "https://evil.example"}),
            "another audience": signed({"aud": "someone"}),
            "two audiences, made for another": signed({"aud": ["notes", "b"], "azp": "b"}),
            "expired": signed({"exp": now - 3600}),
            "from the future": signed({"iat": now + 3600}),
            "replayed nonce": signed({"nonce": "seen before"}),
            "no nonce": signed({"nonce": ""}),
            "nobody": signed({"sub": ""}),
            "no token": lambda _: "rubbish",
        }
        for name, make in cases.items():
            answer = attempt(make)
            assert answer.status_code == 400, (name, answer.text)
    finally:
        server.shutdown()
        server.server_close()


def test_caddy_asks_before_it_gets_a_certificate(own_replica: Start, tmp_path: Path) -> None:
    replica = own_replica(PROTOCOL_HEADER="x-forwarded-proto", ADDRESS_HEADER="x-forwarded-for")
    with replica.client() as admin:
        admin.set_up()
        home = space(admin)
        change = {"domain": "team.example.org", "site_enabled": True}
        admin.ok("PATCH", f"/api/v1/spaces/{home}", change)
    port = free_port()
    config = tmp_path / "Caddyfile"
    config.write_text(
        f"""{{
    admin off
    storage file_system {tmp_path}/store
    auto_https disable_redirects
    local_certs
    skip_install_trust
    on_demand_tls {{
        ask {replica.url}/internal/tls-ask
    }}
}}
https://:{port} {{
    tls internal {{
        on_demand
    }}
    reverse_proxy 127.0.0.1:{replica.port}
}}
"""
    )

    def fetch(host: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["curl", "-ksS", "-m", "10", "-o", "/dev/null", "-w", "%{http_code}",
             "--resolve", f"{host}:{port}:127.0.0.1", f"https://{host}:{port}/login"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    def serves() -> bool:
        return fetch("notes.example.org").stdout in {"200", "303", "404"}

    with process(
        "caddy", "run", "--config", str(config), "--adapter", "caddyfile",
        until=serves, env={"HOME": str(tmp_path), "PATH": "/usr/bin:/usr/sbin"},
    ):  # fmt: skip
        assert fetch("team.example.org").stdout in {"200", "303"}
        for host in ("evil.example.org", "team.example.org.evil.example"):
            refused = fetch(host)
            assert refused.returncode == 35, "no certificate, no handshake"


def test_axe_finds_nothing_wrong_with_the_plain_pages(own_replica: Start) -> None:
    replica = own_replica(ORIGIN="", PROTOCOL_HEADER="x-forwarded-proto")
    plain = {"x-forwarded-proto": "http", "origin": "http://notes.example.org"}
    with replica.client(headers=plain) as client:
        client.set_up()
        home = space(client)
        text = (
            "# Heading\n\nSome **bold** [link](https://a.example/) `code`\n\n- [x] done\n\n"
            "```py\nx = 1\n```\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n> quoted\n"
        )
        made = page(client, home, "Page", markdown=text)
        client.ok("PUT", f"/api/v1/nodes/{made}", {"base_version": 1, "markdown": text + "more\n"})
        page(client, home, "Below", parent_id=made, markdown=f"[up](/p/{made})\n")
        gone = page(client, home, "Gone")
        client.ok("DELETE", f"/api/v1/nodes/{gone}")
        attach(client, made, "a.txt", b"x", "text/plain")
        client.ok("POST", f"/api/v1/nodes/{made}/comments", {"body": "Hm."})
        share = client.ok("POST", f"/api/v1/nodes/{made}/shares", {})
        guarded = client.ok("POST", f"/api/v1/nodes/{made}/shares", {"password": "open"})
        paths = [
            "/", f"/spaces/{home}", f"/spaces/{home}/trash", f"/p/{made}", f"/p/{made}/edit",
            f"/p/{made}/history", f"/p/{made}/diff?old=1&new=2", f"/p/{gone}", "/search?q=bold",
            "/settings", "/nowhere", share["url"].partition("example.org")[2],
            guarded["url"].partition("example.org")[2], "/login",
        ]  # fmt: skip
        token = client.jar["notes"]
    # Chromium speaks plain HTTP here, so the proxy in front says so.
    with front(replica) as base:
        done = subprocess.run(
            ["node", str(JUDGES / "axe.mjs"), base, token, *paths],
            capture_output=True, text=True, check=False, cwd=JUDGES, timeout=180,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("rules passed") == 2 * len(paths)


@contextlib.contextmanager
def front(replica: Replica) -> Iterator[str]:
    """HAProxy as a plain-HTTP reverse proxy that sets the forwarded headers."""
    import tempfile

    port = free_port()
    with tempfile.NamedTemporaryFile("w", suffix=".cfg") as config:
        config.write(
            f"""defaults
    mode http
    timeout connect 5s
    timeout client 1h
    timeout server 1h
frontend f
    bind 127.0.0.1:{port}
    http-request set-header X-Forwarded-Proto http
    http-request set-header X-Forwarded-For %[src]
    default_backend b
backend b
    server s 127.0.0.1:{replica.port}
"""
        )
        config.flush()
        url = f"http://127.0.0.1:{port}"
        with process("haproxy", "-db", "-f", config.name, until=answers(f"{url}/healthz")):
            yield url


def known(document: Any, real: dict[str, str]) -> Any:
    """The document, with ids that exist where using them destroys nothing."""
    for path, methods in document["paths"].items():
        kind = path.split("/")[3]
        for method, operation in methods.items():
            spared = method == "delete" and path.count("{") == 1
            for parameter in operation["parameters"]:
                if parameter["name"] == "id" and kind in real and not spared:
                    parameter["schema"] = {"type": "string", "enum": [real[kind]]}
    return document


def test_schemathesis_finds_no_fault(own_replica: Start, tmp_path: Path) -> None:
    replica = own_replica(ORIGIN="")
    with replica.client() as client:
        client.set_up()
        home = space(client)
        made = page(client, home, markdown="text\n")
        scopes = ["read", "write", "admin"]
        token = client.ok("POST", "/api/v1/tokens", {"name": "judge", "scopes": scopes})["secret"]
        real = {
            "spaces": home,
            "nodes": made,
            "comments": client.ok("POST", f"/api/v1/nodes/{made}/comments", {"body": "x"})["id"],
            "shares": client.ok("POST", f"/api/v1/nodes/{made}/shares", {})["id"],
            "attachments": attach(client, made, "a.txt", b"abc", "text/plain")["id"],
            "groups": client.ok("POST", "/api/v1/groups", {"name": "g"})["id"],
        }
        document = known(client.ok("GET", "/api/v1/openapi.json"), real)
    (tmp_path / "openapi.json").write_text(json.dumps(document))
    spared = ("delete_token", "patch_user", "delete_session", "patch_me")
    done = subprocess.run(
        [
            str(Path(sys.executable).with_name("schemathesis")),
            "run", str(tmp_path / "openapi.json"), "--url", replica.url,
            "-H", f"Authorization: Bearer {token}",
            "--checks", "not_a_server_error,status_code_conformance,content_type_conformance,"
            "response_schema_conformance,response_headers_conformance,unsupported_method",
            "--phases", "coverage,fuzzing",
            "--exclude-path", "/api/v1/events",
            *[word for name in spared for word in ("--exclude-operation-id", name)],
            "--max-examples", "4", "--seed", "1", "--workers", "1", "--request-timeout", "20",
            "--max-response-time", "15", "--suppress-health-check", "all", "--no-color",
        ],
        capture_output=True, text=True, check=False, timeout=280,
    )  # fmt: skip
    told = [
        f"{line.get('method')} {line.get('path')} {line.get('status')} {line.get('exception')}"
        for line in replica.lines()
        # Until it is ready it says so.
        if "exception" in line or (line.get("status", 0) >= 500 and line["path"] != "/readyz")
    ]
    assert not told, "\n".join(told)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
