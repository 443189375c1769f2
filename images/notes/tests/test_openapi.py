"""Tests that the OpenAPI document describes all operations."""

from notes.routes import OPERATIONS
from tests.replica import Client, Replica


def test_every_operation_of_the_api_is_described(replica: Replica, anybody: Client) -> None:
    described = anybody.ok("GET", "/api/v1/openapi.json")
    # The version of the sources at the replica's start: a commit since then counts one more.
    started = [line["version"] for line in replica.lines() if line["message"] == "listening"]
    assert [described["info"]["version"]] == started
    listed = {
        (method.upper(), path) for path, methods in described["paths"].items() for method in methods
    }
    served = {(op.method, op.path) for op in OPERATIONS if op.path.startswith("/api/")}
    assert listed == served
    names = [op.handler.__name__ for op in OPERATIONS]
    assert len(names) == len(set(names))


def test_what_needs_no_session_is_known_and_small() -> None:
    """A new operation without a session has to be added here."""
    api = {op.handler.__name__ for op in OPERATIONS if op.scope is None and "/api/" in op.path}
    assert api == {
        "get_setup",
        "post_setup",
        "post_session",
        "delete_session",
        "get_attachment",
        "get_logo",
        "get_site",
    }
