"""A stand-in for a replica of the notes application, as the edge sees one.

    python stub_replica.py ADDRESS PORT

Ready from its start; SIGUSR1 makes it unready, and ready again. SIGTERM drains as the contract has
it (spec: notes-app §3): it stops accepting, finishes what is in flight, and exits with 0.
"""

import asyncio
import contextlib
import json
import signal
import sys
from urllib.parse import parse_qs, urlsplit

ALLOWED = {"notes.example.org", "team.example.org"}
DRAIN_S = 5.0


class Replica:
    """Answers on one address."""

    def __init__(self, address: str, port: int) -> None:
        self.address, self.port = address, port
        self.ready = True
        self.busy = 0
        self.stopping = asyncio.Event()
        self.connections: dict[asyncio.StreamWriter, bool] = {}

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGUSR1, self.toggle)
        loop.add_signal_handler(signal.SIGTERM, self.stopping.set)
        server = await asyncio.start_server(self.connection, self.address, self.port, backlog=2048)
        await self.stopping.wait()
        server.close()
        for writer, is_busy in list(self.connections.items()):
            if not is_busy:
                writer.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_S):
                while any(self.connections.values()):  # noqa: ASYNC110 (it lives for tests only)
                    await asyncio.sleep(0.01)

    def toggle(self) -> None:
        self.ready = not self.ready

    async def connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections[writer] = False
        try:
            while (head := await reader.readuntil(b"\r\n\r\n")) and not self.stopping.is_set():
                self.connections[writer] = True
                keep = await self.request(head.decode(), reader, writer)
                self.connections[writer] = False
                if not keep or self.stopping.is_set():
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            del self.connections[writer]
            writer.close()

    async def request(
        self, head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        first, *lines = head.strip().split("\r\n")
        method, target, version = first.split(" ")
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines)
        }
        received = await body_size(headers, reader)
        url = urlsplit(target)
        query = parse_qs(url.query)
        status, body = 200, self.address
        match url.path:
            case "/readyz":
                status = 200 if self.ready else 503
            case "/internal/tls-ask":
                domain = query.get("domain", [""])[0]
                status = 200 if domain in ALLOWED or domain.endswith(".ok") else 404
            case "/slow":
                await asyncio.sleep(float(query["s"][0]))
            case "/api/v1/events":
                await self.events(writer)
                return False
            case "/echo":
                about = {"method": method, "target": target, "headers": headers}
                body = json.dumps({"from": self.address, "received": received, **about})
            case _:
                status = 200 if self.ready else 503
        keep = version == "HTTP/1.1" and headers.get("connection", "").lower() != "close"
        writer.write(
            f"HTTP/1.1 {status} -\r\nContent-Length: {len(body)}\r\n"
            f"Connection: {'keep-alive' if keep else 'close'}\r\n\r\n".encode()
            + (b"" if method == "HEAD" else body.encode())
        )
        await writer.drain()
        return keep

    async def events(self, writer: asyncio.StreamWriter) -> None:
        writer.write(
            b"HTTP/1.1 200 -\r\nContent-Type: text/event-stream\r\n"
            b"Cache-Control: no-cache\r\nConnection: close\r\n\r\n"
        )
        count = 0
        while not writer.is_closing() and not self.stopping.is_set():
            count += 1
            writer.write(f"id: {count}\ndata: {self.address}\n\n".encode())
            await writer.drain()
            await asyncio.sleep(0.1)


async def body_size(headers: dict[str, str], reader: asyncio.StreamReader) -> int:
    """Reads a request's body to its end; its bytes."""
    if headers.get("transfer-encoding", "").lower() == "chunked":
        total = 0
        while size := int((await reader.readline()).split(b";")[0], 16):
            await reader.readexactly(size + 2)
            total += size
        await reader.readline()
        return total
    left = total = int(headers.get("content-length", "0"))
    while left:
        piece = await reader.read(min(left, 65536))
        if not piece:
            raise ConnectionError("the body ended early")
        left -= len(piece)
    return total


if __name__ == "__main__":
    asyncio.run(Replica(sys.argv[1], int(sys.argv[2])).run())
