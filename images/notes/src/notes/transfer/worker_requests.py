"""Reads and prepares a page of an import in a worker process.

Invariant: no foreign text is parsed in the replica's own process.
"""

import msgspec

from notes.doc.attributes import Json
from notes.http.problems import Problem
from notes.jobs.job import Job
from notes.pages import content
from notes.pages.content import Content
from notes.transfer.page_reader import PageRead, Source, UnreadablePageError


async def read(job: Job, source: Source) -> PageRead:
    """Reads a page of a job's zip in a worker. Raises `UnreadablePageError`."""
    try:
        found = await job.app.documents.read_foreign(
            job.account, source.form, source.kind, source.title, source.data
        )
    except Problem as problem:
        raise UnreadablePageError(str(problem)) from None
    doc: Json = msgspec.json.decode(found.doc)
    return PageRead(doc, found.title, found.notes, found.pictures, found.is_cut)


async def prepare(job: Job, title: str, doc: Json | None) -> Content:
    """Prepares a document for storing. Raises `UnreadablePageError`."""
    given = msgspec.json.encode(doc) if doc is not None else None
    try:
        return await content.prepare(
            job.app.documents, job.account, title, given, None, patient=True
        )
    except Problem as problem:
        raise UnreadablePageError(str(problem)) from None
