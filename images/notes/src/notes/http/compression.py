"""Compresses JSON, problem documents, Markdown and first views of the workspace with gzip.

Streams, files and plain pages stay as they are.

The length of a compressed answer tells how much of a text it repeats. Who makes a browser ask
again and again for an answer with a secret and a text of theirs reads the secret from the lengths
(BREACH). So three kinds of answers stay as they are: those of an operation that `has_secret` in
its table (links, tokens, invitations, the single sign-on), those that another site had the browser
ask for, and all plain pages, since a page lists its links beside its text. The first view of a page
in the workspace has no more than the API's answer with that page. A problem document may repeat
what was sent beside the state of an object: it follows the operation that raised it.
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
#: In the scope of a request: true if its operation, of the API, answers without a secret.
NO_SECRET: Final = "notes.no_secret"
_CODED_TAG = '-gzip"'
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

    It has no ETag unless a caller adds one.
    """
    return await shortened(request, Response(content, status, headers, "application/json"))


async def shortened(request: Request, response: Response) -> Response:
    """The same answer, which has no secret; compressed if it is long and the client can read it."""
    response.headers.add_vary_header("accept-encoding")
    content = bytes(response.body)
    if len(content) > LONG_BYTES and _may_be_compressed(request):
        response.body = await compressed(content)
        response.headers["content-length"] = str(len(response.body))
        response.headers["content-encoding"] = "gzip"
        tag = response.headers.get("etag")
        if tag is not None and tag.endswith('"'):
            # A strong tag names one form alone.
            response.headers["etag"] = tag.removesuffix('"') + _CODED_TAG
    return response


def plain_tag(tag: str) -> str:
    """The ETag of the content as it is, of that of any of its forms."""
    return tag.removesuffix(_CODED_TAG) + '"' if tag.endswith(_CODED_TAG) else tag


async def html_response(request: Request, content: bytes, headers: Mapping[str, str]) -> Response:
    """The answer with HTML that has no secret, compressed as JSON is."""
    return await shortened(request, Response(content, 200, headers, "text/html; charset=utf-8"))


def _may_be_compressed(request: Request) -> bool:
    if request.headers.get("sec-fetch-site") in _OTHER_SITES:
        return False
    return accepted(request.headers.get("accept-encoding", ""), ("gzip",)) is not None


async def compressed(content: bytes) -> bytes:
    """The content as gzip; a large one is compressed in a thread, beside the event loop."""
    if len(content) > THREAD_BYTES:
        return await asyncio.to_thread(gzip.compress, content, LEVEL, mtime=0)
    return gzip.compress(content, LEVEL, mtime=0)
