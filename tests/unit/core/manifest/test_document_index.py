"""Documents are found by a key as a walk finds them, whichever documents there are by then."""

from __future__ import annotations

from collections.abc import Hashable

from queenright.core.kinds.load import load
from queenright.core.manifest.document import Document
from queenright.core.manifest.document_index import found_by
from tests.support.many_clusters import texts_of

DOCUMENTS = load(texts_of(21)).documents


def name_of(document: Document) -> Hashable:
    return document.name


def kind_of(document: Document) -> Hashable:
    return document.kind


def test_what_is_found_is_what_a_walk_finds() -> None:
    for key in (name_of, kind_of):
        for wanted in {key(one) for one in DOCUMENTS}:
            walk = tuple(one for one in DOCUMENTS if key(one) == wanted)
            assert found_by(key, wanted, DOCUMENTS) == walk
        assert found_by(key, "nothing", DOCUMENTS) == ()


def test_documents_that_are_gone_are_not_found() -> None:
    gone, *left = DOCUMENTS
    assert found_by(name_of, gone.name, DOCUMENTS) == (gone,)
    assert found_by(name_of, gone.name, tuple(left)) == ()


def test_a_list_that_has_changed_since_is_read_again() -> None:
    documents = list(DOCUMENTS)
    gone = documents[0]
    assert found_by(name_of, gone.name, documents) == (gone,)
    del documents[0]
    assert found_by(name_of, gone.name, documents) == ()
