"""Refuses cross-site requests (spec: notes-app §5.4, §7).

A form submission must have an Origin header equal to the URL that the application sees; without
the header it is refused too. Other unsafe requests with a session cookie must have a matching
Origin or Sec-Fetch-Site header. A bearer token is accepted: no browser adds one by itself.
"""

from collections.abc import Mapping

from notes.http.viewer import Seen

FORBIDDEN = "Cross-site {method} form submissions are forbidden"
FORBIDDEN_OTHER = "Cross-site {method} requests are forbidden"
SAFE = {"GET", "HEAD", "OPTIONS", "TRACE"}
_FORMS = {"application/x-www-form-urlencoded", "multipart/form-data", "text/plain"}


def refusal(method: str, headers: Mapping[str, str], seen: Seen, has_cookie: bool) -> str | None:
    """The reason to refuse the request, or None. `headers` has lower-case names."""
    if method in SAFE or headers.get("authorization", "").lower().startswith("bearer "):
        return None
    origin = headers.get("origin")
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type in _FORMS:
        return None if origin == seen.origin else FORBIDDEN.format(method=method)
    if origin is not None:
        return None if origin == seen.origin else FORBIDDEN_OTHER.format(method=method)
    if has_cookie and headers.get("sec-fetch-site") not in {"same-origin", "none"}:
        return FORBIDDEN_OTHER.format(method=method)
    return None
