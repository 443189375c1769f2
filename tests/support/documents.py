"""Manifests that tests start from, and how they load them."""

from queenright.core.manifest.document import Document, Loaded
from tests.fakes.loading import judged

BASE = """\
apiVersion: queenright/v1alpha1
kind: PostgresCluster
metadata: {name: main}
spec:
  image: registry:5000/queenright-member:16
  lanSubnet: 10.77.0.0/24
  members:
    - {name: member-1, node: node2}
    - {name: member-2, node: node3}
    - {name: member-3, node: node4}
  proxies:
    image: registry:5000/queenright-proxy:3.0-alpine
"""


def edited(*edits: tuple[str, str], more: str = "") -> str:
    """The base with each `(old, new)` applied once, and lines added under `spec`."""
    text = BASE
    for old, new in edits:
        assert old in text, f"the base has no {old!r}"
        text = text.replace(old, new, 1)
    return text + "".join(f"  {line}\n" for line in more.splitlines())


def loaded(text: str, file: str = "cluster.yaml") -> Loaded:
    return judged({file: text})


def lines(text: str) -> list[str]:
    """Every problem of a text, as a person sees it."""
    return [str(problem) for problem in loaded(text).problems]


def document(text: str = BASE) -> Document:
    """The one document of a text that has to be valid."""
    result = loaded(text)
    assert not result.errors, result.errors
    (only,) = result.documents
    return only


APP = """\
apiVersion: queenright/v1alpha1
kind: NotesApp
metadata: {name: notes}
spec:
  image: registry:5000/queenright-notes:1.0.100
  origin: https://notes.example.org
  database: {urlSecret: app_database_url}
  upgrade: {dump: none}
"""
"""An application that needs no other document."""

APP_OF_MAIN = APP.replace("{urlSecret: app_database_url}", "{cluster: main}")
"""An application whose database is in the cluster of `BASE`."""


def edited_app(*edits: tuple[str, str], more: str = "", base: str = APP) -> str:
    """The application with each `(old, new)` applied once, and lines added under `spec`."""
    text = base
    for old, new in edits:
        assert old in text, f"the application has no {old!r}"
        text = text.replace(old, new, 1)
    return text + "".join(f"  {line}\n" for line in more.splitlines())
