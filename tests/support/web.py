"""HTTP requests of the tests, all with one TLS context.

``httpx.get`` and its like read the machine's certificates anew for each call, which takes 30 ms of
processor time: a test that waits by asking would leave the members it waits for no time to work.
"""

from __future__ import annotations

import ssl
from typing import Any

import httpx

_CONTEXT = ssl.create_default_context()


def request(method: str, url: str, **options: Any) -> httpx.Response:
    """The answer to one request on a connection of its own; httpx.HTTPError where there is none."""
    return httpx.request(method, url, verify=_CONTEXT, trust_env=False, **options)


def get(url: str, **options: Any) -> httpx.Response:
    return request("GET", url, **options)


def post(url: str, **options: Any) -> httpx.Response:
    return request("POST", url, **options)


def patch(url: str, **options: Any) -> httpx.Response:
    return request("PATCH", url, **options)
