"""Rate limits by client address and by account, counted in the database for all replicas.

Invariant: an attempt is counted, in one statement, before its password is checked.
"""

import hashlib
from dataclasses import dataclass

from notes.db.pool import Database
from notes.http.problems import Problem
from notes.http.viewer import network


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `attempts` in each window of `window_s` seconds."""

    name: str
    attempts: int
    window_s: int


LOGIN = Limit("login", 50, 900)
"""Per address; many people may share one, so it allows more than the limit per account."""
ACCOUNT = Limit("account", 10, 900)
"""Per address and account, whether the account exists or not."""
EVERYWHERE = Limit("everywhere", 50, 900)
"""Per account, for all addresses from which nobody is signed in to it."""
BROWSER = Limit("browser", 10, 900)
"""Per browser that has signed in to the account before; replaces the two limits above."""
PRESENT = Limit("present", 10, 900)
"""Per session, or for all tokens of a user: attempts to enter the current password."""
SETUP = Limit("setup", 20, 900)
SHARE_PASSWORD = Limit("share", 20, 900)
SHARE_EVERYWHERE = Limit("share everywhere", 100, 900)
"""Per share link, for all addresses: only holders of the link can use it up."""
INVITATION = Limit("invitation", 20, 900)
"""Per address, as often as a share link's password: secrets that open no invitation."""
OIDC_START = Limit("oidc", 60, 900)


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt to sign in: its account, its address, and its browser if that is known.

    `browser` identifies a browser that has signed in to the account before. `is_near` is true if a
    session of the account exists from the same address. Such attempts do not count in EVERYWHERE,
    so guessing from many addresses locks out only clients that the account does not know.
    """

    email: str
    address: str
    browser: str | None = None
    is_near: bool = False

    @property
    def places(self) -> list[tuple[Limit, str, str]]:
        """The limits that the attempt counts against, each with its address and subject."""
        name = account(self.email)
        if self.browser is not None:
            return [(LOGIN, self.address, ""), (BROWSER, "", f"{self.browser}:{name}")]
        places = [(LOGIN, self.address, ""), (ACCOUNT, self.address, name)]
        return places if self.is_near else [*places, (EVERYWHERE, "", name)]


def bucket(limit: Limit, address: str, subject: str = "") -> str:
    """The bucket of an address (IPv6: its /64) and a subject; the address may be empty."""
    return f"{limit.name}:{network(address) if address else ''}:{subject}"


async def count(db: Database, limit: Limit, address: str, subject: str = "") -> None:
    """Counts one attempt. Raises a 429 if there were too many."""
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


async def count_login(db: Database, attempt: Attempt) -> None:
    """Counts one attempt to sign in to an account. Raises a 429 if there were too many."""
    for place in attempt.places:
        await count(db, *place)


async def uncount_login(db: Database, attempt: Attempt) -> None:
    """Removes the successful attempt from the counts."""
    for place in attempt.places:
        await uncount(db, *place)


def account(email: str) -> str:
    """The hash of an e-mail address, for a bucket's name; any text is accepted."""
    return hashlib.sha256(email.lower().encode(errors="surrogatepass")).hexdigest()[:32]


async def uncount(db: Database, limit: Limit, address: str, subject: str = "") -> None:
    """Removes the successful attempt from the count; failed attempts stay counted.

    If success reset the count, a user could guess passwords of other accounts without limit by
    signing in to their own account now and then.
    """
    await db.do(
        "UPDATE rate_limits SET hits = hits - 1 WHERE bucket = %s AND hits > 0",
        (bucket(limit, address, subject),),
    )
