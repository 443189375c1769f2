"""The last good desired state in the state directory: the real adapter behind ``LastGood``."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import structlog

log = structlog.get_logger()
FILE_NAME = "last-good.json"


class LastGoodFiles:
    """One JSON file, replaced as a whole; without a directory nothing is kept."""

    def __init__(self, directory: Path | None) -> None:
        self._path = directory / FILE_NAME if directory else None

    def load(self) -> Mapping[str, str]:
        if self._path is None:
            return {}
        try:
            found = json.loads(self._path.read_text())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            log.warning("last good state can't be read", file=str(self._path), error=str(error))
            return {}
        if not isinstance(found, dict) or not all(isinstance(it, str) for it in found.values()):
            log.warning("last good state has an unknown format", file=str(self._path))
            return {}
        return found

    def save(self, files: Mapping[str, str]) -> None:
        if self._path is None:
            return
        fresh = self._path.with_suffix(".new")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with fresh.open("w") as stream:
                stream.write(json.dumps(dict(files)))
                stream.flush()
                os.fsync(stream.fileno())
            fresh.replace(self._path)
        except OSError as error:
            log.warning("last good state can't be written", file=str(self._path), error=str(error))
