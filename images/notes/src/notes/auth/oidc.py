"""Single sign-on by OpenID Connect: code flow with PKCE.

Derives a user's identity from the token that the identity provider signs. Invariant: a sign-on is
accepted once, in the browser that started it, with the nonce and the audience it was started with,
and signed by an asymmetric key that the issuer publishes.
"""

import asyncio
import hmac
import secrets
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import UUID

import msgspec

from notes.auth.encryption import Vault, WrongKeyError
from notes.auth.token_digest import digest
from notes.config import OidcSettings, Settings
from notes.db.pool import Database
from notes.http.problems import Problem, unavailable
from notes.http.viewer import Seen
from notes.middleware.hostname import without_port

if TYPE_CHECKING:
    import httpx
from notes.auth.oidc_claims import check, refused

START = "/auth/oidc/start"
CALLBACK = "/auth/oidc/callback"
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"]
STORED = "oidc"
LOGIN_MINUTES = 10
DISCOVERY_S = 3600.0
ANSWER_LIMIT_BYTES = 1024 * 1024


class Away(msgspec.Struct, frozen=True):
    """State of a started sign-on, stored encrypted until the browser comes back."""

    nonce: str
    verifier: str
    redirect_uri: str
    return_to: str
    binding: str
    trial: UUID | None = None


class SignOn:
    """Client of the identity provider."""

    def __init__(self, settings: Settings, db: Database, vault: Vault) -> None:
        self._settings = settings
        self._db = db
        self._vault = vault
        self._http: httpx.AsyncClient | None = None
        self._found: tuple[float, str, dict[str, Any]] | None = None
        self._keys: tuple[str, Any] | None = None

    async def close(self) -> None:
        if self._http is not None:
            await self._http.aclose()

    async def configured(self) -> OidcSettings | None:
        """The settings of the environment, or else the stored settings."""
        if self._settings.oidc is not None:
            return self._settings.oidc
        row = await self._db.one("SELECT sealed FROM credentials WHERE name = %s", (STORED,))
        if row is None:
            return None
        opened = self._vault.open(bytes(row["sealed"]), f"credentials/{STORED}")
        return msgspec.json.decode(opened, type=OidcSettings)

    async def leave(
        self, seen: Seen, return_to: str, tried: tuple[UUID, OidcSettings] | None = None
    ) -> tuple[str, str]:
        """The provider's URL to redirect to, and the cookie that binds the sign-on.

        `tried` is a trial, with the settings to use instead of those for everybody.
        """
        oidc = tried[1] if tried is not None else await self.required()
        found = await self._discover(oidc)
        from authlib.oauth2.client import OAuth2Client

        state, binding = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        away = Away(
            secrets.token_urlsafe(24),
            secrets.token_urlsafe(48),
            self.redirect_uri(seen),
            return_to,
            digest(binding).hex(),
            tried[0] if tried is not None else None,
        )
        place = f"oidc_logins/{digest(state).hex()}"
        await self._db.do(
            "INSERT INTO oidc_logins (state_hash, sealed, expires_at)"
            " VALUES (%s, %s, now() + make_interval(mins => %s))",
            (digest(state), self._vault.seal(msgspec.json.encode(away), place), LOGIN_MINUTES),
        )
        client = OAuth2Client(None, oidc.client_id, code_challenge_method="S256")
        url, _ = client.create_authorization_url(
            str(found["authorization_endpoint"]),
            state=state,
            code_verifier=away.verifier,
            redirect_uri=away.redirect_uri,
            scope="openid email profile",
            nonce=away.nonce,
        )
        return str(url), binding

    async def come_back(self, seen: Seen, query: Mapping[str, str], binding: str | None) -> Away:
        """The state of the sign-on that this browser started; it is used up.

        Raises a 400 if this browser did not start this sign-on.
        """
        away = await self._once(query.get("state", ""), binding)
        if away.redirect_uri != self.redirect_uri(seen):
            raise refused("it came back to another address than it left from")
        return away

    async def claims_of(
        self, oidc: OidcSettings, away: Away, query: Mapping[str, str]
    ) -> dict[str, Any]:
        """The checked claims of the person who has signed on. Raises a 400 or a 503."""
        if "error" in query:
            raise refused("the identity provider refused it")
        found = await self._discover(oidc)
        if query.get("iss", found["issuer"]) != found["issuer"]:
            raise refused("it comes from another issuer")
        tokens = await self._ask(
            "POST",
            str(found["token_endpoint"]),
            data={
                "grant_type": "authorization_code",
                "code": query.get("code", ""),
                "redirect_uri": away.redirect_uri,
                "code_verifier": away.verifier,
            },
            auth=(oidc.client_id, oidc.client_secret),
        )
        claims = await self._claims(oidc, found, tokens, away.nonce)
        if "userinfo_endpoint" in found and tokens.get("access_token"):
            more = await self._ask(
                "GET",
                str(found["userinfo_endpoint"]),
                headers={"authorization": f"Bearer {tokens['access_token']}"},
            )
            if more.get("sub") == claims["sub"]:
                claims = {**more, **claims}
        return claims

    def leaves_from(self, seen: Seen) -> str | None:
        """The URL on which to start the sign-on, if it cannot start on this host; None if it can.

        Every host of the main site uses the redirect URI of `ORIGIN`, and the cookie that binds the
        sign-on to its browser is valid for one host only.
        """
        main = self._settings.main_host
        if main is None or seen.site.space_id is not None:
            return None
        if without_port(seen.host) == without_port(main):
            return None
        return f"{self._settings.origin}{START}"

    def redirect_uri(self, seen: Seen) -> str:
        """The address to which the provider sends the browser back."""
        main = self._settings.origin if seen.site.space_id is None else None
        return f"{main or seen.origin}{CALLBACK}"

    async def required(self) -> OidcSettings:
        """The settings for everybody. Raises a 404 without any."""
        oidc = await self.configured()
        if oidc is None:
            raise Problem(404, "Single sign-on is not set up here.")
        return oidc

    async def _once(self, state: str, binding: str | None) -> Away:
        row = await self._db.one(
            "DELETE FROM oidc_logins WHERE state_hash = %s AND expires_at > now() RETURNING sealed",
            (digest(state),),
        )
        if row is None:
            raise refused("it is unknown, was used before or took too long")
        try:
            opened = self._vault.open(bytes(row["sealed"]), f"oidc_logins/{digest(state).hex()}")
        except WrongKeyError:
            raise refused("it was begun with another key") from None
        away = msgspec.json.decode(opened, type=Away)
        if not hmac.compare_digest(away.binding, digest(binding or "").hex()):
            raise refused("it was begun in another browser")
        return away

    async def _discover(self, oidc: OidcSettings) -> dict[str, Any]:
        now = time.monotonic()
        if self._found and self._found[1] == oidc.issuer and now - self._found[0] < DISCOVERY_S:
            return self._found[2]
        base = oidc.issuer.removesuffix("/")
        found = await self._ask("GET", f"{base}/.well-known/openid-configuration")
        if found.get("issuer") != oidc.issuer:
            raise unavailable("The identity provider names another issuer than the configured one.")
        if not all(k in found for k in ("authorization_endpoint", "token_endpoint", "jwks_uri")):
            raise unavailable("The identity provider's configuration lacks endpoints.")
        self._found = (now, oidc.issuer, found)
        self._keys = None
        return found

    async def _claims(
        self, oidc: OidcSettings, found: dict[str, Any], tokens: dict[str, Any], nonce: str
    ) -> dict[str, Any]:
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        uri = str(found["jwks_uri"])
        decoded = None
        for again in (False, True):
            fresh = again or self._keys is None or self._keys[0] != uri
            if fresh:
                try:
                    answer: Any = await self._ask("GET", uri)
                    self._keys = (uri, KeySet.import_key_set(answer))
                except (JoseError, ValueError, KeyError, TypeError):
                    raise unavailable("The identity provider's keys cannot be read.") from None
            try:
                keys: Any = self._keys[1] if self._keys else None
                decoded = jwt.decode(str(tokens.get("id_token", "")), keys, algorithms=ALGORITHMS)
                break
            except (JoseError, ValueError) as error:
                # The key may be newer than the cached keys; any other error is final.
                if fresh or not _maybe_new_key(error):
                    raise refused("its token has no valid signature") from None
        assert decoded is not None  # noqa: S101 - the second attempt either decodes or raises
        claims = dict(decoded.claims)
        access_token = tokens.get("access_token")
        check(claims, dict(decoded.header), oidc, nonce=nonce, access_token=access_token)
        return claims

    async def _ask(self, method: str, url: str, **more: Any) -> dict[str, Any]:
        import httpx

        if self._http is None:
            self._http = httpx.AsyncClient(timeout=10, follow_redirects=False, trust_env=True)
        try:
            async with asyncio.timeout(15), self._http.stream(method, url, **more) as answer:
                body = b""
                async for part in answer.aiter_bytes():
                    body += part
                    if len(body) > ANSWER_LIMIT_BYTES:
                        raise unavailable("The identity provider's answer is too large.")
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError):
            raise unavailable("The identity provider cannot be reached.") from None
        if answer.status_code >= 500:
            raise unavailable("The identity provider answered with a server error.")
        if answer.status_code >= 300:
            raise refused("the identity provider does not accept it")
        try:
            decoded = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            decoded = None
        if not isinstance(decoded, dict):
            raise unavailable("The identity provider's answer is not a JSON object.")
        return decoded


def _maybe_new_key(error: Exception) -> bool:
    return type(error).__name__ in {"InvalidKeyIdError", "BadSignatureError"} or isinstance(
        error, ValueError
    )


def same_site_path(text: str) -> str:
    """`text` if it is a path of this site, else `/`: no redirect leaves the site."""
    sound = text.startswith("/") and not text.startswith(("//", "/\\")) and "\\" not in text
    return text if sound and text.isprintable() and len(text) < 500 else "/"
