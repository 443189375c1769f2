"""Tests that each message that a person may see is in every language, and who gets it in which."""

import re
import time
from datetime import datetime
from typing import Annotated, Any, Literal, get_args
from uuid import UUID

import msgspec
import pytest

from notes.http.problems import _TITLES, invalid
from notes.jobs.api import State
from notes.pages.roles import Role
from notes.quotas.limits import shown
from notes.transfer.api import ReportLine
from notes.transfer.sources import PREVIEW
from notes.words.recognised import PLACE, Messages
from notes.words.spoken import COOKIE, LANGUAGES, Spoken, messages_of, words_of
from tests import messages
from tests.replica import Client, Replica
from tests.workspace import page, space
from tests.zips import imported, zipped

GERMAN = {"cookie": f"{COOKIE}=de"}
OTHERS = [one for one in LANGUAGES if one != "en"]
#: Values of messages and answers that have a translation of their own.
VALUES = {
    *(role.label for role in Role if role > Role.NONE), "user", "group", "space", "pages", "spaces",
    *get_args(State), *get_args(ReportLine.__annotations__["outcome"]), "import", PREVIEW,
}  # fmt: skip
SIZES = [shown(size) for size in (1, 1_500, 2_000_000, 3_100_000_000, 4_000_000_000_000)]
Short = Annotated[str, msgspec.Meta(min_length=2, max_length=3, pattern="^[a-z]*$")]
Few = Annotated[int, msgspec.Meta(ge=1, le=3)]


class Given(msgspec.Struct, forbid_unknown_fields=True):
    """One field of each kind that the API has."""

    text: Short = "ab"
    number: Few = 1
    share: Annotated[float, msgspec.Meta(ge=0, le=1)] = 1
    id: UUID | None = None
    when: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    kind: Literal["one", "two"] = "one"
    some: Annotated[list[int], msgspec.Meta(min_length=1, max_length=2)] | None = None
    flag: bool = False


class Needed(msgspec.Struct):
    """A field that must be there."""

    name: str


WRONG: list[tuple[Any, Any]] = [
    (Given, {"text": "a"}), (Given, {"text": "abcd"}), (Given, {"text": "A1"}),
    (Given, {"text": 5}), (Given, {"number": 0}), (Given, {"number": 9}), (Given, {"number": "x"}),
    (Given, {"number": 2**70}), (Given, {"share": 2.5}), (Given, {"share": -1.0}),
    (Given, {"id": "no"}), (Given, {"when": "2020"}), (Given, {"when": "2020-01-01T00:00:00"}),
    (Given, {"kind": "three"}), (Given, {"some": []}), (Given, {"some": [1, 2, 3]}),
    (Given, {"some": ["x"]}), (Given, {"flag": None}), (Given, {"more": 1}), (Needed, {}),
    (Needed, []),
]  # fmt: skip


def refused(kind: Any, value: Any) -> str:
    """The detail of the problem for a body of the wrong type."""
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.json.decode(msgspec.json.encode(value), type=kind)
    return invalid(caught.value, "body").document.detail


@pytest.mark.parametrize("language", OTHERS)
def test_every_message_has_a_translation(language: str) -> None:
    known = messages_of(language)
    needed = messages.found() | VALUES
    assert len(needed) > 350
    assert needed <= set(known), f"no words in {language}: {sorted(needed - set(known))}"
    assert set(_TITLES.values()) <= set(words_of(language))


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_has_the_places_of_the_message(language: str) -> None:
    for text, other in {**messages_of(language), **words_of(language)}.items():
        places = [found or str(at) for at, found in enumerate(PLACE.findall(text), 1)]
        others = [found or str(at) for at, found in enumerate(PLACE.findall(other), 1)]
        assert sorted(places) == sorted(others), text
        assert other.strip() == other != "", text


@pytest.mark.parametrize("language", OTHERS)
def test_no_translation_is_left_over(language: str) -> None:
    found = messages.found()
    made = Messages({text: text for text in found})
    samples = [refused(kind, value) for kind, value in WRONG]
    of_msgspec = re.compile(r"(Expected|Invalid|Integer|Number|Object|Input|JSON) ")
    for text in set(messages_of(language)) - found - VALUES:
        is_of_sizes = any(Messages({text: "x"}).said(size) for size in SIZES)
        assert is_of_sizes or of_msgspec.match(text) or made.said(text), text
    assert samples


@pytest.mark.parametrize(("kind", "value"), WRONG)
@pytest.mark.parametrize("language", OTHERS)
def test_a_value_of_the_wrong_type_is_told_in_every_language(
    language: str, kind: Any, value: Any
) -> None:
    text = refused(kind, value)
    said = Spoken(language).said(text)
    assert said != text
    assert not re.search(r"Expected|Invalid|Object|out of range", said), said
    # The name of the field stays.
    assert said.partition(":")[0] == text.partition(":")[0]


def test_a_new_message_is_found() -> None:
    assert messages.found_in('raise Problem(409, f"The {what} is new.")') == {"The %s is new."}
    assert messages.found_in("raise not_found('thing')") == {"There is no such thing."}
    assert messages.found_in('GONE = "It is gone."\nraise Problem(410, GONE)') == {"It is gone."}
    with pytest.raises(messages.UnreadableError):
        messages.found_in("raise Problem(409, made_up(what))")


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("There is no such page.", "Diese Seite gibt es nicht."),
        ("This needs the role editor on the page.",
         "Dafür brauchen Sie auf der Seite die Rolle „Schreibt“."),
        ("steps[3].slice: a slice is an object", "steps[3].slice: ein Ausschnitt ist ein Objekt"),
        ("a: b.md: the zip is damaged here.", "a: b.md: Hier ist das Zip beschädigt."),
        ("it was attached as a file: it has more than 5 tags",
         "als Datei angehängt: mehr als 5 Tags"),
        ("your account: this exceeds the limit, it has 9 pages and may have 8 (account_pages); "
         "delete pages permanently, or ask an administrator for a higher limit.",
         "Ihr Konto: Das überschreitet die Grenze, vorhanden sind 9 Seiten, erlaubt 8"
         " (account_pages). Löschen Sie Seiten endgültig, oder bitten Sie die Verwaltung um eine"
         " höhere Grenze."),
        ("the space: this exceeds the limit, it holds 1.5 GB and may hold 900 bytes (space_bytes);"
         " delete files or pages permanently, or ask an administrator for a higher limit.",
         "Der Bereich: Das überschreitet die Grenze, belegt sind 1,5 GB, erlaubt 900 Byte"
         " (space_bytes). Löschen Sie Dateien oder Seiten endgültig, oder bitten Sie die Verwaltung"
         " um eine höhere Grenze."),
        ("%s is not an id: '%s'", "%s ist keine ID: '%s'"),
        ("No message has this text.", "No message has this text."),
        ("", ""),
    ],
)  # fmt: skip
def test_a_message_is_recognised_with_its_values(english: str, german: str) -> None:
    assert Spoken("de").said(english) == german
    assert Spoken("en").said(english) == english


def test_a_translation_can_have_its_places_in_another_order() -> None:
    made = Messages({"%s of %s": "%2$s: %1$s", "one": "eins"})
    assert made.said("one of many") == "many: eins"
    assert made.said("%2$s of x") == "x: %2$s"
    assert made.said(" of ") is None


@pytest.mark.parametrize(
    "text",
    [
        ": ".join(["a"] * 2000),
        "it was attached as a file: " * 250,
        "There is no " * 500 + ".",
        "your account: this exceeds the limit, it " * 150,
        "x" * 100_000,
    ],
)
def test_no_text_takes_long_to_recognise(text: str) -> None:
    german = Spoken("de")
    german.said("warm")
    begun = time.thread_time()
    german.said(text)
    assert time.thread_time() - begun < 0.05


def test_a_client_of_the_api_gets_english(replica: Replica, admin: Client, anybody: Client) -> None:
    """The language of a browser alone changes nothing, nor does a cookie beside a token."""
    home = space(admin)
    secret = admin.ok("POST", "/api/v1/tokens", {"name": "t", "scopes": ["read"]}, 201)["secret"]
    token = {"authorization": f"Bearer {secret}"}
    path = f"/api/v1/spaces/{home}/tree?nonsense=1"
    for headers in ({}, {"accept-language": "de"}, {"cookie": f"{COOKIE}=fr"},
                    {"cookie": f"{COOKIE}=../de"}, {**token, **GERMAN}):  # fmt: skip
        answer = anybody.get("/api/v1/me" if "authorization" not in headers else path,
                             headers=headers)  # fmt: skip
        document = answer.json()
        assert "content-language" not in answer.headers, headers
        if answer.status_code == 401:
            assert document["detail"] == "Sign in, or send a token."
            assert document["title"] == "Not signed in"


def test_the_workspace_gets_its_language(admin: Client, anybody: Client) -> None:
    """Status, shape, fields and the conflicting state are those of the English answer."""
    home = space(admin, name="Kept")
    made = page(admin, home)
    cases: list[tuple[str, str, Any, str]] = [
        ("GET", f"/api/v1/nodes/{home}", None, "Diese Seite gibt es nicht."),
        ("POST", f"/api/v1/spaces/{home}/nodes", {"title": 5}, "title: Erwartet ist `str`"),
        ("POST", f"/api/v1/spaces/{home}/nodes", {"title": "x" * 301}, "Höchstens 300 Zeichen"),
        ("DELETE", f"/api/v1/nodes/{made}/comments", None, "geht hier nicht"),
        ("DELETE", f"/api/v1/trash/{made}", None, "An dieser Adresse ist nichts."),
        ("PATCH", f"/api/v1/spaces/{home}", {"site_enabled": True}, "Website braucht eine Domain"),
    ]
    for method, path, body, german in cases:
        english = admin.request(method, path, json=body)
        admin.jar[COOKIE] = "de"
        answer = admin.request(method, path, json=body)
        del admin.jar[COOKIE]
        one, other = english.json(), answer.json()
        assert german in other["detail"], (path, other)
        assert one["detail"] != other["detail"], path
        assert one["title"] != other["title"], path
        assert answer.status_code == english.status_code == other["status"]
        assert set(one) == set(other), path
        fields = [
            [each["field"] for each in document.get("errors", ())] for document in (one, other)
        ]
        assert fields[0] == fields[1]
        assert answer.headers["content-language"] == "de"
        assert "content-language" not in english.headers
    refused = anybody.post("/api/v1/session", json={"email": "x@example.org", "password": "y"},
                           headers=GERMAN)  # fmt: skip
    assert refused.json()["detail"] == "Die E-Mail-Adresse oder das Passwort ist falsch."


def test_jobs_and_reports_are_in_the_language_of_the_workspace(admin: Client) -> None:
    home = space(admin)
    broken = imported(admin, home, b"no zip")
    done = imported(admin, home, zipped(("a.md", b"[x](missing.md)\n"), ("../b.md", b"b\n")))
    paths = (f"/api/v1/jobs/{broken['id']}", f"/api/v1/jobs/{done['id']}/report")

    def said() -> tuple[str, list[str]]:
        error: str = admin.ok("GET", paths[0])["error"]
        listed = {job["id"]: job["error"] for job in admin.ok("GET", "/api/v1/jobs")}
        assert listed[broken["id"]] == error
        return error, [note for line in admin.ok("GET", paths[1]) for note in line["notes"]]

    error, notes = said()
    assert error == "This is not a zip file, or a damaged one."
    assert "links without a target in the zip stay unchanged: missing.md" in notes
    assert "'..' in its name was resolved" in notes
    admin.jar[COOKIE] = "de"
    error, notes = said()
    assert error == "Das ist kein Zip, oder ein beschädigtes."
    assert "Links ohne Ziel im Zip bleiben unverändert: missing.md" in notes
    assert "„..“ im Namen wurde aufgelöst" in notes
