"""Keeps results that were used lately, up to a number of bytes."""

from collections import OrderedDict


class Kept:
    """Texts by key; the one used longest ago is dropped first."""

    def __init__(self, most_bytes: int, most_each: int) -> None:
        self._most_bytes = most_bytes
        self._most_each = most_each
        self._texts: OrderedDict[bytes, bytes] = OrderedDict()
        self._bytes = 0

    def get(self, key: bytes) -> str | None:
        found = self._texts.get(key)
        if found is None:
            return None
        self._texts.move_to_end(key)
        return found.decode()

    def put(self, key: bytes, text: str) -> None:
        """Keeps a text, unless it is too long."""
        if len(text) > self._most_each or key in self._texts:
            return
        data = text.encode()
        if len(data) > self._most_each:
            return
        self._texts[key] = data
        self._bytes += len(data)
        while self._bytes > self._most_bytes:
            _, dropped = self._texts.popitem(last=False)
            self._bytes -= len(dropped)
