"""The application's connection string: libpq reads back what was put in, whatever the password."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from psycopg.conninfo import conninfo_to_dict

from queenright.core.postgres.connection_uri import UrlTemplate, url_secret_name

TEMPLATE = UrlTemplate(
    ("10.77.0.12", "10.77.0.13"),
    5000,
    "notes",
    "notes_4c1b44cb",
    (("target_session_attrs", "read-write"), ("options", "-c role=notes")),
)


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1))
def test_libpq_reads_back_the_password(password: str) -> None:
    assert conninfo_to_dict(TEMPLATE.filled(password)) == {
        "user": "notes_4c1b44cb",
        "password": password,
        "host": "10.77.0.12,10.77.0.13",
        "port": "5000,5000",
        "dbname": "notes",
        "target_session_attrs": "read-write",
        "options": "-c role=notes",
    }


def test_without_its_password_it_is_still_one() -> None:
    assert "password" not in conninfo_to_dict(TEMPLATE.text)
    assert conninfo_to_dict(TEMPLATE.text)["user"] == "notes_4c1b44cb"


def test_hosts_of_version_6_are_bracketed() -> None:
    template = UrlTemplate(("fd00::1",), 5000, "notes", "notes", ())
    assert conninfo_to_dict(template.text)["host"] == "fd00::1"


def test_each_string_has_a_secret_of_its_own() -> None:
    other = UrlTemplate(("10.77.0.12",), *(TEMPLATE.port, "notes", "notes_4c1b44cb", ()))
    names = {
        url_secret_name("notes", TEMPLATE, "one"),
        url_secret_name("notes", TEMPLATE, "another"),
        url_secret_name("notes", other, "one"),
    }
    assert len(names) == 3
