"""Operations on documents, each run as a task of a worker."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from notes.doc.diff import Piece
from notes.doc.excerpt import Fragment
from notes.http.problems import Problem
from notes.workers.kept import Kept
from notes.workers.pool import RefusedError, Workers
from notes.workers.tasks import Foreign, Prepared

KEPT_BYTES = 4 * 1024 * 1024  # of HTML, for views of pages that have not changed


class Documents:
    """Runs document tasks for an account; no account waits for another account's tasks."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._kept = Kept(KEPT_BYTES, KEPT_BYTES // 16)

    async def _run(self, account: str, name: str, **more: Any) -> Any:
        try:
            return await self._workers.run(account, name, **more)
        except RefusedError as error:
            raise Problem(422, str(error), field=error.path) from None

    async def prepare(
        self,
        account: str,
        title: str,
        doc: bytes | None,
        markdown: str | None,
        *,
        patient: bool = False,
    ) -> Prepared:
        """Prepares a document for storing. Raises a 422 that names the place of an error."""
        found: Prepared = await self._run(
            account, "prepare", title=title, doc=doc, text=markdown, patient=patient
        )
        return found

    async def read_markdown(self, account: str, text: str, *, patient: bool = False) -> bytes:
        """Reads a Markdown text into a document. Raises a 422."""
        found: bytes = await self._run(account, "read_markdown", text=text, patient=patient)
        return found

    async def read_foreign(
        self, account: str, form: str, kind: str, title: str, data: bytes
    ) -> Foreign:
        """Reads a page of another program's zip. Raises a 422."""
        found: Foreign = await self._run(
            account,
            "read_foreign",
            form=form,
            kind=kind,
            title=title,
            data=data,
            patient=True,
        )
        return found

    async def html(self, account: str, doc: bytes, **options: Any) -> str:
        """A stored document as HTML."""
        if options or len(doc) > KEPT_BYTES // 16:
            return await self._html(account, doc, options)
        # The key is the content, not the version: after a failover a version may be used again.
        key = hashlib.blake2b(doc, digest_size=20).digest()
        kept = self._kept.get(key)
        if kept is None:
            kept = await self._html(account, doc, options)
            self._kept.put(key, kept)
        return kept

    async def _html(self, account: str, doc: bytes, options: dict[str, Any]) -> str:
        found: str = await self._run(account, "page_html", doc=doc, options=options)
        return found

    async def markdown(
        self,
        account: str,
        doc: bytes,
        addresses: Mapping[str, str] | None = None,
        *,
        patient: bool = False,
    ) -> str:
        """A stored document as Markdown, with `addresses` replaced."""
        found: str = await self._run(
            account, "page_markdown", doc=doc, addresses=dict(addresses or {}), patient=patient
        )
        return found

    async def list_addresses(self, account: str, doc: bytes, *, patient: bool = False) -> list[str]:
        """Every address in a document."""
        found: list[str] = await self._run(account, "list_addresses", doc=doc, patient=patient)
        return found

    async def replace(
        self, account: str, doc: bytes, addresses: Mapping[str, str], *, patient: bool = False
    ) -> bytes:
        """A document with `addresses` replaced."""
        found: bytes = await self._run(
            account, "replace", doc=doc, addresses=dict(addresses), patient=patient
        )
        return found

    async def replay(self, account: str, doc: bytes, edits: Sequence[bytes]) -> bytes:
        """A stored document after edits, each a list of steps."""
        found: bytes = await self._run(account, "replay", doc=doc, edits=list(edits))
        return found

    async def compare(self, account: str, old: bytes, new: bytes) -> list[Piece]:
        """Compares two stored documents."""
        found: list[Piece] = await self._run(account, "compare", old=old, new=new)
        return found

    async def compare_exact(self, account: str, old: bytes, new: bytes) -> list[Piece]:
        """Compares two documents as editors hold them."""
        found: list[Piece] = await self._run(account, "compare_exact", old=old, new=new)
        return found

    async def excerpts(
        self, account: str, rows: Sequence[tuple[str, str]], marked: list[str]
    ) -> list[list[list[Fragment]]]:
        """The parts of each title and text around their hits."""
        found: list[list[list[Fragment]]] = await self._run(
            account, "excerpts", rows=list(rows), marked=marked
        )
        return found

    async def split_body(self, account: str, body: bytes) -> tuple[bytes, bytes]:
        """Splits a request's JSON into the field `doc` and the rest. Raises a 400."""
        try:
            found: tuple[bytes, bytes] = await self._workers.run(account, "split_body", body=body)
        except RefusedError as error:
            raise Problem(400, f"The body is not JSON: {error.message}", field="body") from None
        return found

    async def split_steps(self, account: str, body: bytes) -> tuple[bytes, bytes]:
        """Splits the JSON of an edit into the rest and its steps. Raises a 422 for bad steps."""
        found: tuple[bytes, bytes] = await self._run(account, "split_steps", body=body)
        return found

    async def read_form(self, account: str, body: bytes) -> dict[str, str]:
        """The fields of a form. Raises a 400 for a damaged one."""
        try:
            found: dict[str, str] = await self._workers.run(account, "read_form", body=body)
        except RefusedError as error:
            if error.path == "form":
                raise Problem(400, "The form is damaged.") from None
            raise Problem(422, str(error), field=error.path) from None
        return found
