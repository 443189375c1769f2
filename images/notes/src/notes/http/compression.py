"""Compresses JSON answers with gzip, never streams, files or pages.

The length of a compressed answer tells how much of a text it repeats. Who makes a browser ask
again and again for an answer with a secret and a text of theirs reads the secret from the lengths
(BREACH). So three kinds of answers stay as they are: those of an operation that `has_secret` in
its table (links, tokens, invitations, the single sign-on), those that another site had the browser
ask for, and all plain pages, since a page lists its links beside its text.
"""

import asyncio
import gzip
from collections.abc import Collection, Mapping
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

LONG_BYTES: Final = 4 * 1024  # a shorter answer is one or two packets anyway
THREAD_BYTES: Final = 256 * 1024  # this much takes the event loop a few milliseconds
LEVEL: Final = 5
_OTHER_SITES = {"cross-site", "same-site"}


def accepted(header: str, coded: Collection[str]) -> str | None:
    """The best content coding of an `Accept-Encoding`; None for the content as it is."""
    weights = dict[str, float]()
    for entry in header.lower().split(","):
        name, _, rest = entry.partition(";")
        value = rest.strip().removeprefix("q=")
        try:
            weights[name.strip()] = float(value) if value else 1.0
        except ValueError:
            continue
    possible = [name for name in ("br", "gzip") if name in coded]
    return next((name for name in possible if weights.get(name, weights.get("*", 0.0)) > 0), None)


async def json_response(
    request: Request, content: bytes, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """The answer with JSON that has no secret; compressed if it is long and the client can read it.

    It has no ETag: a strong one would have to differ between the two forms.
    """
    sent = {**(headers or {}), "vary": "accept-encoding"}
    if len(content) > LONG_BYTES and _may_be_compressed(request):
        content = await compressed(content)
        sent["content-encoding"] = "gzip"
    return Response(content, status, sent, "application/json")


def _may_be_compressed(request: Request) -> bool:
    if request.headers.get("sec-fetch-site") in _OTHER_SITES:
        return False
    return accepted(request.headers.get("accept-encoding", ""), ("gzip",)) is not None


async def compressed(content: bytes) -> bytes:
    """The content as gzip; a large one is compressed in a thread, beside the event loop."""
    if len(content) > THREAD_BYTES:
        return await asyncio.to_thread(gzip.compress, content, LEVEL, mtime=0)
    return gzip.compress(content, LEVEL, mtime=0)
