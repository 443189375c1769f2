"""Runs the application and records every statement that it sends, with its parameters.

The bare handler replays these statements, so that both sides of a comparison run the same SQL by
construction.
"""

import os
import pickle
import sys
from pathlib import Path
from typing import Any

import psycopg

from notes.main import main

_execute = psycopg.AsyncCursor.execute


async def record(cursor: Any, query: Any, params: Any = None, **more: Any) -> Any:
    """Appends (statement, parameters) to the file named by RECORD_TO, and runs the statement."""
    text = query.decode() if isinstance(query, bytes) else query
    with Path(os.environ["RECORD_TO"]).open("ab") as file:
        pickle.dump((text, params), file)
    return await _execute(cursor, query, params, **more)


if __name__ == "__main__":
    psycopg.AsyncCursor.execute = record  # type: ignore[method-assign]
    sys.argv[1:] = []
    main()
