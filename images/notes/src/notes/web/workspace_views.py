"""HTML views of spaces, search, imports and settings."""

from collections.abc import Iterator
from typing import NamedTuple
from uuid import UUID

import msgspec
from starlette.responses import Response

from notes.auth import accounts, setup, tokens, users
from notes.auth.accounts import MeIn
from notes.auth.tokens import TokenIn
from notes.auth.users import UserIn
from notes.http.context import Call
from notes.http.problems import Problem, not_found
from notes.http.routing import RawBody, Table
from notes.jobs import api as jobs
from notes.jobs.api import JobsQuery
from notes.pages import listing, lists, search, tree
from notes.pages.api import NodeIn, make
from notes.pages.listing import ListQuery
from notes.pages.lists import RecentQuery
from notes.pages.search import SearchQuery
from notes.pages.tree import TreeNode
from notes.quotas import api as quotas
from notes.quotas.api import Quotas
from notes.spaces import api as spaces
from notes.spaces import domains
from notes.spaces.api import SpaceIn, SpacePatch
from notes.spaces.domains import ApprovalIn
from notes.transfer import api as imports
from notes.web.cards import card_of_space
from notes.web.forms import convert, fields, identifier
from notes.web.render import page
from notes.web.sign_in import see

table = Table("workspace")

MAX_LISTED = 200  # a space with more pages is shown in parts, level by level


class SearchPageQuery(msgspec.Struct, frozen=True):
    """The search text."""

    q: str = ""


@table("GET", "/", scope=None)
async def home(call: Call) -> Response:
    """Show the spaces that you may see; on a space's domain, that space."""
    here = call.seen.site.space_id
    if here is not None:
        return await space_page(call, here, ListQuery())  # type: ignore[no-any-return]
    if call.viewer.user_id is None and not await setup.is_set_up(call):
        return see("/w/setup")
    listed = await spaces.list_spaces(call)
    if call.viewer.user_id is None:
        if not listed:
            return see("/login")
        return page(call, "home.html", spaces=listed, favourites=[], recent=[])
    return page(
        call,
        "home.html",
        spaces=listed,
        favourites=await lists.list_favourites(call),
        recent=await lists.list_recent(call, RecentQuery(10)),
    )


@table("POST", "/spaces", scope="write", main_site_only=True)
async def space_form(call: Call) -> Response:
    """Create a space."""
    made = await spaces.post_space(call, convert(dict(await fields(call)), SpaceIn))
    return see(f"/spaces/{made.id}")


@table("GET", "/spaces/{id}", scope=None)
async def space_page(call: Call, id: UUID, query: ListQuery) -> Response:
    """Show a space's pages."""
    try:
        space = await spaces.get_space(call, id)
    except Problem as problem:
        # A visitor who is not signed in may see more after signing in.
        if problem.status == 404 and call.viewer.user_id is None:
            raise Problem(401, "Sign in first.") from None
        raise
    nodes = await tree.first_pages(call, id, MAX_LISTED + 1)
    is_whole = len(nodes) <= MAX_LISTED
    may_write = call.viewer.user_id is not None and space.role in {"editor", "manager"}
    shown = nodes if is_whole else []
    return page(
        call,
        "space.html",
        is_member=True,
        card=card_of_space(call, space.name),
        space=space,
        nodes=shown,
        outline=outline(shown),
        is_whole=is_whole,
        part=None if is_whole else await listing.of_space(call, id, query),
        usage=await quotas.get_space_usage(call, id) if may_write else None,
    )


class Item(NamedTuple):
    """A page in the outline; `begins` opens a list before it, `ends` lists close after it."""

    node: TreeNode
    begins: bool
    is_leaf: bool
    ends: int
    is_last: bool


def outline(nodes: list[TreeNode]) -> Iterator[Item]:
    """Yields the pages in reading order; pages with an invisible parent are at the top.

    It is not recursive, so the depth of pages is not limited.
    """
    known = {node.id for node in nodes}
    below = dict[UUID | None, list[TreeNode]]()
    for node in nodes:
        below.setdefault(node.parent_id if node.parent_id in known else None, []).append(node)
    waiting = [iter(below.get(None, ()))]
    current = next(waiting[0], None)
    begins = True
    while current is not None:
        children = iter(below.get(current.id, ()))
        following = next(children, None)
        is_leaf, ends = following is None, 0
        if is_leaf:
            while waiting and (following := next(waiting[-1], None)) is None:
                waiting.pop()
                ends += 1
        else:
            waiting.append(children)
        yield Item(current, begins, is_leaf, ends, following is None)
        begins = not is_leaf
        current = following


@table("POST", "/spaces/{id}/settings", scope="write", main_site_only=True)
async def space_settings_form(call: Call, id: UUID) -> Response:
    """Change a space."""
    given = await fields(call)
    change = {
        **given,
        "public": given.get("public") == "on",
        "site_enabled": given.get("site_enabled") == "on",
    }
    await spaces.patch_space(call, id, convert(change, SpacePatch))
    return see(f"/spaces/{id}")


@table("POST", "/spaces/{id}/pages", scope="write")
async def new_page_form(call: Call, id: UUID) -> Response:
    """Create a page and redirect to its editor."""
    given = await fields(call)
    template = identifier(given, "template_id")
    body = convert(
        {
            "title": given.get("title", ""),
            "parent_id": identifier(given, "parent_id"),
            "template_id": template,
        },
        NodeIn,
    )
    return see(f"/p/{await make(call, id, body)}/edit")


@table("GET", "/spaces/{id}/trash", scope="read")
async def trash_page(call: Call, id: UUID) -> Response:
    """Show a space's trash."""
    space = await spaces.get_space(call, id)
    return page(call, "trash.html", space=space, nodes=await tree.get_trash(call, id))


@table("POST", "/spaces/{id}/import", scope="write", raw=RawBody(("multipart/form-data",)))
async def import_form(call: Call, id: UUID, query: imports.ImportQuery) -> Response:
    """Import a zip."""
    # These views have no preview.
    job = await imports.start(call, id, msgspec.structs.replace(query, preview=False))
    return see(f"/imports/{job.id}")


@table("GET", "/imports/{id}", scope="read")
async def import_page(call: Call, id: UUID) -> Response:
    """Show the state and report of an import."""
    job = await jobs.get_job(call, id)
    if job.kind != "import":
        raise not_found("import")
    lines = await imports.get_report(call, id, imports.ReportQuery(all=False))
    return page(call, "import.html", job=job, lines=lines)


@table("GET", "/search", scope=None)
async def search_page(call: Call, query: SearchPageQuery) -> Response:
    """Search pages."""
    asked = query.q.strip()[:300]
    hits = await search.search(call, SearchQuery(asked)) if asked else []
    is_member = await sees_site(call)
    return page(call, "search.html", is_member=is_member, asked=asked, hits=hits)


async def sees_site(call: Call) -> bool:
    """True if the viewer may read the space of this site; read from the database if needed."""
    site = call.seen.site
    if site.look is None or site.look.is_public or call.viewer.user_id is None:
        return False  # public looks are for everybody
    row = await call.app.db.one(
        "SELECT space_role(%s, %s, %s, %s) > 0 AS sees", (site.space_id, *call.viewer.access)
    )
    return row is not None and row["sees"]


@table("GET", "/settings", scope="read")
async def settings_page(call: Call) -> Response:
    """Show your settings, with the version at the bottom."""
    return await _settings(call)


async def _settings(call: Call, secret: str | None = None) -> Response:
    return page(
        call,
        "settings.html",
        tokens=await tokens.list_tokens(call),
        jobs=(await jobs.list_jobs(call, JobsQuery()))[:10],
        users=await users.list_users(call) if call.viewer.is_admin else [],
        domains=await domains.list_domains(call) if call.viewer.is_admin else [],
        usage=await quotas.get_my_usage(call),
        quotas=await quotas.get_quotas(call) if call.viewer.is_admin else None,
        secret=secret,
    )


@table("POST", "/settings", scope="write")
async def settings_form(call: Call) -> Response:
    """Change your name or password."""
    given = {name: value for name, value in (await fields(call)).items() if value}
    await accounts.patch_me(call, convert(dict(given), MeIn))
    return see("/settings")


@table("POST", "/settings/tokens", scope="write")
async def token_form(call: Call) -> Response:
    """Create a token and show its secret once."""
    given = await fields(call)
    scopes = ["read", "write"] if given.get("write") == "on" else ["read"]
    body = convert({"name": given.get("name", ""), "scopes": scopes}, TokenIn)
    made = await tokens.post_token(call, body)
    return await _settings(call, made.secret)


@table("POST", "/settings/tokens/{id}/revoke", scope="write")
async def token_revoke_form(call: Call, id: UUID) -> Response:
    """Revoke a token."""
    await tokens.delete_token(call, id)
    return see("/settings")


@table("POST", "/settings/quotas", scope="admin", main_site_only=True)
async def quotas_form(call: Call) -> Response:
    """Set the default limits."""
    given = await fields(call)
    await quotas.put_quotas(call, convert(dict(given), Quotas))
    return see("/settings")


@table("POST", "/settings/users", scope="admin", main_site_only=True)
async def user_form(call: Call) -> Response:
    """Add a user."""
    given = await fields(call)
    body = {name: value for name, value in given.items() if value and name != "is_admin"}
    await users.post_user(
        call, convert({**body, "is_admin": given.get("is_admin") == "on"}, UserIn)
    )
    return see("/settings")


@table("POST", "/settings/domains/{id}", scope="admin", main_site_only=True)
async def domain_form(call: Call, id: UUID) -> Response:
    """Approve a space's domain, or withdraw the approval."""
    given = await fields(call)
    if given.get("approve") == "yes":
        body = convert({"domain": given.get("domain", "")}, ApprovalIn)
        await domains.approve_domain(call, id, body)
    else:
        await domains.withdraw_domain(call, id)
    return see("/settings")
