"""HTML views of shared pages, for visitors with a share link."""

from uuid import UUID

from markupsafe import Markup
from psycopg.rows import DictRow
from starlette.responses import Response

from notes.files.serve import respond
from notes.http.context import Call
from notes.http.problems import Problem, not_found
from notes.http.routing import Table
from notes.share import visits
from notes.web.forms import fields
from notes.web.render import page
from notes.web.sign_in import see

table = Table("shared")

PASSWORD_DAYS = 1


def _cookie(share: DictRow) -> str:
    return f"share-{share['id']}"


async def _open(call: Call, token: str) -> DictRow:
    """The link of a token. Raises a 401 if its password was not entered."""
    share = await visits.opened(call, token)
    shown = call.request.cookies.get(_cookie(share), "")
    if share["password_hash"] is not None and not _same(shown, visits.proof(call, share)):
        raise Problem(401, "This link has a password.")
    return share


def _same(shown: str, proof: str) -> bool:
    import hmac

    return hmac.compare_digest(shown.encode(), proof.encode())


@table("GET", "/s/{token}", scope=None)
async def shared_top(call: Call, token: str) -> Response:
    """Show the page of a link, or the form for its password."""
    try:
        share = await _open(call, token)
    except Problem as problem:
        if problem.status != 401:
            raise
        return page(call, "share_password.html", 401, error=None)
    return await _show(call, token, share, share["node_id"])


@table("POST", "/s/{token}", scope=None)
async def shared_password(call: Call, token: str) -> Response:
    """Check the password of a link."""
    share = await visits.opened(call, token)
    given = (await fields(call)).get("password", "")
    if not await visits.check_password(call, share, given):
        return page(call, "share_password.html", 403, error="The password is wrong.")
    response = see(f"/s/{token}")
    response.set_cookie(
        _cookie(share),
        visits.proof(call, share),
        max_age=PASSWORD_DAYS * 86_400,
        path=f"/s/{token}",
        secure=call.seen.secure,
        httponly=True,
        samesite="lax",
    )
    return response


@table("GET", "/s/{token}/p/{id}", scope=None)
async def shared_below(call: Call, token: str, id: UUID) -> Response:
    """Show a page below the shared page."""
    share = await _open(call, token)
    return await _show(call, token, share, id)


async def _show(call: Call, token: str, share: DictRow, node_id: UUID) -> Response:
    row = await visits.shared_page(call, share, node_id)
    await visits.record_visit(call, share)
    below = await call.app.db.all(
        "SELECT n.id, n.title FROM nodes n JOIN nodes p ON p.id = n.parent_id"
        " WHERE n.parent_id = %s AND n.trashed_at IS NULL"
        " AND n.access_root IS NOT DISTINCT FROM p.access_root ORDER BY n.position, n.id",
        (node_id,),
    )
    base = f"/s/{token}"
    body = await call.app.documents.html(
        call.account, bytes(row["doc"]), attachments=f"{base}/attachments/", pages=f"{base}/p/"
    )
    return page(
        call,
        "shared.html",
        title=row["title"],
        body=Markup(body),  # noqa: S704 - escaped by html()
        token=token,
        below=below if share["include_children"] else [],
    )


@table("GET", "/s/{token}/attachments/{id}", scope=None)
async def shared_file(call: Call, token: str, id: UUID) -> Response:
    """Download a file of a shared page."""
    share = await _open(call, token)
    row = await call.app.db.one(
        "SELECT id, node_id, name, media_type, size, sha256 FROM attachments WHERE id = %s", (id,)
    )
    if row is None:
        raise not_found("file")
    await visits.shared_page(call, share, row["node_id"])
    return await respond(call, row)
