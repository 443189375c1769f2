"""Reads forms of a browser into the structs of the API."""

from typing import Any, TypeVar
from uuid import UUID

import msgspec

from notes.http.buffers import Body
from notes.http.context import Call
from notes.http.problems import Problem, invalid

T = TypeVar("T")
FORM_LIMIT_BYTES = 8 * 1024 * 1024


async def fields(call: Call) -> dict[str, str]:
    """The form's fields. Raises a 413 if it is too long, a 415 or 400 if it is no form."""
    kind = call.request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise Problem(415, "Send a form.", field="content-type")
    is_known = call.viewer.user_id is not None
    with Body(call.request, FORM_LIMIT_BYTES, known=is_known) as body:
        content = await body.read(Problem(413, "The form is too long."))
        return await call.app.documents.read_form(call.account, bytes(content))


def convert(values: dict[str, Any], kind: type[T]) -> T:
    """`values` as a struct. Raises a 422 that names the field."""
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as error:
        raise invalid(error, "form") from None


def number(values: dict[str, str], name: str) -> int:
    text = values.get(name, "")
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise Problem(422, "This is not a number.", field=name)
    return int(text)


def identifier(values: dict[str, str], name: str) -> UUID | None:
    """The id in a field; None if the field is empty."""
    text = values.get(name, "")
    if not text:
        return None
    try:
        return UUID(text)
    except ValueError:
        raise Problem(422, "This is not an id.", field=name) from None
