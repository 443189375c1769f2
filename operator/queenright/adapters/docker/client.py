"""One Docker engine through the SDK: its API version, and the meaning of its errors.

Every call blocks, at most for the timeout. Invariant: every failure is raised as one of the port's
errors, and nothing is requested before it is needed.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import docker
import requests
from docker import errors
from docker.utils import kwargs_from_env

from queenright.ports.swarm import ConflictError, RejectedError, UnavailableError

Json = dict[str, Any]
T = TypeVar("T")

API_VERSION = (1, 41)
"""Docker Engine 20.10, the oldest with all that the contract needs. Engine 29 accepts 1.44 at
least, and its error says so."""
POOLS = 8
PIECE_BYTES = 1 << 17
"""So much of a long answer is read at once: small enough that its memory is given back."""
CONFLICT, NOT_FOUND, NOT_IMPLEMENTED = 409, 404, 501
"""501 is swarm's status for a change of a service's mode or name."""
MAYBE_LATER = frozenset({408, 429})
CONFLICT_WORDS = ("out of sequence", "already exists", "name conflicts with an existing object")
"""Swarm reports a lost race as 500 or 400 with these words, not only as 409."""
IN_USE = "is in use by"
"""Swarm's text, with 400, for a config or network that a service or task still refers to."""
VERSION_REFUSED = re.compile(r"client version \S+ is too (old|new)")
IMAGE_UNKNOWN = ("manifest unknown", "name unknown")
"""A registry's texts for a tag or a repository that it does not have."""


class DockerClient:
    """An engine; creating it does no I/O. Safe to use from several threads."""

    def __init__(self, environment: Mapping[str, str], timeout_s: float) -> None:
        """``environment`` as the SDK reads it: DOCKER_HOST, DOCKER_TLS_VERIFY, DOCKER_CERT_PATH."""
        self._arguments = kwargs_from_env(environment=environment)
        self._timeout_s = max(1, round(timeout_s))
        self._lock = threading.Lock()
        self._sdk: Any = None
        self._version = ""

    def call(self, method: Callable[[Any], T]) -> T:
        """Call ``method`` with the SDK's client and return its result; raises the port's errors."""
        try:
            return translated(lambda: method(self._connected()))
        except UnavailableError as error:
            if VERSION_REFUSED.search(str(error)):
                self.close()
            raise

    def another(self) -> Any:
        """Return a new client of the SDK, with the same API version; raises the port's errors."""

        def made(_: Any) -> Any:
            return self._made(self._version)

        return self.call(made)

    def post(self, path: str, version: int, spec: Json) -> None:
        """Send a write for which the SDK has no method, or none that leaves the rest as it is."""

        def written(sdk: Any) -> None:
            url = f"{sdk.base_url}/v{self._version}{path}"
            content_of(sdk.post(url, params={"version": version}, json=spec, timeout=sdk.timeout))

        self.call(written)

    def get(self, path: str, **asked: int) -> bytes:
        """Return the body of an answer of which the SDK gives a part only."""

        def read(sdk: Any) -> bytes:
            url = f"{sdk.base_url}/v{self._version}{path}"
            return content_of(sdk.get(url, params=asked, timeout=sdk.timeout))

        return self.call(read)

    def stream(self, path: str, read: Callable[[Iterator[bytes]], T], **asked: str) -> T:
        """Return what ``read`` makes of an answer's body, which comes to it in pieces: the whole of
        a long one is never in memory. Its ValueError is an UnavailableError here."""

        def streamed(sdk: Any) -> T:
            url = f"{sdk.base_url}/v{self._version}{path}"
            with sdk.get(url, params=asked, timeout=sdk.timeout, stream=True) as answer:
                if not answer.ok:
                    content_of(answer)
                return read(answer.iter_content(PIECE_BYTES))

        return self.call(streamed)

    def close(self) -> None:
        """Close the client; the next call connects, and asks for the version, again."""
        with self._lock:
            if self._sdk is not None:
                self._sdk.close()
            self._sdk = None

    def _connected(self) -> Any:
        with self._lock:
            if self._sdk is None:
                first = self._made(text_of(API_VERSION))
                self._version = spoken(first)
                same = self._version == text_of(API_VERSION)
                self._sdk = first if same else self._made(self._version)
            return self._sdk

    def _made(self, version: str) -> Any:
        return docker.APIClient(
            version=version, timeout=self._timeout_s, num_pools=POOLS, **self._arguments
        )


def content_of(answer: Any) -> bytes:
    """Return an answer's body; raises the SDK's error for a refusal."""
    if not answer.ok:
        errors.create_api_error_from_http_exception(requests.HTTPError(response=answer))
    return bytes(answer.content)


def spoken(sdk: Any) -> str:
    """Return the API version to use: ours, or the engine's minimum if that is newer."""
    try:
        answer = sdk.version(api_version=False)
    except errors.APIError:
        return text_of(API_VERSION)  # a proxy before the engine that does not pass on /version
    least = answer.get("MinAPIVersion") if isinstance(answer, dict) else None
    if not isinstance(least, str) or not re.fullmatch(r"\d+\.\d+", least):
        return text_of(API_VERSION)
    major, minor = least.split(".")
    return text_of(max(API_VERSION, (int(major), int(minor))))


def text_of(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"


def says_image_unknown(error: errors.APIError) -> bool:
    """Return True if the registry itself says that it does not have the image."""
    text = str(error.explanation or error).lower()
    return error.status_code == NOT_FOUND or any(words in text for words in IMAGE_UNKNOWN)


def translated(method: Callable[[], T]) -> T:
    """Return the call's result; raises the port's errors for the SDK's."""
    try:
        return method()
    except errors.APIError as error:
        text = str(error.explanation or error)
        raise meaning(error.status_code, text) from error
    except (errors.DockerException, requests.RequestException, OSError) as error:
        raise UnavailableError(f"Docker's engine does not answer: {root_cause(error)}") from error
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        what = f"{type(error).__name__}: {error}"
        raise UnavailableError(f"the answer is not from Docker's engine: {what}") from error


def meaning(status: int | None, text: str) -> ConflictError | RejectedError | UnavailableError:
    """Return the port's error for an engine's refusal; only a permanent one is rejected."""
    if IN_USE in text or VERSION_REFUSED.search(text) or status in MAYBE_LATER:
        return UnavailableError(text)
    if status in {CONFLICT, NOT_FOUND} or any(words in text for words in CONFLICT_WORDS):
        return ConflictError(text)
    if status == NOT_IMPLEMENTED or (status is not None and 400 <= status < 500):
        return RejectedError(text)
    return UnavailableError(text)


def root_cause(error: BaseException) -> str:
    """Return the innermost message: the SDK wraps a refused connection three times."""
    while error.__context__ is not None:
        error = error.__context__
    return str(error) or type(error).__name__
