"""A Docker Engine over its unix socket: just enough of its HTTP API for the lab.

The lab asks a daemon many small questions while it boots; a client process for each would cost
more than the boot.
"""

import http.client
import json
import socket
from pathlib import Path
from typing import Any

_API = "/v1.41"  # Docker 20.10, Debian 12's engine


class EngineError(Exception):
    """The daemon answered with an error; `status` is its HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{message} (HTTP {status})")
        self.status = status


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path, timeout_s: float) -> None:
        super().__init__("docker", timeout=timeout_s)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


class Engine:
    """Requests to one daemon; OSError when nobody answers, EngineError when it refuses."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def get(self, resource: str, timeout_s: float = 10) -> Any:
        return self._request("GET", resource, None, timeout_s)

    def post(self, resource: str, body: object = None, timeout_s: float = 30) -> Any:
        return self._request("POST", resource, body, timeout_s)

    def delete(self, resource: str, timeout_s: float = 30) -> Any:
        return self._request("DELETE", resource, None, timeout_s)

    def answers(self, timeout_s: float = 1) -> bool:
        """Return True if the daemon answers a ping."""
        try:
            self.get("/_ping", timeout_s)
        except (OSError, EngineError, http.client.HTTPException):
            return False
        return True

    def _request(self, method: str, resource: str, body: object, timeout_s: float) -> Any:
        connection = _UnixConnection(self._path, timeout_s)
        try:
            payload = None if body is None else json.dumps(body)
            headers = {} if payload is None else {"Content-Type": "application/json"}
            connection.request(method, _API + resource, payload, headers)
            response = connection.getresponse()
            text = response.read().decode()
        finally:
            connection.close()
        is_json = "json" in (response.getheader("Content-Type") or "")
        answer = json.loads(text) if is_json and text.strip() else text
        if response.status >= 400:
            message = answer.get("message", text) if isinstance(answer, dict) else text
            raise EngineError(response.status, str(message))
        return answer
