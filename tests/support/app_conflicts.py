"""Applications beside a cluster and beside each other, and the problems of their files."""

from queenright.core.kinds.load import load
from queenright.core.manifest.document import Loaded
from tests.support.documents import APP_OF_MAIN, BASE, edited_app

OTHER = (
    APP_OF_MAIN.replace("{name: notes}", "{name: wiki}")
    + "  publish: {port: 3001}\n  encryptionKey: {secret: wiki_encryption_key}\n"
)


def with_cluster(app: str, *, cluster: str = BASE, more: str = "") -> Loaded:
    files = {"cluster.yaml": cluster, "notes.yaml": app, "wiki.yaml": more}
    return load({name: text for name, text in files.items() if text})


def told(loaded: Loaded) -> list[str]:
    return [str(problem) for problem in loaded.problems]


def of_main(*edits: tuple[str, str], more: str = "") -> str:
    return edited_app(*edits, more=more, base=APP_OF_MAIN)
