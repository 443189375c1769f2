"""Plans an import: the pages, parents first, and the page that each file belongs to.

Decides from the zip's names and its manifest alone. Invariant: each entry of the zip has one place,
or one line in the report with the reason why not.
"""

import mimetypes
import posixpath
import re
from dataclasses import dataclass, field

from notes.jobs.job import JobFailedError
from notes.transfer.archive import Archive
from notes.transfer.entry_names import fold
from notes.transfer.manifest import HISTORY, MANIFEST, Manifest, PageEntry
from notes.transfer.sources import Form, Kind

#: Of one import: each folder of each path becomes a page, so entries alone do not limit them.
MAX_PAGES = 50_000
#: The pages' paths together: as much as the directory of a zip may have.
MAX_PATHS_CHARS = 16 * 1024 * 1024
_MARKDOWN = (".md", ".markdown", ".mdown")
_HTML = (".html", ".htm", ".xhtml")
_OUTLINE_FILE = re.compile(r"[^/]+/(.*/)?(uploads|public)/[0-9a-f-]{36}/[0-9a-f-]{36}/")
_NOTION_ID = re.compile(r"[ \-_]([0-9a-f]{32})(_all)?$")


@dataclass(slots=True)
class Page:
    """A page to create; `path` is None for a folder without its own file.

    `body` is the content if it is not a file of the zip. `shown_path` is its name in the report.
    """

    key: str
    title: str
    parent: str | None
    path: str | None
    form: Form = "nothing"
    body: bytes | None = None
    entry: PageEntry | None = None
    shown_path: str | None = None

    @property
    def is_template(self) -> bool:
        return self.entry is not None and self.entry.is_template


@dataclass(slots=True)
class File:
    """A file to create; with `owner` None the first page that shows it owns it."""

    path: str
    owner: str | None
    name: str
    type: str


@dataclass(slots=True)
class Plan:
    """The pages of an import, parents first, and the files with their owners."""

    kind: Kind
    pages: dict[str, Page] = field(default_factory=dict)
    files: list[File] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    # Other names of pages and files, given by the source program.
    names: dict[str, str] = field(default_factory=dict)
    _path_chars: int = 0

    def add(self, page: Page) -> None:
        """Adds a page. Raises `JobFailedError` if a replica has no memory for so many."""
        self.pages[page.key] = page
        self._path_chars += len(page.key)
        if len(self.pages) > MAX_PAGES:
            raise JobFailedError(f"The zip makes more than {MAX_PAGES} pages; split it.")
        if self._path_chars > MAX_PATHS_CHARS:
            raise JobFailedError("The zip has too many long paths; split it.")


def kind_of(archive: Archive) -> Kind:
    """The program that wrote a zip, recognised by files that only it writes."""
    names = archive.members
    left = [path for path, _ in archive.left_out]
    if MANIFEST in names:
        return "own"
    if "data.json" in names and not any(n.lower().endswith(_MARKDOWN) for n in names):
        return "bookstack"
    if "metadata.json" in names and any(n.endswith(".json") and "/" not in n for n in names):
        return "outline-json"
    if any(re.search(r"(^|/)\.obsidian(/|$)", path) for path in left):
        return "obsidian"
    if any(_NOTION_ID.search(_stem(n)) for n in names if n.lower().endswith((*_TEXTS, ".csv"))):
        return "notion"
    if any(_OUTLINE_FILE.match(name) for name in names):
        return "outline"
    return "files"


_TEXTS = (*_MARKDOWN, *_HTML)


def make_plan(archive: Archive, kind: Kind, manifest: Manifest | None, zip_name: str) -> Plan:
    """The plan of a zip; names not in the manifest are sorted naturally (2 before 10)."""
    plan = Plan(kind, left_out=list(archive.left_out))
    builder = _Builder(plan)
    names = [n for n in archive.members if n != MANIFEST and not n.startswith(HISTORY + "/")]
    present = {fold(n): n for n in names}
    taken = set[str]()
    for listed in manifest.pages if manifest else []:
        path = present.get(fold(listed.path))
        if path is not None and path not in taken:
            taken.add(path)
            builder.listed(path, listed)
    csvs = {fold(n) for n in names if n.lower().endswith(".csv")} if kind == "notion" else set()
    others = sorted((n for n in names if n not in taken), key=_natural)
    for path in others:
        form = _form(path, kind)
        if kind == "notion" and fold(path) == "index.html":
            plan.left_out.append((path, "it only lists the pages, like the tree"))
            taken.add(path)
        elif form == "csv" and fold(f"{_plain(path)}_all.csv") in csvs:
            plan.left_out.append((path, "its rows are among those of the same name with _all"))
            taken.add(path)
        elif form != "nothing":
            taken.add(path)
            builder.page(path, form)
    files = {fold(entry.path): entry for entry in (manifest.files if manifest else [])}
    for path in others:
        if path in taken:
            continue
        entry = files.get(fold(path))
        base = posixpath.basename(path)
        known = builder.key_of(entry.page) if entry else None
        plan.files.append(
            File(path, known, entry.name if entry else base, entry.type if entry else guess(base))
        )
    if plan.files and not plan.pages:
        title = titled(zip_name.rsplit(".", 1)[0])
        plan.add(Page("/files", title, None, None))
    return plan


def owner_by_folder(plan: Plan, path: str) -> str:
    """The page whose folder is nearest to a file, or the first page."""
    folder = posixpath.dirname(path)
    while folder:
        for key in (folder, folder.removesuffix(".files")):
            if key in plan.pages:
                return key
        folder = posixpath.dirname(folder)
    return next(iter(plan.pages))


class _Builder:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        # Folders by title, for pages whose folder lacks the page's suffix.
        self._folders: dict[str, str] = {}
        self._by_path: dict[str, str] = {}

    def key_of(self, path: str) -> str | None:
        return self._by_path.get(fold(path))

    def listed(self, path: str, entry: PageEntry) -> None:
        above = self.key_of(entry.parent) if entry.parent is not None else None
        self._add(path, "markdown", entry.title, above, entry)

    def page(self, path: str, form: Form) -> None:
        self._add(path, form, self._title(path), None, None)

    def _title(self, path: str) -> str:
        stem = _stem(path)
        if self._plan.kind == "notion":
            stem = _NOTION_ID.sub("", stem).removesuffix("_all")
        if self._plan.kind == "outline":
            stem = stem.replace("%2F", "/").replace("%5C", "\\")
        return titled(stem)

    def _add(
        self, path: str, form: Form, title: str, parent: str | None, entry: PageEntry | None
    ) -> None:
        key = _plain(path)
        if self._plan.kind == "notion" and form == "csv":
            key = key.removesuffix("_all")
        above = parent or self._folder(posixpath.dirname(path))
        known = self._plan.pages.get(key)
        if known is not None and known.path is not None:
            key = path  # another file of this name has this key
            known = None
        if known is None:
            self._plan.add(Page(key, titled(title), above, path, form, entry=entry))
            calling = fold(posixpath.join(posixpath.dirname(key), titled(title)))
            self._folders.setdefault(calling, key)
        else:  # the folder of this name came first
            known.path, known.title, known.form, known.entry = path, titled(title), form, entry
        self._by_path[fold(path)] = key

    def _folder(self, path: str) -> str | None:
        """The key of a folder's page; creates it and its parents if missing."""
        if not path:
            return None
        if path in self._plan.pages:
            return path
        if self._plan.kind == "notion" and fold(path) in self._folders:
            return self._folders[fold(path)]
        parent = self._folder(posixpath.dirname(path))
        title = self._title(f"{path}.")
        self._plan.add(Page(path, title, parent, None))
        self._folders.setdefault(fold(posixpath.join(posixpath.dirname(path), title)), path)
        return path


def _form(path: str, kind: Kind) -> Form:
    low = path.lower()
    if low.endswith(_MARKDOWN):
        return "nothing" if low.endswith(".excalidraw.md") else "markdown"
    if low.endswith(_HTML) and kind != "obsidian":
        return "html"
    if low.endswith(".csv") and kind == "notion":
        return "csv"
    return "nothing"


def notion_id(path: str) -> str | None:
    """The id that Notion appends to a name, or None."""
    match = _NOTION_ID.search(_stem(path))
    return match[1] if match else None


def _natural(name: str) -> list[tuple[int, int, str]]:
    return [
        (0, int(part[:18]), "") if part.isascii() and part.isdigit() else (1, 0, part.lower())
        for part in re.split(r"(\d+)", name)
    ]


def _plain(path: str) -> str:
    folder, slash, base = path.rpartition("/")
    return f"{folder}{slash}{base.rsplit('.', 1)[0] or base}"


def _stem(path: str) -> str:
    return posixpath.basename(path).rsplit(".", 1)[0]


def titled(text: str) -> str:
    """A valid page title from any text."""
    clean = "".join(c for c in text if c.isprintable()).strip()[:300].strip()
    return clean or "Untitled"


def guess(name: str) -> str:
    """The media type that fits a file name's ending."""
    return mimetypes.guess_type(name)[0] or ""
