"""Redaction: text that looks like a secret is hidden everywhere, other text stays readable."""

from __future__ import annotations

import base64
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queenright.core.audit.redaction import HIDDEN, names_a_secret, redact, redact_text

secrets_32 = st.binary(min_size=32, max_size=32).map(lambda raw: base64.b64encode(raw).decode())
around = st.text(alphabet=" \n,;:'\"(){}[]<>äab0/=", max_size=8)
shapes = st.lists(
    st.sampled_from(
        [
            "password",
            "=",
            ":",
            " ",
            "//",
            "http",
            "@",
            "'",
            '"',
            "/",
            "u",
            "basic ",
            "bearer",
            "Abcdefgh1",
            "A" * 43,
            "=",
            "(hidden)",
            ")",
            "-----BEGIN PRIVATE KEY-----",
            "x" * 44,
        ]
    ),
    max_size=14,
).map("".join)
words = st.text() | shapes
values = st.recursive(
    words | st.integers() | st.none() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(words | st.sampled_from(["password", "reason"]), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@given(secrets_32, around, around)
def test_a_generated_secret_never_passes(secret: str, before: str, after: str) -> None:
    assert secret not in redact_text(f"{before}{secret}{after}")
    assert secret not in str(redact({"reason": [f"value {secret}"], "x": {"y": secret}}))


@given(values)
def test_hiding_twice_is_hiding_once(value: object) -> None:
    assert redact(redact(value)) == redact(value)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("postgres://app:hunter2@node1:5000/db", "postgres://app:(hidden)@node1:5000/db"),
        ("PGPASSWORD=hunter2 psql", "PGPASSWORD=(hidden) psql"),
        ("password: 'it is long', user: x", "password: (hidden), user: x"),
        ("Authorization: Basic cm9vdDpodW50ZXIy", "Authorization: Basic (hidden)"),
        ("Bearer abcdefgh.ijk1", "Bearer (hidden)"),
        ("-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----", HIDDEN),
    ],
)  # fmt: skip
def test_what_looks_like_a_secret_is_hidden(said: str, shown: str) -> None:
    assert redact_text(said) == shown


@pytest.mark.parametrize(
    "said",
    [
        "secret pg_superuser_pw is missing; it will be created",
        "10.77.0.12:5432 answered 503",
        "registry:5000/member:16@sha256:" + "0f" * 32,
        "tcp://10.77.0.11:2375: connection refused",
        "password_encryption scram-sha-256 -> md5",
        "the basic settings were read",
    ],
)
def test_what_people_need_to_read_stays(said: str) -> None:
    assert redact_text(said) == said


@pytest.mark.parametrize(
    "name",
    ["password", "PGPASSWORD", "environment[PGPASSWORD]", "environment[DB_TOKEN]", "db_pw",
     "environment[API_KEY]", "superuserPassword", "authorization", "labels[x.pass]"],
)  # fmt: skip
def test_names_of_secrets(name: str) -> None:
    assert names_a_secret(name)
    assert redact({name: "x"}) == {name: HIDDEN}


@pytest.mark.parametrize(
    "name",
    ["secrets[pg_superuser_pw].target", "environment[POSTGRES_PASSWORD_FILE]", "compass", "key",
     "image", "password_encryption", "bypass"],
)  # fmt: skip
def test_names_of_other_things(name: str) -> None:
    assert not names_a_secret(name)


def test_text_that_is_no_utf8_can_be_written() -> None:
    assert redact_text("a\ud800b").encode()


@pytest.mark.parametrize("unit", ["r", "a.", "://", "basic ", "password='", "a://b:", "A+/="])
def test_a_long_text_takes_no_longer_than_it_must(unit: str) -> None:
    """A pattern that backtracks would take minutes for it."""
    began = time.process_time()
    assert redact_text(unit * (200_000 // len(unit)))
    assert time.process_time() - began < 10
