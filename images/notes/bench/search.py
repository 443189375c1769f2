"""Measures the time of a search over 20,000 pages, from request to answer."""

import contextlib
import random
import statistics
import time
from collections.abc import Iterator
from urllib.parse import quote

import psycopg

from bench.figures import Figure
from bench.stand import postgres, replica, signed_in
from bench.wire import Wire
from notes.doc.tokenizer import vector

PAGES = 20_000
QUERIES = 300
P95_MS = 50
WORDS = 30_000


def measure() -> Iterator[Figure]:
    with postgres() as server, replica(server, "search") as running:
        client, headers = signed_in(running)
        with contextlib.closing(client):
            space = client.ok("POST", "/api/v1/spaces", {"slug": "s", "name": "S"})["id"]
        language = Language()
        _fill(server.url("search"), space, language)
        with Wire(running.url, headers) as wire:
            for name, queries in language.queries().items():
                times, found = list[float](), 0
                for query in queries:
                    begun = time.perf_counter()
                    _, answer = wire.ask("GET", f"/api/v1/search?q={quote(query)}")
                    times.append((time.perf_counter() - begun) * 1000)
                    found += answer.count(b'"rank":')
                cuts = statistics.quantiles(times, n=20)
                note = f"median {cuts[9]:.1f} ms, {found / len(queries):.1f} hits a query"
                yield Figure(f"search, {name}, p95", cuts[18], "ms", at_most=P95_MS, note=note)


class Language:
    """Generates words with Zipf frequencies, so that some are on almost every page."""

    def __init__(self) -> None:
        self._random = random.Random(4)
        letters = "abcdefghijklmnopqrstuvwxyz"
        made = dict[str, None]()
        while len(made) < WORDS:
            made["".join(self._random.choices(letters, k=self._random.randint(3, 9)))] = None
        self._words = list(made)
        weights = [1 / (rank + 3) for rank in range(WORDS)]
        self._cumulative = [sum(weights[:1])]
        for weight in weights[1:]:
            self._cumulative.append(self._cumulative[-1] + weight)

    def text(self, count: int) -> str:
        return " ".join(self._random.choices(self._words, cum_weights=self._cumulative, k=count))

    def queries(self) -> dict[str, list[str]]:
        """Queries of two words from texts, beginnings of words, phrases, and the worst of each."""
        pick = self._random
        ordinary = [" ".join(pick.choices(self._words[20:4000], k=2)) for _ in range(QUERIES)]
        single = [pick.choice(self._words[20:4000]) for _ in range(QUERIES)]
        begun = [pick.choice(self._words[20:4000])[:4] for _ in range(QUERIES)]
        worst = [" ".join(pick.choices(self._words[:10], k=2)) for _ in range(50)]
        phrases = [f'"{self.text(2)}"' for _ in range(QUERIES)]
        worst_phrases = [f'"{" ".join(pick.choices(self._words[:10], k=3))}"' for _ in range(50)]
        return {
            "ordinary words": [w for pair in zip(ordinary, single, strict=True) for w in pair],
            "beginnings": begun,
            "single letters": [pick.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(100)],
            "the commonest words": worst,
            "phrases": phrases,
            "phrases of the commonest words": worst_phrases,
        }


def _fill(url: str, space: str, language: Language) -> None:
    with psycopg.connect(url) as conn, conn.cursor() as cursor:
        with cursor.copy(
            "COPY nodes (space_id, position, title, doc, body_text, search) FROM STDIN"
        ) as copy:
            for number in range(PAGES):
                title, text = language.text(4), language.text(200)
                doc = '{"type":"doc","content":[]}'
                copy.write_row((space, number, title, doc, text, vector(title, text)))
        conn.commit()
        conn.autocommit = True
        cursor.execute("VACUUM ANALYZE nodes")
