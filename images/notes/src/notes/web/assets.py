"""Serves the built workspace: shell, assets, service worker, and the web app manifest.

The files come from `static/`, which `make notes-web` writes, and are read once. Invariant: an
asset's name contains its hash, so its content never changes; the shell is the same for every user
and uses no nonce, so a service worker can store it.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from notes.http.compression import accepted
from notes.http.problems import Problem
from notes.words.spoken import Spoken

SHELL: Final = "/w"
_FOR_EVER = "public, max-age=31536000, immutable"
_TYPES = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "png": "image/png",
    "svg": "image/svg+xml",
}
#: Scripts and styles only from files of this site, and no text becomes a script or markup: the
#: policy `notes` of the workspace passes one address, that of the service worker.
POLICY: Final = (
    "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none';"
    " script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:;"
    " connect-src 'self'; manifest-src 'self'; worker-src 'self'; font-src 'self';"
    " frame-src 'self'; require-trusted-types-for 'script';"
    " trusted-types ProseMirrorClipboard notes"
)


@dataclass(frozen=True, slots=True)
class Asset:
    """A file, and its compressed forms by the name of the content coding."""

    content: bytes
    media_type: str
    sha256: str
    coded: Mapping[str, bytes]

    def response(self, request: Request, headers: Mapping[str, str]) -> Response:
        """The answer in the smallest form that the client accepts."""
        etag = f'W/"{self.sha256[:32]}"'
        sent = {"etag": etag, "vary": "accept-encoding", **headers}
        given = request.headers.get("if-none-match", "")
        if etag in {one.strip() for one in given.split(",")}:
            return Response(status_code=304, headers=sent)
        coding = accepted(request.headers.get("accept-encoding", ""), self.coded)
        if coding is not None:
            sent["content-encoding"] = coding
        content = self.content if coding is None else self.coded[coding]
        return Response(content, headers={**sent, "content-type": self.media_type})


@dataclass(frozen=True, slots=True)
class Built:
    """One build of the workspace."""

    build: str
    files: Mapping[str, Asset]
    icons: Mapping[str, str]


class _Listed(msgspec.Struct, frozen=True):
    bytes: int
    sha256: str


class _Manifest(msgspec.Struct, frozen=True):
    build: str
    icons: dict[str, str]
    files: dict[str, _Listed]


@functools.cache
def built() -> Built | None:
    """The build that is part of this installation; None if there is none."""
    folder = resources.files("notes.web").joinpath("static")
    listed = folder.joinpath("manifest.json")
    if not listed.is_file():
        return None
    manifest = msgspec.json.decode(listed.read_bytes(), type=_Manifest)
    files = {path: _read(folder, path, one.sha256) for path, one in manifest.files.items()}
    return Built(manifest.build, files, manifest.icons)


def _read(folder: Traversable, path: str, sha256: str) -> Asset:
    coded = dict[str, bytes]()
    for coding, ending in (("br", "br"), ("gzip", "gz")):
        file = folder.joinpath(f"{path}.{ending}")
        if file.is_file():
            coded[coding] = file.read_bytes()
    media_type = _TYPES[path.rpartition(".")[2]]
    return Asset(folder.joinpath(path).read_bytes(), media_type, sha256, coded)


def _file(path: str) -> tuple[Built, Asset]:
    have = built()
    if have is None:
        raise Problem(404, "The workspace is not built here; `make notes-web` builds it.")
    asset = have.files.get(path)
    if asset is None:
        raise Problem(404, "There is nothing at this address.")
    return have, asset


async def _asset(request: Request) -> Response:
    _, asset = _file(f"assets/{request.path_params['name']}")
    return asset.response(request, {"cache-control": _FOR_EVER})


def shell_text() -> str | None:
    """The shell's HTML; None if the workspace is not built here."""
    have = built()
    return have.files["shell.html"].content.decode() if have else None


async def shell(request: Request) -> Response:
    """The shell, which is the same for everybody."""
    have, asset = _file("shell.html")
    return asset.response(
        request,
        {
            "cache-control": "no-cache",
            "content-security-policy": POLICY,
            # The service worker stores the shell only together with the assets of the same build.
            "x-notes-build": have.build,
        },
    )


async def _worker(request: Request) -> Response:
    _, asset = _file("sw.js")
    return asset.response(request, {"cache-control": "no-cache"})


def routes() -> list[Route]:
    """The routes of the workspace's files, which need neither a session nor the database."""
    paths = {
        "/assets/{name}": _asset,
        SHELL: shell,
        f"{SHELL}/{{path:path}}": shell,
        "/sw.js": _worker,
    }
    return [Route(path, serve, methods=["GET"]) for path, serve in paths.items()]


def web_manifest(name: str, t: Spoken) -> dict[str, Any]:
    """The web app manifest of a site that has this name, in the language of `t`."""
    have = built()
    icons = have.icons if have else {}
    images = [
        {"src": f"/assets/{icons[file]}", "sizes": sizes, "type": kind, "purpose": purpose}
        for file, sizes, kind, purpose in (
            ("icon.svg", "any", "image/svg+xml", "any"),
            ("icon-192.png", "192x192", "image/png", "any"),
            ("icon-512.png", "512x512", "image/png", "any"),
            ("icon-maskable.png", "512x512", "image/png", "maskable"),
        )
        if file in icons
    ]
    return {
        "id": SHELL,
        "name": name,
        "short_name": name[:12].strip(),
        "lang": t.language,
        "description": t("The workspace of your team"),
        "start_url": SHELL,
        "scope": "/",
        "display": "standalone",
        "background_color": "#ffffff",
        "theme_color": "#ffffff",
        "icons": images,
        "shortcuts": [
            {"name": t("Search"), "url": f"{SHELL}/search"},
            {"name": t("New page"), "url": f"{SHELL}?new=page"},
        ],
        # Other applications of the device share text with the workspace: it becomes a page.
        "share_target": {
            "action": SHELL,
            "method": "GET",
            "enctype": "application/x-www-form-urlencoded",
            "params": {"title": "title", "text": "text", "url": "url"},
        },
    }
