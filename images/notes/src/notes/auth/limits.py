"""Counts attempts by client address, in the database so that every replica counts the same.

Invariant: an attempt is counted before it is looked at, in one statement.
"""

import hashlib
import ipaddress
from dataclasses import dataclass

from notes.db.pool import Database
from notes.http.problems import Problem


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `attempts` in each window of `window_s` seconds."""

    name: str
    attempts: int
    window_s: int


LOGIN = Limit("login", 50, 900)
"""Of an address; many people may share one, so it is wider than that of one account."""
ACCOUNT = Limit("account", 10, 900)
"""Of an address at one account, whether there is such an account or not."""
SETUP = Limit("setup", 20, 900)
SHARE_PASSWORD = Limit("share", 20, 900)
OIDC_START = Limit("oidc", 60, 900)


def bucket(limit: Limit, address: str, subject: str = "") -> str:
    """The bucket of an address; for IPv6 that of its /64, which one client owns whole."""
    try:
        parsed = ipaddress.ip_address(address)
        if parsed.version == 6 and parsed.ipv4_mapped is None:
            address = str(ipaddress.ip_network((parsed, 64), strict=False))
    except ValueError:
        address = "unknown"
    return f"{limit.name}:{address}:{subject}"


async def count(db: Database, limit: Limit, address: str, subject: str = "") -> None:
    """Counts one attempt. Raises a 429 when there were too many."""
    row = await db.one(
        "INSERT INTO rate_limits AS r (bucket, window_ends, hits)"
        " VALUES (%(b)s, now() + make_interval(secs => %(w)s), 1)"
        " ON CONFLICT (bucket) DO UPDATE SET"
        " hits = CASE WHEN r.window_ends <= now() THEN 1 ELSE r.hits + 1 END,"
        " window_ends = CASE WHEN r.window_ends <= now() THEN excluded.window_ends"
        " ELSE r.window_ends END"
        " RETURNING hits, ceil(extract(epoch FROM window_ends - now()))::integer AS wait_s",
        {"b": bucket(limit, address, subject), "w": limit.window_s},
    )
    if row is not None and row["hits"] > limit.attempts:
        wait_s = max(1, row["wait_s"])
        raise Problem(
            429,
            f"Too many attempts; try again in {wait_s} seconds.",
            headers={"retry-after": str(wait_s)},
        )


async def count_login(db: Database, address: str, email: str) -> None:
    """Counts one attempt at an account. Raises a 429 when there were too many."""
    await count(db, LOGIN, address)
    await count(db, ACCOUNT, address, account(email))


async def uncount_login(db: Database, address: str, email: str) -> None:
    """Takes back the one attempt that succeeded."""
    await uncount(db, LOGIN, address)
    await uncount(db, ACCOUNT, address, account(email))


def account(email: str) -> str:
    """What stands for an e-mail address in a bucket's name, whatever was sent as one."""
    return hashlib.sha256(email.lower().encode(errors="surrogatepass")).hexdigest()[:32]


async def uncount(db: Database, limit: Limit, address: str, subject: str = "") -> None:
    """Takes back the one attempt that succeeded. Those that failed stay counted.

    Else whoever has an account could guess at others for ever, signing in with it now and then.
    """
    await db.do(
        "UPDATE rate_limits SET hits = hits - 1 WHERE bucket = %s AND hits > 0",
        (bucket(limit, address, subject),),
    )
