"""Errors as problem documents (RFC 9457). Invariant: an error in a request has a status below
500 and names the field; an unreachable database is a 503.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.responses import Response

from notes.words.spoken import ENGLISH, Spoken

PROBLEM_TYPE = "application/problem+json"
_AT = re.compile(r"^(?P<message>.*?)(?: - at `(?P<path>\$[^`]*)`)?$", re.DOTALL)


class FieldError(msgspec.Struct, frozen=True):
    """An error in one field of the request."""

    field: str
    message: str


class ProblemDocument(msgspec.Struct, frozen=True, omit_defaults=True):
    """An RFC 9457 document; `errors` names fields, `current` is the conflicting state."""

    status: int
    title: str
    detail: str
    type: str = "about:blank"
    errors: list[FieldError] = []
    current: Any = None


_TITLES = {
    400: "Bad request",
    401: "Not signed in",
    403: "Forbidden",
    404: "Not found",
    405: "Method not allowed",
    408: "Request timeout",
    409: "Conflict",
    410: "Gone",
    411: "Length required",
    412: "Precondition failed",
    413: "Content too large",
    415: "Unsupported media type",
    416: "Range not satisfiable",
    422: "Unprocessable content",
    429: "Too many requests",
    431: "Request header fields too large",
    503: "Service unavailable",
}


class Problem(Exception):  # noqa: N818 - RFC 9457 calls it a problem
    """Ends a request with a problem document."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        field: str | None = None,
        errors: list[FieldError] | None = None,
        current: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        listed = list(errors or ())
        if field is not None:
            listed.insert(0, FieldError(field, detail))
        self.document = ProblemDocument(
            status, _TITLES.get(status, "Error"), detail, errors=listed, current=current
        )
        self.headers = dict(headers or {})

    @property
    def status(self) -> int:
        return self.document.status

    def response(self, t: Spoken) -> Response:
        """The answer with this problem, in the language of `t`."""
        headers = {"cache-control": "no-store", **self.headers}
        document = self.document
        if t.language != ENGLISH:
            document = said(document, t)
            headers["content-language"] = t.language
        return Response(msgspec.json.encode(document), self.status, headers, PROBLEM_TYPE)


def said(document: ProblemDocument, t: Spoken) -> ProblemDocument:
    """The document with its messages in the language of `t`."""
    return msgspec.structs.replace(
        document,
        title=t(document.title),
        detail=t.said(document.detail),
        errors=[FieldError(one.field, t.said(one.message)) for one in document.errors],
    )


def not_found(what: str = "page") -> Problem:
    """The 404, also for an object that the user may not see: the answers must not differ."""
    return Problem(404, f"There is no such {what}.")


def unavailable(detail: str) -> Problem:
    return Problem(503, detail, headers={"retry-after": "1"})


def invalid(error: msgspec.ValidationError, where: str) -> Problem:
    """The 422 for a value that does not match its type."""
    match = _AT.match(str(error))
    path, message = (match["path"], match["message"]) if match else (None, str(error))
    field = (path or "$").removeprefix("$").lstrip(".") or where
    named = re.search(r"(?:required|unknown) field `([^`]+)`", message)
    if named:
        field = named[1] if field == where else f"{field}.{named[1]}"
    return Problem(422, f"{field}: {message}", errors=[FieldError(field, message)])
