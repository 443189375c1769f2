"""A bare server for comparison: Starlette and a psycopg pool replay recorded statements.

No sessions, permissions, checks, documents, headers or log: only the statements that the
application runs for the same request, and their last row as JSON.
"""

import contextlib
import os
import pickle
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import uvicorn
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from notes.db.connect import dress

Script = list[tuple[str, Any]]
encode = msgspec.json.Encoder().encode


def build(url: str, scripts: dict[str, Script]) -> Starlette:
    """An application with one route, which replays the script named in its path."""
    pool: AsyncConnectionPool[Any] = AsyncConnectionPool(
        url, min_size=4, max_size=10, open=False, configure=dress, kwargs={"row_factory": dict_row}
    )

    async def replay(request: Request) -> Response:
        if request.method == "PUT":
            msgspec.json.decode(await request.body())
        row = None
        async with pool.connection() as conn:
            for statement, params in scripts[request.path_params["name"]]:
                cursor = await conn.execute(statement, params)
                if cursor.description:
                    row = await cursor.fetchone() or row
        return Response(encode(row), media_type="application/json")

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await pool.open(wait=True)
        yield
        await pool.close()

    route = Route("/{name}", replay, methods=["GET", "PUT"])
    return Starlette(routes=[route], lifespan=lifespan)


if __name__ == "__main__":
    recorded = pickle.loads(Path(os.environ["SCRIPTS"]).read_bytes())
    uvicorn.run(
        build(os.environ["DATABASE_URL"], recorded),
        port=int(os.environ["PORT"]),
        loop="uvloop",
        http="httptools",
        access_log=False,
        log_level="warning",
    )
