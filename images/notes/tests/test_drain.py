"""SIGTERM under load: no request is cut, and the exit code is 0."""

import contextlib
import http.client
import threading
import time
from collections.abc import Callable

import pytest

from tests.replica import Replica
from tests.test_pages import page, space

Start = Callable[..., Replica]


@pytest.mark.slow
def test_no_request_is_cut_under_load(own_replica: Start) -> None:
    replica = own_replica(SHUTDOWN_TIMEOUT="10")
    with replica.client() as client:
        client.set_up()
        made = page(client, space(client), markdown="words " * 300)
        cookie = "; ".join(f"{k}={v}" for k, v in client.jar.items())
    headers = {"host": "notes.example.org", "x-forwarded-proto": "https", "cookie": cookie}
    answered = [0]
    cut = list[str]()
    ending = threading.Event()

    def read_on() -> None:
        """Keeps a connection as a proxy does: used until the server says that it closes."""
        while True:
            connection = http.client.HTTPConnection("127.0.0.1", replica.port, timeout=20)
            try:
                connection.connect()
            except OSError:
                if ending.is_set():
                    return  # nobody listens any more
                raise
            with contextlib.closing(connection):
                while True:
                    try:
                        connection.request("GET", f"/api/v1/nodes/{made}", headers=headers)
                        answer = connection.getresponse()
                        answer.read()
                    except (OSError, http.client.HTTPException) as error:
                        cut.append(repr(error))
                        return
                    if answer.status != 200:
                        cut.append(str(answer.status))
                        return
                    answered[0] += 1
                    if answer.will_close:
                        break

    threads = [threading.Thread(target=read_on) for _ in range(8)]
    for thread in threads:
        thread.start()
    time.sleep(1.5)
    before = answered[0]
    ending.set()
    begun = time.monotonic()
    assert replica.stop() == 0
    took = time.monotonic() - begun
    for thread in threads:
        thread.join(20)
    assert before > 50
    assert cut == []
    assert took < 10
