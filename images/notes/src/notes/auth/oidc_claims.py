"""Who somebody is, from what the identity provider has signed.

Decides from the claims alone, once their signature is proven. Invariant: a person is made only of
claims of the configured issuer, for this client, of this sign-on, within their time.
"""

import hmac
import time
from dataclasses import dataclass
from typing import Any

from notes.config import OidcSettings
from notes.http.problems import Problem

SKEW_S = 60


@dataclass(frozen=True, slots=True)
class Person:
    """Who the identity provider says somebody is."""

    issuer: str
    subject: str
    email: str
    email_verified: bool
    name: str
    groups: frozenset[str] | None
    is_admin: bool | None


def check(claims: dict[str, Any], oidc: OidcSettings, nonce: str) -> None:
    """Raises a 400 for claims that are not those of this sign-on."""
    now = time.time()
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    expires, issued = claims.get("exp"), claims.get("iat")
    if claims.get("iss") != oidc.issuer:
        raise refused("its token comes from another issuer")
    if oidc.client_id not in audiences:
        raise refused("its token is for somebody else")
    if len(audiences) > 1 and claims.get("azp") != oidc.client_id:
        raise refused("its token was made for somebody else")
    if not isinstance(expires, int | float) or expires < now - SKEW_S:
        raise refused("its token has expired")
    if not isinstance(issued, int | float) or issued > now + SKEW_S:
        raise refused("its token is from the future")
    if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
        raise refused("its token belongs to another sign-on")
    if not isinstance(claims.get("sub"), str) or not claims["sub"]:
        raise refused("its token names nobody")


def person_of(oidc: OidcSettings, claims: dict[str, Any]) -> Person:
    """The person that sound claims describe; groups None where no claim is configured for them."""
    email = str(claims.get("email") or f"{claims['sub']}@{oidc.issuer.split('/')[2]}")
    email = "".join(c for c in email if c.isprintable()).lower()[:254]
    name = str(claims.get("name") or claims.get("preferred_username") or email)
    groups = None
    if oidc.groups_claim:
        given = claims.get(oidc.groups_claim, [])
        listed = given if isinstance(given, list) else [given]
        groups = frozenset(str(g)[:120] for g in listed if isinstance(g, str) and g)
    return Person(
        oidc.issuer,
        claims["sub"][:255],
        email,
        claims.get("email_verified") is True,
        "".join(c for c in name if c.isprintable())[:120] or email,
        groups,
        None if oidc.admin_group is None or groups is None else oidc.admin_group in groups,
    )


def refused(why: str) -> Problem:
    """The answer to a sign-on that does not hold."""
    return Problem(400, f"The sign-on failed: {why}. Begin again.", field="state")
