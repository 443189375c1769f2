"""Checks the claims of an ID token and derives the person from them.

Decides from the claims alone, after their signature was verified. Invariant: a person is derived
only from claims of the configured issuer, for this client, of this sign-on, within their validity.
"""

from dataclasses import dataclass
from typing import Any

from notes.config import OidcSettings
from notes.http.problems import Problem

SKEW_S = 60
_REASONS = {
    "iss": "its token comes from another issuer",
    "aud": "its token is for another client",
    "azp": "its token was issued to another client",
    "exp": "its token has expired",
    "iat": "its token was issued in the future",
    "nbf": "its token is not valid yet",
    "nonce": "its token belongs to another sign-on",
    "sub": "its token names no subject",
    "at_hash": "its tokens do not belong together",
}


@dataclass(frozen=True, slots=True)
class Person:
    """A person as the identity provider describes them."""

    issuer: str
    subject: str
    email: str
    email_verified: bool
    name: str
    groups: frozenset[str] | None
    is_admin: bool | None


def check(
    claims: dict[str, Any],
    header: dict[str, Any],
    oidc: OidcSettings,
    *,
    nonce: str,
    access_token: str | None,
) -> None:
    """Raises a 400 for claims that do not belong to this sign-on."""
    from authlib.oidc.core import CodeIDToken
    from joserfc.errors import JoseError

    options = {
        "iss": {"essential": True, "value": oidc.issuer},
        "aud": {"essential": True, "value": oidc.client_id},
        "sub": {"essential": True},
        "nonce": {"essential": True, "value": nonce},
    }
    ours = {"nonce": nonce, "client_id": oidc.client_id, "access_token": access_token}
    try:
        CodeIDToken(claims, header, options, ours).validate(leeway=SKEW_S)
    except (JoseError, TypeError, ValueError) as error:
        claim = getattr(error, "claim", None)
        raise refused(_REASONS.get(str(claim), "its token is not for this sign-on")) from None


def person_of(oidc: OidcSettings, claims: dict[str, Any]) -> Person:
    """The person that checked claims describe; `groups` is None without a groups claim."""
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
    """The 400 for a sign-on that is not valid."""
    return Problem(400, f"The sign-on failed: {why}. Begin again.", field="state")
