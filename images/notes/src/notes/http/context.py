"""The request as a handler gets it, and the parts of the replica that a handler may use.

Handlers depend on the protocol `App`, never on `notes.services`, which builds the parts: what the
replica starts, stops and listens to is out of their reach.
"""

from dataclasses import dataclass
from typing import Protocol

from starlette.requests import Request

from notes.auth.encryption import Vault
from notes.auth.oidc import SignOn
from notes.auth.passwords import Passwords
from notes.config import Settings
from notes.db.pool import Database
from notes.edits.pending import Pending
from notes.events.hub import Hub
from notes.events.stream_access import StreamAccess
from notes.http.viewer import Seen, Viewer, network
from notes.presence.meeting import Meeting
from notes.words.spoken import Spoken, of_messages
from notes.workers.documents import Documents


class App(Protocol):
    """The parts of a replica that a handler may use."""

    settings: Settings
    db: Database
    documents: Documents
    edits: Pending
    hub: Hub
    stream_access: StreamAccess
    meeting: Meeting
    passwords: Passwords
    vault: Vault
    sign_on: SignOn


@dataclass(frozen=True, slots=True)
class Call:
    """One request and its context, as a handler gets it."""

    request: Request
    seen: Seen
    viewer: Viewer
    app: App

    @property
    def account(self) -> str:
        """The account that this request's work is charged to: a user, or a client network."""
        who = self.viewer.user_id
        return str(who) if who is not None else f"address:{network(self.seen.address)}"

    @property
    def spoken(self) -> Spoken:
        """The words for what the application says in an answer of the API."""
        return of_messages(self.request.headers)
