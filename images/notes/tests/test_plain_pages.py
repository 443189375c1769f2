"""Tests what the HTML view of a page costs, and the bounded tree beside it."""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench.pages import own
from notes.web import render
from notes.web.reading_views import contents
from notes.workers.kept import Kept
from tests.postgres import Postgres
from tests.replica import Client, Replica
from tests.test_pages import page, space

Person = Callable[[str], Client]
MOST_STATEMENTS = 2
ROOT = Path(__file__).parents[1]


@pytest.fixture
def counted(postgres: Postgres, tmp_path: Path) -> Iterator[tuple[Client, Callable[[str], int]]]:
    """An administrator's client, and the number of statements of a request for a path."""
    file = tmp_path / "statements"
    env = {
        "ORIGIN": "https://notes.example.org",
        "RECORD_TO": str(file),
        "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}",
    }
    running = Replica(postgres.database(f"counted{tmp_path.name}"), env, module="bench.recording")

    def count(client: Client, path: str) -> int:
        client.get(path).raise_for_status()
        found = list[int]()
        for _ in range(5):  # statements of the replica's own tasks can only add to some of them
            file.write_bytes(b"")
            client.get(path).raise_for_status()
            found.append(len(own(file.read_bytes())))
        return min(found)

    with running.running(), running.client() as client:
        client.set_up().log_in()
        yield client, lambda path: count(client, path)


async def test_no_view_compiles_a_template(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling one takes up to 60 ms of the event loop's time."""
    render._environment.cache_clear()
    await render.compile_templates()
    environment = render._environment()
    monkeypatch.setattr(type(environment), "compile", None)
    assert len([environment.get_template(name) for name in environment.list_templates()]) > 20


def _titles(text: str) -> list[str]:
    return re.findall(r'<a href="/p/[0-9a-f-]{36}"[^>]*>([^<]*)</a>', text)


def _link(text: str, words: str) -> str:
    found = re.search(rf'<a (?:rel="\w+" )?href="([^"]*)"[^>]*>{re.escape(words)}</a>', text)
    assert found, f"no link {words!r}"
    return found[1].replace("&amp;", "&")


def test_a_view_takes_two_statements(counted: tuple[Client, Callable[[str], int]]) -> None:
    client, count = counted
    home = space(client)
    top = page(client, home, "Top")
    made = page(client, home, "Seen", parent_id=top, markdown="# One\n\nwords\n")
    for number in range(3):
        page(client, home, f"Beside {number}", parent_id=top)
        page(client, home, f"Below {number}", parent_id=made, markdown=f"[x](/p/{made})\n")
    client.ok("POST", f"/api/v1/nodes/{made}/comments", {"body": "A remark"})
    client.ok("POST", f"/api/v1/nodes/{made}/shares", {})
    client.post(f"/p/{made}/files", files={"file": ("a.txt", b"x", "text/plain")})
    text = client.get(f"/p/{made}").text
    for expected in ("Top", "Beside 2", "Below 2", "A remark", "/s/", "a.txt", "Linked from"):
        assert expected in text
    assert count(f"/p/{made}") == MOST_STATEMENTS == count(f"/api/v1/nodes/{made}")
    assert count(f"/p/{made}/pages") == MOST_STATEMENTS
    # the workspace's first view has the document that the API gives
    assert "words" in client.get(f"/w/p/{made}").text
    assert count(f"/w/p/{made}") == MOST_STATEMENTS


def test_the_tree_beside_a_page_is_bounded_and_leads_to_every_page(admin: Client) -> None:
    home = space(admin)
    parent = page(admin, home, "Parent")
    middle = ""
    for number in range(230):
        made = page(admin, home, f"Child {number:03}", parent_id=parent)
        middle = made if number == 115 else middle
    view = admin.get(f"/p/{middle}")
    beside = view.text.partition('class="beside"')[2]
    shown = _titles(beside)
    assert shown == [f"Child {number:03}" for number in range(107, 124)]
    assert beside.count('aria-current="page"') == 1
    above = admin.get(f"/p/{parent}").text.partition('class="beside"')[2]
    assert _titles(above) == ["Parent", *(f"Child {number:03}" for number in range(20))]
    assert len(view.content) < 30_000
    url, found = _link(above, "All pages below Parent"), list[str]()
    while True:
        part = admin.get(url).text
        listed = [title for title in _titles(part) if title != "Parent"]
        found += listed
        if "Later pages" not in part:
            break
        url = _link(part, "Later pages")
    assert found == [f"Child {number:03}" for number in range(230)]
    back = admin.get(_link(part, "Earlier pages")).text
    assert [t for t in _titles(back) if t != "Parent"] == found[100:200]
    earlier = admin.get(_link(beside, "Earlier pages")).text
    assert _titles(earlier)[1:] == found[7:107]
    later = admin.get(_link(beside, "Later pages")).text
    assert _titles(later)[1:] == found[124:224]


def test_a_large_space_is_shown_in_parts(admin: Client) -> None:
    home = space(admin)
    made = [page(admin, home, f"Top {number:03}") for number in range(201)]
    page(admin, home, "Further down", parent_id=made[0])
    first = admin.get(f"/spaces/{home}").text
    found = _titles(first)
    assert "Further down" not in first
    assert f'href="/p/{made[0]}/pages" aria-label="Pages below Top 000"' in first
    second = admin.get(_link(first, "Later pages")).text
    found += _titles(second)
    found += _titles(admin.get(_link(second, "Later pages")).text)
    assert found == [f"Top {number:03}" for number in range(201)]
    beside = admin.get(f"/p/{made[100]}").text.partition('class="beside"')[2]
    later = _titles(admin.get(_link(beside, "Later pages")).text)
    assert later == found[109:]
    earlier = _titles(admin.get(_link(beside, "Earlier pages")).text)
    assert earlier == found[:92]


def test_the_tree_beside_a_page_shows_no_page_without_a_role(admin: Client, person: Person) -> None:
    reader = person("Reader")
    home = space(admin, everyone_role="viewer")
    hidden_above = page(admin, home, "Hidden above")
    made = page(admin, home, "Seen", parent_id=hidden_above)
    hidden = [
        page(admin, home, "Hidden beside", parent_id=hidden_above),
        page(admin, home, "Hidden below", parent_id=made, markdown=f"[x](/p/{made})\n"),
    ]
    page(admin, home, "Shown below", parent_id=made)
    for one in (hidden_above, *hidden):
        admin.ok("PUT", f"/api/v1/nodes/{one}/permissions", {"grants": []})
        grant = {"principal": admin.ok("GET", "/api/v1/me")["id"], "kind": "user", "role": "editor"}
        admin.ok("PUT", f"/api/v1/nodes/{one}/permissions", {"grants": [grant]})
    grant = {"principal": reader.user_id, "kind": "user", "role": "viewer"}  # type: ignore[attr-defined]
    admin.ok("PUT", f"/api/v1/nodes/{made}/permissions", {"grants": [grant]})
    for path in (f"/p/{made}", f"/p/{made}/pages", f"/p/{made}/backlinks"):
        assert "Hidden" in admin.get(path).text
        assert "Hidden" not in reader.get(path).text
    assert "Shown below" in reader.get(f"/p/{made}").text


def test_an_unchanged_page_is_not_sent_again(admin: Client, person: Person) -> None:
    home = space(admin, everyone_role="editor")
    parent = page(admin, home, "Parent")
    made = page(admin, home, "Seen", parent_id=parent)
    other = person("Other")

    def tag() -> str:
        answer = admin.get(f"/p/{made}")
        assert answer.headers["cache-control"] == "private, no-cache"
        return str(answer.headers["etag"])

    known = tag()
    same = admin.get(f"/p/{made}", headers={"if-none-match": f'"x", {known}'})
    assert (same.status_code, same.content) == (304, b"")
    assert same.headers["etag"] == known
    assert (
        same.headers["content-security-policy"]
        == (admin.get(f"/p/{made}").headers["content-security-policy"])
    ), "the stored page is shown under the policy of the 304"
    assert other.get(f"/p/{made}", headers={"if-none-match": known}).status_code == 200
    url = f"/api/v1/nodes/{made}"
    changes: list[Callable[[], object]] = [
        lambda: admin.ok("PUT", url, {"base_version": 1, "markdown": "new\n"}),
        lambda: admin.ok("PUT", f"/api/v1/nodes/{parent}", {"base_version": 1, "title": "P"}),
        lambda: admin.ok("POST", f"{url}/comments", {"body": "A remark"}),
        lambda: admin.ok("POST", f"{url}/shares", {}),
        lambda: admin.ok("PUT", f"{url}/favourite"),
        lambda: page(admin, home, "Beside", parent_id=parent),
        lambda: page(admin, home, "Below", parent_id=made),
        lambda: page(admin, home, "Links", markdown=f"[x](/p/{made})\n"),
        lambda: admin.ok("PATCH", f"/api/v1/spaces/{home}", {"name": "Renamed"}),
        lambda: admin.ok("PATCH", "/api/v1/me", {"name": "Ada L."}),
        lambda: admin.post(f"/p/{made}/files", files={"file": ("a.txt", b"x", "text/plain")}),
    ]
    for number, change in enumerate(changes):
        change()
        assert admin.get(f"/p/{made}", headers={"if-none-match": known}).status_code == 200, number
        assert tag() != known, number
        known = tag()
    admin.ok("PATCH", "/api/v1/me", {"name": "Ada"})


def test_who_lost_a_page_gets_no_304(admin: Client, person: Person) -> None:
    home = space(admin, everyone_role="viewer")
    made = page(admin, home, "Seen")
    reader = person("Reader")
    known = {"if-none-match": reader.get(f"/p/{made}").headers["etag"]}
    assert reader.get(f"/p/{made}", headers=known).status_code == 304
    admin.ok("PATCH", f"/api/v1/spaces/{home}", {"everyone_role": "none"})
    assert reader.get(f"/p/{made}", headers=known).status_code == 404


def test_a_page_is_moved_with_links_and_forms_only(admin: Client) -> None:
    home = space(admin)
    box = page(admin, home, "Box")
    first, second = (page(admin, home, name, parent_id=box) for name in ("First", "Second"))
    made = page(admin, home, "Wanderer")
    places = admin.get(_link(admin.get(f"/p/{made}").text, "Move")).text
    into = admin.get(_link(places, "Box")).text
    form = re.search(r'<form method="post" action="(/p/[^"]+/move)">(.*?)</form>', into, re.DOTALL)
    assert form
    assert f'name="parent_id" value="{box}"' in form[2]
    assert f'value="{first}">First' in form[2]
    moved = admin.post(form[1], data={"parent_id": box, "after_id": first})
    assert moved.status_code == 303
    shown = admin.get(f"/p/{made}").text
    assert _titles(shown.partition('class="beside"')[2]) == ["First", "Wanderer", "Second"]
    assert f'rel="prev" href="/p/{first}"' in shown
    assert f'rel="next" href="/p/{second}"' in shown
    assert re.search(r'aria-label="Path".*?Box', shown, re.DOTALL)
    assert f'href="/p/{made}/move?below={box}"' in shown


def test_a_page_below_is_created_from_its_parent(admin: Client) -> None:
    home = space(admin)
    made = page(admin, home, "Above")
    data = {"title": "Made below", "parent_id": made}
    assert f'name="parent_id" value="{made}"' in admin.get(f"/p/{made}").text
    assert admin.post(f"/spaces/{home}/pages", data=data).status_code == 303
    assert "Made below" in admin.get(f"/p/{made}/pages").text


def test_a_deep_page_names_its_nearest_ancestors(admin: Client) -> None:
    home, above = space(admin), None
    for number in range(12):
        above = page(admin, home, f"Level {number}", parent_id=above)
    shown = admin.get(f"/p/{above}").text
    trail = shown.partition('aria-label="Path"')[2].partition("</nav>")[0]
    assert _titles(trail) == [f"Level {number}" for number in range(3, 11)]
    assert "…" in trail


def test_headings_become_a_list_of_contents(admin: Client) -> None:
    markdown = '# One & *two*\n\n## Under\n\n# Three\n\n`<h2 id="x">no</h2>`\n'
    made = page(admin, space(admin), "Long", markdown=markdown)
    shown = admin.get(f"/p/{made}").text
    listed = re.search(r'id="page:contents">.*?</nav>', shown, re.DOTALL)
    assert listed
    anchors = re.findall(r'href="#([^"]+)">([^<]*)<', listed[0])
    assert anchors == [("one--two", "One &amp; two"), ("under", "Under"), ("three", "Three")]
    assert all(f'id="{anchor}"' in shown for anchor, _ in anchors)
    assert contents('<h2 id="a">A</h2>') == []


def test_kept_texts_are_limited_in_bytes() -> None:
    kept = Kept(10, 6)
    kept.put(b"a", "1234")
    kept.put(b"b", "äää")
    assert (kept.get(b"a"), kept.get(b"b")) == ("1234", "äää")
    kept.get(b"a")
    kept.put(b"c", "12")
    assert (kept.get(b"a"), kept.get(b"b"), kept.get(b"c")) == ("1234", None, "12")
    kept.put(b"d", "1234567")
    assert kept.get(b"d") is None
