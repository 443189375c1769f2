"""Reads what a browser's form sends, as the structs of the API."""

from typing import Any, TypeVar
from urllib.parse import parse_qsl
from uuid import UUID

import msgspec

from notes.http.call import Call
from notes.http.problems import Problem, invalid

T = TypeVar("T")
FORM_LIMIT_BYTES = 8 * 1024 * 1024


async def fields(call: Call) -> dict[str, str]:
    """The form's fields. Raises a 413 for a form that is too long, a 400 for one that is none."""
    kind = call.request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise Problem(415, "Send a form.", field="content-type")
    size = 0
    parts = list[bytes]()
    async for part in call.request.stream():
        size += len(part)
        if size > FORM_LIMIT_BYTES:
            raise Problem(413, "The form is too long.")
        parts.append(part)
    try:
        pairs = parse_qsl(
            b"".join(parts).decode(), keep_blank_values=True, errors="strict", max_num_fields=200
        )
    except (UnicodeDecodeError, ValueError):
        raise Problem(400, "The form is damaged.") from None
    return dict(pairs)


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
    """The id in a field; None when it is empty."""
    text = values.get(name, "")
    if not text:
        return None
    try:
        return UUID(text)
    except ValueError:
        raise Problem(422, "This is not an id.", field=name) from None
