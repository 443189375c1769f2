"""Ends event streams whose user has lost access: signed out, disabled, revoked, or left a space.

The database notifies `app_access` of users and spaces whose access may have changed; the streams
concerned are then checked together. Invariant: only the tables decide; a notification only triggers
the check, and after a reconnect all streams are checked.
"""

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from uuid import UUID

import psycopg

from notes.db.failures import UnavailableError
from notes.db.listener import Listener
from notes.db.pool import Database
from notes.log import say

logger = logging.getLogger(__name__)

POLL_S = 60.0
SETTLE_S = 0.1
BY_CLOCK = "t"
PEOPLE = 20  # users whose spaces are read in one statement


@dataclass(eq=False, slots=True)
class Watched:
    """One open stream: its user, its session or token, and the spaces that it could see.

    `has_lost` is true if it ends because one of these is lost.
    """

    person: UUID
    session: bytes | None
    token: bytes | None
    spaces: frozenset[UUID] | None = None
    has_lost: bool = False
    over: asyncio.Event = field(default_factory=asyncio.Event)


class StreamAccess:
    """Checks the access of this replica's open streams."""

    def __init__(self, db: Database, listener: Listener) -> None:
        self._db = db
        self._open = set[Watched]()
        self._asked = set[str]()
        self._woken = asyncio.Event()
        listener.hear("app_access", self._heard)

    def _heard(self, said: str) -> None:
        if self._open:
            self._asked.add(said)
            self._woken.set()

    def watch(self, person: UUID, session: bytes | None, token: bytes | None) -> Watched:
        """Begins to watch a stream that a person opens; `session` and `token` are digests."""
        one = Watched(person, session, token)
        self._open.add(one)
        # The session may have ended since the request was authenticated.
        self._heard(f"u{one.person}")
        return one

    def unwatch(self, one: Watched) -> None:
        self._open.discard(one)

    async def run(self) -> None:
        """Checks streams at notifications, and every minute for expired sessions; never returns."""
        while True:
            try:
                async with asyncio.timeout(POLL_S):
                    await self._woken.wait()
            except TimeoutError:
                self._asked.add(BY_CLOCK)
            self._woken.clear()
            asked, self._asked = self._asked, set()
            try:
                await self.look(asked)
            except (psycopg.Error, UnavailableError) as error:
                # An unreachable database has ended no session: check again when it is back.
                say(logger, "open streams not checked", logging.WARNING, reason=str(error))
                self._asked |= asked
                self._woken.set()
                await asyncio.sleep(1)
                continue
            # Wait a little, so that one check handles a burst of notifications.
            await asyncio.sleep(SETTLE_S)

    async def look(self, asked: Iterable[str]) -> None:
        """Checks the streams that `asked` concerns and ends those without access."""
        asked = set(asked)
        everyone = any(name != BY_CLOCK and name[:1] not in {"u", "s"} for name in asked)
        people = {name[1:] for name in asked if name[:1] == "u"}
        spaces = {UUID(name[1:]) for name in asked if name[:1] == "s"}
        whole = [w for w in self._open if everyone or str(w.person) in people]
        await self._end_signed_out(list(self._open) if BY_CLOCK in asked else whole)
        await self._end_shut_out(whole, None)
        if spaces:
            await self._end_shut_out([w for w in self._open if w not in whole], spaces)

    async def _end_signed_out(self, streams: list[Watched]) -> None:
        if not streams:
            return
        rows = await self._db.all(
            "SELECT s.token_hash AS hash FROM sessions s JOIN users u ON u.id = s.user_id"
            " WHERE s.token_hash = ANY(%s) AND s.expires_at > now() AND u.disabled_at IS NULL"
            " UNION ALL SELECT t.secret_hash FROM api_tokens t JOIN users u ON u.id = t.user_id"
            " WHERE t.secret_hash = ANY(%s) AND 'read' = ANY (t.scopes)"
            " AND coalesce(t.expires_at > now(), true) AND u.disabled_at IS NULL",
            (
                [w.session for w in streams if w.session is not None],
                [w.token for w in streams if w.token is not None],
            ),
        )
        held = {bytes(row["hash"]) for row in rows}
        for one in streams:
            if (one.session or one.token) not in held:
                one.over.set()

    async def _end_shut_out(self, streams: list[Watched], spaces: set[UUID] | None) -> None:
        """Ends the streams of users who lost a space, so that their clients drop its data."""
        lost = dict[UUID, list[Watched]]()
        by_person = dict[UUID, list[Watched]]()
        for one in streams:
            by_person.setdefault(one.person, []).append(one)
        people = list(by_person)
        for at in range(0, len(people), PEOPLE):
            seen = await self._visible(people[at : at + PEOPLE], spaces)
            for one in (w for person in people[at : at + PEOPLE] for w in by_person[person]):
                before, now = one.spaces, seen.get(one.person, frozenset())
                if spaces is not None:
                    now |= (before or frozenset()) - spaces
                one.spaces = now
                for space in (before or frozenset()) - now:
                    lost.setdefault(space, []).append(one)
        # The deletion of a space has its own event.
        for row in await self._db.all("SELECT id FROM spaces WHERE id = ANY(%s)", (list(lost),)):
            for one in lost[row["id"]]:
                one.has_lost = True
                one.over.set()

    async def _visible(
        self, people: list[UUID], spaces: set[UUID] | None
    ) -> dict[UUID, frozenset[UUID]]:
        """The spaces that each of `people` may see; only those in `spaces` if given."""
        rows = await self._db.all(
            "SELECT u.id, ARRAY(SELECT s.id FROM spaces s WHERE (%(spaces)s::uuid[] IS NULL"
            " OR s.id = ANY (%(spaces)s)) AND space_role(s.id, u.id, ARRAY(SELECT group_id"
            " FROM group_members g WHERE g.user_id = u.id), u.is_admin) > 0) AS spaces"
            " FROM users u WHERE u.id = ANY(%(people)s) AND u.disabled_at IS NULL",
            {"people": people, "spaces": None if spaces is None else list(spaces)},
        )
        return {row["id"]: frozenset(row["spaces"]) for row in rows}
