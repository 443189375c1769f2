"""Normalises host names, so that two spellings of a host are equal.

The normal form is lower case, without trailing dot or default port, and in ASCII (IDNA).
"""

import functools
import ipaddress
import re

_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_DEFAULT_PORTS = {"80", "443"}
_LONGEST = 300  # a name has at most 253 characters; nothing longer is remembered


@functools.lru_cache(maxsize=256)
def normal_host(text: str) -> str | None:
    """The normal form of `host` or `host:port`; None if it is no host."""
    host, port = _split(text.strip()) if len(text) <= _LONGEST else (None, None)
    if host is None or (port is not None and not _is_port(port)):
        return None
    named = _address(host) if host.startswith("[") else _name(host)
    if named is None:
        return None
    return named if port is None or port in _DEFAULT_PORTS else f"{named}:{int(port)}"


def without_port(host: str) -> str:
    """A normal host without its port."""
    return _split(host)[0] or host


def is_domain(host: str) -> bool:
    """True if a certificate can be issued for a normal host."""
    if ":" in host or "." not in host:
        return False
    return not host.rsplit(".", 1)[1].isdigit()


def _split(text: str) -> tuple[str | None, str | None]:
    match = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:/?#@\\\s]+)(?::(\d*))?", text)
    return (None, None) if match is None else (match[1], match[2] or None)


def _is_port(port: str) -> bool:
    return len(port) <= 5 and port.isascii() and 0 < int(port) < 65_536


def _address(text: str) -> str | None:
    try:
        return f"[{ipaddress.IPv6Address(text[1:-1])}]"
    except ValueError:
        return None


def _name(text: str) -> str | None:
    name = text.removesuffix(".").lower()
    if not name.isascii():
        import idna  # its tables need much memory, and few names need them

        try:
            name = idna.encode(name, uts46=True).decode("ascii")
        except idna.IDNAError:
            return None
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in name.split(".")):
        return None
    return name
