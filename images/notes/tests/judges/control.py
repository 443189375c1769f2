"""Lets a browser's script change the world in which its judge runs, by HTTP on loopback."""

import http.server
import threading
from collections.abc import Callable
from urllib.parse import parse_qsl, urlsplit


def control_of(world: object) -> http.server.ThreadingHTTPServer:
    """Answers POST /ACTION?argument=value by doing it; 500 with the reason if that fails."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            parts = urlsplit(self.path)
            act: Callable[..., None] = getattr(world, parts.path[1:])
            try:
                act(**dict(parse_qsl(parts.query)))
                status, said = 200, ""
            except Exception as error:  # noqa: BLE001 - told to the caller
                status, said = 500, repr(error)
            self.send_response(status)
            self.send_header("content-length", str(len(said.encode())))
            self.end_headers()
            self.wfile.write(said.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
