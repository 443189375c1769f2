"""Part of the S3 server's pipeline: refuses what the volume has no room for.

Swift's own stores answer so as well, but the S3 interface tells clients of it as of a server that
is away, and a database of theirs that meets a full disk takes no deletion either. So some room is
kept free, and the refusal has the name that says what is wrong.
"""

import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

KEPT = 64 << 20
KEPT_SHARE = 100
"""Room that is kept free: 64 MB, or a hundredth of the file system if that is less."""
SAYS_EACH_S = 60.0
BODY = (
    b'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>InsufficientStorage</Code>'
    b"<Message>The volume of the repository is full.</Message></Error>"
)
Environ = Mapping[str, Any]
App = Callable[[Any, Any], Iterable[bytes]]


class Room:
    """WSGI filter. It asks for the free room before each request that stores something."""

    def __init__(self, app: App, data: str) -> None:
        self._app, self._data, self._said = app, data, 0.0

    def __call__(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        if not stores(environ) or self.has_room(length(environ)):
            return self._app(environ, start_response)
        if time.monotonic() - self._said > SAYS_EACH_S:
            self._said = time.monotonic()
            print(f"the volume at {self._data} is full: nothing is stored; make room", flush=True)
        headers = [("Content-Type", "application/xml"), ("Content-Length", str(len(BODY)))]
        # What the client sends on is not read: the connection ends with this answer.
        start_response("507 Insufficient Storage", [*headers, ("Connection", "close")])
        return [BODY]

    def has_room(self, more: int) -> bool:
        """Return True if so many bytes may be stored."""
        found = os.statvfs(self._data)
        size, free = found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize
        has_names = found.f_favail > 0 or not found.f_files
        return has_names and free - more > min(KEPT, size // KEPT_SHARE)


def length(environ: Environ) -> int:
    """Return the bytes that a request says it brings; 0 where it does not say."""
    text = str(environ.get("CONTENT_LENGTH") or "")
    return int(text) if text.isdecimal() else 0


def stores(environ: Environ) -> bool:
    """Return True for a request that makes the data more. A POST with `delete` removes objects."""
    method, query = environ.get("REQUEST_METHOD"), str(environ.get("QUERY_STRING", ""))
    return method == "PUT" or (method == "POST" and not query.startswith("delete"))


def filter_factory(global_conf: Environ, **local_conf: str) -> Callable[[App], Room]:
    """Paste's entry to this filter."""
    return lambda app: Room(app, local_conf["data"])
