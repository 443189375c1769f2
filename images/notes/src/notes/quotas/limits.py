"""Turns quota errors of the database into problems, and refuses bodies that cannot fit.

The database counts (0009_quotas.sql). Invariant: no limit is ever exceeded, whatever requests run
at the same time.
"""

from uuid import UUID

import msgspec
import psycopg

from notes.http.context import Call
from notes.http.problems import Problem

SQLSTATE = "NQ001"
ROW_BYTES = 500  # a version, a file or a comment counts for so much in addition to its content


class Excess(msgspec.Struct, frozen=True):
    """The limit that would be exceeded, and its usage."""

    name: str
    used: int
    most: int


_OBJECTS = {
    "space_bytes": "the space",
    "space_pages": "the space",
    "account_bytes": "your account",
    "account_pages": "your account",
    "account_spaces": "your account",
}


def problem_of(error: psycopg.Error) -> Problem | None:
    """The problem for a quota error of the database; None for any other error."""
    if error.sqlstate != SQLSTATE:
        return None
    return refusal(msgspec.json.decode(error.diag.message_detail or "", type=Excess))


def refusal(excess: Excess) -> Problem:
    """The problem that names the limit: 413 for bytes, 403 for a number of things."""
    kind = excess.name.partition("_")[2]
    if kind == "bytes":
        holds = f"holds {shown(excess.used)} and may hold {shown(excess.most)}"
        remedy = "delete files or pages permanently"
    else:
        holds = f"has {excess.used} {kind} and may have {excess.most}"
        remedy = f"delete {kind} permanently"
    return Problem(
        413 if kind == "bytes" else 403,
        f"{_OBJECTS[excess.name]}: this exceeds the limit, it {holds} ({excess.name});"
        f" {remedy}, or ask an administrator for a higher limit.",
        field=excess.name,
    )


def shown(size: int) -> str:
    """A number of bytes with a readable unit."""
    value, units = float(size), ["bytes", "kB", "MB", "GB", "TB"]
    while value >= 1000 and len(units) > 1:
        value /= 1000
        units.pop(0)
    return f"{size} bytes" if units[0] == "bytes" else f"{value:.1f} {units[0]}"


async def check_announced(
    call: Call, *, node_id: UUID | None = None, space_id: UUID | None = None
) -> None:
    """Raises a 413, before the body is read, if its announced length exceeds a quota."""
    announced = call.request.headers.get("content-length", "")
    if not announced.isascii() or not announced.isdigit():
        return
    size = int(announced[:18])
    row = await call.app.db.one(
        "SELECT s.bytes AS space_used, coalesce(s.bytes_limit, d.space_bytes) AS space_most,"
        " a.bytes AS account_used, coalesce(a.bytes_limit, d.account_bytes) AS account_most"
        " FROM settings d LEFT JOIN space_usage s ON s.space_id ="
        " coalesce(%(space)s, (SELECT space_id FROM nodes WHERE id = %(node)s))"
        " LEFT JOIN account_usage a ON a.user_id = %(person)s",
        {"space": space_id, "node": node_id, "person": call.viewer.user_id},
    )
    for of in ("space", "account"):
        if row is not None and row[f"{of}_used"] is not None:
            used, most = row[f"{of}_used"], row[f"{of}_most"]
            # The boundaries of a form are in the body's length, but not in the file's.
            if used + size - FORM_BYTES > most:
                problem = refusal(Excess(f"{of}_bytes", used, most))
                problem.headers["connection"] = "close"
                raise problem


FORM_BYTES = 16_384
