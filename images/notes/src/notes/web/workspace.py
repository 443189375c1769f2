"""Spaces, search and settings as plain pages."""

from uuid import UUID

import msgspec
from starlette.responses import Response

from notes.auth import accounts, people, tokens
from notes.auth.accounts import MeIn
from notes.auth.people import UserIn
from notes.auth.tokens import TokenIn
from notes.http.call import Call
from notes.http.endpoint import RawBody, Table
from notes.http.problems import Problem
from notes.pages import around, search, tree
from notes.pages.api import NodeIn, make
from notes.pages.around import RecentQuery
from notes.pages.search import SearchQuery
from notes.pages.tree import TreeNode
from notes.spaces import api as spaces
from notes.spaces.api import SpaceIn, SpacePatch
from notes.transfer import api as imports
from notes.web.doors import see
from notes.web.forms import convert, fields, identifier
from notes.web.render import page

table = Table("workspace")


class SearchPageQuery(msgspec.Struct, frozen=True):
    """What to look for."""

    q: str = ""


@table("GET", "/", scope=None)
async def home(call: Call) -> Response:
    """The spaces one may see; on a space's domain, that space."""
    here = call.seen.site.space_id
    if here is not None:
        return await space_page(call, here)  # type: ignore[no-any-return]
    if call.viewer.user_id is None and not await accounts.is_set_up(call):
        return see("/setup")
    listed = await spaces.list_spaces(call)
    if call.viewer.user_id is None:
        if not listed:
            return see("/login")
        return page(call, "home.html", spaces=listed, favourites=[], recent=[])
    return page(
        call,
        "home.html",
        spaces=listed,
        favourites=await around.list_favourites(call),
        recent=await around.list_recent(call, RecentQuery(10)),
    )


@table("POST", "/spaces", scope="write", main_site_only=True)
async def space_form(call: Call) -> Response:
    """Makes a space."""
    made = await spaces.post_space(call, convert(dict(await fields(call)), SpaceIn))
    return see(f"/spaces/{made.id}")


@table("GET", "/spaces/{id}", scope=None)
async def space_page(call: Call, id: UUID) -> Response:
    """A space's pages."""
    try:
        space = await spaces.get_space(call, id)
    except Problem as problem:
        # Somebody not signed in may see more once they are.
        if problem.status == 404 and call.viewer.user_id is None:
            raise Problem(401, "Sign in first.") from None
        raise
    nodes = await tree.get_tree(call, id)
    return page(call, "space.html", space=space, nodes=nodes, roots=nested(nodes))


def nested(nodes: list[TreeNode]) -> list[tuple[TreeNode, list[object]]]:
    """The pages as (page, children); those whose parent may not be seen are at the top."""
    items: dict[UUID, tuple[TreeNode, list[object]]] = {node.id: (node, []) for node in nodes}
    roots = list[tuple[TreeNode, list[object]]]()
    for node in nodes:
        above = items.get(node.parent_id) if node.parent_id else None
        (roots if above is None else above[1]).append(items[node.id])
    return roots


@table("POST", "/spaces/{id}/settings", scope="write", main_site_only=True)
async def space_settings_form(call: Call, id: UUID) -> Response:
    """Changes a space."""
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
    """Makes a page and goes on to write it."""
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
    """What lies in the trash."""
    space = await spaces.get_space(call, id)
    return page(call, "trash.html", space=space, nodes=await tree.get_trash(call, id))


@table("POST", "/spaces/{id}/import", scope="write", raw=RawBody(("multipart/form-data",)))
async def import_form(call: Call, id: UUID) -> Response:
    """Imports a zip."""
    await imports.start(call, id, None)
    return see("/settings")


@table("GET", "/search", scope=None)
async def search_page(call: Call, query: SearchPageQuery) -> Response:
    """Finds pages."""
    asked = query.q.strip()[:300]
    hits = await search.search(call, SearchQuery(asked)) if asked else []
    return page(call, "search.html", asked=asked, hits=hits)


@table("GET", "/settings", scope="read")
async def settings_page(call: Call) -> Response:
    """One's own settings; the version is at the bottom."""
    return await _settings(call)


async def _settings(call: Call, secret: str | None = None) -> Response:
    from notes.jobs.api import list_jobs

    users = await people.list_users(call) if call.viewer.is_admin else []
    return page(
        call,
        "settings.html",
        tokens=await tokens.list_tokens(call),
        jobs=(await list_jobs(call))[:10],
        users=users,
        secret=secret,
    )


@table("POST", "/settings", scope="write")
async def settings_form(call: Call) -> Response:
    """Changes one's name or password."""
    given = {name: value for name, value in (await fields(call)).items() if value}
    await accounts.patch_me(call, convert(dict(given), MeIn))
    return see("/settings")


@table("POST", "/settings/tokens", scope="write")
async def token_form(call: Call) -> Response:
    """Makes a token and shows its secret once."""
    given = await fields(call)
    scopes = ["read", "write"] if given.get("write") == "on" else ["read"]
    body = convert({"name": given.get("name", ""), "scopes": scopes}, TokenIn)
    made = await tokens.post_token(call, body)
    return await _settings(call, made.secret)


@table("POST", "/settings/tokens/{id}/revoke", scope="write")
async def token_revoke_form(call: Call, id: UUID) -> Response:
    """Revokes a token."""
    await tokens.delete_token(call, id)
    return see("/settings")


@table("POST", "/settings/users", scope="admin", main_site_only=True)
async def user_form(call: Call) -> Response:
    """Adds a person."""
    given = await fields(call)
    body = {name: value for name, value in given.items() if value and name != "is_admin"}
    await people.post_user(
        call, convert({**body, "is_admin": given.get("is_admin") == "on"}, UserIn)
    )
    return see("/settings")
