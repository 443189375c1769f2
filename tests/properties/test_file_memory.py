"""Files are loaded with a memory as without one, whatever was loaded before."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from queenright.core.kinds.load import load
from queenright.core.manifest.document import Document
from queenright.engine.file_memory import FileMemory
from tests.support.examples import EXAMPLES
from tests.support.many_clusters import app_text, cluster_text

TEXTS = (
    cluster_text(0),
    cluster_text(0, stopGracePeriod="90s"),
    cluster_text(1),
    cluster_text(1, network="{name: c0000_db}"),
    app_text(0),
    cluster_text(0) + "---\n" + app_text(0),
    "[]\n",
    "",
    "spec: [",
)
FILES = ("/a.yaml", "/b.yaml", "/c.yaml")
STATES = st.dictionaries(st.sampled_from(FILES), st.sampled_from(TEXTS))


@settings(max_examples=EXAMPLES, deadline=None, derandomize=EXAMPLES <= 80)
@given(st.lists(STATES, min_size=2, max_size=6))
def test_a_memory_changes_nothing(states: list[dict[str, str]]) -> None:
    memory = FileMemory()
    known: dict[tuple[str, str, str, str], Document] = {}
    for files in states:
        found = memory.load(files)
        assert found == load(files)
        by_text = {
            (d.origin.file, files[d.origin.file], d.kind, d.name): d for d in found.documents
        }
        for text, document in by_text.items():
            assert known.get(text, document) is document, "an unchanged file is not read anew"
        known = by_text
