"""Texts of a simulated owner of the application: its file, and the claims in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from queenright.core.kinds.notes_app.schema.app import NotesApp
from queenright.core.kinds.postgres_cluster.databases.login_roles import login_role
from tests.support.app_builders import APP_DIGESTS, APP_IMAGE, NEXT_IMAGE, app_manifest, documents

REPOSITORY = "10.77.0.1:5000/queenright-notes"
DEAF_IMAGE = f"{REPOSITORY}:1.0.102"
CRASHING_IMAGE = f"{REPOSITORY}:1.0.103"
BAD_IMAGES = frozenset({DEAF_IMAGE, CRASHING_IMAGE})
"""Images: of the one no replica is ever healthy; those of the other end by themselves."""
IMAGES = {
    **APP_DIGESTS,
    DEAF_IMAGE: f"sha256:{'e' * 64}",
    CRASHING_IMAGE: f"sha256:{'f' * 64}",
}
OTHER_PASSWORD = "notes_db_password_2"  # a secret's name
REQUIRED, ATTEMPTED, NONE = (
    "{dump: {mode: required, timeout: 60s}}",
    "{dump: {mode: attempted, timeout: 60s}}",
    "{dump: none}",
)


@dataclass(frozen=True)
class Wish:
    """A text of the file, and what it asks for."""

    text: str
    image: str
    mode: str
    login: str

    @property
    def is_bad(self) -> bool:
        return self.image in BAD_IMAGES


@cache
def wish(text: str) -> Wish:
    app = documents(text)[-1].resource
    assert isinstance(app, NotesApp)
    spec = app.spec
    login = login_role(spec.database.role, spec.database.password_secret)
    return Wish(text, spec.image, spec.upgrade.dump.mode, login)


def text_of(
    image: str = APP_IMAGE, upgrade: str = REQUIRED, password: str = "", **spec: object
) -> str:
    text = app_manifest(upgrade=upgrade, **spec).replace(APP_IMAGE, image)
    named = f"{{cluster: main, passwordSecret: {password}}}"
    return text.replace("{cluster: main}", named) if password else text


LASTING = tuple(
    wish(text)
    for text in (
        text_of(),
        text_of(replicas=3),
        text_of(maxAttachment="512M"),
        text_of(publish="host"),
        text_of(encryptionKey="{backedUp: true}"),
        text_of(NEXT_IMAGE),
        text_of(NEXT_IMAGE, ATTEMPTED),
        text_of(NEXT_IMAGE, NONE),
        text_of(APP_IMAGE, ATTEMPTED),
        text_of(password=OTHER_PASSWORD),
        text_of(NEXT_IMAGE, password=OTHER_PASSWORD),
        text_of(NEXT_IMAGE, replicas=3),
    )
)
"""Files that may stay for good; a history begins with the first."""
BAD = tuple(
    wish(text)
    for text in (
        text_of(DEAF_IMAGE),
        text_of(CRASHING_IMAGE),
        text_of(CRASHING_IMAGE, NONE, replicas=3),
        text_of(DEAF_IMAGE, ATTEMPTED, password=OTHER_PASSWORD),
        text_of(CRASHING_IMAGE, password=OTHER_PASSWORD),
    )
)
"""Versions that do not run."""
