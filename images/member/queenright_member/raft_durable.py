"""Makes pysyncobj's Raft journal durable: what a node answers for is on its disk before it answers.

pysyncobj writes its journal through a mapping, and term, vote and dump to files, and syncs none of
them. After a power cut of all nodes at once, entries that a majority had committed are then gone on
some nodes and kept on others. New entries take their numbers, and a node that has applied the old
ones keeps what they said: two members each proved the leader lock for minutes (seen on the lab).
Raft needs each entry, term and vote to last before it counts.

Invariant: a journal's header never counts a record that is not on the disk, and no entry leaves the
journal before the dump that has it is on the disk.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pysyncobj import journal as unsynced

from .raft_aside import sync_directory, write_whole


class DurableMeta(unsynced.MetaStorer):  # type: ignore[misc]  # untyped library
    """Term, vote and commit index."""

    def storeMeta(self, meta: Mapping[str, Any]) -> None:  # noqa: N802 - of the library
        write_whole(Path(self.getPath()), unsynced.dumps(meta))


class DurableJournal(unsynced.FileJournal):  # type: ignore[misc]  # untyped library
    """The journal in a file."""

    def __init__(self, journalFile: str) -> None:  # noqa: N803 - of the library
        path = Path(journalFile)
        is_new = not path.exists()
        self._dump = path.with_suffix(".dump")
        super().__init__(journalFile)
        if is_new:
            self.flush()
            sync_directory(path.parent)

    def _FileJournal__setLastRecordOffset(self, offset: int) -> None:  # noqa: N802 - the library's
        """Write the header, which counts the records before ``offset``, after these."""
        self.flush()
        super()._FileJournal__setLastRecordOffset(offset)
        self.flush()

    def clear(self) -> None:
        """Empty the journal, for the entries that a dump has or that another node has replaced."""
        with suppress(FileNotFoundError), self._dump.open("rb") as dump:
            os.fsync(dump.fileno())
        sync_directory(self._dump.parent)
        super().clear()


def make_durable() -> None:
    """Let all journals of this process be durable ones."""
    unsynced.FileJournal = DurableJournal
    unsynced.MetaStorer = DurableMeta
