"""Writes WAL positions as PostgreSQL does. Pure."""


def written(location: int) -> str:
    """Return a position in bytes as PostgreSQL writes it: 0/3000148."""
    return f"{location >> 32:X}/{location & 0xFFFFFFFF:X}"
