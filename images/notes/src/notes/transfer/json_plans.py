"""Plans of exports with pages in JSON: Outline's JSON export and BookStack's portable zip.

Invariant: a page's content is copied from the JSON unchanged and read later like any other page.
"""

import re
from html import escape
from typing import Any

import msgspec

from notes.jobs.job import JobFailedError
from notes.transfer.archive import Archive
from notes.transfer.entry_names import shown
from notes.transfer.import_plan import File, Page, Plan, guess, titled
from notes.transfer.sources import Form

MAX_JSON_BYTES = 32 * 1024 * 1024
#: An item of three bytes takes 460 in memory: its fields have places, empty or not.
MAX_ITEMS = 200_000
#: The begin of an item. It may be in a text, too, which is rare.
_ITEM = re.compile(rb"[\[,:][ \t\r\n]*\{")


def _load(archive: Archive, path: str, kind: Any) -> Any:
    member = archive.members[path]
    if member.size > MAX_JSON_BYTES:
        raise JobFailedError(f"{shown(path)}: it is larger than {MAX_JSON_BYTES} bytes.")
    data = member.read(MAX_JSON_BYTES)
    if kind is _Book and any(at >= MAX_ITEMS for at, _ in enumerate(_ITEM.finditer(data))):
        raise JobFailedError(f"{shown(path)}: it has more than {MAX_ITEMS} items.")
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise JobFailedError(f"{shown(path)}: it is damaged, or has an unknown form.") from None


class _Node(msgspec.Struct):
    id: str
    children: list["_Node"] = []


class _Document(msgspec.Struct, rename="camel"):
    id: str
    title: str = ""
    url_id: str = ""
    data: msgspec.Raw = msgspec.Raw(b"null")
    parent_document_id: str | None = None
    template: bool = False


class _Attachment(msgspec.Struct, rename="camel"):
    id: str
    key: str
    name: str = ""
    content_type: str = ""
    document_id: str | None = None


class _About(msgspec.Struct, rename="camel"):
    name: str = ""
    data: msgspec.Raw = msgspec.Raw(b"null")
    document_structure: list[_Node] | None = None


class _Collection(msgspec.Struct):
    collection: _About
    documents: dict[str, _Document] = {}
    attachments: dict[str, _Attachment] = {}


def outline(archive: Archive) -> Plan:
    """The plan of an Outline JSON export: one page per collection, its documents below."""
    plan = Plan("outline-json", left_out=list(archive.left_out))
    plan.left_out.append(("metadata.json", "it only describes the export"))
    taken = {"metadata.json"}
    for path in sorted(n for n in archive.members if n.endswith(".json") and "/" not in n):
        if path in taken:
            continue
        taken.add(path)
        found: _Collection = _load(archive, path, _Collection)
        title = titled(found.collection.name or path.removesuffix(".json"))
        body = bytes(found.collection.data)
        plan.add(Page(path, title, None, None, "outline", body, shown_path=path))
        _documents(plan, path, found)
        for attachment in found.attachments.values():
            if attachment.key not in archive.members or attachment.key in taken:
                continue
            taken.add(attachment.key)
            owner = f"{path}#{attachment.document_id}"
            name = attachment.name or attachment.key.rsplit("/", 1)[-1]
            known = owner if owner in plan.pages else path
            plan.files.append(
                File(attachment.key, known, name, attachment.content_type or guess(name))
            )
            plan.names[attachment.id] = attachment.key
    for path in archive.members:
        if path not in taken:
            plan.files.append(File(path, None, path.rsplit("/", 1)[-1], guess(path)))
    return plan


def _documents(plan: Plan, path: str, found: _Collection) -> None:
    stack = [(node, path) for node in reversed(found.collection.document_structure or [])]
    waiting = dict.fromkeys(found.documents)
    while stack or waiting:
        if not stack:  # not in the structure: use its own parent id
            name = next(iter(waiting))
            above = f"{path}#{found.documents[name].parent_document_id}"
            stack.append((_Node(name), above if above in plan.pages else path))
        node, parent = stack.pop()
        document = found.documents.get(node.id)
        if document is None or node.id not in waiting:
            continue
        del waiting[node.id]
        key = f"{path}#{node.id}"
        shown_path = f"{path}: {document.title}"[:1000]
        body = bytes(document.data)
        plan.add(
            Page(key, titled(document.title), parent, None, "outline", body, shown_path=shown_path)
        )
        plan.names[f".doc/{document.id}"] = plan.names[f"/.doc/{document.id}"] = key
        if document.url_id:
            plan.names[document.url_id] = key
        stack += [(child, key) for child in reversed(node.children)]


class _Tag(msgspec.Struct):
    name: str
    value: str | None = None


class _Item(msgspec.Struct):
    """A book, chapter or page of BookStack, or an image or attachment of one."""

    name: str = ""
    id: int | None = None
    priority: int | None = None
    description_html: str | None = None
    html: str | None = None
    markdown: str | None = None
    cover: str | None = None
    link: str | None = None
    file: str | None = None
    chapters: list["_Item"] = []
    pages: list["_Item"] = []
    images: list["_Item"] = []
    attachments: list["_Item"] = []
    tags: list[_Tag] = []


class _Book(msgspec.Struct):
    book: _Item | None = None
    chapter: _Item | None = None
    page: _Item | None = None


def bookstack(archive: Archive) -> Plan:
    """The plan of a BookStack portable zip."""
    found: _Book = _load(archive, "data.json", _Book)
    plan = Plan("bookstack", left_out=list(archive.left_out))
    reader = _Shelf(plan, archive)
    if found.book is not None:
        top = reader.page(found.book, "book", None)
        inner = [("chapter", item) for item in found.book.chapters]
        inner += [("page", item) for item in found.book.pages]
        inner.sort(key=lambda pair: pair[1].priority or 0)
        for kind, item in inner:
            above = reader.page(item, kind, top)
            for leaf in sorted(item.pages, key=lambda page: page.priority or 0):
                reader.page(leaf, "page", above)
    elif found.chapter is not None:
        top = reader.page(found.chapter, "chapter", None)
        for leaf in sorted(found.chapter.pages, key=lambda page: page.priority or 0):
            reader.page(leaf, "page", top)
    elif found.page is not None:
        reader.page(found.page, "page", None)
    else:
        raise JobFailedError("data.json: it has no book, chapter or page.")
    for path in archive.members:
        if path != "data.json" and path not in reader.taken:
            plan.files.append(File(path, None, path.rsplit("/", 1)[-1], guess(path)))
    return plan


class _Shelf:
    def __init__(self, plan: Plan, archive: Archive) -> None:
        self._plan = plan
        self._archive = archive
        self.taken = set[str]()

    def page(self, item: _Item, kind: str, parent: str | None) -> str:
        key = f"data.json#{kind}:{item.id if item.id is not None else len(self._plan.pages)}"
        if key in self._plan.pages:
            key += f":{len(self._plan.pages)}"
        is_markdown = bool((item.markdown or "").strip())
        body = item.markdown if is_markdown else (item.html or item.description_html or "")
        body = (body or "") + self._around(item, key, is_markdown=is_markdown)
        shown_path = f"data.json: {kind} {item.name}"[:1000]
        form: Form = "markdown" if is_markdown else "html"
        data = body.encode("utf-8", "replace")
        title = titled(item.name)
        self._plan.add(Page(key, title, parent, None, form, data, shown_path=shown_path))
        self._plan.names[f"/.bs/{kind}/{item.id}"] = key
        return key

    def _around(self, item: _Item, key: str, *, is_markdown: bool) -> str:
        """Cover, linked attachments and tags, as text to append to the page."""
        for kind, held in (("image", item.images), ("attachment", item.attachments)):
            for one in held:
                self._file(one.file, kind, one.name, key, one.id)
        rows = [(tag.name, tag.value or "") for tag in item.tags]
        links = [(one.name, one.link) for one in item.attachments if one.link and not one.file]
        if item.cover:
            self._file(item.cover, "image", item.cover, key, None)
        if is_markdown:
            made = "".join(f"\n\n[{name}](<{link}>)" for name, link in links)
            made += "".join(f"\n\n{name}: {value}" for name, value in rows)
            return made
        made = f'<p><img src="files/{escape(item.cover)}"></p>' if item.cover else ""
        made += "".join(
            f'<p><a href="{escape(link or "")}">{escape(name)}</a></p>' for name, link in links
        )
        if rows:
            cells = "".join(
                f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>" for name, value in rows
            )
            made += f"<table><tr><th>Tag</th><th>Value</th></tr>{cells}</table>"
        return made

    def _file(self, ref: str | None, kind: str, name: str, key: str, id: int | None) -> None:
        path = f"files/{ref}"
        if ref is None or path not in self._archive.members:
            return
        if path not in self.taken:
            self.taken.add(path)
            ending = f".{ref.rsplit('.', 1)[-1]}" if "." in ref and "." not in name else ""
            base = f"{name}{ending}" if name else ref
            self._plan.files.append(File(path, key, base, guess(ref)))
        for handle in (ref, id):
            if handle is not None:
                self._plan.names[f"/.bs/{kind}/{handle}"] = path
