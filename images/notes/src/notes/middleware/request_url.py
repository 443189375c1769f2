"""Determines the request's scheme, host and client address (spec: notes-app §2.1).

Decides from the headers that the settings trust, and from nothing else: `ORIGIN` never sets the
request URL, and a forwarded header that no setting names is not read.
"""

import ipaddress
import logging
from collections.abc import Sequence

from notes.config import Settings
from notes.log import say
from notes.middleware.hostname import normal_host

logger = logging.getLogger(__name__)

Headers = Sequence[tuple[bytes, bytes]]
FORWARDED_FOR = "x-forwarded-for"


def values(headers: Headers, name: str) -> list[str]:
    """All values of a header, in order."""
    wanted = name.encode()
    return [value.decode("latin-1").strip() for key, value in headers if key == wanted]


def scheme(settings: Settings, headers: Headers) -> str:
    """`http` or `https`; https if no header is configured or its value is invalid."""
    if settings.protocol_header is None:
        return "https"
    given = values(headers, settings.protocol_header)
    return "http" if given and given[-1].lower() == "http" else "https"


def host(settings: Settings, headers: Headers) -> str | None:
    """The normal host; None if there is none, or more than one."""
    given = values(headers, settings.host_header or "host")
    if len(given) != 1:
        return None
    try:
        text = given[0].encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return None
    return normal_host(text)


def address(settings: Settings, headers: Headers, peer: str) -> str:
    """The client's address: the socket's, or the one in the trusted header.

    In a forwarded-for list it is the entry `XFF_DEPTH` places from the right. A shorter list did
    not come through the trusted proxies, so the socket's address is used.
    """
    if settings.address_header is None:
        return peer
    given = values(headers, settings.address_header)
    if settings.address_header == FORWARDED_FOR:
        entries = [entry.strip() for entry in ",".join(given).split(",") if entry.strip()]
        if len(entries) < settings.xff_depth:
            say(
                logger,
                "fewer forwarded-for entries than XFF_DEPTH; using the socket's address",
                logging.WARNING,
                entries=len(entries),
                xff_depth=settings.xff_depth,
            )
            return peer
        return _sound(entries[-settings.xff_depth]) or peer
    return (_sound(given[-1]) if given else None) or peer


def _sound(text: str) -> str | None:
    bare = text
    if text.startswith("["):
        bare = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        bare = text.partition(":")[0]
    try:
        return str(ipaddress.ip_address(bare))
    except ValueError:
        return None
