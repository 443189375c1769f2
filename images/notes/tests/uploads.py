"""Uploads for tests: in chunks, and by a form."""

from typing import Any

from notes.files.chunks import CHUNK_BYTES
from tests.replica import Client


def opened(client: Client, home: str, data: bytes, **more: Any) -> dict[str, Any]:
    body = {"name": "big.bin", "size": len(data), **more}
    upload: dict[str, Any] = client.ok("POST", f"/api/v1/nodes/{home}/uploads", body, 201)
    return upload


def send(client: Client, home: str, upload: str, number: int, data: bytes, **headers: str) -> Any:
    return client.post(
        f"/api/v1/nodes/{home}/uploads",
        content=data,
        headers={
            "content-type": "application/octet-stream",
            "upload-id": upload,
            "upload-chunk": str(number),
            **headers,
        },
    )


def pieces(data: bytes) -> list[tuple[int, bytes]]:
    starts = range(0, len(data), CHUNK_BYTES)
    return [(n, data[at : at + CHUNK_BYTES]) for n, at in enumerate(starts)]


def attach(client: Client, home: str, name: str, data: bytes, kind: str) -> dict[str, Any]:
    answer = client.post(f"/api/v1/nodes/{home}/uploads", files={"file": (name, data, kind)})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made
