"""The requests of a rule, and whether each must be allowed.

A rule names the objects that an operation acts on, the role that it needs there, and its input;
``expected`` has the rule of each operation.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.sweep.world import Actor, Model, Page, World

NONE, VIEWER, COMMENTER, EDITOR, MANAGER, ADMIN = range(6)
Sent = dict[str, Any]
Send = Callable[[World, Actor, Page], Sent]
LIVE, ANY, TRASHED, ALONE = "live", "any", "trashed", "trashed by itself"


@dataclass(frozen=True)
class Case:
    """One request, and if it must be allowed; None: both answers are right."""

    where: str
    path: str
    sent: Sent
    allowed: bool | None
    readable: frozenset[str] = frozenset()
    "Pages that it may show although the actor has no role there: those of a share link."


def nothing(_: World, __: Actor, ___: Page) -> Sent:
    return {}


def json(**body: Any) -> Send:
    return lambda _, __, ___: {"json": body}


def form(**body: Any) -> Send:
    return lambda _, __, ___: {"data": body or {"x": ""}}


def query(**params: Any) -> Send:
    return lambda _, __, ___: {"params": params}


@dataclass(frozen=True)
class Rule:
    """The objects that an operation acts on, and the role that it needs."""

    on: str
    need: int = NONE
    send: Send = nothing
    state: str = LIVE
    below: str | None = None
    insiders: bool = False

    def cases(self, world: World, model: Model, actor: Actor, path: str) -> Iterator[Case]:
        """Yields a request for every place where the operation can be called."""
        makers = {
            "page": self._on_pages, "comment": self._on_pages, "attachment": self._on_pages,
            "share": self._on_pages, "upload": self._on_pages, "space": self._on_spaces,
            "move": self._moves, "make": self._makes, "import": self._imports,
            "browse": self._browses, "link": self._links, "link page": self._link_pages,
            "link file": self._link_pages, "zip upload": self._zip_uploads,
        }  # fmt: skip
        if self.on in makers:
            yield from makers[self.on](world, model, actor, path)
            return
        filled = path.replace("{id}", world.things.get(self.on, ""))
        any_page = next(iter(world.pages.values()))
        yield Case(self.on, filled, self.send(world, actor, any_page), self._plain(actor))

    def _plain(self, actor: Actor) -> bool | None:
        return {"anybody": True, "unknown": None, "person": actor.user_id is not None}.get(
            self.on, actor.is_admin
        )

    def _on_pages(self, world: World, model: Model, actor: Actor, path: str) -> Iterator[Case]:
        for page in world.pages.values():
            ids = {"page": page.id, "comment": page.comment, "attachment": page.attachment,
                   "share": page.share, "upload": page.id}  # fmt: skip
            filled = path.replace("{id}", ids[self.on] if "/p/{id}" not in path else page.id)
            for name in ("comment", "share", "upload"):
                filled = filled.replace(f"{{{name}_id}}", getattr(page, name))
            filled = filled.replace("{version}", "1").replace("{seq}", "0")
            allowed = self._may(model, actor, page)
            if self.on == "upload":
                allowed = allowed and actor.is_admin  # the owner of the uploads
            yield Case(page.name, filled, self.send(world, actor, page), allowed)

    def _may(self, model: Model, actor: Actor, page: Page) -> bool:
        role, trashed = model.page(actor, page.id), model.is_trashed(page.id)
        if role < max(self.need, VIEWER):
            return False
        if trashed and (self.state == LIVE or role < EDITOR):
            return False
        if self.state in {TRASHED, ALONE} and not trashed:
            return False
        if self.state == ALONE and model.nodes[page.id]["trash_root"] != page.id:
            return False
        if self.below is None:
            return True
        with_it = [
            n for n in model.below(page.id)
            if self.below != LIVE or not model.is_trashed(n)
        ]  # fmt: skip
        return all(model.page(actor, n) >= self.need for n in with_it)

    def _on_spaces(self, world: World, model: Model, actor: Actor, path: str) -> Iterator[Case]:
        for name, space in {**world.spaces, "home": actor.home}.items():
            if not space:
                continue
            allowed = model.space(actor, space) >= max(self.need, VIEWER)
            if self.need == ADMIN:
                allowed = actor.is_admin
            if self.insiders:
                allowed = allowed and model.inside(actor, space) > 0
            any_page = next(iter(world.pages.values()))
            sent = self.send(world, actor, any_page)
            # The actor is added; the keeper, who is a member of no space here, is removed.
            one = actor.user_id if sent else None
            filled = path.replace("{principal}", one or str(world.keeper.user_id))
            yield Case(name, filled.replace("{id}", space), sent, allowed)

    def _zip_uploads(self, world: World, model: Model, actor: Actor, path: str) -> Iterator[Case]:
        """The upload of a zip, in its space and in others."""
        for name, space in {**world.spaces, "home": actor.home}.items():
            if space:
                own = actor.is_admin and name == "team"
                filled = path.replace("{id}", space)
                filled = filled.replace("{upload_id}", world.things["zip upload"])
                yield Case(name, filled, {}, own and model.space(actor, space) >= self.need)

    def _moves(self, world: World, model: Model, actor: Actor, path: str) -> Iterator[Case]:
        places: list[tuple[str, str | None]] = [("team", None), ("foreign", None), ("public", None)]
        if actor.home:
            places.append(("home", None))
        below = ("top", "own", "secret", "open", "openbin", "foreign", "public")
        places += [(world.pages[name].space, world.pages[name].id) for name in below]
        for page in world.pages.values():
            for name, parent in places:
                space = {**world.spaces, "home": actor.home}.get(name, name)
                body = {"space_id": space, "parent_id": parent}
                if path.startswith("/p/"):
                    if parent is None and space != page.space:
                        continue  # the form has no other space
                    sent: Sent = {"data": {"parent_id": parent or "", "after_id": ""}}
                else:
                    sent = {"json": body}
                allowed = _may_move(model, actor, page, space, parent)
                where = f"{page.name} to {name} below {parent}"
                yield Case(where, path.replace("{id}", page.id), sent, allowed)

    def _browses(self, world: World, model: Model, actor: Actor, path: str) -> Iterator[Case]:
        """Looks for a place for each page below each page."""
        for page in world.pages.values():
            for other in world.pages.values():
                shown = model.page(actor, other.id) >= VIEWER and not model.is_trashed(other.id)
                allowed = self._may(model, actor, page) and shown
                filled = f"{path.replace('{id}', page.id)}?below={other.id}"
                yield Case(f"{page.name} below {other.name}", filled, {}, allowed)

    def _makes(self, world: World, model: Model, actor: Actor, path: str) -> Iterator[Case]:
        """Creates below each page, and with each page as a template in the actor's own space."""
        key = "data" if path.startswith("/spaces") else "json"
        for page in world.pages.values():
            for space in {page.space, actor.home} - {""}:
                inside = model.space(actor, space) >= VIEWER and page.space == space
                live = not model.is_trashed(page.id)
                allowed = inside and live and model.page(actor, page.id) >= EDITOR
                body = {"title": "new", "parent_id": page.id}
                filled = path.replace("{id}", space)
                yield Case(f"below {page.name} in {space}", filled, {key: body}, allowed)
                role = model.page(actor, page.id)
                shown = role >= (VIEWER if live else EDITOR)
                allowed = shown and model.space(actor, space) >= EDITOR
                body = {"title": "new", "template_id": page.id}
                yield Case(f"of {page.name} in {space}", filled, {key: body}, allowed)

    def _imports(self, world: World, model: Model, actor: Actor, path: str) -> Iterator[Case]:
        """Imports each page's file into the actor's own space, and a zip below each page."""
        forms = path.startswith("/spaces")
        zipped: Sent = {"content": b"PK", "headers": {"content-type": "application/zip"}}
        if forms:
            zipped = {"files": {"file": ("a.zip", b"PK", "application/zip")}}
        for name, space in {**world.spaces, "home": actor.home}.items():
            if space:
                allowed = model.space(actor, space) >= EDITOR
                yield Case(name, path.replace("{id}", space), zipped, allowed)
        for page in world.pages.values() if not forms else ():
            live, role = not model.is_trashed(page.id), model.page(actor, page.id)
            allowed = live and role >= EDITOR and model.space(actor, page.space) >= VIEWER
            filled = f"{path.replace('{id}', page.space)}?parent_id={page.id}"
            yield Case(f"below {page.name}", filled, zipped, allowed)
            if actor.home:
                sent = {"json": {"attachment_id": page.attachment}}
                filled = path.replace("{id}", actor.home)
                yield Case(f"of {page.name}", filled, sent, live and role >= VIEWER)

    def _links(self, world: World, model: Model, actor: Actor, path: str) -> Iterator[Case]:
        for page in world.pages.values():
            shown = frozenset() if model.is_trashed(page.id) else frozenset(_shared(model, page))
            sent = self.send(world, actor, page)
            # A link without a password needs no password.
            allowed = bool(shown) if "params" not in sent and "data" not in sent else None
            yield Case(page.name, path.replace("{token}", page.link), sent, allowed, shown)

    def _link_pages(self, world: World, model: Model, actor: Actor, path: str) -> Iterator[Case]:
        if actor not in (world.actors[0], *world.on_page.values()):
            return  # the link itself grants access, for any client
        for page in world.pages.values():
            shown = frozenset() if model.is_trashed(page.id) else frozenset(_shared(model, page))
            for other in world.pages.values():
                wanted = other.id if self.on == "link page" else other.attachment
                filled = path.replace("{token}", page.link).replace("{id}", wanted)
                where = f"{other.name} by the link of {page.name}"
                yield Case(where, filled, {}, other.id in shown, shown)


def _shared(model: Model, page: Page) -> Iterator[str]:
    """The pages that a link includes: those below it with the same permissions."""
    root = model.root(page.id)
    return (n for n in model.below(page.id) if model.root(n) == root and not model.is_trashed(n))


def _may_move(
    model: Model, actor: Actor, page: Page, space: str, parent: str | None
) -> bool | None:
    if model.page(actor, page.id) < EDITOR or model.is_trashed(page.id):
        return False
    if parent is None and model.space(actor, space) < EDITOR:
        return False
    if parent is not None:
        if model.page(actor, parent) < EDITOR or model.is_trashed(parent):
            return False
        if parent in model.below(page.id):
            return None  # refused for everybody: a page cannot be below itself
    if space == page.space and parent == model.nodes[page.id]["parent_id"]:
        return True
    outer = model.root(page.id)
    lifts = (
        outer not in {None, page.id} and (None if parent is None else model.root(parent)) != outer
    )
    for below in model.below(page.id):
        root = model.root(below)
        changes = root is not None and (space != page.space or (lifts and root == outer))
        if model.page(actor, below) < (MANAGER if changes else EDITOR):
            return False
    return True
