"""Tests the language of the plain pages: the reader's, or that of the site; and its catalogues."""

import re
from pathlib import Path

import pytest

import notes.web
from notes.http.problems import _TITLES
from notes.words import spoken
from notes.words.spoken import Spoken, by_reader
from tests import messages
from tests.replica import Client, Replica
from tests.test_site_look import put_look, site, until, visitor
from tests.workspace import page

HERE = Path(str(notes.web.__file__)).parent
TEMPLATES = HERE / "templates"
GERMAN = {"accept-language": "de-AT,de;q=0.9,en;q=0.5"}
ENGLISH = {"accept-language": "en-GB,en;q=0.9,de;q=0.1"}
#: The name of the application is the same in every language.
NAMES = {"Notes", "tour", "in", "English", "Ein", "Rundgang", "auf", "Deutsch"}


def sources() -> dict[str, str]:
    """The templates."""
    return {path.name: path.read_text("utf-8") for path in TEMPLATES.glob("*.html")}


def texts() -> set[str]:
    """The English texts that these templates translate."""
    return {
        text.replace('\\"', '"')
        for source in sources().values()
        for text in re.findall(r'\bt\("((?:[^"\\]|\\.)*)"', source)
    }


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("", "en"), ("de", "de"), ("de-CH", "de"), ("DE", "de"), ("fr,de;q=0.8,en;q=0.7", "de"),
        ("en;q=0.8,de;q=0.9", "de"), ("de;q=0.8,en;q=0.9", "en"), ("de;q=0", "en"),
        ("de;q=0,en;q=0", "en"), ("fr", "en"), ("*", "en"), ("de ; q=0.5", "de"),
        ("de;q=2", "en"), ("de;q=nan", "en"), ("de;q=", "en"), (";;,,=,", "en"),
        ("spoken", "en"), ("../de", "en"), ("x," * 40 + "de", "en"), ("de,en", "de"),
    ],
)  # fmt: skip
def test_the_reader_prefers_a_language(header: str, language: str) -> None:
    assert by_reader(header) == language


@pytest.mark.parametrize("language", [one for one in spoken.LANGUAGES if one != "en"])
def test_a_catalogue_is_complete(language: str) -> None:
    words = spoken.words_of(language)
    needed = texts() | set(_TITLES.values()) | {"Error", "template", "restricted"}
    assert needed <= set(words), needed - set(words)
    # What no template has is a text of the application, which it gives to a template.
    code = " ".join(one.read_text("utf-8") for one in HERE.parent.rglob("*.py")
                    if "words" not in one.relative_to(HERE.parent).parts)  # fmt: skip
    joined = re.sub(r'"\s*"', "", code)
    for extra in set(words) - needed:
        assert f'"{extra}"' in joined or extra in messages.found(), extra


def test_no_word_of_a_template_is_left_untranslated() -> None:
    for name, source in sources().items():
        plain = re.sub(r"\{%.*?%\}|\{\{.*?\}\}", "\0", source, flags=re.DOTALL)
        shown = re.sub(r"<[^>]*>", "\n", re.sub(r' class="two"|/(?:p|pages|spaces)\b', "", plain))
        words = set(re.findall(r"[A-Za-z]{2,}", shown)) - NAMES
        assert not words, (name, words)
        said = re.findall(r'(?:aria-label|alt|title|placeholder)="([^"\0{]*[A-Za-z][^"]*)"', plain)
        assert not said, (name, said)


def test_the_words_of_a_person_are_escaped_in_every_language(
    replica: Replica, admin: Client
) -> None:
    home = site(admin, "escaped.example.org")
    top = page(admin, home, "<b>&%s")
    page(admin, home, "Under", parent_id=top)
    with visitor(replica, "escaped.example.org") as client:
        for headers in (GERMAN, ENGLISH):
            for path in (f"/p/{top}", f"/p/{top}/pages", "/search?q=%3Cb%3E%25s", "/"):
                text = client.get(path, headers=headers).text
                assert "<b>&" not in text, path
        assert "Seiten unter &lt;b&gt;&amp;%s" in client.get(f"/p/{top}/pages", headers=GERMAN).text


def test_a_site_speaks_the_language_of_its_reader(replica: Replica, admin: Client) -> None:
    home = site(admin, "spoken.example.org")
    made = page(admin, home, "Welcome", markdown="# One\n\n# Two\n\n# Three\n\nSearch here.\n")
    page(admin, home, "Second")
    with visitor(replica, "spoken.example.org") as client:
        german = client.get(f"/p/{made}", headers=GERMAN)
        english = client.get(f"/p/{made}", headers=ENGLISH)
        for answer, language, words in (
            (
                german,
                "de",
                ("Suche", "Inhalt", "Weiter: Second", "Zum Inhalt springen"),
            ),
            (
                english,
                "en",
                ("Search", "Contents", "Next: Second", "Skip to the content"),
            ),
        ):
            assert f'<html lang="{language}">' in answer.text
            assert answer.headers["vary"] == "accept-language, cookie"
            for word in words:
                assert word in answer.text, word
            # The page's text is in a language that nobody has named.
            assert '<article lang="">' in answer.text
            assert "<p>Search here.</p>" in answer.text
        assert german.headers["etag"] != english.headers["etag"]
        known = {"if-none-match": german.headers["etag"]}
        same = client.get(f"/p/{made}", headers={**GERMAN, **known})
        assert (same.status_code, same.headers["vary"]) == (304, "accept-language, cookie")
        assert client.get(f"/p/{made}", headers={**ENGLISH, **known}).status_code == 200
        for path, word in (("/", "Suche"), ("/search?q=welcome", "Gefunden für „welcome“"),
                           ("/search?q=nothing", "Es wurde keine Seite gefunden."),
                           ("/nowhere", "Nicht gefunden"), ("/login", "E-Mail-Adresse"),
                           (f"/p/{made}/pages", "Seiten unter Welcome")):  # fmt: skip
            answer = client.get(path, headers=GERMAN)
            assert word in answer.text, path
            assert '<html lang="de">' in answer.text, path
        assert "An dieser Adresse ist nichts." in client.get("/nowhere", headers=GERMAN).text
        feed = client.get("/feed.xml", headers=GERMAN)
        assert "xml:lang" not in feed.text
        client.log_in()
        edit = client.get(f"/p/{made}/edit", headers=GERMAN).text
        assert '<html lang="de">' in edit
        assert "Text, in Markdown" in edit
        assert "Neue Seite darunter" in client.get(f"/p/{made}", headers=GERMAN).text


def test_a_site_can_have_a_language(replica: Replica, admin: Client) -> None:
    home = site(admin, "fixed.example.org")
    made = page(admin, home, "Willkommen", markdown="Hallo.\n")
    with visitor(replica, "fixed.example.org") as client:
        before = client.get(f"/p/{made}", headers=ENGLISH)
        look = put_look(admin, home, language="de")
        assert (look["language"], look["languages"]) == ("de", ["en", "de"])
        known = {**ENGLISH, "if-none-match": before.headers["etag"]}
        until(lambda: 'lang="de"' in client.get(f"/p/{made}", headers=known).text)
        text = client.get(f"/p/{made}", headers=ENGLISH).text
        assert "<article>" in text, "the text is in the language of the site"
        assert "Suche" in text
        for path in ("/", "/nowhere", "/login", "/search?q=hallo"):
            assert '<html lang="de">' in client.get(path, headers=ENGLISH).text, path
        assert 'xml:lang="de"' in client.get("/feed.xml").text
        assert put_look(admin, home, 1)["language"] is None
        until(lambda: 'lang="en"' in client.get("/", headers=ENGLISH).text)


@pytest.mark.parametrize("language", ["fr", "qps", "DE", "de-AT", "", "de\n", "spoken", "e"])
def test_a_language_without_a_catalogue_is_refused(admin: Client, language: str) -> None:
    home = site(admin, "refused.example.org", site_enabled=False)
    body = {"base_version": 0, "language": language}
    admin.problem(422, "PUT", f"/api/v1/spaces/{home}/look", json=body)
    admin.ok("DELETE", f"/api/v1/spaces/{home}")


def test_a_private_site_keeps_its_language_to_its_members(replica: Replica, admin: Client) -> None:
    home = site(admin, "private.example.org", public=False)
    put_look(admin, home, language="de")
    with visitor(replica, "private.example.org") as client:
        client.get("/nowhere")
        assert '<html lang="en">' in client.get("/login", headers=ENGLISH).text
        client.log_in()
        until(lambda: '<html lang="de">' in client.get("/", headers=ENGLISH).text)


def test_a_message_without_a_translation_is_marked_as_english() -> None:
    german = Spoken("de")
    assert german("Never translated.") == "Never translated."
    assert german.as_said("Never translated.") == ' lang="en"'
    assert german.as_said("There is no such page.") == ""
    assert Spoken("en").as_said("Never translated.") == ""


def test_a_shared_page_speaks_the_language_of_its_reader(admin: Client, anybody: Client) -> None:
    made = page(admin, site(admin, "shared.example.org"), "Shared")
    share = admin.ok("POST", f"/api/v1/nodes/{made}/shares", {"password": "open sesame"}, 201)
    path = share["url"].removeprefix("https://notes.example.org")
    asked = anybody.get(path, headers=GERMAN)
    assert "Dieser Link hat ein Passwort" in asked.text
    refused = anybody.post(path, data={"password": "wrong"}, headers=GERMAN)
    assert "Das Passwort ist falsch." in refused.text
