"""Tests that forged identity tokens, or tokens for another client, sign nobody in."""

import base64
import http.server
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.postgres import Postgres
from tests.replica import Replica

pytestmark = pytest.mark.judge
Claims = dict[str, object]
#: Makes a token from the claims of a valid provider.
Make = Callable[["Forger", Claims], str]


class Forger:
    """A provider that answers with the token that a test sets."""

    def __init__(self) -> None:
        forger = self

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

        self._httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self._httpd.server_address[1]}"
        self.key = RSAKey.generate_key(2048, parameters={"kid": "k"})
        self.other_key = RSAKey.generate_key(2048, parameters={"kid": "k"})
        self.token = ""
        threading.Thread(target=self._httpd.serve_forever, daemon=True).start()

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

    def close(self) -> None:
        self._httpd.shutdown()
        self._httpd.server_close()


@dataclass
class Door:
    """A replica that trusts the forger."""

    forger: Forger
    replica: Replica

    def attempt(self, make: Make) -> httpx.Response:
        """Signs on with the token that `make` returns; returns the answer to the callback."""
        now = int(time.time())
        with self.replica.client() as client:
            away = client.get("/auth/oidc/start").headers["location"]
            query = parse_qs(urlsplit(away).query)
            good: Claims = {
                "iss": self.forger.issuer, "aud": "notes", "sub": "x", "exp": now + 300,
                "iat": now, "nonce": query["nonce"][0], "email": "x@id.example",
            }  # fmt: skip
            self.forger.token = make(self.forger, good)
            back = f"/auth/oidc/callback?code=c&state={query['state'][0]}"
            return client.get(back, headers={"accept": "application/json"})


@pytest.fixture(scope="module")
def door(postgres: Postgres) -> Iterator[Door]:
    forger = Forger()
    env = {
        "ORIGIN": "https://notes.example.org",
        "OIDC_ISSUER": forger.issuer,
        "OIDC_CLIENT_ID": "notes",
        "OIDC_CLIENT_SECRET": "s" * 40,
    }
    try:
        with Replica(postgres.database("forged"), env).running() as replica:
            with replica.client() as client:
                client.set_up()
            yield Door(forger, replica)
            assert "Traceback" not in replica.log
    finally:
        forger.close()


def signed(**change: object) -> Make:
    return lambda forger, good: jwt.encode(
        {"alg": "RS256", "kid": "k"}, {**good, **change}, forger.key
    )


def raw(head: dict[str, str], claims: Claims, signature: bytes = b"") -> str:
    parts = (json.dumps(head).encode(), json.dumps(claims).encode(), signature)
    return ".".join(base64.urlsafe_b64encode(p).rstrip(b"=").decode() for p in parts)


FORGED: dict[str, Make] = {
    "alg none": lambda _, good: raw({"alg": "none"}, good),
    "public key as a shared secret": lambda forger, good: raw(
        {"alg": "HS256", "kid": "k"}, good, forger.key.as_pem(private=False)[:32]
    ),
    "another key": lambda forger, good: jwt.encode(
        {"alg": "RS256", "kid": "k"}, good, forger.other_key
    ),
    "another issuer": signed(iss="https://evil.example"),
    "another audience": signed(aud="someone"),
    "two audiences, made for another": signed(aud=["notes", "b"], azp="b"),
    "expired": signed(exp=int(time.time()) - 3600),
    "from the future": signed(iat=int(time.time()) + 3600),
    "valid without end": signed(exp=float("nan")),
    "not valid yet": signed(nbf=int(time.time()) + 3600),
    "no end": signed(exp=None),
    "an end that is no time": signed(exp=True),
    "one audience, made for another": signed(azp="b"),
    "another access token": signed(at_hash="AAAAAAAAAAAAAAAAAAAAAA"),
    "replayed nonce": signed(nonce="seen before"),
    "no nonce": signed(nonce=""),
    "nobody": signed(sub=""),
    "no token": lambda *_: "rubbish",
}


def test_the_providers_own_token_signs_in(door: Door) -> None:
    assert door.attempt(signed()).status_code == 303


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_token_is_refused(door: Door, name: str) -> None:
    answer = door.attempt(FORGED[name])
    assert answer.status_code == 400, answer.text
